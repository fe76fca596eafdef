// The frame of a chart: how high it must be, its axes with their numbers and titles, its footnote.
#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>

#include "ui/figures/line_chart_parts.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {
namespace {

constexpr double kBetweenNumbers = 8;  // the least beside each other, below the plot

}  // namespace

bool LineChartFigure::hasHeader() const {
  return !chart_.title.isEmpty() || !chart_.about.isEmpty() || !style().title.isEmpty();
}

QString LineChartFigure::xTitle() const {
  return style().hasAxisTitles ? chart_.x.title : QString();
}
QString LineChartFigure::yTitle() const {
  return style().hasAxisTitles ? chart_.y.title : QString();
}

QString LineChartFigure::footnoteText() const {
  QString footnote = chart_.footnote;
  if (!hasFloor()) return footnote;
  if (!footnote.isEmpty()) footnote += QStringLiteral(" \u00b7 ");
  return footnote + QStringLiteral("\u25bc values at or below zero, drawn at the floor");
}

double LineChartFigure::leastFrame() const {
  const double line = QFontMetricsF(axisLetters()).height();
  return line + 4 + leastPlotHeight(style()) + line + 6 + (xTitle().isEmpty() ? 0 : line + 2);
}

double LineChartFigure::leastHeight(double width) const {
  const QFontMetricsF metrics(axisLetters());
  const double inner = std::max(width - 2 * kMargin, 1.0);
  double height = 2 * kMargin + leastFrame() + legendHeight(inner);
  if (hasHeader()) height += headerHeight(inner, chart_.title, chart_.about);
  if (const QString text = footnoteText(); !text.isEmpty()) {
    height +=
        6 + metrics.boundingRect(QRectF(0, 0, inner, 1e4), Qt::AlignLeft | Qt::TextWordWrap, text)
                .height();
  }
  return height;
}

QRectF LineChartFigure::drawFootnote(QPainter& painter, const QRectF& area) const {
  const QString footnote = footnoteText();
  if (footnote.isEmpty()) return area;
  const QFont font = axisLetters();
  painter.setFont(font);
  painter.setPen(themeColors().muted);
  const QFontMetricsF metrics(font);
  const QRectF wanted = metrics.boundingRect(QRectF(0, 0, area.width(), 1e4),
                                             Qt::AlignLeft | Qt::TextWordWrap, footnote);
  const double spare = area.height() - 6 - leastFrame() - legendHeight(area.width());
  const double height = std::min(wanted.height(), std::max(area.height() / 3, spare));
  painter.drawText(QRectF(area.left(), area.bottom() - height, area.width(), height),
                   Qt::AlignLeft | Qt::TextWordWrap, footnote);
  return area.adjusted(0, 0, 0, -height - 6);
}

ChartTicks LineChartFigure::xTicks(double width) const {
  constexpr double kApart = 14;
  const QFontMetricsF metrics(axisLetters());
  const double widest = metrics.horizontalAdvance(QStringLiteral("00,000"));
  const auto areApart = [&](const ChartTicks& ticks) {
    for (std::size_t i = 1; i < ticks.values.size(); ++i) {
      const auto right = static_cast<qsizetype>(i);
      const double half = (metrics.horizontalAdvance(ticks.labels[right - 1]) +
                           metrics.horizontalAdvance(ticks.labels[right])) /
                          2;
      if ((xUnit(ticks.values[i]) - xUnit(ticks.values[i - 1])) * width < half + kApart)
        return false;
    }
    return true;
  };
  // Numbers that have no room beside each other, as dates, are fewer, not left out here and there;
  // on a logarithmic axis they are.
  for (int target = std::clamp(static_cast<int>(width / (1.9 * widest)), 4, 8);; --target) {
    ChartTicks ticks = chartTicks(chart_.x, xRange_, target);
    if (target == 2 || chart_.x.scale == AxisScale::Log || areApart(ticks)) return ticks;
  }
}

LineChartFigure::Frame LineChartFigure::frameOf(const QRectF& area, double margin) const {
  const QFontMetricsF metrics(axisLetters());
  const double height = metrics.height();
  Frame frame;
  frame.area = area;
  const int yTarget = std::clamp(static_cast<int>(area.height() / (3.2 * height)), 2, 6);
  frame.y = chartTicks(chart_.y, yRange_, yTarget);
  for (const QString& label : frame.y.labels)
    frame.labelWidth = std::max(frame.labelWidth, metrics.horizontalAdvance(label));
  QRectF& plot = frame.plot;
  plot = area.adjusted(frame.labelWidth + 8 + (yTitle().isEmpty() ? 0 : height + 4),
                       frame.y.factor.isEmpty() ? height / 2 : height + 4, -std::max(4.0, margin),
                       -(height + 6 + (xTitle().isEmpty() ? 0 : height + 2)));
  frame.x = xTicks(plot.width());
  if (frame.x.values.empty()) return frame;
  // Half of the first and of the last number reach beyond their places: not beyond the area.
  const auto halfOf = [&](const QString& label) {
    return metrics.horizontalAdvance(label) / 2 + 1;
  };
  const double first = xUnit(frame.x.values.front()), last = xUnit(frame.x.values.back());
  const double from = area.left() + halfOf(frame.x.labels.front());
  const double to = area.right() - halfOf(frame.x.labels.back());
  for (int pass = 0; pass < 2; ++pass) {
    if (last > 0) plot.setRight(std::min(plot.right(), plot.left() + (to - plot.left()) / last));
    plot.setLeft(std::max(plot.left(), from - first * plot.width()));
  }
  return frame;
}

void LineChartFigure::drawFrame(QPainter& painter, const Frame& frame) const {
  const ThemeColors& t = themeColors();
  const QFont font = axisLetters();
  const QFontMetricsF metrics(font);
  const double height = metrics.height();
  const QRectF& plot = frame.plot;
  painter.setFont(font);
  double lastLabel = 1e9;
  for (std::size_t i = 0; i < frame.y.values.size(); ++i) {
    const double y = plot.bottom() - yUnit(frame.y.values[i]) * plot.height();
    if (y < plot.top() - 0.5 || y > plot.bottom() + 0.5) continue;
    painter.setPen(QPen(t.grid, 1));
    painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    if (lastLabel - y < 0.8 * height) continue;
    lastLabel = y;
    painter.setPen(t.muted);
    painter.drawText(
        QRectF(plot.left() - frame.labelWidth - 8, y - height / 2, frame.labelWidth + 2, height),
        Qt::AlignRight | Qt::AlignVCenter, frame.y.labels[static_cast<qsizetype>(i)]);
  }
  painter.setPen(t.muted);
  if (!frame.y.factor.isEmpty())
    painter.drawText(QRectF(plot.left(), frame.area.top() - 2, plot.width(), height), Qt::AlignLeft,
                     frame.y.factor);
  double freeFrom = -1e9;
  for (std::size_t i = 0; i < frame.x.values.size(); ++i) {
    const QString& label = frame.x.labels[static_cast<qsizetype>(i)];
    const double width = metrics.horizontalAdvance(label) + 2;
    const double left = plot.left() + xUnit(frame.x.values[i]) * plot.width() - width / 2;
    if (left < freeFrom) continue;
    freeFrom = left + width + kBetweenNumbers;
    painter.drawText(QRectF(left, plot.bottom() + 4, width, height), Qt::AlignCenter, label);
  }
  if (!xTitle().isEmpty()) {
    const QString text = frame.x.factor.isEmpty()
                             ? xTitle()
                             : QStringLiteral("%1 (%2)").arg(xTitle(), frame.x.factor);
    drawLine(painter, QRectF(plot.left(), plot.bottom() + 6 + height, plot.width(), height),
             Qt::AlignHCenter | Qt::AlignVCenter, text);
  }
  // Three letters of a word and an ellipsis say nothing.
  if (!yTitle().isEmpty() && plot.height() > std::min(metrics.horizontalAdvance(yTitle()), 56.0)) {
    painter.save();
    painter.translate(frame.area.left(), plot.bottom());
    painter.rotate(-90);
    drawLine(painter, QRectF(0, 0, plot.height(), height), Qt::AlignHCenter | Qt::AlignVCenter,
             yTitle());
    painter.restore();
  }
}

}  // namespace vitrine::ui
