#include "ui/start/start_page.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/kit/small_widgets.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"
#include "ui/workbench/help_viewer.h"
#include "ui/workbench/recent_databases.h"

namespace vitrine::ui {
namespace {

constexpr const char* kDemoTitle = "Demo: ViT and iLLaMA on Fashion-MNIST";

StartPage* startOf(MainWindow& window) { return qobject_cast<StartPage*>(window.currentPage()); }

QPushButton* buttonNamed(const QWidget& root, const QString& name) {
  for (QPushButton* button : root.findChildren<QPushButton*>()) {
    if (button->isHidden()) continue;
    if (button->accessibleName() == name || button->text() == name) return button;
  }
  return nullptr;
}

std::int64_t addDemoRun(store::RunStore& store, const std::string& name) {
  store::NewRun run;
  run.name = name;
  run.config = Json::object();
  run.origins = Json::object();
  return store.addRuns(store.experiment(kDemoTitle, ""), {run}).front();
}

TEST(StartPage, IsWhatADatabaseWithoutRunsShowsFirst) {
  SampleStudio studio(SampleOptions{0, 0});
  MainWindow window(studio.workbench);
  window.show();
  ASSERT_NE(startOf(window), nullptr);
  EXPECT_EQ(startOf(window)->demo().text().toStdString(), "Run the demo");
}

// What a start costs most is to set words that wrap: a layout asks for their height hundreds of
// times, at a handful of widths.
TEST(StartPage, SetsItsWordsOnceForEachWidthUntilItIsDrawn) {
  SampleStudio studio(SampleOptions{0, 0});
  MainWindow window(studio.workbench);
  window.show();
  window.waitUntilIdle();
  QCoreApplication::processEvents();
  const auto labels = window.findChildren<WordLabel*>();
  ASSERT_GE(labels.size(), 10);
  for (const WordLabel* label : labels)
    EXPECT_LE(label->measurings(), 16) << label->text().toStdString();
  // What changes nothing lays nothing out again.
  const auto measured = [&labels] {
    int sum = 0;
    for (const WordLabel* label : labels) sum += label->measurings();
    return sum;
  };
  const int before = measured();
  startOf(window)->waitUntilIdle();
  QCoreApplication::processEvents();
  EXPECT_EQ(measured(), before);
}

TEST(StartPage, ADatabaseWithRunsShowsItsRunsFirst) {
  SampleStudio studio(SampleOptions{0, 20});
  MainWindow window(studio.workbench);
  window.show();
  EXPECT_EQ(startOf(window), nullptr);
}

TEST(StartPage, RunsTheDemoWithOneClick) {
  SampleStudio studio(SampleOptions{0, 0});
  // Stands in for `vitrine enqueue FILE`: keeps the file, answers with the id of a run.
  const QString kept = studio.folder.filePath(QStringLiteral("kept.toml"));
  becomeProgram(studio, "[ \"$1\" = enqueue ] || exit 0\ncp \"$2\" '" + kept.toLocal8Bit() +
                            "'\necho '{\"ids\":[1]}'");
  MainWindow window(studio.workbench);
  window.show();
  StartPage* start = startOf(window);
  ASSERT_NE(start, nullptr);
  QTest::mouseClick(&start->demo(), Qt::LeftButton);
  ASSERT_TRUE(soon([&] { return startOf(window) == nullptr; }));
  EXPECT_STREQ(window.currentPage()->metaObject()->className(), "vitrine::ui::MonitorPage");
  QFile text(kept);
  ASSERT_TRUE(text.open(QIODevice::ReadOnly));
  EXPECT_TRUE(QString::fromUtf8(text.readAll()).contains(QLatin1String(kDemoTitle)));
  qunsetenv("VITRINE_PROGRAM");
}

TEST(StartPage, SaysWhatKeptTheDemoFromStarting) {
  SampleStudio studio(SampleOptions{0, 0});
  becomeProgram(studio, "echo 'dataset-fashion-mnist is not installed' >&2\nexit 4");
  MainWindow window(studio.workbench);
  window.show();
  StartPage* start = startOf(window);
  start->demo().click();
  ASSERT_TRUE(soon([&] { return start->demoState().contains(QLatin1String("is not installed")); }));
  EXPECT_TRUE(start->demo().isEnabled());
  qunsetenv("VITRINE_PROGRAM");
}

TEST(StartPage, ADemoThatIsTrainedIsShownAndNotTrainedAgain) {
  SampleStudio studio(SampleOptions{0, 0});
  const std::int64_t run = addDemoRun(studio.writer, "ViT");
  studio.writer.setState(run, store::RunState::Starting);
  studio.writer.setState(run, store::RunState::Running);
  studio.writer.setState(run, store::RunState::Done);
  studio.workbench.watcher().poll();
  MainWindow window(studio.workbench);
  window.show();
  window.showPage(QStringLiteral("start"));
  StartPage* start = startOf(window);
  start->waitUntilIdle();
  EXPECT_EQ(start->demo().text().toStdString(), "Show the demo");
  start->demo().click();
  EXPECT_EQ(studio.workbench.selection().current(), run);
  EXPECT_STREQ(window.currentPage()->metaObject()->className(), "vitrine::ui::MonitorPage");
}

TEST(StartPage, OffersRunsThatWereInterrupted) {
  SampleStudio studio(SampleOptions{0, 20});
  MainWindow window(studio.workbench);
  window.show();
  window.showPage(QStringLiteral("start"));
  startOf(window)->waitUntilIdle();
  std::int64_t interrupted = 0;
  std::string name;
  for (const auto& [id, row] : studio.workbench.runs()) {
    if (row.state != store::RunState::Interrupted) continue;
    interrupted = id;
    name = row.name;
  }
  ASSERT_NE(interrupted, 0) << "the sample database has one";
  QPushButton* resume = buttonNamed(
      *window.currentPage(),
      QStringLiteral("Resume #%1 %2").arg(interrupted).arg(QString::fromStdString(name)));
  ASSERT_NE(resume, nullptr);
  resume->click();
  studio.workbench.queue().waitUntilIdle();
  const jobs::QueueEntry* entry = studio.workbench.queue().view().entry(interrupted);
  EXPECT_NE(entry, nullptr) << "it waits in the queue";
  startOf(window)->waitUntilIdle();
  QPushButton* queue = buttonNamed(*window.currentPage(), QStringLiteral("Show the queue"));
  ASSERT_NE(queue, nullptr) << "and the page says so instead of nothing";
  queue->click();
  EXPECT_EQ(startOf(window), nullptr);
}

TEST(StartPage, OpensTheOtherDatabasesThatWereOpenedLately) {
  SampleStudio studio(SampleOptions{0, 20});
  useSettings(studio.folder.filePath(QStringLiteral("studio.ini")));
  QFile other(studio.folder.filePath(QStringLiteral("other.sqlite")));
  ASSERT_TRUE(other.open(QIODevice::WriteOnly));
  rememberDatabase(other.fileName());
  MainWindow window(studio.workbench);
  window.show();
  window.showPage(QStringLiteral("start"));
  QSignalSpy asked(&studio.workbench, &StudioWorkbench::fileRequested);
  QPushButton* open = buttonNamed(*window.currentPage(), QStringLiteral("Open other.sqlite"));
  ASSERT_NE(open, nullptr);
  window.files().blockSignals(true);
  open->click();
  forgetSettings();
  ASSERT_EQ(asked.count(), 1);
  EXPECT_EQ(asked.front().front().toString(), other.fileName());
}

TEST(StartPage, EveryPageItNamesOpens) {
  SampleStudio studio(SampleOptions{0, 20});
  MainWindow window(studio.workbench);
  window.show();
  int named = 0;
  for (const PageFactory& page : pages()) {
    if (page.about.isEmpty()) continue;
    window.showPage(QStringLiteral("start"));
    QPushButton* open = buttonNamed(*window.currentPage(), QStringLiteral("Open ") + page.title);
    ASSERT_NE(open, nullptr) << page.title.toStdString();
    open->click();
    EXPECT_EQ(startOf(window), nullptr);
    ++named;
  }
  EXPECT_GE(named, 3);
}

}  // namespace
}  // namespace vitrine::ui
