#include "ui/figures/chart_frame.h"

#include <QFontInfo>
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/figures/painting.h"

namespace vitrine::ui {
namespace {

constexpr double kBesidePlot = 8, kBelowNumbers = 2;  // pixels of the design
constexpr double kBetweenNumbers = 8;  // the least between neighbours, below the plot

/// Numbers that have no room next to each other, as dates, are fewer, not left out here and there;
/// on a logarithmic axis they are.
ChartTicks ticksAcross(const ChartAxis& axis, const PlotAxis& place, const QFontMetricsF& metrics,
                       double unit) {
  const double apart = 14 * unit, width = place.last - place.first;
  const auto areApart = [&](const ChartTicks& ticks) {
    for (std::size_t i = 1; i < ticks.values.size(); ++i) {
      const auto right = static_cast<qsizetype>(i);
      const double half = (metrics.horizontalAdvance(ticks.labels[right - 1]) +
                           metrics.horizontalAdvance(ticks.labels[right])) /
                          2;
      if (place.pixelOf(ticks.values[i]) - place.pixelOf(ticks.values[i - 1]) < half + apart)
        return false;
    }
    return true;
  };
  const double widest = metrics.horizontalAdvance(QStringLiteral("00,000"));
  const int usual = std::clamp(static_cast<int>(width / (1.9 * widest)), 4, 8);
  ChartAxis tried = axis;
  for (int target = axis.target > 0 ? axis.target : usual;; --target) {
    ChartTicks ticks = chartTicks(tried, {place.lower, place.upper}, target);
    if (axis.scale == AxisScale::Log || areApart(ticks)) return ticks;
    if (target > 2) continue;
    if (tried.least == 0) return ticks;
    tried.least = 0;  // so many have no room
    target = usual + 1;
  }
}

}  // namespace

double PlotAxis::pixelOf(double value) const {
  return first + shareOf(scale, {lower, upper}, value) * (last - first);
}

double PlotAxis::valueAt(double pixel) const {
  return valueAtShare(scale, {lower, upper}, (pixel - first) / (last - first));
}

void PlotAxis::setRange(double from, double to) {
  const auto range = soundRange({from, to}, scale);
  lower = range[0];
  upper = range[1];
}

void PlotAxis::zoom(double factor, double center) {
  PlotAxis wanted = *this;
  if (scale == AxisScale::Log) {
    if (!(center > 0)) return;
    wanted.lower = center * std::pow(lower / center, factor);
    wanted.upper = center * std::pow(upper / center, factor);
  } else {
    wanted.lower = center + (lower - center) * factor;
    wanted.upper = center + (upper - center) * factor;
  }
  const std::array<double, 2> range{wanted.lower, wanted.upper};
  if (soundRange(range, scale) == range) *this = wanted;
}

void PlotAxis::move(double pixels) { setRange(valueAt(first + pixels), valueAt(last + pixels)); }

PixelMap::PixelMap(const PlotAxis& axis) : isLog_(axis.scale == AxisScale::Log) {
  origin_ = axis.lower;
  offset_ = axis.first;
  factor_ = (axis.last - axis.first) /
            (isLog_ ? std::log(axis.upper / axis.lower) : axis.upper - axis.lower);
}

double PixelMap::operator()(double value) const {
  return offset_ + (isLog_ ? std::log(value / origin_) : value - origin_) * factor_;
}

ChartFrame::ChartFrame(const QRectF& within, const ChartAxis& xAxis, const ChartAxis& yAxis,
                       FrameStyle style)
    : area(within), style_(std::move(style)) {
  constexpr double kDesignPixels = 11;
  unit_ = QFontInfo(style_.font).pixelSize() / kDesignPixels;
  const QFontMetricsF metrics(style_.font);
  const double height = metrics.height();
  const auto take = [](PlotAxis& into, const ChartAxis& from) {
    into.scale = from.scale;
    if (from.range) into.setRange((*from.range)[0], (*from.range)[1]);
  };
  take(x, xAxis);
  take(y, yAxis);
  const int usual = std::clamp(static_cast<int>(area.height() / (3.2 * height)), 2, 6);
  yTicks = chartTicks(yAxis, {y.lower, y.upper}, yAxis.target > 0 ? yAxis.target : usual);
  for (const QString& label : yTicks.labels)
    labelWidth_ = std::max(labelWidth_, metrics.horizontalAdvance(label));
  const bool hasFactor = style_.hasFactor && !yTicks.factor.isEmpty();
  const double left =
      labelWidth_ + kBesidePlot * unit_ + (style_.yTitle.isEmpty() ? 0 : height + 4 * unit_);
  const double top = hasFactor ? height + 4 * unit_ : height / 2;
  const double bottom = height + (style_.below + kBelowNumbers) * unit_ +
                        (style_.xTitle.isEmpty() ? 0 : height + 2 * unit_);
  setPlot(area.adjusted(std::max(left, style_.least.left()), std::max(top, style_.least.top()),
                        -std::max({4 * unit_, style_.rightOf, style_.least.right()}),
                        -std::max(bottom, style_.least.bottom())));
  xTicks = ticksAcross(xAxis, x, metrics, unit_);
  if (xTicks.values.empty()) return;
  // Half of the first and of the last number reach beyond their places: not beyond the area.
  const auto halfOf = [&](const QString& label) {
    return metrics.horizontalAdvance(label) / 2 + 1;
  };
  const std::array range{x.lower, x.upper};
  const double first = shareOf(x.scale, range, xTicks.values.front());
  const double last = shareOf(x.scale, range, xTicks.values.back());
  const double from = area.left() + halfOf(xTicks.labels.front());
  const double to = area.right() - halfOf(xTicks.labels.back());
  QRectF fitted = plot;
  for (int pass = 0; pass < 2; ++pass) {
    if (last > 0)
      fitted.setRight(std::min(fitted.right(), fitted.left() + (to - fitted.left()) / last));
    fitted.setLeft(std::max(fitted.left(), from - first * fitted.width()));
  }
  setPlot(fitted);
}

void ChartFrame::setPlot(const QRectF& rect) {
  plot = rect;
  x.first = plot.left();
  x.last = plot.right();
  y.first = plot.bottom();
  y.last = plot.top();
}

double ChartFrame::firstNumberAt() const {
  const QFontMetricsF metrics(style_.font);
  double first = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < xTicks.values.size(); ++i) {
    const QString& label = xTicks.labels[static_cast<qsizetype>(i)];
    first = std::min(first, x.pixelOf(xTicks.values[i]) - metrics.horizontalAdvance(label) / 2);
  }
  return first;
}

void ChartFrame::draw(QPainter& painter, const ThemeColors& colors) const {
  const QFontMetricsF metrics(style_.font);
  const double height = metrics.height(), beside = kBesidePlot * unit_;
  painter.setFont(style_.font);
  double lastLabel = 1e9;
  for (std::size_t i = 0; i < yTicks.values.size(); ++i) {
    const double at = y.pixelOf(yTicks.values[i]);
    if (at < plot.top() - 0.5 || at > plot.bottom() + 0.5) continue;
    painter.setPen(QPen(colors.grid, 1));
    painter.drawLine(QPointF(plot.left(), at), QPointF(plot.right(), at));
    if (lastLabel - at < 0.8 * height) continue;
    lastLabel = at;
    painter.setPen(colors.muted);
    painter.drawText(QRectF(plot.left() - labelWidth_ - beside, at - height / 2,
                            labelWidth_ + 2 * unit_, height),
                     Qt::AlignRight | Qt::AlignVCenter, yTicks.labels[static_cast<qsizetype>(i)]);
  }
  painter.setPen(colors.muted);
  if (style_.hasFactor && !yTicks.factor.isEmpty())
    painter.drawText(QRectF(plot.left(), area.top() - 2 * unit_, plot.width(), height),
                     Qt::AlignLeft, yTicks.factor);
  double freeFrom = -1e9;
  for (std::size_t i = 0; i < xTicks.values.size(); ++i) {
    const QString& label = xTicks.labels[static_cast<qsizetype>(i)];
    const double width = metrics.horizontalAdvance(label) + 2;
    const double left = x.pixelOf(xTicks.values[i]) - width / 2;
    if (left < freeFrom) continue;
    freeFrom = left + width + kBetweenNumbers * unit_;
    painter.drawText(QRectF(left, numbersTop(), width, height), Qt::AlignCenter, label);
  }
  if (!style_.xTitle.isEmpty()) {
    const QString text = xTicks.factor.isEmpty()
                             ? style_.xTitle
                             : QStringLiteral("%1 (%2)").arg(style_.xTitle, xTicks.factor);
    drawLine(
        painter,
        QRectF(plot.left(), numbersTop() + kBelowNumbers * unit_ + height, plot.width(), height),
        Qt::AlignHCenter | Qt::AlignVCenter, text);
  }
  // Three letters of a word and an ellipsis say nothing.
  const double titleLength = metrics.horizontalAdvance(style_.yTitle);
  if (!style_.yTitle.isEmpty() && plot.height() > std::min(titleLength, 56 * unit_)) {
    // Next to the plot; a longer one next to all of the frame.
    const QRectF& side = titleLength < plot.height() ? plot : area;
    painter.save();
    painter.translate(area.left(), side.bottom());
    painter.rotate(-90);
    drawLine(painter, QRectF(0, 0, side.height(), height), Qt::AlignHCenter | Qt::AlignVCenter,
             style_.yTitle);
    painter.restore();
  }
}

}  // namespace vitrine::ui
