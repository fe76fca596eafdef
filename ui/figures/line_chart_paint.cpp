// The drawing of a chart into any painter: frame, bands, lines, symbols, marks, notes, legend.
#include <QFontMetricsF>
#include <QPaintDevice>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/figures/chart_axis.h"
#include "ui/figures/line_chart_parts.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {
namespace {

constexpr double kRawShade = 0.28;
constexpr double kBandShade = 0.18;
constexpr double kEdgeShade = 0.45;
constexpr double kSymbolSize = 3.2;  // radius, logical pixels
constexpr double kKeyWidth = 26;     // of the line in a legend
constexpr double kLeastPlot = 80;    // height of the lines, axes not counted

void drawSymbol(QPainter& painter, ChartSymbol symbol, const QPointF& at, const QColor& color,
                const QColor& paper) {
  const double r = kSymbolSize;
  painter.setPen(QPen(paper, 0.7));
  painter.setBrush(color);
  switch (symbol) {
    case ChartSymbol::Disc:
      painter.drawEllipse(at, r, r);
      break;
    case ChartSymbol::Square:
      painter.drawRect(QRectF(at.x() - 0.9 * r, at.y() - 0.9 * r, 1.8 * r, 1.8 * r));
      break;
    case ChartSymbol::Triangle:
      painter.drawPolygon(QPolygonF({{at.x(), at.y() - 1.2 * r},
                                     {at.x() + 1.1 * r, at.y() + 0.8 * r},
                                     {at.x() - 1.1 * r, at.y() + 0.8 * r}}));
      break;
    case ChartSymbol::Diamond:
      painter.drawPolygon(QPolygonF({{at.x(), at.y() - 1.3 * r},
                                     {at.x() + 1.1 * r, at.y()},
                                     {at.x(), at.y() + 1.3 * r},
                                     {at.x() - 1.1 * r, at.y()}}));
      break;
    case ChartSymbol::Ring:
      painter.setPen(QPen(color, 1.4));
      painter.setBrush(paper);
      painter.drawEllipse(at, 0.85 * r, 0.85 * r);
      break;
    case ChartSymbol::Plus:
      painter.setPen(QPen(color, 1.6));
      painter.drawLine(at - QPointF(1.1 * r, 0), at + QPointF(1.1 * r, 0));
      painter.drawLine(at - QPointF(0, 1.1 * r), at + QPointF(0, 1.1 * r));
      break;
    case ChartSymbol::Cross:
      painter.setPen(QPen(color, 1.6));
      painter.drawLine(at - QPointF(0.9 * r, 0.9 * r), at + QPointF(0.9 * r, 0.9 * r));
      painter.drawLine(at - QPointF(0.9 * r, -0.9 * r), at + QPointF(0.9 * r, -0.9 * r));
      break;
  }
}

// Lines between the gaps; a point alone between two of them is a dot.
void drawPolyline(QPainter& painter, const std::vector<QPointF>& points) {
  QPolygonF piece;
  const auto close = [&] {
    if (piece.size() > 1) painter.drawPolyline(piece);
    if (piece.size() == 1) painter.drawPoint(piece.front());
    piece.clear();
  };
  for (const QPointF& point : points) {
    if (std::isnan(point.y())) {
      close();
    } else {
      piece << point;
    }
  }
  close();
}

// Many fills over each other are mud that belongs to nobody: they grow fainter, and edges in the
// colour of their line say where each band ends.
double bandShade(std::ptrdiff_t bands) {
  return bands <= 2 ? kBandShade : bands <= 4 ? 0.09 : 0.045;
}

// Device pixels, or their like on paper, per logical pixel.
double densityOf(const QPainter& painter) {
  return std::clamp(std::abs(painter.deviceTransform().m11()), 1.0, 4.0);
}

}  // namespace

QString LineChartFigure::footnoteText() const {
  QString footnote = chart_.footnote;
  if (!hasFloor()) return footnote;
  if (!footnote.isEmpty()) footnote += QStringLiteral(" \u00b7 ");
  return footnote + QStringLiteral("\u25bc values at or below zero, drawn at the floor");
}

std::array<int, 2> LineChartFigure::legendGrid(double width) const {
  const QFontMetricsF metrics(axisLetters());
  int total = 0;
  double widest = 0;
  for (const ChartSeries& series : chart_.series) {
    if (series.name.isEmpty()) continue;
    ++total;
    widest = std::max(widest, metrics.horizontalAdvance(series.name) + kKeyWidth + 8);
  }
  if (total == 0) return {1, 0};
  const int across = std::clamp(static_cast<int>(width / (std::min(widest, width) + 14)), 1, total);
  return {across, (total + across - 1) / across};
}

double LineChartFigure::leastHeight(double width) const {
  const QFontMetricsF metrics(axisLetters());
  const double line = metrics.height();
  const double inner = std::max(width - 24, 1.0);
  double height = 24 + 28 + kLeastPlot + line / 2 + line + 6;
  if (style().hasAxisTitles && !chart_.x.title.isEmpty()) height += line + 2;
  if (style().legend.value_or(chart_.legend) == FigureLegend::Below)
    height += legendGrid(inner)[1] * (line + 3) + 6;
  if (const QString text = footnoteText(); !text.isEmpty()) {
    height +=
        6 + metrics.boundingRect(QRectF(0, 0, inner, 1e4), Qt::AlignLeft | Qt::TextWordWrap, text)
                .height();
  }
  return height;
}

void LineChartFigure::draw(QPainter& painter, const QRectF& area) {
  QRectF body = area;
  if (!chart_.title.isEmpty() || !chart_.about.isEmpty() || !style().title.isEmpty())
    body = drawHeader(painter, area, chart_.title, chart_.about);
  const QString footnote = footnoteText();
  if (!footnote.isEmpty()) {
    const QFont font = axisLetters();
    painter.setFont(font);
    painter.setPen(tokens().muted);
    const QFontMetricsF metrics(font);
    const QRectF wanted = metrics.boundingRect(QRectF(0, 0, body.width(), 1e4),
                                               Qt::AlignLeft | Qt::TextWordWrap, footnote);
    const double height = std::min(wanted.height(), body.height() / 3);
    painter.drawText(QRectF(body.left(), body.bottom() - height, body.width(), height),
                     Qt::AlignLeft | Qt::TextWordWrap, footnote);
    body.setBottom(body.bottom() - height - 6);
  }
  const bool hasPoints = std::any_of(chart_.series.begin(), chart_.series.end(),
                                     [](const ChartSeries& series) { return !series.x.empty(); });
  if (!hasPoints) {
    painter.setFont(bodyLetters());
    painter.setPen(tokens().muted);
    painter.drawText(body, Qt::AlignCenter | Qt::TextWordWrap, chart_.emptyText);
    return;
  }
  body = drawLegendBeside(painter, body);
  const QRectF plot = drawFrame(painter, body);
  if (plot.width() < 8 || plot.height() < 8) return;
  const int columns = static_cast<int>(std::ceil(plot.width() * densityOf(painter)));
  painter.save();
  painter.setClipRect(plot.adjusted(-1, -1, 1, 1), Qt::IntersectClip);
  drawSeries(painter, plot, columns);
  drawRules(painter, plot);
  drawNotes(painter, plot);
  painter.restore();
  if (style().legend.value_or(chart_.legend) == FigureLegend::Inside)
    drawLegendInside(painter, plot);
  addRegion(plot, [this, plot](const QPointF& point) { return describe(plot, point); });
}

QRectF LineChartFigure::drawFrame(QPainter& painter, const QRectF& area) const {
  const Tokens& t = tokens();
  const QFont font = axisLetters();
  const QFontMetricsF metrics(font);
  const double height = metrics.height();
  const QString xTitle = style().hasAxisTitles ? chart_.x.title : QString();
  const QString yTitle = style().hasAxisTitles ? chart_.y.title : QString();
  const int yTarget = std::clamp(static_cast<int>(area.height() / (3.2 * height)), 2, 6);
  const ChartTicks yTicks = chartTicks(chart_.y, yRange_, yTarget);
  double labelWidth = 0;
  for (const QString& label : yTicks.labels)
    labelWidth = std::max(labelWidth, metrics.horizontalAdvance(label));
  const QRectF above = area.adjusted(labelWidth + 8 + (yTitle.isEmpty() ? 0 : height + 4),
                                     yTicks.factor.isEmpty() ? height / 2 : height + 4, 0,
                                     -(height + 6 + (xTitle.isEmpty() ? 0 : height + 2)));
  double widest = metrics.horizontalAdvance(QStringLiteral("00,000"));
  const int xTarget = std::clamp(static_cast<int>(above.width() / (1.9 * widest)), 2, 8);
  const ChartTicks xTicks = chartTicks(chart_.x, xRange_, xTarget);
  const double lastHalf =
      xTicks.labels.isEmpty() ? 4 : metrics.horizontalAdvance(xTicks.labels.last()) / 2;
  const QRectF plot = above.adjusted(0, 0, -std::max(4.0, lastHalf), 0);

  painter.setFont(font);
  double lastLabel = 1e9;
  for (std::size_t i = 0; i < yTicks.values.size(); ++i) {
    const double y = plot.bottom() - yUnit(yTicks.values[i]) * plot.height();
    if (y < plot.top() - 0.5 || y > plot.bottom() + 0.5) continue;
    painter.setPen(QPen(t.grid, 1));
    painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    if (lastLabel - y < 0.8 * height) continue;
    lastLabel = y;
    painter.setPen(t.muted);
    painter.drawText(QRectF(plot.left() - labelWidth - 8, y - height / 2, labelWidth + 2, height),
                     Qt::AlignRight | Qt::AlignVCenter, yTicks.labels[static_cast<qsizetype>(i)]);
  }
  painter.setPen(t.muted);
  if (!yTicks.factor.isEmpty())
    painter.drawText(QRectF(plot.left(), area.top() - 2, plot.width(), height), Qt::AlignLeft,
                     yTicks.factor);
  double freeFrom = -1e9;
  for (std::size_t i = 0; i < xTicks.values.size(); ++i) {
    const QString& label = xTicks.labels[static_cast<qsizetype>(i)];
    const double width = metrics.horizontalAdvance(label) + 2;
    const double left = plot.left() + xUnit(xTicks.values[i]) * plot.width() - width / 2;
    if (left < freeFrom) continue;
    freeFrom = left + width + 8;
    painter.drawText(QRectF(left, plot.bottom() + 4, width, height), Qt::AlignCenter, label);
  }
  if (!xTitle.isEmpty()) {
    const QString text =
        xTicks.factor.isEmpty() ? xTitle : QStringLiteral("%1 (%2)").arg(xTitle, xTicks.factor);
    drawLine(painter, QRectF(plot.left(), plot.bottom() + 6 + height, plot.width(), height),
             Qt::AlignHCenter | Qt::AlignVCenter, text);
  }
  // Three letters of a word and an ellipsis say nothing.
  if (!yTitle.isEmpty() && plot.height() > std::min(metrics.horizontalAdvance(yTitle), 56.0)) {
    painter.save();
    painter.translate(area.left(), plot.bottom());
    painter.rotate(-90);
    drawLine(painter, QRectF(0, 0, plot.height(), height), Qt::AlignHCenter | Qt::AlignVCenter,
             yTitle);
    painter.restore();
  }
  return plot;
}

void LineChartFigure::drawSeries(QPainter& painter, const QRectF& plot, int columns) const {
  const auto placed = [&](std::vector<QPointF> points) {
    for (QPointF& point : points) {
      point = {
          plot.left() + xUnit(point.x()) * plot.width(),
          std::isnan(point.y()) ? point.y() : plot.bottom() - yUnit(point.y()) * plot.height()};
    }
    return points;
  };
  std::vector<Drawn> all;
  for (const ChartSeries& series : chart_.series) all.push_back(drawnOf(series, columns));
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
      painter.drawPolygon(points.data(), static_cast<int>(points.size()));
    }
  }
  for (const ChartRule& rule : chart_.rules) {
    painter.setPen(QPen(tokens().muted, 1, Qt::DashLine));
    const double y = plot.bottom() - yUnit(rule.at) * plot.height();
    const double x = plot.left() + xUnit(rule.at) * plot.width();
    if (rule.direction == Qt::Horizontal) {
      painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    } else {
      painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    }
  }
  // All raw lines first: no noise of one run lies over the mean of another.
  for (std::size_t i = 0; i < all.size(); ++i) {
    QColor faint = colorOf(chart_.series[i]);
    faint.setAlphaF(static_cast<float>(kRawShade));
    painter.setPen(QPen(faint, 0.75, Qt::SolidLine, Qt::FlatCap, Qt::BevelJoin));
    drawPolyline(painter, placed(all[i].raw));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ChartSeries& series = chart_.series[i];
    painter.setBrush(Qt::NoBrush);
    painter.setPen(penOf(series));
    drawPolyline(painter, placed(all[i].line));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ChartSeries& series = chart_.series[i];
    const QColor color = colorOf(series);
    for (const QPointF& point : placed(all[i].symbols))
      drawSymbol(painter, series.symbol.value_or(seriesSymbol(series.run)), point, color,
                 tokens().panel);
    drawMarks(painter, plot, all[i], color);
  }
}

// Above the lines, on a ground of its own: a word that lines run through is none.
void LineChartFigure::drawRules(QPainter& painter, const QRectF& plot) const {
  const QFontMetricsF metrics(axisLetters());
  painter.setFont(axisLetters());
  QColor paper = tokens().panel;
  paper.setAlpha(200);
  for (const ChartRule& rule : chart_.rules) {
    if (rule.text.isEmpty()) continue;
    const double width = metrics.horizontalAdvance(rule.text) + 6;
    QRectF box(0, 0, width, metrics.height());
    if (rule.direction == Qt::Horizontal) {
      const double y = plot.bottom() - yUnit(rule.at) * plot.height();
      box.moveBottomRight({plot.right(), std::max(y - 2, plot.top() + box.height())});
    } else {
      box.moveTopLeft({plot.left() + xUnit(rule.at) * plot.width() + 2, plot.top()});
    }
    painter.fillRect(box, paper);
    painter.setPen(tokens().muted);
    painter.drawText(box, Qt::AlignCenter, rule.text);
  }
}

void LineChartFigure::drawMarks(QPainter& painter, const QRectF& plot, const Drawn& drawn,
                                const QColor& color) const {
  painter.setPen(QPen(color, 1, Qt::DotLine));
  for (const double seam : drawn.seams) {
    const double x = plot.left() + xUnit(seam) * plot.width();
    painter.drawLine(QPointF(x, plot.bottom() - 14), QPointF(x, plot.bottom()));
  }
  constexpr double kSize = 3.5;
  for (const auto& edge : drawn.edges) {
    const double x = plot.left() + xUnit(edge.x) * plot.width();
    if (edge.mark == Drawn::Mark::NotANumber) {
      const QPointF at(x, plot.bottom() - kSize);
      painter.setPen(QPen(color, 1.4));
      painter.drawLine(at - QPointF(kSize, kSize), at + QPointF(kSize, kSize));
      painter.drawLine(at - QPointF(kSize, -kSize), at + QPointF(kSize, -kSize));
      continue;
    }
    const bool isUp = edge.mark == Drawn::Mark::Above;
    const QPointF tip(x, isUp ? plot.top() : plot.bottom());
    const double back = isUp ? 1.5 * kSize : -1.5 * kSize;
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPolygon(QPolygonF({tip, tip + QPointF(kSize, back), tip + QPointF(-kSize, back)}));
  }
}

void LineChartFigure::drawNotes(QPainter& painter, const QRectF& plot) const {
  const QFont font = axisLetters();
  const QFontMetricsF metrics(font);
  painter.setFont(font);
  int row = 0;
  for (const ChartNote& note : chart_.notes) {
    const double share = xUnit(note.x);
    if (!(share >= 0 && share <= 1)) continue;
    const QColor color = note.run > 0 ? seriesColor(note.run, style().theme) : tokens().muted;
    const double x = plot.left() + share * plot.width();
    const double width = metrics.horizontalAdvance(note.text) + 8;
    // Below each other, so that two notes at one place can both be read.
    double top = plot.top() + (row++ % 4) * (metrics.height() + 2);
    if (note.y && std::isfinite(yUnit(*note.y))) {
      const double y = plot.bottom() - yUnit(*note.y) * plot.height();
      painter.setPen(QPen(color, 1.2));
      painter.setBrush(tokens().panel);
      painter.drawEllipse(QPointF(x, y), 4, 4);
      top = std::clamp(y - metrics.height() - 6, plot.top(), plot.bottom() - metrics.height());
    } else {
      painter.setPen(QPen(color, 1, Qt::DashLine));
      painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    }
    const bool isLeft = x + width > plot.right();
    const QRectF box(isLeft ? x - width - 2 : x + 2, top, width, metrics.height());
    QColor paper = tokens().panel;
    paper.setAlpha(215);
    painter.fillRect(box, paper);
    painter.setPen(tokens().text);
    painter.drawText(box.adjusted(3, 0, -3, 0), Qt::AlignLeft | Qt::AlignVCenter, note.text);
  }
}

void LineChartFigure::drawLegendEntry(QPainter& painter, const QRectF& rect,
                                      const ChartSeries& series) const {
  const double y = rect.center().y();
  const QColor color = colorOf(series);
  if (!series.low.empty()) {
    QColor fill = color;
    fill.setAlphaF(static_cast<float>(kBandShade));
    painter.fillRect(QRectF(rect.left(), y - 4, kKeyWidth, 8), fill);
  }
  if (series.draw != ChartSeries::Draw::Points) {
    QPen pen = penOf(series);
    pen.setWidthF(1.5);
    painter.setPen(pen);
    painter.drawLine(QPointF(rect.left(), y), QPointF(rect.left() + kKeyWidth, y));
  }
  drawSymbol(painter, series.symbol.value_or(seriesSymbol(series.run)),
             {rect.left() + kKeyWidth / 2, y}, color, tokens().panel);
  painter.setPen(tokens().text);
  drawLine(painter, rect.adjusted(kKeyWidth + 6, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
           series.name);
}

QRectF LineChartFigure::drawLegendBeside(QPainter& painter, const QRectF& area) const {
  const FigureLegend legend = style().legend.value_or(chart_.legend);
  if (legend != FigureLegend::Below && legend != FigureLegend::Right) return area;
  const QFont font = axisLetters();
  const QFontMetricsF metrics(font);
  painter.setFont(font);
  const double height = metrics.height() + 3;
  std::vector<const ChartSeries*> named;
  double widest = 0;
  for (const ChartSeries& series : chart_.series) {
    if (series.name.isEmpty()) continue;
    named.push_back(&series);
    widest = std::max(widest, metrics.horizontalAdvance(series.name) + kKeyWidth + 8);
  }
  if (named.empty()) return area;
  const auto total = static_cast<int>(named.size());
  if (legend == FigureLegend::Right) {
    const double width = std::min(widest, area.width() * 0.4);
    const int fits = std::max(1, static_cast<int>(area.height() / height));
    const int shown = total > fits ? fits - 1 : total;
    QRectF line(area.right() - width, area.top(), width, height);
    for (int i = 0; i < shown; ++i) {
      drawLegendEntry(painter, line, *named[static_cast<std::size_t>(i)]);
      line.translate(0, height);
    }
    if (shown < total) {
      painter.setPen(tokens().muted);
      drawLine(painter, line, Qt::AlignLeft | Qt::AlignVCenter,
               QStringLiteral("and %1 more").arg(total - shown));
    }
    return area.adjusted(0, 0, -width - 12, 0);
  }
  const auto [across, rows] = legendGrid(area.width());
  // All of it where the plot keeps its room, else two fifths of the height.
  const double frame = kLeastPlot + 3.5 * metrics.height();
  const int most = std::max({1, static_cast<int>(area.height() * 0.4 / height),
                             static_cast<int>((area.height() - frame - 6) / height)});
  const int shownRows = std::min(rows, most);
  const double top = area.bottom() - shownRows * height;
  const double width = area.width() / across;
  for (int i = 0; i < total && i / across < shownRows; ++i) {
    const QRectF cell(area.left() + (i % across) * width, top + (i / across) * height, width - 10,
                      height);
    const bool isCut = rows > shownRows && i == shownRows * across - 1;
    if (isCut) {
      painter.setPen(tokens().muted);
      drawLine(painter, cell, Qt::AlignLeft | Qt::AlignVCenter,
               QStringLiteral("and %1 more").arg(total - i));
    } else {
      drawLegendEntry(painter, cell, *named[static_cast<std::size_t>(i)]);
    }
  }
  return area.adjusted(0, 0, 0, -shownRows * height - 6);
}

void LineChartFigure::drawLegendInside(QPainter& painter, const QRectF& plot) const {
  const QFont font = axisLetters();
  const QFontMetricsF metrics(font);
  const double height = metrics.height() + 3;
  double width = 0;
  std::vector<const ChartSeries*> named;
  for (const ChartSeries& series : chart_.series) {
    if (series.name.isEmpty()) continue;
    named.push_back(&series);
    width = std::max(width, metrics.horizontalAdvance(series.name) + kKeyWidth + 8);
  }
  if (named.empty()) return;
  width = std::min(width, plot.width() * 0.6) + 12;
  const auto most = static_cast<std::size_t>(std::max(1.0, plot.height() * 0.7 / height));
  const std::size_t shown = std::min(named.size(), most);
  const QSizeF size(width, static_cast<double>(shown) * height + 6);
  // The corner over which the fewest points lie.
  std::array<QRectF, 4> corners{
      QRectF({plot.right() - size.width(), plot.top()}, size), QRectF(plot.topLeft(), size),
      QRectF({plot.right() - size.width(), plot.bottom() - size.height()}, size),
      QRectF({plot.left(), plot.bottom() - size.height()}, size)};
  std::array<int, 4> covered{};
  for (const ChartSeries& series : chart_.series) {
    const Drawn drawn = drawnOf(series, 64);
    for (const auto* points : {&drawn.line, &drawn.symbols}) {
      for (const QPointF& point : *points) {
        const QPointF at(plot.left() + xUnit(point.x()) * plot.width(),
                         plot.bottom() - yUnit(point.y()) * plot.height());
        for (std::size_t i = 0; i < corners.size(); ++i) covered[i] += corners[i].contains(at);
      }
    }
  }
  const auto best = std::min_element(covered.begin(), covered.end()) - covered.begin();
  const QRectF box = corners[static_cast<std::size_t>(best)];
  QColor paper = tokens().panel;
  paper.setAlpha(225);
  painter.setFont(font);
  painter.setPen(QPen(tokens().line, 1));
  painter.setBrush(paper);
  painter.drawRect(box);
  QRectF line(box.left() + 6, box.top() + 3, box.width() - 8, height);
  for (std::size_t i = 0; i < shown; ++i) {
    drawLegendEntry(painter, line, *named[i]);
    line.translate(0, height);
  }
}

void drawSeriesKey(QPainter& painter, const QRectF& rect, std::int64_t run, ThemeKind theme) {
  const QColor color = seriesColor(run, theme);
  painter.setPen(QPen(color, 1.5, seriesDash(run), Qt::FlatCap));
  painter.drawLine(QPointF(rect.left(), rect.center().y()),
                   QPointF(rect.right(), rect.center().y()));
  drawSymbol(painter, seriesSymbol(run), rect.center(), color, tokensOf(theme).panel);
}

}  // namespace vitrine::ui
