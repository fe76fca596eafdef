// The legend below, next to or inside the plot.
#include <QFontMetricsF>
#include <QObject>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/figures/line_chart_parts.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {
namespace {

constexpr double kKeyWidth = 26;  // of the line before a name
constexpr double kKeyGap = 6;
constexpr double kColumnGap = 16;
constexpr double kLegendGap = 6;  // above it
constexpr std::size_t kMostNamed = 24;
constexpr double kMostInside = 0.6;    // of the width
constexpr double kInsideHeight = 0.7;  // of the plot's height

double legendLine() { return QFontMetricsF(axisLetters()).height() + 3; }

double entryWidth(const QString& name) {
  return kKeyWidth + kKeyGap + QFontMetricsF(axisLetters()).horizontalAdvance(name) + 2;
}

/// How many fit inside a plot of this height.
int insideEntries(double height) {
  return static_cast<int>((height * kInsideHeight + 0.5) / legendLine());
}

QString moreText(int number) { return QObject::tr("and %1 more").arg(number); }

}  // namespace

double LineChartFigure::widestName() const {
  double widest = 0;
  for (const ChartSeries& series : chart_.series) {
    if (!series.name.isEmpty()) widest = std::max(widest, entryWidth(nameOf(series)));
  }
  return widest;
}

FigureLegend LineChartFigure::legendPlace(double width) const {
  constexpr double kNumbers = 60;  // what the axis takes of the width
  const FigureLegend wanted = style().legend.value_or(chart_.legend);
  const double widest = widestName();
  const bool isTooNarrow =
      (wanted == FigureLegend::Right && widest > width * kMostLegendBeside) ||
      (wanted == FigureLegend::Inside && widest + 12 > (width - kNumbers) * kMostInside);
  return isTooNarrow ? FigureLegend::Below : wanted;
}

LineChartFigure::Legend LineChartFigure::legendOf(double width) const {
  Legend legend;
  std::vector<double> widths;
  for (const ChartSeries& series : chart_.series) {
    if (series.name.isEmpty()) continue;
    if (legend.named.size() == kMostNamed) {
      ++legend.more;
      continue;
    }
    legend.named.push_back(&series);
    widths.push_back(entryWidth(nameOf(series)));
  }
  if (widths.empty()) return legend;
  if (legend.more > 0) widths.push_back(entryWidth(moreText(legend.more)));
  const std::size_t total = widths.size();
  const auto columnsOf = [&](std::size_t across) {
    std::vector<double> columns(across, 0);
    for (std::size_t i = 0; i < total; ++i)
      columns[i % across] = std::max(columns[i % across], widths[i]);
    return columns;
  };
  const auto fits = [&](const std::vector<double>& columns) {
    return std::accumulate(columns.begin(), columns.end(), 0.0) +
               kColumnGap * static_cast<double>(columns.size() - 1) <=
           width;
  };
  std::size_t across = total;
  while (across > 1 && !fits(columnsOf(across))) --across;
  const std::size_t rows = (total + across - 1) / across;
  // As many rows, but filled evenly.
  if (const std::size_t even = (total + rows - 1) / rows; fits(columnsOf(even))) across = even;
  legend.columns = columnsOf(across);
  for (double& column : legend.columns) column = std::min(column, width);
  legend.rows = static_cast<int>(rows);
  return legend;
}

double LineChartFigure::legendHeight(double width) const {
  const Legend legend = legendOf(width);
  if (legend.rows == 0) return 0;
  const double column = legend.entries() * legendLine();
  const double frame = leastFrame();
  switch (legendPlace(width)) {
    case FigureLegend::Below:
      return legend.rows * legendLine() + kLegendGap;
    case FigureLegend::Right:
      return std::max(0.0, column - frame);
    case FigureLegend::Inside:
      // Where lines are in every corner it stands next to or below the plot.
      return std::max(
          {0.0, (column + 6) / kInsideHeight - leastPlotHeight(style()), column - frame,
           widestName() > width * kMostLegendBeside ? legend.rows * legendLine() + kLegendGap : 0});
    case FigureLegend::None:
      break;
  }
  return 0;
}

void LineChartFigure::drawLegendEntry(QPainter& painter, const QRectF& rect,
                                      const ChartSeries& series) {
  const double y = rect.center().y();
  const QColor color = colorOf(series);
  if (!series.low.empty()) {
    QColor fill = color;
    fill.setAlphaF(static_cast<float>(kChartBandShade));
    painter.fillRect(QRectF(rect.left(), y - 4, kKeyWidth, 8), fill);
  }
  if (series.draw != ChartSeries::Draw::Points) {
    QPen pen = penOf(series);
    pen.setWidthF(1.5);
    painter.setPen(pen);
    painter.drawLine(QPointF(rect.left(), y), QPointF(rect.left() + kKeyWidth, y));
  }
  drawSymbol(painter, series.symbol.value_or(seriesSymbol(series.run)),
             {rect.left() + kKeyWidth / 2, y}, color, themeColors().panel);
  painter.setPen(themeColors().text);
  drawLine(painter, rect.adjusted(kKeyWidth + kKeyGap, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
           nameOf(series), Qt::ElideMiddle);
  addRegion(rect, [name = nameOf(series)](const QPointF&) { return name; });
}

void LineChartFigure::drawLegendLines(QPainter& painter, QRectF line, int most) {
  const Legend legend = legendOf(line.width());
  const int total = static_cast<int>(legend.named.size()) + legend.more;
  const int room = std::max(most, 1);
  const int named = legend.entries() <= room
                        ? static_cast<int>(legend.named.size())
                        : std::min(static_cast<int>(legend.named.size()), room - 1);
  for (int i = 0; i < named; ++i) {
    drawLegendEntry(painter, line, *legend.named[static_cast<std::size_t>(i)]);
    line.translate(0, line.height());
  }
  if (named == total) return;
  painter.setPen(themeColors().muted);
  drawLine(painter, line, Qt::AlignLeft | Qt::AlignVCenter, moreText(total - named));
}

QRectF LineChartFigure::drawLegendRight(QPainter& painter, const QRectF& area) {
  const double width = widestName(), height = legendLine();
  if (!(width > 0)) return area;
  painter.setFont(axisLetters());
  drawLegendLines(painter, QRectF(area.right() - width, area.top(), width, height),
                  static_cast<int>(area.height() / height));
  return area.adjusted(0, 0, -width - 12, 0);
}

QRectF LineChartFigure::drawLegendBelow(QPainter& painter, const QRectF& area) {
  const Legend legend = legendOf(area.width());
  if (legend.rows == 0) return area;
  painter.setFont(axisLetters());
  const double height = legendLine();
  // All of it where the plot keeps its room, else two fifths of the height.
  const int most =
      std::max({1, static_cast<int>(area.height() * 0.4 / height),
                static_cast<int>((area.height() - leastFrame() - kLegendGap + 0.5) / height)});
  const int rows = std::min(legend.rows, most);
  const int across = static_cast<int>(legend.columns.size());
  const int named = static_cast<int>(legend.named.size());
  QRectF cell(area.left(), area.bottom() - rows * height, 0, height);
  for (int i = 0; i < std::min(legend.entries(), rows * across); ++i) {
    if (i > 0 && i % across == 0) cell.moveTo(area.left(), cell.top() + height);
    cell.setWidth(legend.columns[static_cast<std::size_t>(i % across)]);
    const bool isLast = i == rows * across - 1 && legend.entries() > rows * across;
    if (isLast || i == named) {
      painter.setPen(themeColors().muted);
      drawLine(painter, cell, Qt::AlignLeft | Qt::AlignVCenter, moreText(named + legend.more - i));
    } else {
      drawLegendEntry(painter, cell, *legend.named[static_cast<std::size_t>(i)]);
    }
    cell.moveLeft(cell.right() + kColumnGap);
  }
  return area.adjusted(0, 0, 0, -rows * height - kLegendGap);
}

std::optional<QRectF> LineChartFigure::freeLegendBox(const QRectF& plot,
                                                     const std::vector<Drawn>& all) const {
  const int entries = legendOf(plot.width()).entries();
  const int shown = std::clamp(insideEntries(plot.height()), 1, std::max(1, entries));
  const QSizeF size(std::min(widestName() + 12, plot.width()), shown * legendLine() + 6);
  std::vector<QRectF> free{
      QRectF({plot.right() - size.width(), plot.top()}, size), QRectF(plot.topLeft(), size),
      QRectF({plot.right() - size.width(), plot.bottom() - size.height()}, size),
      QRectF({plot.left(), plot.bottom() - size.height()}, size)};
  const auto cover = [&](QPointF from, QPointF to) {
    from = placeOf(plot, from.x(), from.y());
    to = placeOf(plot, to.x(), to.y());
    if (std::isnan(from.y()) || std::isnan(to.y())) return;
    std::erase_if(free, [&](const QRectF& box) {
      QPointF a = from, b = to;
      return cutLine(box.adjusted(-kLegendGap, -kLegendGap, kLegendGap, kLegendGap), a, b);
    });
  };
  for (const Drawn& drawn : all) {
    for (const auto* points : {&drawn.line, &drawn.raw}) {
      for (std::size_t i = 1; i < points->size(); ++i) cover((*points)[i - 1], (*points)[i]);
    }
    for (const auto& band : drawn.bands) {
      for (std::size_t i = 0; i < band.size(); ++i) cover(band[i], band[(i + 1) % band.size()]);
    }
    for (const QPointF& point : drawn.symbols) cover(point, point);
  }
  return free.empty() ? std::nullopt : std::optional(free.front());
}

void LineChartFigure::drawLegendInside(QPainter& painter, const QRectF& box) {
  QColor paper = themeColors().panel;
  paper.setAlpha(225);
  const double height = legendLine();
  painter.setFont(axisLetters());
  painter.setPen(QPen(themeColors().line, 1));
  painter.setBrush(paper);
  painter.drawRect(box);
  drawLegendLines(painter, QRectF(box.left() + 6, box.top() + 3, box.width() - 8, height),
                  static_cast<int>((box.height() - 5) / height));
}

void drawSeriesKey(QPainter& painter, const QRectF& rect, std::int64_t run, ThemeKind theme) {
  const QColor color = seriesColor(run, theme);
  painter.setPen(QPen(color, 1.5, seriesDash(run), Qt::FlatCap));
  painter.drawLine(QPointF(rect.left(), rect.center().y()),
                   QPointF(rect.right(), rect.center().y()));
  drawSymbol(painter, seriesSymbol(run), rect.center(), color, themeColors(theme).panel);
}

}  // namespace vitrine::ui
