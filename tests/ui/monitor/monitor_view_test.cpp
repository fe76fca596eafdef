// The choices of the Monitor page: groups, pins, search, axes, notes, figures.
#include <QLabel>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/base/error.h"
#include "tests/support/has_texts.h"
#include "tests/ui/monitor/open_monitor.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/line_chart_probe.h"
#include "tests/ui/support/probe.h"
#include "tests/ui/support/soon.h"
#include "ui/figures/line_chart.h"
#include "ui/monitor/monitor_page.h"
#include "ui/workbench/export_dialog.h"

namespace vitrine::ui {
namespace {

struct MonitorGroups : ::testing::Test {
  OpenMonitor open;
};

TEST_F(MonitorGroups, EveryMeasuredMetricHasAPlotInTheGroupOfItsPrefix) {
  const QStringList groups = open.page->groups();
  EXPECT_FALSE(groups.isEmpty());
  for (const QString& group : groups) open.page->setGroupOpen(group, true);
  for (const std::string& name : open.studio.writer.metricNames(open.studio.runs[6])) {
    const auto head = name.rfind("/head");
    EXPECT_NE(open.page->card(head == std::string::npos ? name : name.substr(0, head)), nullptr)
        << name;
  }
}

TEST_F(MonitorGroups, ClosedGroupsAreNeitherReadNorMade) {
  const std::size_t cards = open.page->cards().size();
  EXPECT_EQ(cards, 4U) << "the pinned ones";
  const std::int64_t before = Probe::readings(*open.page);
  open.page->setGroupOpen(open.page->groups().front(), true);
  EXPECT_GT(open.page->cards().size(), cards);
  EXPECT_TRUE(soon([&] { return Probe::readings(*open.page) > before; }) ||
              !open.page->cards().back()->isOnScreen());
  open.page->setGroupOpen(open.page->groups().front(), false);
  EXPECT_EQ(open.page->cards().size(), cards);
}

// As after a start, where the selection is a run without any metric.
TEST_F(MonitorGroups, TheFocusStaysInThePageWhenItsSectionsChange) {
  ASSERT_TRUE(QTest::qWaitForWindowActive(open.page.get()));
  open.page->card("train/loss")->plot().setFocus();
  const std::int64_t waiting = open.studio.runs[11];
  open.studio.workbench.selection().setRuns({waiting}, waiting);
  open.page->waitUntilIdle();
  const QWidget* now = QApplication::focusWidget();
  ASSERT_NE(now, nullptr);
  PlotCard* card = open.page->card("train/loss");
  EXPECT_TRUE(card != nullptr ? card->plot().hasFocus()
                              : qobject_cast<const QScrollArea*>(now) != nullptr)
      << now->metaObject()->className();
}

TEST_F(MonitorGroups, APlotOfARunThatEndedDoesNotPromiseValues) {
  const std::int64_t waiting = open.studio.runs[11];
  open.studio.workbench.selection().setRuns({waiting}, waiting);
  open.page->setMetrics({"test/top1"});
  open.page->waitUntilIdle();
  const auto says = [this](const char* words) {
    const auto labels = open.page->card("test/top1")->findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [words](const QLabel* one) {
      return one->isVisible() && one->text().startsWith(QLatin1String(words));
    });
  };
  EXPECT_TRUE(says("No values yet.\n"));
  open.studio.writer.setState(waiting, store::RunState::Failed, "out of memory");
  open.studio.workbench.watcher().poll();
  EXPECT_TRUE(soon([&] { return says("No values.\n"); }));
}

TEST_F(MonitorGroups, CardsOutOfSightAreNotReadUntilTheyAreSeen) {
  open.page->resize(340, 320);
  for (const QString& group : open.page->groups()) open.page->setGroupOpen(group, true);
  QCoreApplication::processEvents();
  PlotCard* last = open.page->cards().back();
  ASSERT_FALSE(last->isOnScreen());
  EXPECT_TRUE(last->isStale);
  EXPECT_EQ(Probe::cacheOf(*open.page).curve({open.studio.runs[6], last->metric()}).size(), 0U);
  auto* scroll = open.page->findChild<QScrollArea*>();
  scroll->ensureWidgetVisible(last);
  EXPECT_TRUE(soon([&] { return !last->isStale; }));
}

TEST_F(MonitorGroups, PinnedPlotsComeFirstAndStayWhenThePageIsMadeAgain) {
  open.page->setGroupOpen(open.page->groups().front(), true);
  PlotCard* last = open.page->cards().back();
  const std::string metric = last->metric();
  QSignalSpy chosen(open.page.get(), &Page::viewChanged);
  QTest::mouseClick(&last->pin(), Qt::LeftButton);
  EXPECT_TRUE(soon([&] { return open.page->metrics().size() == 5; }));
  EXPECT_EQ(open.page->metrics().back(), metric);
  EXPECT_EQ(open.page->cards()[4]->metric(), metric);
  EXPECT_GE(chosen.count(), 1);
}

TEST_F(MonitorGroups, TheSearchShowsWhatHasAllOfItsWords) {
  open.page->search(QStringLiteral("train loss"));
  ASSERT_FALSE(open.page->cards().empty());
  for (PlotCard* card : open.page->cards())
    EXPECT_THAT(card->metric(), test::HasTexts("train", "loss"));
  open.page->search(QStringLiteral("nothing has this name"));
  EXPECT_TRUE(open.page->cards().empty());
  open.page->search({});
  EXPECT_EQ(open.page->cards().size(), 4U);
}

TEST(MonitorZoom, SharedOrNotAsTheToggleSays) {
  OpenMonitor open;
  CurvePlot& first = open.page->cards()[0]->plot();
  CurvePlot& second = open.page->cards()[1]->plot();
  saying<QAction>(*open.page, "Sync zoom")->trigger();
  const PlotAxis before = second.xAxis();
  QTest::keyClick(&first, Qt::Key_Plus);
  EXPECT_DOUBLE_EQ(second.xAxis().upper, before.upper);
  saying<QAction>(*open.page, "Sync zoom")->trigger();
  QTest::keyClick(&first, Qt::Key_Plus);
  EXPECT_DOUBLE_EQ(second.xAxis().upper, first.xAxis().upper);
}

TEST(MonitorAxes, EveryAxisShowsTheSameValuesElsewhere) {
  OpenMonitor open;
  PlotCard* loss = open.page->card("train/loss");
  const std::size_t points = loss->plot().curves().front().series->size();
  for (const XAxis axis : {XAxis::Epoch, XAxis::Time, XAxis::Wall, XAxis::Step}) {
    open.set([axis](PlotSettings& plots) { plots.x = axis; });
    const CurveSeries& series = *loss->plot().curves().front().series;
    ASSERT_EQ(series.x(axis).size(), points);
    EXPECT_TRUE(std::is_sorted(series.x(axis).begin(), series.x(axis).end()));
    if (axis == XAxis::Wall) {
      EXPECT_GT(series.x(axis).front(), 1e9) << "seconds since 1970";
    }
  }
  open.set([](PlotSettings& plots) {
    plots.x = XAxis::Metric;
    plots.xMetric = "optimizer/learning_rate";
  });
  ASSERT_FALSE(loss->plot().curves().empty());
  const CurveSeries& over = *loss->plot().curves().front().series;
  EXPECT_TRUE(std::is_sorted(over.x(XAxis::Metric).begin(), over.x(XAxis::Metric).end()));
}

TEST(MonitorClipping, LeavesTheOutermostHundredthsOutAndSaysSo) {
  OpenMonitor open({0, 4000});
  PlotCard* loss = open.page->card("train/loss");
  const double whole = loss->plot().yAxis().span();
  open.set([](PlotSettings& plots) { plots.isClipped = true; });
  EXPECT_LT(loss->plot().yAxis().span(), whole);
  QTest::mouseMove(&loss->plot(), QPoint(100, 100));
  loss->plot().setFocus();
  const auto figure = open.page->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(figure->note().contains(QStringLiteral("99th percentile")))
      << figure->note().toStdString();
}

TEST(MonitorView, IsTheSameAfterItWasGivenToAnotherPage) {
  OpenMonitor open;
  open.set([](PlotSettings& plots) {
    plots.x = XAxis::Epoch;
    plots.smoothing = {Smoothing::Kind::Centred, 25};
    plots.isLogY = plots.isClipped = true;
  });
  open.page->setPinned("test/top1", false);
  open.page->setGroupOpen(open.page->groups().front(), true);
  QCoreApplication::processEvents();
  QTest::keyClick(&open.page->cards().front()->plot(), Qt::Key_Plus);
  open.page->addNote(open.studio.runs[8], "train/loss", 100, QStringLiteral("here"));
  const Json state = open.page->viewState();

  MonitorPage other(open.studio.workbench);
  OpenMonitor::open(other);
  other.setViewState(state);
  EXPECT_EQ(other.viewState(), state) << other.viewState().dump(1) << state.dump(1);
  other.waitUntilIdle();
  EXPECT_EQ(other.viewState(), state) << "settling moves nothing";
}

TEST(MonitorView, StatesThatAreNoneDoNoHarm) {
  OpenMonitor open;
  for (const char* text :
       {"null", "[]", "{}", "{\"x\": 5, \"smoothing\": [], \"pinned\": {}, \"groups\": 3}",
        "{\"x\": \"metric\"}",
        "{\"x\": \"nothing\", \"ranges\": {\"train/loss\": {\"x\": [2, 1]}}}",
        "{\"ranges\": {\"train/loss\": {\"y\": [\"a\", 1], \"x\": [null, null]}}, \"follow\": "
        "false}",
        "{\"smoothing\": {\"kind\": \"centred\", \"amount\": -4}, \"notes\": [{\"step\": \"x\"}]}",
        "{\"pinned\": [\"\", 1, null, \"no/such\"], \"search\": 4}"}) {
    open.page->setViewState(Json::parse(text));
    open.page->waitUntilIdle();
  }
  EXPECT_FALSE(open.page->viewState().empty());
}

// An exported figure opens as what it was.
TEST(MonitorFigure, EveryFormatRedrawsTheSamePicture) {
  OpenMonitor open({0, 1500});
  open.set([](PlotSettings& plots) {
    plots.isLogY = true;
    plots.smoothing = {Smoothing::Kind::Ema, 0.95};
  });
  CurvePlot& plot = open.page->card("train/loss")->plot();
  plot.setFocus();
  QTest::keyClick(&plot, Qt::Key_Plus);
  open.page->addNote(open.studio.runs[8], "train/loss", 150, QStringLiteral("rate halved"));
  const auto figure = open.page->figure();
  ASSERT_NE(figure, nullptr);
  Recipe recipe = recipeOf(open.studio.workbench, QStringLiteral("monitor"), *open.page);
  recipe.paper.width = FigurePaper::kDoubleColumn;
  const QImage drawn = paperPicture(*figure, recipe.paper, 6);

  for (const char* ending : {".png", ".svg", ".pdf", ".csv"}) {
    const QString file = open.studio.folder.filePath(QStringLiteral("f") + QLatin1String(ending));
    saveFigure(*figure, file, recipe);
    const auto read = readRecipe(file);
    ASSERT_TRUE(read.has_value()) << ending;
    open.studio.workbench.selection().setRuns({open.studio.runs[0]}, open.studio.runs[0]);
    selectRunsOf(*read, open.studio.workbench);
    MonitorPage again(open.studio.workbench);
    OpenMonitor::open(again);
    again.setViewState(read->view);
    again.waitUntilIdle();
    const auto redrawn = again.figure();
    ASSERT_NE(redrawn, nullptr) << ending;
    EXPECT_EQ(paperPicture(*redrawn, read->paper, 6), drawn) << ending;
    EXPECT_EQ(redrawn->csv(), figure->csv());
  }
}

TEST(MonitorFigure, SaysHowItIsSmoothedAndCarriesItsNotes) {
  OpenMonitor open({0, 1500});
  open.page->card("train/loss")->plot().setFocus();
  open.page->addNote(open.studio.runs[6], "train/loss", 300, QStringLiteral("warm-up ends"));
  const auto figure = open.page->figure();
  auto* chart = dynamic_cast<LineChartFigure*>(figure.get());
  ASSERT_NE(chart, nullptr);
  EXPECT_TRUE(chart->chart().footnote.contains(QStringLiteral("EMA 0.9")));
  EXPECT_TRUE(
      LineChartProbe::commands(*chart, 400).contains(QStringLiteral("note \"warm-up ends\"")));
  EXPECT_EQ(chart->chart().series.size(), 3U);
}

TEST(MonitorFigure, HasANoteAtItsStepInTheOrderOfAnotherMetric) {
  OpenMonitor open;
  open.set([](PlotSettings& plots) {
    plots.x = XAxis::Metric;
    plots.xMetric = "optimizer/learning_rate";
  });
  CurvePlot& plot = open.page->card("train/loss")->plot();
  ASSERT_FALSE(plot.curves().empty());
  const PlottedCurve curve = plot.curves().front();
  const std::size_t middle = curve.series->size() / 2;
  const auto step = std::llround(curve.series->x(XAxis::Step)[middle]);
  open.page->addNote(curve.run, "train/loss", step, QStringLiteral("here"));
  plot.setFocus();
  const auto figure = open.page->figure();
  const auto* chart = dynamic_cast<LineChartFigure*>(figure.get());
  ASSERT_NE(chart, nullptr);
  ASSERT_EQ(chart->chart().notes.size(), 1U);
  EXPECT_DOUBLE_EQ(chart->chart().notes[0].x, curve.series->x(XAxis::Metric)[middle]);
}

TEST(MonitorFigure, IsAllPlotsInSightWhenNoneIsChosen) {
  OpenMonitor open;
  open.page->setViewState({{"card", ""}});
  const auto figure = open.page->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(figure->csv().contains(QStringLiteral("Learning rate")));
  EXPECT_TRUE(figure->csv().contains(QStringLiteral("Loss, train")));
}

TEST(RecipeRuns, HaveTheCurrentRunNextToThem) {
  OpenMonitor open;
  Selection& selection = open.studio.workbench.selection();
  const std::vector<std::int64_t> compared = selection.runs();
  const std::int64_t other = open.studio.runs[0];
  selection.look(other);
  const Recipe recipe = recipeOf(open.studio.workbench, QStringLiteral("monitor"), *open.page);
  selection.setRuns({open.studio.runs[1]}, open.studio.runs[1]);
  selectRunsOf(recipe, open.studio.workbench);
  EXPECT_EQ(selection.runs(), compared);
  EXPECT_EQ(selection.current(), other);
  // All selected runs were hidden: the figure is that of the current one.
  selection.setRuns({other}, other, {other});
  const Recipe alone = recipeOf(open.studio.workbench, QStringLiteral("monitor"), *open.page);
  selection.setRuns(compared, compared.front());
  selectRunsOf(alone, open.studio.workbench);
  EXPECT_EQ(selection.drawn(), std::vector<std::int64_t>{other});
}

TEST(RecipeRuns, OfAnotherDatabaseAreNamed) {
  OpenMonitor open;
  Recipe recipe = recipeOf(open.studio.workbench, QStringLiteral("monitor"), *open.page);
  EXPECT_FALSE(recipe.database.empty());
  EXPECT_EQ(recipe.runs.size(), 3U);
  recipe.runs = {"not here"};
  EXPECT_THROW(selectRunsOf(recipe, open.studio.workbench), NotFoundError);
}

TEST(CurveCacheLimit, DropsWhatIsNotShownAndKeepsWhatIs) {
  SampleStudio studio(SampleOptions{0, 2000});
  CurveCache cache;
  for (const std::int64_t run : {studio.runs[0], studio.runs[1]})
    (void)cache.take(readCurve(studio.writer, cache.ask({run, "train/loss"})));
  const std::size_t both = cache.bytes();
  ASSERT_GT(both, 0U);
  cache.setLimit(both - 1);
  cache.trim({{studio.runs[0], "train/loss"}});
  EXPECT_LT(cache.bytes(), both);
  EXPECT_GT(cache.curve({studio.runs[0], "train/loss"}).size(), 0U);
  EXPECT_EQ(cache.curve({studio.runs[1], "train/loss"}).size(), 0U);
}

TEST(RunStripFacts, SayStepEpochSpeedAndTimeLeft) {
  store::RunRow row;
  row.step = 1200;
  row.totalSteps = 4000;
  row.epoch = 3.14;
  row.totalEpochs = 10;
  row.imagesPerSecond = 812;
  row.remainingSeconds = 192;
  const std::string facts = RunStrip::facts(row, "images").toStdString();
  EXPECT_THAT(facts, test::HasTexts("step 1,200 of 4,000", "epoch 3.1 of 10", "812 images/s",
                                    "3\u2009min 12\u2009s left"));
  row.totalEpochs = 0.43;
  EXPECT_TRUE(RunStrip::facts(row, "images").contains(QStringLiteral("of 0.4")))
      << "a run of less than an epoch has not 0 of them";
}

TEST(LogPanel, FindsItsWordsAndStartsAgainAtTheTop) {
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("run.log"));
  std::ofstream(path.toStdString()) << "one loss\ntwo\nthree loss\n";
  LogPanel panel;
  panel.resize(600, 200);
  panel.show();
  panel.setFile(path);
  panel.field().setText(QStringLiteral("loss"));
  panel.log().moveCursor(QTextCursor::Start);
  ASSERT_TRUE(panel.findNext());
  EXPECT_EQ(panel.log().textCursor().blockNumber(), 0);
  ASSERT_TRUE(panel.findNext());
  EXPECT_EQ(panel.log().textCursor().blockNumber(), 2);
  ASSERT_TRUE(panel.findNext());
  EXPECT_EQ(panel.log().textCursor().blockNumber(), 0);
  panel.field().setText(QStringLiteral("four"));
  EXPECT_FALSE(panel.findNext());
}

}  // namespace
}  // namespace vitrine::ui
