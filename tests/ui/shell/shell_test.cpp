#include <sys/stat.h>

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QAccessibleTableInterface>
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QLocale>
#include <QPixmapCache>
#include <QPlainTextEdit>
#include <QProcess>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>
#include <map>
#include <set>

#include "tests/ui/support/qt_test.h"
#include "ui/configure/configure_page.h"
#include "ui/kit/fuzzy.h"
#include "ui/kit/icons.h"
#include "ui/kit/style_sheet.h"
#include "ui/monitor/curve_plot.h"
#include "ui/shell/key_dialog.h"
#include "ui/shell/machine_facts.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"
#include "ui/workbench/help_viewer.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {
namespace {

constexpr ThemeKind kThemes[] = {ThemeKind::Dark, ThemeKind::Light, ThemeKind::HighContrast};

TEST(Contrast, IsThatOfWcag) {
  EXPECT_NEAR(contrast(Qt::black, Qt::white), 21, 1e-9);
  EXPECT_NEAR(contrast(QColor("#777777"), Qt::white), 4.48, 0.01);
}

TEST(Tokens, TextIsReadableOnEveryGround) {
  for (const ThemeKind kind : kThemes) {
    const Tokens& t = tokensOf(kind);
    for (const QColor& ground : {t.background, t.panel, t.raised}) {
      for (const QColor& text : {t.text, t.muted, t.ok, t.warn, t.bad, t.accent}) {
        EXPECT_GE(contrast(text, ground), 4.5)
            << static_cast<int>(kind) << ' ' << text.name().toStdString() << " on "
            << ground.name().toStdString();
      }
    }
    for (const QColor& text : {t.text, t.muted})
      EXPECT_GE(contrast(text, t.selection), 4.5) << text.name().toStdString();
    EXPECT_GE(contrast(t.onAccent, t.accent), 4.5) << static_cast<int>(kind);
  }
}

// Under a style sheet Qt keeps another picture of an arrow with each drawing, and a window beside
// runs that train draws some four times a second for days.
TEST(StyleSheet, WhatIsKeptOfDrawnArrowsIsBounded) {
  QPixmapCache::setCacheLimit(10'240);
  applyTheme(currentTheme());
  EXPECT_LE(QPixmapCache::cacheLimit(), 1024) << "kB";
}

TEST(Tokens, LinesOfRunsStandOutFromTheirPanel) {
  for (const ThemeKind kind : kThemes) {
    for (int run = 1; run <= 7; ++run) {
      EXPECT_GE(contrast(seriesColor(run, kind), tokensOf(kind).panel), 3)
          << static_cast<int>(kind) << ' ' << run;
    }
  }
}

TEST(Series, TwentyEightRunsDifferInColourOrDash) {
  std::set<std::pair<QRgb, int>> looks;
  for (int run = 1; run <= 28; ++run)
    looks.emplace(seriesColor(run, ThemeKind::Dark).rgb(), seriesDash(run));
  EXPECT_EQ(looks.size(), 28U);
}

TEST(StyleSheet, LeavesNoPlaceholderBehind) {
  for (const ThemeKind kind : kThemes) {
    const QString sheet = styleSheet(tokensOf(kind));
    EXPECT_FALSE(sheet.contains(QRegularExpression(QStringLiteral("\\d!|@[A-Za-z]"))));
    EXPECT_FALSE(sheet.contains(QLatin1String("url(\"\")")));
    EXPECT_EQ(sheet.count(QLatin1Char('{')), sheet.count(QLatin1Char('}')));
  }
}

TEST(ColourMaps, GrowLighterFromEndToEnd) {
  for (const auto map : {viridis, cividis}) {
    double before = -1;
    for (double t = 0; t <= 1; t += 0.05) {
      const double light = contrast(map(t), Qt::black);
      EXPECT_GT(light, before) << t;
      before = light;
    }
  }
  EXPECT_EQ(viridis(0).name().toStdString(), "#440154");
  EXPECT_EQ(viridis(1).name().toStdString(), "#fde725");
}

TEST(Numbers, AreWrittenTheSameEverywhere) {
  EXPECT_EQ(number(-1234.5, 1).toStdString(), "\u22121,234.5");
  EXPECT_EQ(number(-0.0001, 2).toStdString(), "0.00");
  EXPECT_EQ(number(std::nan(""), 2).toStdString(), "\u2013");
  EXPECT_EQ(percent(0.861, 1).toStdString(), "86.1\u2009%");
  EXPECT_EQ(percent(std::nan(""), 1).toStdString(), "\u2013");
  EXPECT_EQ(counted(1, "run", "runs").toStdString(), "1 run");
  EXPECT_EQ(counted(1200, "run", "runs").toStdString(), "1,200 runs");
  EXPECT_EQ(duration(112).toStdString(), "1\u2009min 52\u2009s");
}

TEST(Fuzzy, RanksStartsOfWordsAndNeighboursFirst) {
  EXPECT_LT(fuzzyScore("xyz", "New experiment"), 0);
  EXPECT_GE(fuzzyScore("nexp", "New experiment"), 0);
  EXPECT_GT(fuzzyScore("ne", "New experiment"), fuzzyScore("ne", "Command line"));
  EXPECT_GT(fuzzyScore("mon", "Monitor"), fuzzyScore("mon", "Common ground"));
  EXPECT_EQ(fuzzyScore("", "anything"), 0);
}

TEST(MachineFacts, ReadTheKernelsNumbers) {
  const CpuTicks ticks = parseCpuTicks("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3\n");
  EXPECT_EQ(ticks.busy, 150);
  EXPECT_EQ(ticks.total, 1000);
  EXPECT_EQ(parseCpuTicks("nonsense").total, 0);
  const MemoryFacts memory =
      parseMemory("MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 400 kB\n");
  EXPECT_EQ(memory.used, 600 * 1024);
}

TEST(RunFacts, MissingValuesAreDashesAndNeverZero) {
  const RunRow row;
  RunCard card;
  card.headline = {"test/top1", "test/words_per_line"};
  const auto facts = runFacts(row, {}, Json(), card, {});
  EXPECT_GE(facts.size(), 6U);
  for (const Fact& fact : facts)
    EXPECT_EQ(fact.value.toStdString(), "\u2013") << fact.label.toStdString();
}

TEST(RunFacts, ConfigurationCanBeCutDownToWhatDiffers) {
  const Json base{{"model", {{"width", 64}, {"depth", 4}}}};
  const Json config{{"model", {{"width", 128}, {"depth", 4}}}};
  const Json origins{{"model.width", {{"layer", "file"}, {"line", 3}}},
                     {"model.depth", {{"layer", "default"}}}};
  const auto differs = configFacts(config, base, origins, ConfigFilter::Baseline);
  ASSERT_EQ(differs.size(), 1U);
  EXPECT_EQ(differs[0].label.toStdString(), "model.width");
  EXPECT_EQ(differs[0].value.toStdString(), "128");
  EXPECT_TRUE(differs[0].definition.contains(QLatin1String("64")));
  EXPECT_EQ(configFacts(config, base, origins, ConfigFilter::Default).size(), 1U);
  EXPECT_EQ(configFacts(config, base, origins, ConfigFilter::All).size(), 2U);
}

TEST(RunFacts, TheCommandToRepeatCarriesTheWholeConfiguration) {
  RunRow row;
  row.id = 17;
  row.experiment = "say \"soft\"";
  const QString command =
      repeatCommand(row, Json{{"model", {{"width", 64}}}, {"train", {{"seed", 3}}}});
  EXPECT_TRUE(command.contains(QLatin1String("width = 64")));
  EXPECT_TRUE(command.contains(QLatin1String("seed = 3")));
  EXPECT_TRUE(command.contains(QLatin1String("title = \"say \\\"soft\\\", repeated\"")));
  EXPECT_TRUE(command.contains(QLatin1String("vitrine train run-17.toml")));
}

TEST(LogTail, ShowsTheEndAndFollowsWholeLines) {
  QTemporaryDir folder;
  QFile file(folder.filePath("run.log"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  for (int i = 0; i < 20'000; ++i) file.write(QByteArray("line ") + QByteArray::number(i) + '\n');
  file.flush();
  LogTail tail;
  tail.setFile(file.fileName());
  EXPECT_TRUE(tail.toPlainText().endsWith(QLatin1String("line 19999")));
  EXPECT_LE(tail.blockCount(), 1000);
  file.write("half a li");
  file.flush();
  tail.readMore();
  EXPECT_TRUE(tail.toPlainText().endsWith(QLatin1String("line 19999")));
  file.write("ne\n");
  file.flush();
  tail.readMore();
  EXPECT_TRUE(tail.toPlainText().endsWith(QLatin1String("half a line")));
}

// Opening one would wait for its other end: for ever.
TEST(LogTail, DoesNotOpenWhatIsNotAFile) {
  QTemporaryDir folder;
  const QString pipe = folder.filePath("run.log");
  ASSERT_EQ(::mkfifo(pipe.toLocal8Bit().constData(), 0600), 0);
  LogTail tail;
  tail.setFile(pipe);
  EXPECT_TRUE(tail.toPlainText().isEmpty());
  EXPECT_TRUE(tail.placeholderText().startsWith(QLatin1String("There is no log at")));
}

TEST(LogTail, ShowsTheStartOfEveryLineAtTheFirstSight) {
  QTemporaryDir folder;
  QFile file(folder.filePath("run.log"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  for (int i = 0; i < 50; ++i)
    file.write("2026-11-21T11:40:02.123Z step 20 " + QByteArray(200, 'x') + '\n');
  file.close();
  LogTail tail;
  tail.resize(240, 120);
  tail.setFile(file.fileName());
  tail.show();
  QCoreApplication::processEvents();
  ASSERT_GT(tail.horizontalScrollBar()->maximum(), 0);
  EXPECT_EQ(tail.horizontalScrollBar()->value(), 0);
  EXPECT_EQ(tail.verticalScrollBar()->value(), tail.verticalScrollBar()->maximum());
  EXPECT_TRUE(tail.toPlainText().startsWith(QLatin1String("11:40:02 step 20 x")));
}

// Every widget that can be used says to a screen reader what it is.
QStringList unnamed(const QWidget& root) {
  QStringList missing;
  for (const QWidget* widget : root.findChildren<QWidget*>()) {
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    const bool isUsed = button != nullptr || qobject_cast<const QLineEdit*>(widget) != nullptr ||
                        qobject_cast<const QAbstractItemView*>(widget) != nullptr ||
                        qobject_cast<const QPlainTextEdit*>(widget) != nullptr ||
                        qobject_cast<const QComboBox*>(widget) != nullptr ||
                        qobject_cast<const QAbstractSpinBox*>(widget) != nullptr ||
                        qobject_cast<const QSlider*>(widget) != nullptr;
    if (!isUsed || !widget->accessibleName().isEmpty()) continue;
    if (button != nullptr && !button->text().isEmpty()) continue;
    // Parts Qt makes for itself inside a named widget: clear buttons, tab scrollers, headers,
    // editors of spin boxes.
    const QString kind = QString::fromLatin1(widget->metaObject()->className());
    if (widget->objectName().startsWith(QLatin1String("qt_")) ||
        kind == QLatin1String("QTableCornerButton") ||
        kind == QLatin1String("QLineEditIconButton") || kind == QLatin1String("QHeaderView") ||
        qobject_cast<QTabBar*>(widget->parentWidget()) != nullptr ||
        qobject_cast<QComboBox*>(widget->parentWidget()) != nullptr ||
        qobject_cast<QAbstractSpinBox*>(widget->parentWidget()) != nullptr ||
        kind.contains(QLatin1String("ToolBarExtension")) ||
        kind.startsWith(QLatin1String("QComboBox"))) {
      continue;
    }
    missing << kind + QLatin1Char(' ') + widget->objectName() + QStringLiteral(" in ") +
                   QString::fromLatin1(widget->parentWidget()->metaObject()->className());
  }
  return missing;
}

TEST(MainWindow, EveryWidgetThatCanBeUsedHasAnAccessibleName) {
  SampleStudio studio(SampleOptions{0, 50});
  studio.workbench.selection().setRuns({studio.runs[0], studio.runs[4]}, studio.runs[0]);
  MainWindow window(studio.workbench);
  window.show();
  EXPECT_EQ(unnamed(window).join(QLatin1Char('\n')).toStdString(), "");
  for (const PageFactory& page : pages()) {
    ASSERT_TRUE(window.showPage(page.id));
    window.settle();
    EXPECT_EQ(unnamed(*window.currentPage()).join(QLatin1Char('\n')).toStdString(), "")
        << page.id.toStdString();
  }
  KeyDialog keys(window.keys(), nullptr);
  EXPECT_EQ(unnamed(keys).join(QLatin1Char('\n')).toStdString(), "");
  const HelpViewer help(nullptr);
  EXPECT_EQ(unnamed(help).join(QLatin1Char('\n')).toStdString(), "");
}

TEST(MainWindow, EveryPlotIsATableToAScreenReader) {
  SampleStudio studio(SampleOptions{0, 50});
  studio.workbench.selection().setRuns({studio.runs[0], studio.runs[4]}, studio.runs[0]);
  MainWindow window(studio.workbench);
  window.show();
  window.showPage(QStringLiteral("monitor"));
  window.settle();
  int plots = 0, rows = 0;
  for (QWidget* widget : window.currentPage()->findChildren<QWidget*>()) {
    const auto* plot = qobject_cast<CurvePlot*>(widget);
    if (plot == nullptr || !plot->isVisible()) continue;
    QAccessibleInterface* seen = QAccessible::queryAccessibleInterface(widget);
    ASSERT_NE(seen, nullptr);
    ASSERT_NE(seen->tableInterface(), nullptr) << widget->accessibleName().toStdString();
    EXPECT_FALSE(seen->text(QAccessible::Name).isEmpty());
    EXPECT_EQ(seen->tableInterface()->rowCount(), static_cast<int>(plot->curves().size()) + 1);
    rows += seen->tableInterface()->rowCount();
    ++plots;
  }
  EXPECT_GE(rows, plots + 2) << "titles, and the two runs in one plot at least";
}

TEST(MainWindow, EveryControlOfEveryPageIsReachedByTheTabKey) {
  SampleStudio studio(SampleOptions{0, 50});
  studio.workbench.selection().setRuns({studio.runs[0]}, studio.runs[0]);
  MainWindow window(studio.workbench);
  window.show();
  for (const PageFactory& page : pages()) {
    window.showPage(page.id);
    window.settle();
    std::set<const QWidget*> reached;
    for (const QWidget* next = window.nextInFocusChain(); next != &window;
         next = next->nextInFocusChain())
      reached.insert(next);
    for (const auto* button : window.currentPage()->findChildren<QAbstractButton*>()) {
      if (!button->isVisible() || !button->isEnabled()) continue;
      if (qobject_cast<QTabBar*>(button->parentWidget()) != nullptr ||
          button->objectName().startsWith(QLatin1String("qt_")) ||
          QString::fromLatin1(button->metaObject()->className()) ==
              QLatin1String("QLineEditIconButton"))
        continue;  // parts of something that has the focus itself
      EXPECT_TRUE((button->focusPolicy() & Qt::TabFocus) != 0 && reached.count(button) > 0)
          << page.id.toStdString() << ": "
          << (button->accessibleName() + button->text()).toStdString();
    }
  }
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
    QTest::keyClicks(&window.commandPalette().input(), "MONITOR");
    ASSERT_GT(window.commandPalette().list().count(), 0) << locale.name().toStdString();
    EXPECT_EQ(window.commandPalette().list().item(0)->text().toStdString(), "Monitor");
    window.commandPalette().reject();
    window.runsPanel().filter().setText(QStringLiteral("STATE=interrupted"));
    QCoreApplication::processEvents();
  }
  QLocale::setDefault(QLocale::c());
}

TEST(MainWindow, FitsATinyScreenAndAHugeZoom) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  window.show();
  for (const double zoom : {0.6, 1.0, 2.4}) {
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
  window.setZoom(1);
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
  EXPECT_EQ(window.runsPanel().model().runCount(), 100);
  EXPECT_NE(window.currentPage(), nullptr);
  int made = 0;
  for (const QWidget* widget : window.findChildren<QWidget*>())
    made += qobject_cast<const Page*>(widget) != nullptr;
  EXPECT_EQ(made, 1) << "a page is made when it is looked at, not before the window is there";
}

TEST(MainWindow, TheInspectorFoldsToTheEdgeOfANarrowWindow) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  window.resize(1440, 900);
  window.show();
  QCoreApplication::processEvents();
  EXPECT_TRUE(window.inspectorDock().isVisible());
  window.resize(1366, 768);
  QCoreApplication::processEvents();
  EXPECT_FALSE(window.inspectorDock().isVisible());
  window.resize(1600, 900);
  QCoreApplication::processEvents();
  EXPECT_TRUE(window.inspectorDock().isVisible());
}

TEST(MainWindow, TheTabKeyGoesFromTheTabsIntoTheirPage) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  window.show();
  window.showPage(QStringLiteral("artifacts"));
  window.showPage(QStringLiteral("monitor"));
  const QWidget* next = window.findChild<QTabBar*>()->nextInFocusChain();
  while (!(next->isVisible() && (next->focusPolicy() & Qt::TabFocus) != 0))
    next = next->nextInFocusChain();
  EXPECT_TRUE(window.currentPage()->isAncestorOf(next)) << next->metaObject()->className();
}

TEST(MainWindow, ThePaletteFindsActionsPagesAndRuns) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  window.show();
  window.openPalette();
  CommandPalette& palette = window.commandPalette();
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

TEST(MainWindow, AMessageCanBeCopied) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  window.show();
  studio.workbench.say(QStringLiteral("patch size 5 does not divide image size 28"));
  EXPECT_EQ(window.bottomBar().sentence().toStdString(),
            "patch size 5 does not divide image size 28");
  int shown = 0;
  for (QToolButton* button : window.bottomBar().findChildren<QToolButton*>()) {
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
    for (const double zoom : {1.1, 1.3, 0.7, 1.7}) window.setZoom(zoom);
    zoomed = lengthsIn(window);
    window.setZoom(1);
    after = lengthsIn(window);
    window.setZoom(1.7);
  }
  {
    MainWindow window(studio.workbench);
    window.show();
    made = lengthsIn(window);
    window.setZoom(1);
  }
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

TEST(Icons, OfAButtonWithoutRoomAreNoPicture) {
  EXPECT_TRUE(icon(Icon::More).pixmap(QSize(0, 16)).isNull());
  EXPECT_TRUE(icon(Icon::More).pixmap(QSize(0, 0)).isNull());
  EXPECT_FALSE(icon(Icon::More).pixmap(QSize(16, 16)).isNull());
}

TEST(MainWindow, ThemesAndZoomChangeEveryWidgetAndBack) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  window.show();
  window.setTheme(ThemeKind::Light);
  EXPECT_EQ(QApplication::palette().color(QPalette::Window), tokensOf(ThemeKind::Light).background);
  window.setZoom(1.2);
  EXPECT_EQ(bodyFont().pixelSize(), 16);
  window.setZoom(1);
  window.setTheme(ThemeKind::Dark);
  EXPECT_EQ(bodyFont().pixelSize(), 13);
}

TEST(Workbench, OffersOnlyWhatAStateAllows) {
  RunRow row;
  row.state = RunState::Running;
  EXPECT_FALSE(StudioWorkbench::canStart(row));
  EXPECT_TRUE(StudioWorkbench::canStop(row));
  EXPECT_FALSE(StudioWorkbench::canDelete(row));
  row.state = RunState::Interrupted;
  EXPECT_TRUE(StudioWorkbench::canStart(row));
  EXPECT_FALSE(StudioWorkbench::canStop(row));
  EXPECT_TRUE(StudioWorkbench::canDelete(row));
  row.state = RunState::Failed;
  EXPECT_TRUE(StudioWorkbench::canStart(row));
  row.state = RunState::Done;
  EXPECT_FALSE(StudioWorkbench::canStart(row));
}

/// A script that describes one architecture.
QByteArray describing(const std::string& id) {
  ItemCard card;
  card.kind = ItemKind::Architecture;
  card.id = id;
  card.title = "Vision Transformer";
  const std::string described =
      Json{{"catalog", toJson(Catalog{{card}})}, {"refused", Json::array()}}.dump();
  return "cat <<'JSON'\n" + QByteArray::fromStdString(described) + "\nJSON";
}

TEST(Workbench, AsksForTheCatalogAgainAfterItFailed) {
  SampleStudio studio(SampleOptions{0, 0});
  becomeProgram(studio, "echo 'out of order' >&2; exit 1");
  QSignalSpy ready(&studio.workbench, &Workbench::catalogReady);
  QSignalSpy failed(&studio.workbench, &Workbench::catalogFailed);
  EXPECT_TRUE(studio.workbench.catalog().items.empty());
  ASSERT_TRUE(QTest::qWaitFor([&] { return failed.count() == 1; }, 10'000));
  studio.workbench.askCatalogAgain();
  ASSERT_TRUE(QTest::qWaitFor([&] { return failed.count() == 2; }, 10'000));
  becomeProgram(studio, describing("vit"));
  studio.workbench.askCatalogAgain();
  ASSERT_TRUE(QTest::qWaitFor([&] { return ready.count() == 1; }, 10'000));
  EXPECT_NE(studio.workbench.catalog().find(ItemKind::Architecture, "vit"), nullptr);
}

TEST(MainWindow, MakesANewExperimentFromARunOfTheList) {
  SampleStudio studio(SampleOptions{0, 50});
  becomeProgram(studio, describing("vit"));
  MainWindow window(studio.workbench);
  window.show();
  studio.workbench.selection().setRuns({studio.runs[1]}, studio.runs[1]);
  QMenu menu;
  window.runsPanel().fillMenu(menu);
  for (QAction* action : menu.actions()) {
    if (action->text().remove(QLatin1Char('&')) == QLatin1String("New from this run"))
      action->trigger();
  }
  auto* form = qobject_cast<ConfigurePage*>(window.currentPage());
  ASSERT_NE(form, nullptr);
  const std::string width =
      "width = " + studio.workbench.store().config(studio.runs[1])["model"]["width"].dump() + "\n";
  EXPECT_TRUE(
      QTest::qWaitFor([&] { return form->text().find(width) != std::string::npos; }, 10'000))
      << width << form->text();
}

TEST(Workbench, ReadsTheCatalogFromWhatTheProgramDescribes) {
  SampleStudio studio(SampleOptions{0, 0});
  becomeProgram(studio, describing("vit"));
  QSignalSpy ready(&studio.workbench, &Workbench::catalogReady);
  EXPECT_TRUE(studio.workbench.catalog().items.empty());
  EXPECT_TRUE(QTest::qWaitFor([&] { return ready.count() == 1; }, 10'000));
  EXPECT_NE(studio.workbench.catalog().find(ItemKind::Architecture, "vit"), nullptr);
}

TEST(Workbench, DeletingARunTellsEverybody) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  studio.workbench.selection().setRuns({studio.runs[0], studio.runs[1]}, studio.runs[0]);
  studio.workbench.deleteRuns({studio.runs[0]});
  studio.workbench.queue().settle();
  EXPECT_EQ(window.runsPanel().model().runCount(), 11);
  EXPECT_EQ(studio.workbench.selection().runs(), std::vector<std::int64_t>{studio.runs[1]});
  EXPECT_EQ(studio.workbench.selection().current(), studio.runs[1]);
}

}  // namespace
}  // namespace vitrine::ui
