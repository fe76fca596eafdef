// The choices of the Monitor page: groups, pins, search, axes, means, notes, figures.
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
#include "tests/ui/support/count_probe.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/line_chart_probe.h"
#include "tests/ui/support/soon.h"
#include "ui/figures/line_chart.h"
#include "ui/monitor/monitor_page.h"
#include "ui/workbench/export_dialog.h"

namespace vitrine::ui {
namespace {

TEST(MonitorGroups, EveryMeasuredMetricHasAPlotInTheGroupOfItsPrefix) {
  OpenMonitor open;
  const QStringList groups = open.page->groups();
  EXPECT_FALSE(groups.isEmpty());
  for (const QString& group : groups) open.page->setGroupOpen(group, true);
  for (const std::string& name : open.studio.writer.metricNames(open.studio.runs[6])) {
    const auto head = name.rfind("/head");
    EXPECT_NE(open.page->card(head == std::string::npos ? name : name.substr(0, head)), nullptr)
        << name;
  }
}

TEST(MonitorGroups, ClosedGroupsAreNeitherReadNorMade) {
  OpenMonitor open;
  const std::size_t cards = open.page->cards().size();
  EXPECT_EQ(cards, 4U) << "the pinned ones";
  const std::int64_t before = CountProbe::readings(*open.page);
  open.page->setGroupOpen(open.page->groups().front(), true);
  EXPECT_GT(open.page->cards().size(), cards);
  EXPECT_TRUE(soon([&] { return CountProbe::readings(*open.page) > before; }) ||
              !open.page->cards().back()->isOnScreen());
  open.page->setGroupOpen(open.page->groups().front(), false);
  EXPECT_EQ(open.page->cards().size(), cards);
}

// As after a start, where the selection is a run without any metric.
TEST(MonitorGroups, TheFocusStaysInThePageWhenItsSectionsChange) {
  OpenMonitor open;
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

TEST(MonitorGroups, APlotOfARunThatEndedDoesNotPromiseValues) {
  OpenMonitor open;
  const std::int64_t waiting = open.studio.runs[11];
  open.studio.workbench.selection().setRuns({waiting}, waiting);
  open.page->setMetrics({"test/top1"});
  open.page->waitUntilIdle();
  const auto says = [&open](const char* words) {
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

TEST(MonitorGroups, CardsOutOfSightAreNotReadUntilTheyAreSeen) {
  OpenMonitor open;
  open.page->resize(340, 320);
  for (const QString& group : open.page->groups()) open.page->setGroupOpen(group, true);
  QCoreApplication::processEvents();
  PlotCard* last = open.page->cards().back();
  ASSERT_FALSE(last->isOnScreen());
  EXPECT_TRUE(last->isStale);
  EXPECT_EQ(CountProbe::cacheOf(*open.page).curve({open.studio.runs[6], last->metric()}).size(),
            0U);
  auto* scroll = open.page->findChild<QScrollArea*>();
  scroll->ensureWidgetVisible(last);
  EXPECT_TRUE(soon([&] { return !last->isStale; }));
}

TEST(MonitorGroups, PinnedPlotsComeFirstAndStayWhenThePageIsMadeAgain) {
  OpenMonitor open;
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

TEST(MonitorGroups, TheSearchShowsWhatHasAllOfItsWords) {
  OpenMonitor open;
  open.page->search(QStringLiteral("train loss"));
  ASSERT_FALSE(open.page->cards().empty());
  for (PlotCard* card : open.page->cards()) {
    EXPECT_THAT(card->metric(), test::HasTexts("train", "loss"));
  }
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
    PlotSettings settings = open.page->settings();
    settings.x = axis;
    open.page->setSettings(settings);
    open.page->waitUntilIdle();
    const CurveSeries& series = *loss->plot().curves().front().series;
    ASSERT_EQ(series.x(axis).size(), points);
    EXPECT_TRUE(std::is_sorted(series.x(axis).begin(), series.x(axis).end()));
    if (axis == XAxis::Wall) {
      EXPECT_GT(series.x(axis).front(), 1e9) << "seconds since 1970";
    }
  }
  PlotSettings settings = open.page->settings();
  settings.x = XAxis::Metric;
  settings.xMetric = "optimizer/learning_rate";
  open.page->setSettings(settings);
  open.page->waitUntilIdle();
  ASSERT_FALSE(loss->plot().curves().empty());
  const CurveSeries& over = *loss->plot().curves().front().series;
  EXPECT_TRUE(std::is_sorted(over.x(XAxis::Metric).begin(), over.x(XAxis::Metric).end()));
}

TEST(CurveSeriesOver, JoinsByStepAndSortsByTheOtherMetric) {
  const auto at = [](std::int64_t step, double value) {
    store::MetricPoint point;
    point.sequence = step;
    point.segment = 1;
    point.step = step;
    point.value = value;
    return point;
  };
  CurveSeries y, x;
  ASSERT_TRUE(y.append({at(1, 10), at(2, 20), at(3, 30), at(4, 40)}));
  ASSERT_TRUE(x.append({at(2, 9), at(4, 5)}));
  const CurveSeries over = y.over(x);
  ASSERT_EQ(over.size(), 3U) << "step 1 comes before the first value of the other";
  EXPECT_EQ(over.x(XAxis::Metric)[0], 5);
  EXPECT_EQ(over.y()[0], 40);
  EXPECT_EQ(over.x(XAxis::Metric)[2], 9);
  EXPECT_EQ(over.y()[2], 30);
}

TEST(CentredMean, IsTheMeanOfItsWindowAndGrowsWithTheCurve) {
  std::vector<store::MetricPoint> points;
  for (int i = 1; i <= 400; ++i) {
    store::MetricPoint point;
    point.sequence = point.step = i;
    point.segment = 1;
    point.value = i == 50 ? std::nan("") : std::cos(i);
    points.push_back(point);
  }
  const Smoothing mean{Smoothing::Kind::Centred, 11};
  CurveSeries grown, whole;
  ASSERT_TRUE(grown.append({points.begin(), points.begin() + 300}));
  (void)grown.smoothed(mean);
  ASSERT_TRUE(grown.append({points.begin() + 300, points.end()}));
  ASSERT_TRUE(whole.append(points));
  const auto a = grown.smoothed(mean), b = whole.smoothed(mean);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (i == 49) {
      EXPECT_TRUE(std::isnan(a[i]));
      continue;
    }
    double sum = 0;
    int number = 0;
    for (std::size_t j = i > 5 ? i - 5 : 0; j <= std::min(i + 5, a.size() - 1); ++j) {
      if (!std::isfinite(points[j].value)) continue;
      sum += points[j].value;
      ++number;
    }
    EXPECT_NEAR(a[i], sum / number, 1e-9) << i;
    EXPECT_NEAR(b[i], sum / number, 1e-9) << i;
  }
}

TEST(Extremes, FindTheSameAsLookingAtEveryValue) {
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i)
    values.push_back(i % 97 == 0 ? std::nan("") : std::sin(i * 12.9898) * 43758);
  Extremes grown;
  for (const std::size_t size : {10U, 17U, 300U, 4097U, 5000U})
    grown.update({values.data(), size}, grown.size());
  for (std::size_t from = 0; from < values.size(); from += 37) {
    for (const std::size_t length : {1U, 5U, 40U, 700U, 5000U}) {
      const std::size_t to = std::min(from + length, values.size());
      const auto found = grown.find(values, from, to);
      double low = INFINITY, high = -INFINITY;
      for (std::size_t i = from; i < to; ++i) {
        if (std::isnan(values[i])) continue;
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
      }
      ASSERT_EQ(found.isAny, low <= high);
      if (!found.isAny) continue;
      ASSERT_EQ(values[found.low], low) << from << " to " << to;
      ASSERT_EQ(values[found.high], high);
    }
  }
}

TEST(DecimateWithIndex, GivesThePointsThatLookingGives) {
  std::vector<double> x, y;
  for (int i = 0; i < 200'000; ++i) {
    x.push_back(i * 0.5 + (i > 120'000 ? 3000 : 0));  // a jump: steps are not even everywhere
    y.push_back(std::sin(i * 12.9898) * 43758);
  }
  y[77'777] = 1e6;
  Extremes extremes;
  extremes.update(y, 0);
  for (const PlotWindow window :
       {PlotWindow{0, 103'000, 500, AxisScale::Linear}, PlotWindow{10, 50'000, 300, AxisScale::Log},
        PlotWindow{20'000, 90'000, 211, AxisScale::Linear}}) {
    const auto fast = decimate(x, y, window, CurveIndex{extremes, {}});
    const auto slow = decimate(x, y, window);
    const auto extreme = [](const std::vector<QPointF>& points) {
      double low = INFINITY, high = -INFINITY;
      for (const QPointF& point : points) {
        low = std::min(low, point.y());
        high = std::max(high, point.y());
      }
      return std::pair(low, high);
    };
    EXPECT_EQ(extreme(fast), extreme(slow));
    EXPECT_LE(fast.size(), slow.size());
    // Column by column, not only over all.
    const auto lows = [&window](const std::vector<QPointF>& points) {
      std::vector<double> low(static_cast<std::size_t>(window.columns), INFINITY);
      for (const QPointF& point : points) {
        const double share = (point.x() - window.lower) / (window.upper - window.lower);
        const auto column = static_cast<std::ptrdiff_t>(std::floor(share * window.columns));
        if (column < 0 || column >= window.columns) continue;
        double& at = low[static_cast<std::size_t>(column)];
        at = std::min(at, point.y());
      }
      return low;
    };
    if (window.scale == AxisScale::Linear) {
      const auto a = lows(fast), b = lows(slow);
      int different = 0;  // a point on the edge of a column may fall to either side
      for (std::size_t i = 0; i < a.size(); ++i) different += a[i] != b[i];
      EXPECT_LE(different, 3);
    }
    EXPECT_TRUE(std::is_sorted(fast.begin(), fast.end(),
                               [](QPointF a, QPointF b) { return a.x() < b.x(); }));
  }
}

TEST(MonitorClipping, LeavesTheOutermostHundredthsOutAndSaysSo) {
  OpenMonitor open({0, 4000});
  PlotCard* loss = open.page->card("train/loss");
  const double whole = loss->plot().yAxis().span();
  PlotSettings settings = open.page->settings();
  settings.isClipped = true;
  open.page->setSettings(settings);
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
  PlotSettings settings = open.page->settings();
  settings.x = XAxis::Epoch;
  settings.smoothing = {Smoothing::Kind::Centred, 25};
  settings.isLogY = true;
  settings.isClipped = true;
  open.page->setSettings(settings);
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
  PlotSettings settings = open.page->settings();
  settings.isLogY = true;
  settings.smoothing = {Smoothing::Kind::Ema, 0.95};
  open.page->setSettings(settings);
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
  PlotSettings settings = open.page->settings();
  settings.x = XAxis::Metric;
  settings.xMetric = "optimizer/learning_rate";
  open.page->setSettings(settings);
  open.page->waitUntilIdle();
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
