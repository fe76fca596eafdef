#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/ui/monitor/metric_point.h"
#include "tests/ui/support/qt_test.h"
#include "ui/monitor/curve_cache.h"
#include "ui/monitor/monitor_page.h"

namespace vitrine::ui {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const Smoothing kEma{Smoothing::Kind::Ema, 0.8};

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

TEST(Decimate, GivesThePointsThatLookingGivesWithAnIndex) {
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

TEST(CurveSeries, PlacesAStepWhereItIsInTheOrderOfAnotherMetric) {
  CurveSeries loss, rate;
  ASSERT_TRUE(loss.append({point(10, 4), point(20, 3), point(30, 2)}));
  ASSERT_TRUE(rate.append({point(10, 0.3), point(20, 0.2), point(30, 0.1)}));
  EXPECT_EQ(loss.placeOf(15, XAxis::Step), std::optional<double>(20));
  EXPECT_FALSE(loss.placeOf(31, XAxis::Step));
  const CurveSeries over = loss.over(rate);
  EXPECT_EQ(over.placeOf(10, XAxis::Metric), std::optional<double>(0.3));
  EXPECT_FALSE(over.placeOf(15, XAxis::Metric));
}

TEST(CurveSeries, JoinsByStepAndSortsByTheOtherMetric) {
  CurveSeries y, x;
  ASSERT_TRUE(y.append({point(1, 10), point(2, 20), point(3, 30), point(4, 40)}));
  ASSERT_TRUE(x.append({point(2, 9), point(4, 5)}));
  const CurveSeries over = y.over(x);
  ASSERT_EQ(over.size(), 3U) << "step 1 comes before the first value of the other";
  EXPECT_EQ(over.x(XAxis::Metric)[0], 5);
  EXPECT_EQ(over.y()[0], 40);
  EXPECT_EQ(over.x(XAxis::Metric)[2], 9);
  EXPECT_EQ(over.y()[2], 30);
}

TEST(CentredMean, IsTheMeanOfItsWindowAndGrowsWithTheCurve) {
  std::vector<store::MetricPoint> points;
  for (int i = 1; i <= 400; ++i) points.push_back(point(i, i == 50 ? kNaN : std::cos(i)));
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
  const CurveReadResponse news = readCurve(studio.writer, cache.ask({run, "train/loss"}));
  EXPECT_EQ(news.fresh.size(), 8U);
  EXPECT_EQ(news.whole, nullptr);
  EXPECT_TRUE(cache.take(CurveReadResponse(news)));
  EXPECT_FALSE(cache.take(CurveReadResponse(news))) << "the same news twice";
  EXPECT_EQ(series.size(), before + 8) << "where it was";
  CurveReadRequest ask = cache.ask({run, "train/loss"});
  ask.lastSequence -= 4;  // as if a later segment had written steps that were there
  const CurveReadResponse whole = readCurve(studio.writer, ask);
  ASSERT_NE(whole.whole, nullptr);
  EXPECT_EQ(whole.whole->size(), before + 8);
}

TEST(CurveCache, AsksAgainForACurveThatCouldNotBeRead) {
  CurveCache cache;
  const CurveKey key{1, "train/loss"};
  CurveReadResponse answer{
      .key = key, .error = "the disk cannot be read", .version = 3, .changeSequence = 7};
  EXPECT_FALSE(cache.take(CurveReadResponse(answer)));
  EXPECT_TRUE(cache.isRead(key, 3)) << "not at once";
  EXPECT_FALSE(cache.isRead(key, 1, 7)) << "a run that has ended stays as it is";
  answer.error.clear();
  cache.take(std::move(answer));
  EXPECT_TRUE(cache.isRead(key, 1, 7));
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

}  // namespace
}  // namespace vitrine::ui
