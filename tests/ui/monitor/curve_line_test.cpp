// Lines drawn by columns of pixels: what they cover, and that nothing of a curve is hidden.
#include "ui/monitor/curve_line.h"

#include <QApplication>
#include <algorithm>
#include <cmath>

#include "tests/ui/support/probe.h"
#include "tests/ui/support/qt_test.h"
#include "ui/monitor/curve_plot.h"

namespace vitrine::ui {
namespace {

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

std::vector<store::MetricPoint> pointsOf(int from, int to, double (*value)(int)) {
  std::vector<store::MetricPoint> points;
  for (int i = from; i < to; ++i) {
    store::MetricPoint point;
    point.sequence = point.step = i + 1;
    point.segment = 1;
    point.time = i * 0.5;
    point.value = value(i);
    points.push_back(point);
  }
  return points;
}

double noise(int i) { return std::sin(i * 12.9898); }

TEST(ColumnSpans, CoverTheWayOfTheLineThroughEachColumn) {
  ColumnSpans spans;
  spans.reset(4, 100);
  spans.add(0.5, 10);
  spans.add(2.5, 30);  // through column 1 from 15 to 25
  float top = 0, bottom = 0;
  ASSERT_TRUE(spans.heights(1, 1, top, bottom));
  EXPECT_FLOAT_EQ(top, 15);
  EXPECT_FLOAT_EQ(bottom, 26) << "a row thick";
  ASSERT_TRUE(spans.heights(0, 1, top, bottom));
  EXPECT_FLOAT_EQ(top, 10);
  EXPECT_FLOAT_EQ(bottom, 16);
  EXPECT_FALSE(spans.heights(3, 1, top, bottom));
}

TEST(ColumnSpans, AreOpenWhereAValueIsMissing) {
  ColumnSpans spans;
  spans.reset(6, 100);
  spans.add(0.5, 10);
  spans.add(2.5, kGap);
  spans.add(4.5, 10);
  float top = 0, bottom = 0;
  EXPECT_TRUE(spans.heights(0, 1, top, bottom));
  for (const int column : {1, 2, 3}) EXPECT_FALSE(spans.heights(column, 1, top, bottom)) << column;
  EXPECT_TRUE(spans.heights(4, 1, top, bottom)) << "a point alone";
}

TEST(ColumnSpans, ContinueToTheEdgesOfThePictureAndNoFurther) {
  ColumnSpans spans;
  spans.reset(10, 50);
  spans.add(-1e6, -1e6);
  spans.add(1e6, 1e6);
  float top = 0, bottom = 0;
  for (int column = 0; column < 10; ++column) {
    ASSERT_TRUE(spans.heights(column, 1, top, bottom)) << column;
    EXPECT_NEAR(top, column, 0.1);
  }
  spans.reset(10, 50);
  spans.add(0, 60);
  spans.add(10, 90);  // the last point lies on the right edge, and all of it below the picture
  for (int column = 0; column < 10; ++column)
    EXPECT_FALSE(spans.heights(column, 1, top, bottom)) << column;
}

// A plot of some curves in a window, drawn.
struct DrawnPlot {
  explicit DrawnPlot(const std::vector<CurveSeries>& series, const PlotSettings& settings) {
    plot.resize(700, 400);
    plot.setSettings(settings);
    std::vector<PlottedCurve> curves;
    for (const CurveSeries& one : series)
      curves.push_back({static_cast<std::int64_t>(curves.size()) + 1, QStringLiteral("run"), &one});
    plot.setCurves(curves);
    plot.show();
    double from = 0, to = 1;
    plot.extent(from, to, settings.isLogX);
    plot.fit(from, to);
  }
  QImage picture() {
    plot.refresh();
    return plot.grab().toImage();
  }
  [[nodiscard]] int byColumns() const {
    return static_cast<int>(std::count_if(
        plot.lines().begin(), plot.lines().end(),
        [](const DrawnLine& line) { return line.drawing == DrawnLine::Drawing::Columns; }));
  }
  CurvePlot plot;
};

PlotSettings unsmoothed() { return {.smoothing = {}}; }

// What the x axis counts and its first and last number, whatever they are.
TEST(CurvePlotPixels, NoWordOfTheXAxisIsCutAtTheEdgeOfThePlot) {
  for (const XAxis axis : {XAxis::Step, XAxis::Epoch, XAxis::Time, XAxis::Wall}) {
    for (const double span : {60.0, 2000.0, 50'000.0, 300'000.0}) {
      std::vector<CurveSeries> series(1);
      auto points = pointsOf(0, 100, noise);
      for (store::MetricPoint& point : points) {
        point.time *= span / 49.5;
        point.epoch = static_cast<double>(point.step);
      }
      ASSERT_TRUE(series[0].append(points));
      series[0].setSegmentStarts({{1, 1.7e9}});
      PlotSettings settings = unsmoothed();
      settings.x = axis;
      DrawnPlot drawn(series, settings);
      drawn.plot.resize(320, 160);
      const QImage picture = drawn.picture();
      const QColor paper = themeColors().panel;
      for (int y = drawn.plot.plotRect().bottom() + 1; y < picture.height(); ++y) {
        ASSERT_EQ(picture.pixelColor(0, y), paper) << static_cast<int>(axis) << ' ' << span;
        ASSERT_EQ(picture.pixelColor(picture.width() - 1, y), paper)
            << static_cast<int>(axis) << ' ' << span;
      }
    }
  }
}

// It stands below the numbers, whatever its length.
TEST(CurvePlotPixels, TheNameOfAMetricOnTheXAxisCoversNoCurve) {
  CurveSeries loss;
  ASSERT_TRUE(loss.append(pointsOf(0, 100, noise)));
  const std::vector<CurveSeries> series(1, loss.over(loss));
  const auto inside = [&series](const QString& name) {
    PlotSettings settings = unsmoothed();
    settings.x = XAxis::Metric;
    settings.xTitle = name;
    DrawnPlot drawn(series, settings);
    const QImage picture = drawn.picture();
    return picture.copy(drawn.plot.plotRect());
  };
  EXPECT_EQ(inside(QStringLiteral("loss")), inside(QStringLiteral("Loss of the text, training")));
}

// Minimum and maximum per pixel, so that no spike is ever hidden.
TEST(CurvePlotPixels, ASpikeOfOnePointAmongAMillionIsSeenWhereverItIs) {
  for (const int place : {0, 1, 123'456, 500'000, 999'998, 999'999}) {
    std::vector<CurveSeries> series(1);
    auto points = pointsOf(0, 1'000'000, noise);
    points[static_cast<std::size_t>(place)].value = 40;
    ASSERT_TRUE(series[0].append(points));
    DrawnPlot drawn(series, unsmoothed());
    const QImage picture = drawn.picture();
    ASSERT_EQ(drawn.byColumns(), 1);
    const QRect inside = drawn.plot.plotRect();
    const int x =
        std::clamp(qRound(drawn.plot.xAxis().pixelOf(place + 1)), inside.left(), inside.right());
    const int tip = qRound(drawn.plot.yAxis().pixelOf(40));
    const QRgb paper = picture.pixel(inside.left() + inside.width() / 4, tip + 3);
    int seen = 0;  // columns with the spike at half of its height
    for (int column = std::max(x - 3, inside.left()); column <= std::min(x + 3, inside.right());
         ++column)
      seen += picture.pixel(column, (tip + qRound(drawn.plot.yAxis().pixelOf(0))) / 2) != paper;
    EXPECT_GE(seen, 1) << place;
  }
}

TEST(CurvePlotPixels, ACurveOfZerosStandsOnZero) {
  std::vector<CurveSeries> series(1);
  ASSERT_TRUE(series[0].append(pointsOf(0, 20, [](int) { return 0.0; })));
  const DrawnPlot drawn(series, unsmoothed());
  EXPECT_EQ(drawn.plot.yAxis().lower, 0);
  EXPECT_EQ(drawn.plot.yAxis().upper, 1);
}

TEST(CurvePlotPixels, ASpikeInTheGapOfADashIsSeenToo) {
  std::vector<CurveSeries> series(12);  // the last has dashes
  auto points = pointsOf(0, 20'000, noise);
  for (std::size_t at = 100; at < points.size(); at += 700) points[at].value = 40;
  ASSERT_TRUE(series.back().append(points));
  DrawnPlot drawn(series, unsmoothed());
  const QImage picture = drawn.picture();
  ASSERT_NE(drawn.plot.lines()[11].pen.style(), Qt::SolidLine);
  const int middle = qRound(drawn.plot.yAxis().pixelOf(20));
  const QRect inside = drawn.plot.plotRect();
  const QRgb paper = picture.pixel(inside.left() + 1, middle);
  for (std::size_t at = 100; at < points.size(); at += 700) {
    const int x = qRound(drawn.plot.xAxis().pixelOf(static_cast<double>(at + 1)));
    bool isSeen = false;
    for (int column = x - 1; column <= x + 1; ++column)
      isSeen = isSeen || picture.pixel(column, middle) != paper;
    EXPECT_TRUE(isSeen) << at;
  }
}

TEST(CurvePlotPixels, WhereValuesAreMissingThereIsNoLine) {
  std::vector<CurveSeries> series(1);
  ASSERT_TRUE(series[0].append(
      pointsOf(0, 200'000, [](int i) { return i >= 80'000 && i < 120'000 ? kGap : noise(i); })));
  DrawnPlot drawn(series, unsmoothed());
  const QImage picture = drawn.picture();
  ASSERT_EQ(drawn.byColumns(), 1);
  const QRect inside = drawn.plot.plotRect();
  const int x = qRound(drawn.plot.xAxis().pixelOf(100'000));
  const QRgb paper = picture.pixel(x, inside.top() + 2);
  int drawnRows = 0;
  for (int y = inside.top() + 2; y < inside.bottom() - 20; ++y)
    drawnRows += picture.pixel(x, y) != paper;
  EXPECT_LE(drawnRows, 6) << "the lines of the grid";
}

TEST(CurvePlotCost, ManyMovesBeforeTheNextTurnOfTheEventLoopAreOneDrawing) {
  std::vector<CurveSeries> series(1);
  ASSERT_TRUE(series[0].append(pointsOf(0, 10'000, noise)));
  DrawnPlot drawn(series, unsmoothed());
  (void)drawn.picture();
  QCoreApplication::processEvents();
  const std::int64_t before = Probe::drawings(drawn.plot);
  for (int i = 0; i < 50; ++i) drawn.plot.showRange(i, 5000 + i);
  QCoreApplication::processEvents();
  EXPECT_EQ(Probe::drawings(drawn.plot) - before, 1);
  EXPECT_DOUBLE_EQ(drawn.plot.xAxis().lower, 49);
}

TEST(CurvePlotCost, ManyNoisyCurvesAreDrawnByColumnsAndAFewCalmOnesAsPaths) {
  std::vector<CurveSeries> many(20), few(2);
  for (CurveSeries& one : many) ASSERT_TRUE(one.append(pointsOf(0, 900, noise)));
  for (CurveSeries& one : few)
    ASSERT_TRUE(one.append(pointsOf(0, 300, [](int i) { return i * 0.01; })));
  DrawnPlot crowded(many, unsmoothed()), calm(few, unsmoothed());
  (void)crowded.picture();
  (void)calm.picture();
  EXPECT_EQ(crowded.byColumns(), 20);
  EXPECT_EQ(calm.byColumns(), 0);
}

// 4 times a second, whatever is known already.
TEST(CurveSeriesCost, OfNewPointsDoesNotGrowWithTheCurve) {
  for (const Smoothing smoothing :
       {Smoothing{Smoothing::Kind::Ema, 0.9}, Smoothing{Smoothing::Kind::Centred, 25}}) {
    std::uint64_t costs[2] = {};
    for (const int size : {10'000, 1'000'000}) {
      CurveSeries series;
      ASSERT_TRUE(series.append(pointsOf(0, size, noise)));
      series.setSegmentStarts({{1, 1e9}});
      const auto look = [&] {
        (void)series.extremes();
        (void)series.smoothedExtremes(smoothing);
        (void)series.x(XAxis::Wall);
        return series.looked();
      };
      const std::uint64_t before = look();
      ASSERT_TRUE(series.append(pointsOf(size, size + 50, noise)));
      costs[size > 10'000] = look() - before;
    }
    EXPECT_GT(costs[0], 0U);
    // More levels of the pyramid, a block each: no more.
    EXPECT_LE(costs[1], costs[0] + 4 * Extremes::kBlock);
    EXPECT_LT(costs[1], 1000U);
  }
}

TEST(Extremes, KnowTheLeastValueAboveZero) {
  std::vector<double> values;
  for (int i = 0; i < 3000; ++i) values.push_back(i % 7 == 0 ? -i : 5000.0 - i);
  Extremes extremes;
  extremes.update(values, 0);
  for (const auto& [from, to] :
       {std::pair<std::size_t, std::size_t>{0, 3000}, {17, 33}, {5, 2500}}) {
    double least = Extremes::kNone;
    for (std::size_t i = from; i < to; ++i)
      if (values[i] > 0) least = std::min(least, values[i]);
    EXPECT_EQ(extremes.leastPositive(values, from, to), least);
    const auto found = extremes.find(values, from, to);
    const auto bounds = extremes.bounds(values, from, to);
    EXPECT_EQ(bounds.least, values[found.low]);
    EXPECT_EQ(bounds.greatest, values[found.high]);
  }
  EXPECT_EQ(extremes.leastPositive(values, 7, 8), Extremes::kNone) << "one value, below zero";
}

}  // namespace
}  // namespace vitrine::ui
