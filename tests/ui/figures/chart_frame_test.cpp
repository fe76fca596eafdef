#include "ui/figures/chart_frame.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/ui/support/qt_environment.h"
#include "ui/figures/chart_marks.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {
namespace {

PlotAxis axisOf(AxisScale scale, double lower, double upper) {
  PlotAxis axis{.scale = scale, .first = 50, .last = 450};
  axis.setRange(lower, upper);
  return axis;
}

TEST(PlotAxis, ValuesAndPixelsAreInversesOnBothScales) {
  for (const PlotAxis& axis :
       {axisOf(AxisScale::Linear, -3, 17), axisOf(AxisScale::Log, 1e-5, 100)}) {
    const PixelMap map(axis);
    EXPECT_DOUBLE_EQ(axis.pixelOf(axis.lower), 50);
    EXPECT_NEAR(axis.pixelOf(axis.upper), 450, 1e-9);
    for (const double pixel : {50.0, 123.0, 449.0}) {
      EXPECT_NEAR(axis.pixelOf(axis.valueAt(pixel)), pixel, 1e-9);
      EXPECT_NEAR(map(axis.valueAt(pixel)), pixel, 1e-9);
    }
  }
}

TEST(PlotAxis, ZoomKeepsTheValueUnderTheMouseWhereItIs) {
  for (PlotAxis axis : {axisOf(AxisScale::Linear, 0, 10), axisOf(AxisScale::Log, 1, 1000)}) {
    const double value = axis.valueAt(150), span = axis.span();
    axis.zoom(0.5, value);
    EXPECT_NEAR(axis.pixelOf(value), 150, 1e-9);
    EXPECT_LT(axis.span(), span);
  }
}

TEST(PlotAxis, MoveShowsWhatIsBeyondItsEnd) {
  for (PlotAxis axis : {axisOf(AxisScale::Linear, 0, 10), axisOf(AxisScale::Log, 1, 1000)}) {
    const double beyond = axis.valueAt(500);
    axis.move(50);
    EXPECT_NEAR(axis.upper, beyond, 1e-9 * beyond);
    EXPECT_NEAR(axis.pixelOf(beyond), 450, 1e-9);
  }
}

// Round numbers must exist in the range: else the search for them never ends.
TEST(PlotAxis, StaysSoundHoweverOftenTheUserZooms) {
  for (const double factor : {0.5, 2.0}) {
    for (PlotAxis axis :
         {axisOf(AxisScale::Linear, 0, 1e6), axisOf(AxisScale::Linear, 1.7e9, 1.8e9),
          axisOf(AxisScale::Log, 1e-3, 1e3)}) {
      for (int i = 0; i < 3000; ++i) axis.zoom(factor, axis.valueAt(200));
      EXPECT_TRUE(std::isfinite(axis.lower) && std::isfinite(axis.upper));
      EXPECT_LT(axis.lower, axis.upper);
      EXPECT_TRUE(axis.scale == AxisScale::Linear || axis.lower > 0);
      ChartAxis asked{.scale = axis.scale};
      for (const auto unit :
           {ChartAxis::Unit::Number, ChartAxis::Unit::Duration, ChartAxis::Unit::Date}) {
        if (unit != ChartAxis::Unit::Number && factor > 1) continue;  // no clock reaches so far
        asked.unit = unit;
        EXPECT_LE(chartTicks(asked, {axis.lower, axis.upper}, 6).values.size(), 60U);
      }
    }
  }
}

TEST(SoundRange, MakesAnythingARangeThatCanBeDrawn) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const AxisScale scale : {AxisScale::Linear, AxisScale::Log}) {
    for (const std::array<double, 2> range : {std::array{3.0, 1.0},
                                              {2.0, 2.0},
                                              {-5.0, 0.0},
                                              {0.0, 4.0},
                                              {1e16, 1e16 + 4},
                                              {std::nan(""), 1.0},
                                              {-kInfinity, kInfinity}}) {
      const auto sound = soundRange(range, scale);
      EXPECT_LT(sound[0], sound[1]) << range[0];
      EXPECT_TRUE(std::isfinite(sound[0]) && std::isfinite(sound[1])) << range[0];
      EXPECT_TRUE(scale == AxisScale::Linear || sound[0] > 0) << range[0];
    }
  }
  EXPECT_EQ(soundRange({1, 4}, AxisScale::Log), (std::array{1.0, 4.0}));
  EXPECT_EQ(soundRange({0, 0}, AxisScale::Linear), (std::array{-1.0, 1.0})) << "not in 1e-12";
}

TEST(ChartFrame, KeepsItsNumbersInsideOfTheAreaAndThePlotOutOfThem) {
  const QRectF area(10, 20, 300, 200);
  const QFontMetricsF metrics(axisLetters());
  for (const double top : {1.0, 1234567.0}) {
    const ChartFrame frame(area, {.range = {{0, 4000}}}, {.range = {{0, top}}},
                           {.font = axisLetters()});
    double widest = 0;
    for (const QString& label : frame.yTicks.labels)
      widest = std::max(widest, metrics.horizontalAdvance(label));
    EXPECT_GE(frame.plot.left(), area.left() + widest);
    EXPECT_LE(frame.plot.bottom() + metrics.height(), area.bottom());
    EXPECT_LE(frame.at(4000, 0).x() + metrics.horizontalAdvance(QStringLiteral("4,000")) / 2,
              area.right());
    EXPECT_EQ(frame.at(0, top), frame.plot.topLeft());
    EXPECT_GE(frame.firstNumberAt(), area.left());
  }
}

TEST(ChartFrame, HasTheMarginsThatAreAskedForAtLeast) {
  const ChartFrame frame(QRectF(0, 0, 400, 300), {}, {},
                         {.font = axisLetters(), .least = QMarginsF(80, 30, 40, 50)});
  EXPECT_EQ(frame.plot, QRectF(80, 30, 280, 220));
}

TEST(ChartFrame, AnAxisThatCountsHasWholeNumbers) {
  const ChartTicks any = chartTicks({}, {1, 17}, 7);
  EXPECT_TRUE(any.labels.contains(QStringLiteral("2.5"))) << any.labels.join(' ').toStdString();
  for (int target = 4; target <= 8; ++target) {
    const ChartTicks whole = chartTicks({.isWhole = true}, {1, 17}, target);
    EXPECT_GE(whole.labels.size(), 2) << target;
    for (const QString& label : whole.labels)
      EXPECT_FALSE(label.contains(QLatin1Char('.'))) << label.toStdString();
  }
}

TEST(ChartFrame, WordsOfANoteStayInsideOfThePlot) {
  const QRectF plot(50, 10, 300, 100);
  EXPECT_EQ(noteBox(plot, 60, 20, QSizeF(200, 12)), QRectF(62, 20, 200, 12));
  EXPECT_EQ(noteBox(plot, 340, 20, QSizeF(200, 12)), QRectF(138, 20, 200, 12));
  EXPECT_EQ(noteBox(plot, 200, 20, QSizeF(180, 12)), QRectF(170, 20, 180, 12))
      << "room on neither side: over the line";
  EXPECT_EQ(noteBox(plot, 200, 20, QSizeF(900, 12)), QRectF(50, 20, 300, 12));
}

}  // namespace
}  // namespace vitrine::ui
