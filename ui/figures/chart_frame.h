// The frame of a plot: its axes in pixels, the grid, and the numbers and titles next to it. One for
// the live plots of the window and for figures.
#pragma once

#include <QFont>
#include <QMarginsF>
#include <QPainter>
#include <QPointF>
#include <QRectF>
#include <QString>

#include "ui/figures/chart_axis.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

/// The values of an axis along a line of pixels.
struct PlotAxis {
  AxisScale scale = AxisScale::Linear;
  double lower = 0, upper = 1;  ///< the range; above zero on a logarithmic axis
  double first = 0, last = 1;   ///< the pixels of its ends

  [[nodiscard]] double span() const { return upper - lower; }
  [[nodiscard]] double center() const { return (lower + upper) / 2; }
  [[nodiscard]] double pixelOf(double value) const;
  [[nodiscard]] double valueAt(double pixel) const;
  /// Takes the range, made sound: see soundRange().
  void setRange(double from, double to);
  /// Scales the range by `factor` around `center`; a range that cannot be told apart from a point
  /// is refused.
  void zoom(double factor, double center);
  /// Moves the range so that its ends are what is now `pixels` beyond them.
  void move(double pixels);
};

/// PlotAxis::pixelOf() for many values.
class PixelMap {
 public:
  explicit PixelMap(const PlotAxis& axis);
  double operator()(double value) const;

 private:
  bool isLog_;
  double offset_, factor_, origin_;
};

/// How a frame is set.
struct FrameStyle {
  QFont font = axisFont();
  QString xTitle = {}, yTitle = {};  ///< empty: none
  QMarginsF least = {};              ///< around the plot, whatever the numbers need
  double rightOf = 0;                ///< kept free right of the plot
  double below = 4;                  ///< pixels of the design between the plot and the numbers
  bool hasFactor = true;             ///< the factor of small numbers stands above the plot
};

struct ChartFrame {
  QRectF area;  ///< with the numbers and titles
  QRectF plot;
  PlotAxis x, y;
  ChartTicks xTicks, yTicks;

  ChartFrame() = default;
  /// \param xAxis, yAxis  with their ranges, which must be sound
  ChartFrame(const QRectF& area, const ChartAxis& xAxis, const ChartAxis& yAxis, FrameStyle style);

  [[nodiscard]] QPointF at(double xValue, double yValue) const {
    return {x.pixelOf(xValue), y.pixelOf(yValue)};
  }
  /// Moves the ends of the axes to `plot`.
  void setPlot(const QRectF& plot);
  /// The grid, numbers and titles.
  void draw(QPainter& painter, const ThemeColors& colors) const;
  /// Upper edge of the numbers below the plot.
  [[nodiscard]] double numbersTop() const { return plot.bottom() + style_.below * unit_; }
  /// Where the first of them begins; infinite without one.
  [[nodiscard]] double firstNumberAt() const;

 private:
  FrameStyle style_;
  double unit_ = 1;        ///< pixels per pixel of the design
  double labelWidth_ = 0;  ///< of the numbers left of the plot
};

}  // namespace vitrine::ui
