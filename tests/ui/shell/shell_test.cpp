#include <QAbstractButton>
#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QElapsedTimer>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QTabBar>
#include <QTest>
#include <QToolButton>
#include <QToolTip>
#include <QTreeWidget>
#include <map>
#include <memory>
#include <set>

#include "core/base/text.h"
#include "tests/ui/support/describing.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/studio_window.h"
#include "ui/configure/configure_page.h"
#include "ui/shell/machine_facts.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"
#include "ui/shell/tool_tips.h"

namespace vitrine::ui {
namespace {

TEST(MachineFacts, ReadTheKernelsNumbers) {
  const jobs::CpuTicks ticks = jobs::parseCpuTicks("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3\n");
  EXPECT_EQ(ticks.busy, 150);
  EXPECT_EQ(ticks.total, 1000);
  EXPECT_EQ(jobs::parseCpuTicks("nonsense").total, 0);
  const jobs::MemoryFacts memory =
      jobs::parseMemory("MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 400 kB\n");
  EXPECT_EQ(memory.used, 600 * 1024);
}

TEST(MachineFacts, AllCoresTogetherAreAHundredPercent) {
  MachineFacts facts;
  EXPECT_FALSE(facts.sentence({.busy = 10, .total = 100}).contains(QStringLiteral("CPU")));
  EXPECT_TRUE(
      facts.sentence({.busy = 160, .total = 300}).startsWith(QStringLiteral("CPU 75\u2009%")));
}

TEST(MainWindow, GermanAndTurkishNumbersAreReadAndWrittenRight) {
  SampleStudio studio(SampleOptions{0, 50});
  for (const QLocale& locale :
       {QLocale(QLocale::German, QLocale::Germany), QLocale(QLocale::Turkish, QLocale::Turkey)}) {
    QLocale::setDefault(locale);
    EXPECT_EQ(number(1234.5, 1).toStdString(), "1,234.5");
    EXPECT_EQ(count(1234567).toStdString(), "1,234,567");
    EXPECT_EQ(percent(0.8764, 2).toStdString(), "87.64\u2009%");
    MainWindow window(studio.workbench);
    window.show();
    for (const PageFactory& page : pages()) {
      ASSERT_TRUE(window.showPage(page.id)) << page.id.toStdString();
      QCoreApplication::processEvents();
    }
    // Turkish has two letters i: what is looked for without regard to case is still found.
    window.openPalette();
    QTest::keyClicks(&only<CommandPalette>(window).input(), "MONITOR");
    ASSERT_GT(only<CommandPalette>(window).list().count(), 0) << locale.name().toStdString();
    EXPECT_EQ(only<CommandPalette>(window).list().item(0)->text().toStdString(), "Monitor");
    only<CommandPalette>(window).reject();
    only<RunsPanel>(window).filter().setText(QStringLiteral("STATE=interrupted"));
    EXPECT_TRUE(only<RunsPanel>(window).summary().startsWith(QStringLiteral("1 of 12 runs")))
        << only<RunsPanel>(window).summary().toStdString();
  }
  QLocale::setDefault(QLocale::c());
}

TEST(MainWindow, FitsATinyScreenAndAHugeZoom) {
  SampleStudio studio(SampleOptions{0, 50});
  {
    MainWindow window(studio.workbench);
    window.show();
    for (const double zoom : {0.6, 2.4}) {
      window.setZoom(zoom);
      for (const QSize size : {QSize(320, 240), QSize(3840, 2160)}) {
        window.resize(size);
        for (const PageFactory& page : pages()) {
          ASSERT_TRUE(window.showPage(page.id));
          QCoreApplication::processEvents();
          EXPECT_GT(window.currentPage()->width(), 0) << page.id.toStdString();
        }
      }
    }
  }
  MainWindow(studio.workbench).setZoom(1);  // soon done, without pages
}

TEST(MainWindow, TheSizeOfTheDatabaseIncludesItsLog) {
  SampleStudio studio(SampleOptions{0, 50});
  studio.writer.setNote(studio.runs[0], "a note that is in the log");
  const QString file = QString::fromStdString(studio.workbench.store().file().string());
  const qint64 log = QFileInfo(file + QStringLiteral("-wal")).size();
  ASSERT_GT(log, 0) << "nothing is in the log";
  MainWindow window(studio.workbench);
  const auto* label = qobject_cast<QLabel*>(window.menuBar()->cornerWidget());
  ASSERT_NE(label, nullptr);
  const std::string size = formatBytes(QFileInfo(file).size() + log);
  EXPECT_TRUE(label->text().endsWith(QString::fromStdString(size))) << label->text().toStdString();
}

TEST(MainWindow, AHundredRunsShowInHalfASecond) {
  SampleStudio studio(SampleOptions{88, 200});
  QElapsedTimer clock;
  clock.start();
  MainWindow window(studio.workbench);
  window.show();
  QCoreApplication::processEvents();
  // The limit is 0.5 s; ten times that guards against hanging on a busy machine.
  EXPECT_LT(clock.elapsed(), 5000);
  EXPECT_EQ(only<RunsPanel>(window).model().runCount(), 100);
  EXPECT_NE(window.currentPage(), nullptr);
  int made = 0;
  for (const QWidget* widget : window.findChildren<QWidget*>())
    made += qobject_cast<const Page*>(widget) != nullptr;
  EXPECT_EQ(made, 1) << "a page is made when it is looked at, not before the window is there";
}

TEST_F(StudioWindow, TheInspectorFoldsToTheEdgeOfANarrowWindow) {
  window.resize(1440, 900);
  window.show();
  QCoreApplication::processEvents();
  EXPECT_TRUE(inspectorDock(window).isVisible());
  window.resize(1366, 768);
  QCoreApplication::processEvents();
  EXPECT_FALSE(inspectorDock(window).isVisible());
  window.resize(1600, 900);
  QCoreApplication::processEvents();
  EXPECT_TRUE(inspectorDock(window).isVisible());
}

TEST_F(StudioWindow, TheInspectorGivesItsRoomToPagesThatNeedIt) {
  window.resize(1440, 900);
  window.show();
  for (const char* page : {"configure", "sql", "plugins"}) {
    window.showPage(QString::fromUtf8(page));
    EXPECT_FALSE(inspectorDock(window).isVisible()) << page;
    window.showPage(QStringLiteral("monitor"));
    EXPECT_TRUE(inspectorDock(window).isVisible());
  }
  window.showPage(QStringLiteral("sql"));
  window.resize(1600, 900);
  QCoreApplication::processEvents();
  EXPECT_TRUE(inspectorDock(window).isVisible());
}

TEST_F(StudioWindow, TheTitleNamesThePageAndTheDatabase) {
  window.showPage(QStringLiteral("sql"));
  const QString database =
      QFileInfo(QString::fromStdString(studio.workbench.store().file().string())).fileName();
  EXPECT_EQ(window.windowTitle(),
            QStringLiteral("SQL \u2013 %1 \u2013 Vitrine Studio").arg(database));
  window.showPage(QStringLiteral("monitor"));
  EXPECT_TRUE(window.windowTitle().startsWith(QStringLiteral("Monitor ")));
}

TEST_F(StudioWindow, AnErrorStandsAboveThePageUntilItIsDismissed) {
  window.resize(1366, 768);
  window.show();
  EXPECT_EQ(errorIn(window), QString());
  const QString sentence = QStringLiteral(
      "/data/lab.sqlite cannot be written: no space left on device; free some and press Try now");
  studio.workbench.showError(sentence);
  EXPECT_EQ(errorIn(window), sentence);
  studio.workbench.showMessage(QStringLiteral("Saved."));
  window.showPage(QStringLiteral("sql"));
  EXPECT_EQ(errorIn(window), sentence) << "what was done does not hide what was not";
  const auto buttons = only<ErrorBar>(window).findChildren<QPushButton*>();
  ASSERT_EQ(buttons.size(), 2);
  QTest::mouseClick(buttons[0], Qt::LeftButton);
  EXPECT_EQ(QGuiApplication::clipboard()->text(), sentence);
  QTest::mouseClick(buttons[1], Qt::LeftButton);
  EXPECT_EQ(errorIn(window), QString());
}

TEST(ToolTips, AreBrokenAtSpacesIntoLinesOfSixtyCharacters) {
  EXPECT_EQ(wrappedText(QStringLiteral("short")), QStringLiteral("short"));
  EXPECT_EQ(wrappedText(QStringLiteral("one two three"), 7), QStringLiteral("one two\nthree"));
  EXPECT_EQ(wrappedText(QStringLiteral("incomprehensible a"), 7),
            QStringLiteral("incomprehensible\na"));
  EXPECT_EQ(wrappedText(QStringLiteral("a\n\nb")), QStringLiteral("a\n\nb"));
}

TEST(ToolTips, OfButtonsAreWrapped) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  window.show();
  QPushButton button(&window);
  button.setToolTip(QStringLiteral("word ").repeated(40).trimmed());
  button.show();
  QHelpEvent event(QEvent::ToolTip, QPoint(1, 1), button.mapToGlobal(QPoint(1, 1)));
  QCoreApplication::sendEvent(&button, &event);
  for (const QString& line : QToolTip::text().split(QLatin1Char('\n')))
    EXPECT_LE(line.size(), kToolTipColumns);
  EXPECT_GT(QToolTip::text().count(QLatin1Char('\n')), 2);
}

TEST(ToolTips, OfHeadingsAreWrapped) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  window.show();
  QTreeWidget list(&window);
  list.setHeaderLabels({QStringLiteral("Score")});
  list.headerItem()->setToolTip(0, QStringLiteral("word ").repeated(40).trimmed());
  list.show();
  QWidget* header = list.header()->viewport();
  QHelpEvent event(QEvent::ToolTip, QPoint(9, 9), header->mapToGlobal(QPoint(9, 9)));
  QCoreApplication::sendEvent(header, &event);
  EXPECT_GT(QToolTip::text().count(QLatin1Char('\n')), 2);
}

TEST_F(StudioWindow, OnePrimaryButtonIsInSight) {
  window.show();
  for (const char* page : {"monitor", "sql", "compare"}) {
    window.showPage(QString::fromUtf8(page));
    int number = 0;
    for (const QPushButton* button : window.findChildren<QPushButton*>())
      number += button->isVisible() && button->property("primary").toBool() ? 1 : 0;
    EXPECT_EQ(number, 1) << page;
  }
}

TEST_F(StudioWindow, NumbersGoToThePages) {
  bringUp(window);
  QTest::keyClick(&window, Qt::Key_2, Qt::ControlModifier);
  EXPECT_TRUE(window.windowTitle().startsWith(QStringLiteral("Configure ")));
  QTest::keyClick(&window, Qt::Key_1, Qt::ControlModifier);
  EXPECT_TRUE(window.windowTitle().startsWith(QStringLiteral("Start ")));
}

TEST_F(StudioWindow, TheTabKeyGoesFromTheTabsIntoTheirPage) {
  window.show();
  window.showPage(QStringLiteral("artifacts"));
  window.showPage(QStringLiteral("monitor"));
  auto* bar = window.findChild<QTabBar*>();
  bar->setFocus();
  QTest::keyClick(bar, Qt::Key_Tab);
  EXPECT_TRUE(window.currentPage()->isAncestorOf(window.focusWidget()))
      << window.focusWidget()->accessibleName().toStdString()
      << window.focusWidget()->parentWidget()->metaObject()->className();
}

TEST_F(StudioWindow, ThePaletteFindsActionsPagesAndRuns) {
  window.show();
  window.openPalette();
  CommandPalette& palette = only<CommandPalette>(window);
  QTest::keyClicks(&palette.input(), "monitor");
  ASSERT_GT(palette.list().count(), 0);
  EXPECT_EQ(palette.list().item(0)->text().toStdString(), "Monitor");
  palette.input().clear();
  QTest::keyClicks(&palette.input(), "learned1d");
  ASSERT_GT(palette.list().count(), 0);
  QTest::keyClick(&palette.input(), Qt::Key_Return);
  EXPECT_EQ(studio.workbench.selection().current(), studio.runs[1]);
  EXPECT_FALSE(palette.isVisible());
}

TEST_F(StudioWindow, ThePaletteWritesAReportFromAnyPage) {
  window.show();
  ASSERT_TRUE(window.showPage(QStringLiteral("monitor")));
  window.openPalette();
  CommandPalette& palette = only<CommandPalette>(window);
  QTest::keyClicks(&palette.input(), "report");
  ASSERT_EQ(palette.list().item(0)->text().toStdString(), "Report\u2026");
  QTest::keyClick(&palette.input(), Qt::Key_Return);
  const auto dialog = [this] { return window.findChild<QFileDialog*>(); };
  ASSERT_TRUE(soon([&] { return dialog() != nullptr; }));
  EXPECT_EQ(dialog()->windowTitle().toStdString(), "Write report");
  dialog()->reject();
}

TEST_F(StudioWindow, ThePaletteSaysThatNothingMatches) {
  window.show();
  window.openPalette();
  CommandPalette& palette = only<CommandPalette>(window);
  QTest::keyClicks(&palette.input(), "qqqzzz");
  ASSERT_EQ(palette.list().count(), 1);
  EXPECT_TRUE(palette.list().item(0)->text().contains(QStringLiteral("qqqzzz")));
  QTest::keyClick(&palette.input(), Qt::Key_Return);
  EXPECT_TRUE(palette.isVisible()) << "there is nothing to do";
}

TEST_F(StudioWindow, AMessageCanBeCopied) {
  window.show();
  studio.workbench.showMessage(QStringLiteral("patch size 5 does not divide image size 28"));
  EXPECT_EQ(only<BottomBar>(window).sentence().toStdString(),
            "patch size 5 does not divide image size 28");
  int shown = 0;
  for (QToolButton* button : only<BottomBar>(window).findChildren<QToolButton*>()) {
    if (!button->isVisible()) continue;  // nothing is offered beside this message
    button->click();
    ++shown;
  }
  EXPECT_EQ(shown, 1);
  EXPECT_EQ(QGuiApplication::clipboard()->text().toStdString(),
            "patch size 5 does not divide image size 28");
}

using Lengths = std::map<std::string, std::vector<int>>;

/// Icon and fixed sizes of the buttons of all pages, margins and spacing of the layouts in them;
/// under names that only one of them has, since lists fill while this looks.
Lengths lengthsIn(MainWindow& window) {
  Lengths lengths;
  std::set<std::string> twice;
  const auto add = [&](std::string name, std::vector<int> all) {
    if (!lengths.emplace(name, std::move(all)).second) twice.insert(std::move(name));
  };
  const auto nameOf = [](const QWidget* widget) {
    return std::string(widget->metaObject()->className()) + " '" +
           widget->accessibleName().toStdString() + "'";
  };
  for (const PageFactory& page : pages()) {
    EXPECT_TRUE(window.showPage(page.id));
    QCoreApplication::processEvents();
    const std::string on = page.id.toStdString() + ": ";
    for (const auto* button : window.currentPage()->findChildren<QAbstractButton*>()) {
      const QSize icon = button->iconSize(), least = button->minimumSize();
      std::vector<int> all{icon.width(), icon.height()};
      if (least == button->maximumSize()) all.insert(all.end(), {least.width(), least.height()});
      add(on + nameOf(button), all);
    }
    for (const auto* layout : window.currentPage()->findChildren<QBoxLayout*>()) {
      const QMargins around = layout->contentsMargins();
      add(on + "layout of " + nameOf(layout->parentWidget()),
          {around.left(), around.top(), around.right(), around.bottom(), layout->spacing()});
    }
  }
  for (const std::string& name : twice) lengths.erase(name);
  return lengths;
}

TEST(MainWindow, ZoomedIsAsOneThatIsMadeAtThatZoomAndComesBackToTheSameLengths) {
  SampleStudio studio(SampleOptions{0, 50});
  Lengths before, zoomed, after, made;
  {
    MainWindow window(studio.workbench);
    window.show();
    before = lengthsIn(window);
    for (const double zoom : {1.3, 0.7, 1.7}) window.setZoom(zoom);
    zoomed = lengthsIn(window);
    window.setZoom(1);
    after = lengthsIn(window);
  }
  MainWindow(studio.workbench).setZoom(1.7);  // soon done, without pages
  {
    MainWindow window(studio.workbench);
    window.show();
    made = lengthsIn(window);
  }
  MainWindow(studio.workbench).setZoom(1);
  int compared = 0;
  for (const auto& [name, lengths] : made) {
    const auto other = zoomed.find(name);
    if (other == zoomed.end()) continue;
    ++compared;
    ASSERT_EQ(other->second.size(), lengths.size()) << name;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      EXPECT_NEAR(other->second[i], lengths[i], 1) << name << ", " << i;
  }
  EXPECT_GT(compared, 80);
  for (const auto& [name, lengths] : before) {
    const auto other = after.find(name);
    EXPECT_TRUE(other == after.end() || other->second == lengths) << name;
  }
}

TEST_F(StudioWindow, ThemesAndZoomChangeEveryWidgetAndBack) {
  window.show();
  window.setTheme(ThemeKind::Light);
  EXPECT_EQ(QApplication::palette().color(QPalette::Window),
            themeColors(ThemeKind::Light).background);
  window.setZoom(1.2);
  EXPECT_EQ(bodyFont().pixelSize(), 16);
  window.setZoom(1);
  window.setTheme(ThemeKind::Dark);
  EXPECT_EQ(bodyFont().pixelSize(), 13);
}

TEST(MainWindow, MakesANewExperimentFromARunOfTheList) {
  SampleStudio studio(SampleOptions{0, 50});
  becomeProgram(studio, describing("vit"));
  MainWindow window(studio.workbench);
  window.show();
  studio.workbench.selection().setRuns({studio.runs[1]}, studio.runs[1]);
  QMenu menu;
  only<RunsPanel>(window).fillMenu(menu);
  for (QAction* action : menu.actions()) {
    if (action->text().remove(QLatin1Char('&')) == QLatin1String("New from this run"))
      action->trigger();
  }
  auto* form = qobject_cast<ConfigurePage*>(window.currentPage());
  ASSERT_NE(form, nullptr);
  const std::string width =
      "width = " + studio.workbench.store().config(studio.runs[1])["model"]["width"].dump() + "\n";
  EXPECT_TRUE(soon([&] { return form->text().find(width) != std::string::npos; }))
      << width << form->text();
}

TEST(MainWindow, GoesWhileASearchOfTheGalleryIsTyped) {
  SampleStudio studio(SampleOptions{0, 50, true});
  auto window = std::make_unique<MainWindow>(studio.workbench);
  bringUp(*window);
  window->showPage(QStringLiteral("gallery"));
  window->waitUntilIdle();
  auto* field = named<QLineEdit>(*window->currentPage(), "Search images");
  field->setFocus();
  QTest::keyClicks(field, QStringLiteral("sampler:ddim"));
  window.reset();
}

TEST(Workbench, DeletingARunTellsEverybody) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  studio.workbench.selection().setRuns({studio.runs[0], studio.runs[1]}, studio.runs[0]);
  studio.workbench.deleteRuns({studio.runs[0]});
  studio.workbench.queue().waitUntilIdle();
  EXPECT_EQ(only<RunsPanel>(window).model().runCount(), 11);
  EXPECT_EQ(studio.workbench.selection().runs(), std::vector<std::int64_t>{studio.runs[1]});
  EXPECT_EQ(studio.workbench.selection().current(), studio.runs[1]);
}

}  // namespace
}  // namespace vitrine::ui
