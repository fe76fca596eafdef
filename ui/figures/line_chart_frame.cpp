// The frame of a chart's plot: its height, axes and footnote.
#include <QFontMetricsF>
#include <QObject>
#include <QPainter>
#include <algorithm>

#include "ui/figures/chart_frame.h"
#include "ui/figures/line_chart_parts.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {
namespace {

constexpr int kLeastPaperTicks = 4;  // fewer do not show the scale on paper

}  // namespace

QString LineChartFigure::headerTitle() const {
  const QString title = style().title.isEmpty() ? chart_.title : style().title;
  return style().isOnPaper() && title == yTitle() ? QString() : title;
}

bool LineChartFigure::hasHeader() const {
  return style().hasTitle && (!headerTitle().isEmpty() || !chart_.about.isEmpty());
}

QString LineChartFigure::xTitle() const {
  if (!style().hasAxisTitles) return {};
  return style().xTitle.isEmpty() ? chart_.x.title : style().xTitle;
}
QString LineChartFigure::yTitle() const {
  if (!style().hasAxisTitles) return {};
  const QString& title = style().yTitle.isEmpty() ? chart_.y.title : style().yTitle;
  // On a screen the line above the plot says it, on paper the axis does.
  const bool isInHeader = !style().isOnPaper() && style().hasTitle && title == headerTitle();
  return isInHeader ? QString() : title;
}

QString LineChartFigure::footnoteText() const {
  QString footnote = chart_.footnote;
  if (!hasFloor()) return footnote;
  if (!footnote.isEmpty()) footnote += QStringLiteral(" \u00b7 ");
  return footnote + QObject::tr("\u25bc values at or below zero, drawn at the floor");
}

double LineChartFigure::leastFrame() const {
  const double line = QFontMetricsF(axisLetters()).height();
  return line + 4 + leastPlotHeight(style()) + line + 6 + (xTitle().isEmpty() ? 0 : line + 2);
}

double LineChartFigure::leastHeight(double width) const {
  const QFontMetricsF metrics(axisLetters());
  const double inner = std::max(width - 2 * kMargin, 1.0);
  double height = 2 * kMargin + leastFrame() + legendHeight(inner);
  if (hasHeader()) height += headerHeight(inner, headerTitle(), chart_.about);
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

ChartFrame LineChartFigure::frameOf(const QRectF& area, double margin) const {
  ChartAxis x = chart_.x, y = chart_.y;
  x.range = xRange_;
  y.range = yRange_;
  if (style().isOnPaper()) x.least = y.least = kLeastPaperTicks;
  return {area,
          x,
          y,
          {.font = axisLetters(), .xTitle = xTitle(), .yTitle = yTitle(), .rightOf = margin}};
}

}  // namespace vitrine::ui
