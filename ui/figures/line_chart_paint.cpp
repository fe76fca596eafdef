// The drawing of a chart into any painter: bands, lines, symbols and marks, and the order of all.
#include <QFontMetricsF>
#include <QPaintDevice>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/figures/chart_frame.h"
#include "ui/figures/line_chart_parts.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {
namespace {

constexpr double kRawShade = 0.28;
constexpr double kEdgeShade = 0.45;

// Device pixels, or their like on paper, per logical pixel.
double densityOf(const QPainter& painter) {
  return std::clamp(std::abs(painter.deviceTransform().m11()), 1.0, 4.0);
}

// The interval of a point that has no neighbours: a band would be as thin as nothing.
void drawWhisker(QPainter& painter, const QRectF& inside, QPointF high, QPointF low,
                 const QColor& color) {
  const QPointF cap(3, 0);
  if (!cutLine(inside, high, low)) return;
  painter.save();
  painter.setPen(QPen(color, 1, Qt::SolidLine, Qt::FlatCap));
  painter.drawLine(high, low);
  for (const QPointF& end : {high, low}) painter.drawLine(end - cap, end + cap);
  painter.restore();
}

}  // namespace

// Where they are faint, edges in the colour of their line say where each band ends.
double bandShade(std::ptrdiff_t bands) {
  return bands <= 2 ? kChartBandShade : bands <= 4 ? 0.09 : 0.045;
}

QPointF LineChartFigure::placeOf(const QRectF& plot, double x, double y) const {
  return {plot.left() + xUnit(x) * plot.width(),
          std::isnan(y) ? y : plot.bottom() - yUnit(y) * plot.height()};
}

void LineChartFigure::draw(QPainter& painter, const QRectF& area) {
  QRectF body = area;
  if (hasHeader()) body = drawHeader(painter, area, headerTitle(), chart_.about);
  body = drawFootnote(painter, body);
  const bool hasPoints = std::any_of(chart_.series.begin(), chart_.series.end(),
                                     [](const ChartSeries& series) { return !series.x.empty(); });
  if (!hasPoints) {
    drawNothing(painter, body, chart_.emptyText);
    return;
  }
  const FigureLegend place = legendPlace(body.width());
  if (place == FigureLegend::Below) body = drawLegendBelow(painter, body);
  if (place == FigureLegend::Right) body = drawLegendRight(painter, body);
  const auto drawnIn = [&](const QRectF& plot) {
    const int columns = static_cast<int>(std::ceil(plot.width() * densityOf(painter)));
    std::vector<Drawn> all;
    for (const ChartSeries& series : chart_.series) all.push_back(drawnOf(series, columns));
    return all;
  };
  ChartFrame frame;
  std::vector<Drawn> all;
  Words words;
  const auto layOut = [&] {
    frame = frameOf(body, 0);
    all = drawnIn(frame.plot);
    words = wordsIn(frame.plot, all, 0);
    // Where lines are everywhere, the words of rules stand next to the plot.
    const QFontMetricsF metrics(axisLetters());
    double margin = 0;
    for (const Word& word : words.rules)
      margin = std::max(margin, metrics.horizontalAdvance(word.text) + 10);
    const bool isCrowded = std::any_of(words.rules.begin(), words.rules.end(),
                                       [](const Word& word) { return !word.isFree; });
    if (!isCrowded || margin >= frame.plot.width() / 3) return;
    frame = frameOf(body, margin);
    all = drawnIn(frame.plot);
    words = wordsIn(frame.plot, all, margin);
  };
  layOut();
  std::optional<QRectF> legend;
  if (place == FigureLegend::Inside && widestName() > 0) {
    legend = freeLegendBox(frame.plot, all);
    if (!legend) {
      body = widestName() > body.width() * kMostLegendBeside ? drawLegendBelow(painter, body)
                                                             : drawLegendRight(painter, body);
      layOut();
    }
  }
  frame.draw(painter, themeColors());
  const QRectF& plot = frame.plot;
  if (plot.width() < 8 || plot.height() < 8) return;
  drawSeries(painter, plot, all);
  drawNotes(painter, plot, words.notes);
  drawRuleWords(painter, words.rules);
  if (legend) drawLegendInside(painter, *legend);
  addRegion(plot, [this, plot](const QPointF& point) { return describe(plot, point); });
}

void LineChartFigure::drawSeries(QPainter& painter, const QRectF& plot,
                                 const std::vector<Drawn>& all) const {
  // Not every painter clips: lines beyond the plot are cut off here.
  const QRectF inside = plot.adjusted(-1, -1, 1, 1);
  const auto placed = [&](std::vector<QPointF> points) {
    for (QPointF& point : points) point = placeOf(plot, point.x(), point.y());
    return points;
  };
  const auto banded =
      std::count_if(all.begin(), all.end(), [](const Drawn& one) { return !one.bands.empty(); });
  for (std::size_t i = 0; i < all.size(); ++i) {
    QColor fill = colorOf(chart_.series[i]), edge = fill;
    fill.setAlphaF(static_cast<float>(bandShade(banded)));
    edge.setAlphaF(static_cast<float>(kEdgeShade));
    painter.setBrush(fill);
    painter.setPen(banded > 2 ? QPen(edge, 0.6) : QPen(Qt::NoPen));
    for (const auto& band : all[i].bands) {
      const std::vector<QPointF> points = placed(band);
      if (points.size() == 2) {
        drawWhisker(painter, inside, points[0], points[1], colorOf(chart_.series[i]));
        continue;
      }
      const QPolygonF shape(QList<QPointF>(points.begin(), points.end()));
      painter.drawPolygon(inside.contains(shape.boundingRect()) ? shape
                                                                : shape.intersected(inside));
    }
  }
  drawRules(painter, plot);
  // All raw lines first: no noise of one run lies over the mean of another.
  for (std::size_t i = 0; i < all.size(); ++i) {
    QColor faint = colorOf(chart_.series[i]);
    faint.setAlphaF(static_cast<float>(kRawShade));
    painter.setPen(QPen(faint, 0.75, Qt::SolidLine, Qt::FlatCap, Qt::BevelJoin));
    drawPolyline(painter, inside, placed(all[i].raw));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ChartSeries& series = chart_.series[i];
    painter.setBrush(Qt::NoBrush);
    painter.setPen(penOf(series));
    drawPolyline(painter, inside, placed(all[i].line));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ChartSeries& series = chart_.series[i];
    const QColor color = colorOf(series);
    for (const QPointF& point : placed(all[i].symbols)) {
      if (!inside.contains(point)) continue;
      drawSymbol(painter, series.symbol.value_or(seriesSymbol(series.run)), point, color,
                 themeColors().panel);
    }
    drawMarks(painter, plot, all[i], color);
  }
}

void LineChartFigure::drawRules(QPainter& painter, const QRectF& plot) const {
  for (const ChartRule& rule : chart_.rules) {
    painter.setPen(QPen(themeColors().muted, 1, Qt::DashLine));
    const double y = plot.bottom() - yUnit(rule.at) * plot.height();
    const double x = plot.left() + xUnit(rule.at) * plot.width();
    const bool isAcross = rule.direction == Qt::Horizontal;
    QPointF from = isAcross ? QPointF(plot.left(), y) : QPointF(x, plot.top());
    QPointF to = isAcross ? QPointF(plot.right(), y) : QPointF(x, plot.bottom());
    if (cutLine(plot.adjusted(-1, -1, 1, 1), from, to)) painter.drawLine(from, to);
  }
}

void LineChartFigure::drawMarks(QPainter& painter, const QRectF& plot, const Drawn& drawn,
                                const QColor& color) const {
  for (const double start : drawn.segmentStarts)
    drawSegmentStart(painter, plot, plot.left() + xUnit(start) * plot.width(), color);
  for (const auto& edge : drawn.edges)
    drawMark(painter, edge.mark, plot, plot.left() + xUnit(edge.x) * plot.width(), color);
}

}  // namespace vitrine::ui
