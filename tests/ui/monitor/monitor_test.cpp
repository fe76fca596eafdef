#include <QElapsedTimer>
#include <QTest>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/monitor/curve_cache.h"
#include "ui/monitor/monitor_page.h"

namespace vitrine::ui {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const Smoothing kEma{Smoothing::Kind::Ema, 0.8};

store::MetricPoint point(std::int64_t step, double value, std::int64_t segment = 1) {
  store::MetricPoint made;
  made.sequence = step;
  made.segment = segment;
  made.step = step;
  made.epoch = static_cast<double>(step) / 100;
  made.time = static_cast<double>(step) * 0.02;
  made.value = value;
  return made;
}

TEST(Decimate, KeepsTheExtremesOfEveryPixelColumn) {
  std::vector<double> x, y;
  for (int i = 0; i < 100'000; ++i) {
    x.push_back(i);
    y.push_back(std::sin(i * 0.001));
  }
  y[40'001] = 9;   // one spike up
  y[70'003] = -7;  // one down
  const auto points = decimate(x, y, {0, 99'999, 500, AxisScale::Linear});
  EXPECT_LE(points.size(), 4U * 502U);
  EXPECT_TRUE(
      std::any_of(points.begin(), points.end(), [](QPointF p) { return p == QPointF(40'001, 9); }));
  EXPECT_TRUE(std::any_of(points.begin(), points.end(),
                          [](QPointF p) { return p == QPointF(70'003, -7); }));
  EXPECT_TRUE(std::is_sorted(points.begin(), points.end(),
                             [](QPointF a, QPointF b) { return a.x() < b.x(); }));
}

TEST(Decimate, AgreesWithMinimumAndMaximumColumnByColumn) {
  std::vector<double> x, y;
  for (int i = 0; i < 10'000; ++i) {
    x.push_back(i * 0.5);
    y.push_back(std::cos(i * 12.9898) * 43.5);
  }
  const int columns = 100;
  const auto points = decimate(x, y, {0, 5000, columns, AxisScale::Linear});
  std::vector<double> low(columns, 1e9), high(columns, -1e9), seenLow(columns, 1e9),
      seenHigh(columns, -1e9);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto c = static_cast<std::size_t>(x[i] / 5000 * columns);
    low[c] = std::min(low[c], y[i]);
    high[c] = std::max(high[c], y[i]);
  }
  for (const QPointF& p : points) {
    const auto c = static_cast<std::size_t>(p.x() / 5000 * columns);
    seenLow[c] = std::min(seenLow[c], p.y());
    seenHigh[c] = std::max(seenHigh[c], p.y());
  }
  EXPECT_EQ(low, seenLow);
  EXPECT_EQ(high, seenHigh);
}

TEST(Decimate, KeepsOneNeighbourBeyondEachEdge) {
  std::vector<double> x, y;
  for (int i = 0; i < 1000; ++i) {
    x.push_back(i);
    y.push_back(i);
  }
  const auto points = decimate(x, y, {400.5, 420.5, 300, AxisScale::Linear});
  EXPECT_EQ(points.front().x(), 400);
  EXPECT_EQ(points.back().x(), 421);
  EXPECT_EQ(points.size(), 22U);
}

TEST(Decimate, LeavesAGapWhereAValueIsNotFinite) {
  std::vector<double> x, y;
  for (int i = 0; i < 50'000; ++i) {
    x.push_back(i);
    y.push_back(i >= 20'000 && i < 30'000 ? kNaN : 1);
  }
  const auto points = decimate(x, y, {0, 49'999, 200, AxisScale::Linear});
  const auto inGap = [](QPointF p) { return p.x() >= 20'000 && p.x() < 30'000; };
  ASSERT_TRUE(std::any_of(points.begin(), points.end(), inGap));
  for (const QPointF& p : points) EXPECT_EQ(std::isnan(p.y()), inGap(p)) << p.x();
}

TEST(Decimate, CountsColumnsOfALogarithmicAxisInItsOwnScale) {
  std::vector<double> x, y;
  for (int i = 1; i <= 100'000; ++i) {
    x.push_back(i);
    y.push_back(i % 2);
  }
  const auto points = decimate(x, y, {1, 100'000, 100, AxisScale::Log});
  // A fifth of the width each for 1..10, 10..100, ...: the first decade keeps all its points.
  const auto first =
      std::count_if(points.begin(), points.end(), [](QPointF p) { return p.x() <= 10; });
  EXPECT_EQ(first, 10);
  EXPECT_LE(points.size(), 410U);
}

TEST(Smoother, DoesNotPullTheFirstValuesTowardsZero) {
  Smoother smoother(0.9);
  EXPECT_DOUBLE_EQ(smoother.next(5), 5);
  EXPECT_DOUBLE_EQ(smoother.next(5), 5);
  Smoother other(0.5);
  EXPECT_DOUBLE_EQ(other.next(1), 1);
  EXPECT_DOUBLE_EQ(other.next(4), (0.5 * 0.5 * 1 + 0.5 * 4) / 0.75);
}

TEST(Smoother, PassesOverValuesThatAreNotFinite) {
  Smoother smoother(0.5);
  const double before = smoother.next(2);
  EXPECT_TRUE(std::isnan(smoother.next(kNaN)));
  EXPECT_TRUE(std::isnan(smoother.next(std::numeric_limits<double>::infinity())));
  EXPECT_DOUBLE_EQ(smoother.next(2), before);
}

TEST(CurveSeries, SmoothingCostsOnlyTheNewPointsAndAgreesWithTheWhole) {
  CurveSeries grown, whole;
  std::vector<store::MetricPoint> all;
  for (int i = 1; i <= 200; ++i) all.push_back(point(i, std::sin(i)));
  ASSERT_TRUE(grown.append({all.begin(), all.begin() + 100}));
  (void)grown.smoothed(kEma);
  ASSERT_TRUE(grown.append({all.begin() + 100, all.end()}));
  ASSERT_TRUE(whole.append(all));
  const auto a = grown.smoothed(kEma), b = whole.smoothed(kEma);
  EXPECT_EQ(std::vector<double>(a.begin(), a.end()), std::vector<double>(b.begin(), b.end()));
}

TEST(CurveSeries, RefusesPointsThatGoBackAndMarksSeamsAndBrokenValues) {
  CurveSeries series;
  ASSERT_TRUE(series.append({point(10, 1), point(20, kNaN)}));
  EXPECT_FALSE(series.append({point(15, 1, 2)})) << "a resumed run superseded step 20";
  EXPECT_EQ(series.size(), 2U);
  ASSERT_TRUE(series.append({point(30, 1, 2)}));
  EXPECT_EQ(series.segmentStarts(), std::vector<std::size_t>{2});
  EXPECT_EQ(series.broken(), std::vector<std::size_t>{1});
}

TEST(CurveSeries, TheValueUnderTheCursorIsRawAndNeverBeyondTheEnds) {
  CurveSeries series;
  std::vector<store::MetricPoint> points;
  for (int i = 1; i <= 100; ++i) points.push_back(point(10 * i, i % 2));
  ASSERT_TRUE(series.append(points));
  const PlottedCurve curve{1, QStringLiteral("run"), &series};
  EXPECT_EQ(CurvePlot::valueAt(curve, XAxis::Step, 30), 1);
  EXPECT_EQ(CurvePlot::valueAt(curve, XAxis::Step, 39.5), 1)
      << "the last point at or before the cursor";
  EXPECT_TRUE(std::isnan(CurvePlot::valueAt(curve, XAxis::Step, 9)));
  EXPECT_TRUE(std::isnan(CurvePlot::valueAt(curve, XAxis::Step, 1001)));
}

bool update(CurveCache& cache, store::RunStore& store, std::int64_t run, const std::string& name) {
  return cache.take(readCurve(store, cache.ask({run, name})));
}

TEST(CurveCache, AveragesTheHeadsOfALayer) {
  SampleStudio studio(SampleOptions{0, 400});
  CurveCache cache;
  const std::string stem = "analysis/attention_rank/rank80/layer1";
  EXPECT_TRUE(update(cache, studio.writer, studio.runs[0], stem));
  const CurveSeries& mean = cache.curve({studio.runs[0], stem});
  double expected = 0;
  for (int head = 0; head < 4; ++head) {
    expected +=
        studio.writer.points(studio.runs[0], stem + "/head" + std::to_string(head)).front().value /
        4;
  }
  EXPECT_NEAR(mean.y().front(), expected, 1e-12);
  EXPECT_FALSE(update(cache, studio.writer, studio.runs[0], stem)) << "nothing new";
}

TEST(CurveCache, ReadsOnlyWhatIsNewAndAllOfItWhenARunWentBack) {
  SampleStudio studio(SampleOptions{0, 400});
  const std::int64_t run = studio.runs[8];
  CurveCache cache;
  ASSERT_TRUE(update(cache, studio.writer, run, "train/loss"));
  const CurveSeries& series = cache.curve({run, "train/loss"});
  const std::size_t before = series.size();
  appendSamplePoints(studio.writer, run, 1, 8, 188, 196, 400);
  const CurveAnswer news = readCurve(studio.writer, cache.ask({run, "train/loss"}));
  EXPECT_EQ(news.fresh.size(), 8U);
  EXPECT_EQ(news.whole, nullptr);
  EXPECT_TRUE(cache.take(CurveAnswer(news)));
  EXPECT_FALSE(cache.take(CurveAnswer(news))) << "the same news twice";
  EXPECT_EQ(series.size(), before + 8) << "where it was";
  CurveAsk ask = cache.ask({run, "train/loss"});
  ask.lastSequence -= 4;  // as if a later segment had written steps that were there
  const CurveAnswer whole = readCurve(studio.writer, ask);
  ASSERT_NE(whole.whole, nullptr);
  EXPECT_EQ(whole.whole->size(), before + 8);
}

TEST(CurveReader, GivesTheCurveOverAnotherMetric) {
  SampleStudio studio(SampleOptions{0, 400});
  const CurveKey key{studio.runs[0], "train/loss", "optimizer/learning_rate"};
  CurveCache cache;
  ASSERT_TRUE(cache.take(readCurve(studio.writer, cache.ask(key))));
  CurveSeries y, x;
  ASSERT_TRUE(y.append(studio.writer.points(key.run, key.name)));
  ASSERT_TRUE(x.append(studio.writer.points(key.run, key.over)));
  const CurveSeries expected = y.over(x);
  const auto a = cache.curve(key).x(XAxis::Metric), b = expected.x(XAxis::Metric);
  EXPECT_EQ(std::vector<double>(a.begin(), a.end()), std::vector<double>(b.begin(), b.end()));
  EXPECT_FALSE(cache.take(readCurve(studio.writer, cache.ask(key)))) << "nothing new";
}

TEST(CompactNumber, WritesFewDigitsAndNoLocale) {
  EXPECT_EQ(compactNumber(4000, 3).toStdString(), "4,000");
  EXPECT_EQ(compactNumber(0.5, 3).toStdString(), "0.5");
  EXPECT_EQ(compactNumber(2.5e-5, 3).toStdString(), "2.5e-5");
  EXPECT_EQ(compactNumber(0, 3).toStdString(), "0");
}

// A page in a window of its own, with three runs selected.
struct OpenPage {
  explicit OpenPage(const SampleOptions& options = {0, 400})
      : studio(options), page(studio.workbench) {
    page.resize(1000, 700);
    if (!studio.runs.empty()) {
      studio.workbench.selection().setRuns({studio.runs[6], studio.runs[7], studio.runs[8]},
                                           studio.runs[8]);
    }
    page.show();
    page.waitUntilIdle();
    QCoreApplication::processEvents();
  }
  std::int64_t drawings() const {
    std::int64_t sum = 0;
    for (PlotCard* card : page.cards()) sum += card->plot().drawings();
    return sum;
  }
  SampleStudio studio;
  MonitorPage page;
};

TEST(MonitorPage, ShowsFourCardsOfTheSelectedRuns) {
  OpenPage open;
  ASSERT_EQ(open.page.cards().size(), 4U);
  for (PlotCard* card : open.page.cards())
    EXPECT_EQ(card->plot().curves().size(), 3U) << card->metric();
}

TEST(MonitorPage, DrawsNoMoreThanFourPointsPerPixelColumn) {
  OpenPage open({0, 20'000});
  CurvePlot& loss = open.page.cards().front()->plot();
  (void)loss.grab();
  const auto columns = static_cast<std::size_t>(loss.plotRect().width());
  ASSERT_FALSE(loss.lines().empty());
  for (const DrawnLine& line : loss.lines()) EXPECT_LE(line.points.size(), 4 * (columns + 3));
  EXPECT_GT(loss.curves().front().series->size(), 8 * columns);
}

TEST(CurvePlot, ShowsTheLineBetweenTwoPointsWhenZoomedInBetweenThem) {
  CurveSeries series;
  ASSERT_TRUE(series.append({point(0, 1), point(300, 2), point(600, 4)}));
  CurvePlot plot;
  plot.resize(400, 300);
  plot.setCurves({{1, "a run", &series}});
  plot.show();
  plot.fit(330, 360);
  const PlotAxis y = plot.yAxis();
  EXPECT_NEAR(y.lower, 2.2 - 0.2 * 0.04, 1e-9);
  EXPECT_NEAR(y.upper, 2.4 + 0.2 * 0.04, 1e-9);
  (void)plot.grab();
  ASSERT_EQ(plot.lines().size(), 1U);
  EXPECT_EQ(plot.lines()[0].points.size(), 2U);
  plot.fit(500, 900);  // one point inside, the line comes in from the left
  EXPECT_NEAR(plot.yAxis().lower, 10.0 / 3 - (4 - 10.0 / 3) * 0.04, 1e-9);
  plot.fit(700, 900);  // past the end there is no line
  EXPECT_DOUBLE_EQ(plot.yAxis().upper, 1.04);
}

TEST(CurveSeries, EntersAWindowWhereItIsDrawnOnLogarithmicScales) {
  CurveSeries series;
  ASSERT_TRUE(series.append({point(1, 10), point(100, 1000)}));
  double low = 0, high = 0;
  ASSERT_TRUE(series.edges(XAxis::Step, 10, 200, AxisScale::Log, AxisScale::Log, low, high));
  EXPECT_NEAR(low, 100, 1e-9);
  EXPECT_NEAR(high, 100, 1e-9);
  EXPECT_FALSE(series.edges(XAxis::Step, 200, 300, AxisScale::Log, AxisScale::Log, low, high));
  ASSERT_TRUE(series.append({point(200, kNaN)}));
  EXPECT_FALSE(series.edges(XAxis::Step, 120, 180, AxisScale::Log, AxisScale::Log, low, high));
}

TEST(MonitorPage, OnlyLinesOfFewPointsAreWiderThanAPixel) {
  OpenPage open({0, 20'000});
  CurvePlot& loss = open.page.cards().front()->plot();
  (void)loss.grab();
  const auto columns = static_cast<std::size_t>(loss.plotRect().width());
  int wide = 0, thin = 0;
  for (const DrawnLine& line : loss.lines()) {
    const bool isWide = line.pen.widthF() > 1;
    wide += isWide;
    thin += !isWide;
    if (isWide) {
      EXPECT_LE(line.points.size(), 2 * columns + 16);
    }
  }
  EXPECT_EQ(wide, 3) << "the smoothed lines";
  EXPECT_EQ(thin, 3) << "the raw ones behind them";
}

TEST(MonitorPage, NewPointsOfARunningRunAppearWithinAHalfSecond) {
  OpenPage open;
  const CurveSeries& series = *open.page.cards().front()->plot().curves().back().series;
  const std::size_t before = series.size();
  open.studio.workbench.start();
  appendSamplePoints(open.studio.writer, open.studio.runs[8], 1, 8, 188, 196, 400);
  EXPECT_TRUE(soon([&] { return series.size() == before + 8; }));
}

TEST(MonitorPage, DrawsAtMostFourTimesASecond) {
  OpenPage open;
  const std::int64_t before = open.drawings();
  QElapsedTimer clock;
  clock.start();
  int commits = 0;
  while (clock.elapsed() < 1000) {
    appendSamplePoints(open.studio.writer, open.studio.runs[8], 1, 8, 188 + commits, 189 + commits,
                       400);
    ++commits;
    open.studio.workbench.watcher().poll();
    QCoreApplication::processEvents();
  }
  EXPECT_GT(commits, 8);
  EXPECT_GT(open.drawings(), before);
  // Five looks fit into a second and its ends; four cards each.
  EXPECT_LE(open.drawings() - before, 5 * 4);
}

TEST(MonitorPage, CardsOutOfSightAreNotDrawn) {
  OpenPage open;
  open.page.resize(340, 300);  // one column: the last cards are below the edge
  QCoreApplication::processEvents();
  PlotCard* last = open.page.cards().back();
  ASSERT_FALSE(last->isOnScreen());
  const std::int64_t before = last->plot().drawings();
  appendSamplePoints(open.studio.writer, open.studio.runs[8], 1, 8, 188, 240, 400);
  open.studio.workbench.watcher().poll();
  EXPECT_TRUE(soon([&] { return last->isStale; }));
  EXPECT_EQ(last->plot().drawings(), before);
}

TEST(MonitorPage, ZoomingEndsFollowingAndDoubleClickFitsAgain) {
  OpenPage open;
  CurvePlot& plot = open.page.cards().front()->plot();
  const PlotAxis all = plot.xAxis();
  const QPointF center = plot.plotRect().center();
  QWheelEvent wheel(center, plot.mapToGlobal(center), QPoint(), QPoint(0, 120), Qt::NoButton,
                    Qt::NoModifier, Qt::NoScrollPhase, false);
  QCoreApplication::sendEvent(&plot, &wheel);
  EXPECT_LT(plot.xAxis().span(), all.span());
  EXPECT_DOUBLE_EQ(open.page.cards().back()->plot().xAxis().lower, plot.xAxis().lower)
      << "all cards share the horizontal range";
  const PlotAxis zoomed = plot.xAxis();
  const CurveSeries& series = *plot.curves().back().series;
  const std::size_t before = series.size();
  appendSamplePoints(open.studio.writer, open.studio.runs[8], 1, 8, 188, 900, 1200);
  open.studio.workbench.watcher().poll();
  EXPECT_TRUE(soon([&] { return series.size() > before; }));
  EXPECT_DOUBLE_EQ(plot.xAxis().upper, zoomed.upper) << "the picture must not jump";
  QTest::mouseDClick(&plot, Qt::LeftButton, Qt::NoModifier, center.toPoint());
  EXPECT_GT(plot.xAxis().upper, 890) << "also what came meanwhile";
  // Who wants to see everything wants to see what is still to come.
  appendSamplePoints(open.studio.writer, open.studio.runs[8], 1, 8, 900, 960, 1200);
  open.studio.workbench.watcher().poll();
  EXPECT_TRUE(soon([&] { return plot.xAxis().upper > 950; }));
}

TEST(MonitorPage, XAndYPressedAloneChangeTheScaleOfTheirAxis) {
  OpenPage open;
  CurvePlot& plot = open.page.cards().front()->plot();
  QTest::keyClick(&plot, Qt::Key_Y);
  EXPECT_TRUE(open.page.settings().isLogY);
  EXPECT_EQ(plot.yAxis().scale, AxisScale::Log);
  EXPECT_FALSE(open.page.settings().isLogX);
  QTest::keyClick(&plot, Qt::Key_X);
  EXPECT_EQ(plot.xAxis().scale, AxisScale::Log);
  QTest::keyClick(&plot, Qt::Key_Y);
  EXPECT_EQ(plot.yAxis().scale, AxisScale::Linear);
  QTest::keyClick(&plot, Qt::Key_X, Qt::ControlModifier);  // means something else everywhere
  EXPECT_EQ(plot.xAxis().scale, AxisScale::Log);
}

TEST(MonitorPage, XHeldZoomsOneAxisOnly) {
  OpenPage open;
  CurvePlot& plot = open.page.cards().front()->plot();
  const PlotAxis y = plot.yAxis();
  QTest::keyPress(&plot, Qt::Key_X);
  const QPointF center = plot.plotRect().center();
  QWheelEvent wheel(center, plot.mapToGlobal(center), QPoint(), QPoint(0, -120), Qt::NoButton,
                    Qt::NoModifier, Qt::NoScrollPhase, false);
  QCoreApplication::sendEvent(&plot, &wheel);
  QTest::keyRelease(&plot, Qt::Key_X);
  EXPECT_DOUBLE_EQ(plot.yAxis().lower, y.lower);
  EXPECT_FALSE(open.page.settings().isLogX) << "held for the wheel, not pressed alone";
}

TEST(MonitorPage, MiddleDragMovesThePointUnderTheMouseWithIt) {
  OpenPage open;
  CurvePlot& plot = open.page.cards().front()->plot();
  const QPoint from = plot.plotRect().center(), to = from + QPoint(60, -25);
  const double x = plot.xAxis().valueAt(from.x()), y = plot.yAxis().valueAt(from.y());
  const double span = plot.xAxis().span();
  QTest::mousePress(&plot, Qt::MiddleButton, Qt::NoModifier, from);
  QTest::mouseMove(&plot, to);
  QTest::mouseRelease(&plot, Qt::MiddleButton, Qt::NoModifier, to);
  EXPECT_NEAR(plot.xAxis().pixelOf(x), to.x(), 0.5);
  EXPECT_NEAR(plot.yAxis().pixelOf(y), to.y(), 0.5);
  EXPECT_NEAR(plot.xAxis().span(), span, span * 1e-9);
}

TEST(MonitorPage, ZoomsMovesAndFitsFromTheKeyboard) {
  OpenPage open;
  CurvePlot& plot = open.page.cards().front()->plot();
  const PlotAxis all = plot.xAxis(), wholeY = plot.yAxis();
  QTest::keyClick(&plot, Qt::Key_Plus);
  const PlotAxis zoomed = plot.xAxis();
  EXPECT_LT(zoomed.span(), all.span());
  EXPECT_NEAR(zoomed.center(), all.center(), all.span() * 0.01);
  QTest::keyClick(&plot, Qt::Key_Right);
  EXPECT_GT(plot.xAxis().lower, zoomed.lower);
  EXPECT_NEAR(plot.xAxis().span(), zoomed.span(), all.span() * 0.01);
  EXPECT_DOUBLE_EQ(open.page.cards().back()->plot().xAxis().lower, plot.xAxis().lower);
  const PlotAxis y = plot.yAxis();
  QTest::keyClick(&plot, Qt::Key_Up);
  EXPECT_GT(plot.yAxis().lower, y.lower);
  QTest::keyClick(&plot, Qt::Key_Home);
  EXPECT_NEAR(plot.xAxis().span(), all.span(), 1);
  EXPECT_DOUBLE_EQ(plot.yAxis().lower, wholeY.lower);
}

TEST(MonitorPage, MovingTheCursorRedrawsNoCurve) {
  OpenPage open;
  const std::int64_t before = open.drawings();
  CurvePlot& plot = open.page.cards().front()->plot();
  for (int x = 100; x < 200; x += 10) QTest::mouseMove(&plot, QPoint(x, 100));
  QCoreApplication::processEvents();
  EXPECT_EQ(open.drawings(), before);
}

TEST(MonitorPage, DrawsAnEmptyPageWithOneAction) {
  OpenPage open({0, 0});
  const QImage picture = open.page.snapshot(QSize(800, 600), 1);
  EXPECT_EQ(picture.size(), QSize(800, 600));
  EXPECT_NE(open.page.findChild<QPushButton*>(), nullptr);
}

TEST(MonitorPage, TheSnapshotAtScaleTwoIsTheSamePictureWithTwiceThePixels) {
  OpenPage open;
  const QImage once = open.page.snapshot(QSize(900, 600), 1);
  const QImage twice = open.page.snapshot(QSize(900, 600), 2);
  EXPECT_EQ(twice.size(), QSize(1800, 1200));
  const QImage small = twice.scaled(once.size(), Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
  // Lines are one device pixel, so only the layout is compared: mean difference per channel.
  double difference = 0;
  for (int y = 0; y < once.height(); ++y) {
    for (int x = 0; x < once.width(); ++x) {
      difference += std::abs(qGray(once.pixel(x, y)) - qGray(small.pixel(x, y)));
    }
  }
  EXPECT_LT(difference / (once.width() * once.height()), 4);
}

TEST(CurvePlot, NumbersOnTheAxesAreNotCutOff) {
  OpenPage open;
  for (PlotCard* card : open.page.cards()) {
    const CurvePlot& plot = card->plot();
    const QFontMetrics metrics(axisFont());
    const double last = plot.xAxis().upper;
    const double reach =
        plot.xAxis().pixelOf(last) + metrics.horizontalAdvance(number(last, 0)) / 2.0;
    EXPECT_LE(reach, plot.width()) << card->metric();
    EXPECT_GE(plot.plotRect().top(), metrics.height() / 2 - 1);
  }
}

}  // namespace
}  // namespace vitrine::ui
