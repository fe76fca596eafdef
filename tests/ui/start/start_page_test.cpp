#include "ui/start/start_page.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>
#include <algorithm>

#include "core/config/papers/claims.h"
#include "core/config/papers/tour.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/probe.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/test_files.h"
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

std::int64_t addDemoRun(store::RunStore& store, const std::string& name,
                        const std::string& experiment = kDemoTitle) {
  store::NewRun run{.name = name};
  return store.addRuns(store.experiment(experiment, ""), {run}).front();
}

/// The titles of the experiments of the tour, and its cost, as the window carries them.
struct BuiltInTour {
  BuiltInTour() {
    std::vector<Problem> problems;
    tour = readTour(builtInText(QStringLiteral("experiments/tour/tour.toml")).toStdString(),
                    "tour.toml", problems);
    for (const Tour::Part& part : tour.parts) {
      const QString file =
          QStringLiteral("experiments/tour/") + QString::fromStdString(part.experiment);
      titles.push_back(titleOf(builtInText(file).toStdString(), part.experiment));
    }
  }
  Tour tour;
  std::vector<std::string> titles;
};

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
    EXPECT_LE(Probe::measurings(*label), 16) << label->text().toStdString();
  // What changes nothing lays nothing out again.
  const auto measured = [&labels] {
    int sum = 0;
    for (const WordLabel* label : labels) sum += Probe::measurings(*label);
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
  EXPECT_TRUE(QString::fromUtf8(bytesOf(kept)).contains(QLatin1String(kDemoTitle)));
  qunsetenv("VITRINE_PROGRAM");
}

TEST(StartPage, SaysWhatKeptTheDemoFromStarting) {
  SampleStudio studio(SampleOptions{0, 0});
  becomeProgram(studio, "echo 'dataset-fashion-mnist is not installed' >&2\nexit 4");
  MainWindow window(studio.workbench);
  window.show();
  StartPage* start = startOf(window);
  start->demo().click();
  ASSERT_TRUE(soon([&] {
    return named<QLabel>(*start, "State of the demo")
        ->text()
        .contains(QLatin1String("is not installed"));
  }));
  EXPECT_TRUE(start->demo().isEnabled());
  qunsetenv("VITRINE_PROGRAM");
}

TEST(StartPage, TheFocusComesBackToTheButtonThatIsOffMeanwhileUnlessItWasMoved) {
  SampleStudio studio(SampleOptions{0, 0});
  becomeProgram(studio, "echo 'dataset-fashion-mnist is not installed' >&2\nexit 4");
  MainWindow window(studio.workbench);
  window.show();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
  StartPage* start = startOf(window);
  for (QPushButton* button : {&start->demo(), &only<TourOffer>(*start).button()}) {
    button->setFocus();
    QTest::keyClick(button, Qt::Key_Space);
    EXPECT_FALSE(button->isEnabled());
    QWidget* meanwhile = QApplication::focusWidget();
    ASSERT_NE(meanwhile, nullptr);
    EXPECT_TRUE(start->isAncestorOf(meanwhile));
    ASSERT_TRUE(soon([&] { return button->isEnabled(); }));
    EXPECT_TRUE(button->hasFocus()) << button->text().toStdString();
    QTest::keyClick(button, Qt::Key_Space);
    only<RunsPanel>(window).filter().setFocus();
    ASSERT_TRUE(soon([&] { return button->isEnabled(); }));
    EXPECT_TRUE(only<RunsPanel>(window).filter().hasFocus());
  }
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

TEST(StartPage, PutsEveryPartOfTheTourIntoTheQueueWithOneClick) {
  const BuiltInTour built;
  ASSERT_GE(built.titles.size(), 3u);
  SampleStudio studio(SampleOptions{0, 0});
  const QString kept = studio.folder.filePath(QStringLiteral("kept.toml"));
  becomeProgram(studio, "[ \"$1\" = enqueue ] || exit 0\ncat \"$2\" >> '" + kept.toLocal8Bit() +
                            "'\necho '{\"ids\":[1]}'");
  MainWindow window(studio.workbench);
  window.show();
  StartPage* start = startOf(window);
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(only<TourOffer>(*start).button().text().toStdString(), "Run the tour");
  EXPECT_TRUE(only<TourOffer>(*start).cost().contains(QString::number(built.tour.minutes)));
  EXPECT_TRUE(labelsIn(*start).contains(QStringLiteral("About 15 minutes on 2 cores.")));
  QTest::mouseClick(&only<TourOffer>(*start).button(), Qt::LeftButton);
  EXPECT_FALSE(only<TourOffer>(*start).button().isEnabled());
  ASSERT_TRUE(QTest::qWaitFor([&] { return startOf(window) == nullptr; }, 30'000));
  EXPECT_STREQ(window.currentPage()->metaObject()->className(), "vitrine::ui::QueuePage");
  const QString all = QString::fromUtf8(bytesOf(kept));
  qsizetype last = -1;
  for (const std::string& title : built.titles) {
    const qsizetype at = all.indexOf(QString::fromStdString(title));
    EXPECT_GT(at, last) << title << ", in the order of the tour";
    last = at;
  }
  qunsetenv("VITRINE_PROGRAM");
}

TEST(StartPage, SaysWhatKeptTheTourFromStarting) {
  SampleStudio studio(SampleOptions{0, 0});
  becomeProgram(studio, "echo 'dataset-fashion-mnist is not installed' >&2\nexit 4");
  MainWindow window(studio.workbench);
  window.show();
  StartPage* start = startOf(window);
  only<TourOffer>(*start).button().click();
  ASSERT_TRUE(soon(
      [&] { return only<TourOffer>(*start).state().contains(QLatin1String("is not installed")); }));
  EXPECT_TRUE(only<TourOffer>(*start).button().isEnabled());
  qunsetenv("VITRINE_PROGRAM");
}

TEST(StartPage, ATourThatIsTrainedWritesItsReport) {
  const BuiltInTour built;
  SampleStudio studio(SampleOptions{0, 0});
  for (std::size_t i = 0; i + 1 < built.titles.size(); ++i) {
    const std::int64_t run = addDemoRun(studio.writer, "a", built.titles[i]);
    for (const auto state :
         {store::RunState::Starting, store::RunState::Running, store::RunState::Done})
      studio.writer.setState(run, state);
  }
  studio.workbench.watcher().poll();
  MainWindow window(studio.workbench);
  window.show();
  window.showPage(QStringLiteral("start"));
  StartPage* start = startOf(window);
  start->waitUntilIdle();
  EXPECT_EQ(only<TourOffer>(*start).button().text().toStdString(), "Continue the tour")
      << "a part is missing";
  const std::int64_t last = addDemoRun(studio.writer, "b", built.titles.back());
  for (const auto state :
       {store::RunState::Starting, store::RunState::Running, store::RunState::Done})
    studio.writer.setState(last, state);
  studio.workbench.watcher().poll();
  start->waitUntilIdle();
  EXPECT_EQ(only<TourOffer>(*start).button().text().toStdString(), "Write the report");
  // The report is that of `vitrine demo --tour`, which says what is wrong.
  becomeProgram(studio,
                "[ \"$1 $2\" = 'demo --tour' ] || exit 0\necho 'the disk is full' >&2\nexit 1");
  only<TourOffer>(*start).button().click();
  ASSERT_TRUE(soon(
      [&] { return only<TourOffer>(*start).state().contains(QLatin1String("the disk is full")); }));
  qunsetenv("VITRINE_PROGRAM");
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

TEST(StartPage, ItsRowsKeepThePressedButtonAndTheFocusWhileARunTrains) {
  SampleStudio studio(SampleOptions{0, 20});
  const std::int64_t running = studio.runs[8], interrupted = studio.runs[5];
  MainWindow window(studio.workbench);
  window.show();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
  window.showPage(QStringLiteral("start"));
  StartPage* start = startOf(window);
  start->waitUntilIdle();
  const auto button = [&](const char* act, std::int64_t run) {
    return buttonNamed(*start, QStringLiteral("%1 #%2 %3")
                                   .arg(QLatin1String(act))
                                   .arg(run)
                                   .arg(QString::fromStdString(studio.workbench.run(run)->name)));
  };
  QPushButton* watch = button("Watch", running);
  ASSERT_NE(watch, nullptr);
  const auto* about = watch->parentWidget()->findChild<QLabel*>(QStringLiteral("about"));
  const QString before = about->text();
  watch->setFocus();
  QTest::keyPress(watch, Qt::Key_Space);
  appendSamplePoints(studio.writer, running, 1, 8, 9, 12, 20);
  studio.workbench.watcher().poll();
  start->waitUntilIdle();
  ASSERT_EQ(button("Watch", running), watch);
  EXPECT_NE(about->text(), before) << "the step is another one";
  EXPECT_TRUE(watch->isDown());
  QTest::keyRelease(watch, Qt::Key_Space);
  EXPECT_EQ(startOf(window), nullptr) << "its curves are shown";

  window.showPage(QStringLiteral("start"));
  button("Resume", interrupted)->setFocus();
  QTest::keyClick(button("Resume", interrupted), Qt::Key_Space);
  studio.workbench.queue().waitUntilIdle();
  start->waitUntilIdle();
  EXPECT_EQ(button("Resume", interrupted), nullptr) << "it waits in the queue";
  EXPECT_EQ(QApplication::focusWidget(), buttonNamed(*start, QStringLiteral("Show the queue")));
}

TEST(StartPage, OpensTheOtherDatabasesThatWereOpenedLately) {
  SampleStudio studio(SampleOptions{0, 20});
  useSettings(studio.folder.filePath(QStringLiteral("studio.ini")));
  const QString other = makeFile(studio.folder.filePath(QStringLiteral("other.sqlite")));
  rememberDatabase(other);
  MainWindow window(studio.workbench);
  window.show();
  window.showPage(QStringLiteral("start"));
  QSignalSpy asked(&studio.workbench, &StudioWorkbench::fileRequested);
  QPushButton* open = buttonNamed(*window.currentPage(), QStringLiteral("Open other.sqlite"));
  ASSERT_NE(open, nullptr);
  only<FileController>(window).blockSignals(true);
  open->click();
  forgetSettings();
  ASSERT_EQ(asked.count(), 1);
  EXPECT_EQ(asked.front().front().toString(), other);
}

TEST(StartPage, NamesADatabaseOnAnotherMachineByItsPlace) {
  SampleStudio studio(SampleOptions{0, 20});
  useSettings(studio.folder.filePath(QStringLiteral("studio.ini")));
  const QString place = QStringLiteral("ssh://lab/data/far.sqlite?program=/opt/vitrine");
  rememberDatabase(place);
  MainWindow window(studio.workbench);
  window.show();
  window.showPage(QStringLiteral("start"));
  forgetSettings();
  EXPECT_NE(buttonNamed(*window.currentPage(), QStringLiteral("Open far.sqlite")), nullptr);
  const auto labels = window.currentPage()->findChildren<QLabel*>();
  EXPECT_TRUE(std::any_of(labels.begin(), labels.end(),
                          [&place](const QLabel* label) { return label->text() == place; }));
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
