// A line chart in words, whatever the fonts are.
#pragma once

#include <QString>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "ui/figures/chart_axis.h"
#include "ui/figures/line_chart.h"
#include "ui/figures/line_chart_parts.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {

inline QString chartScaleWord(AxisScale scale) {
  return scale == AxisScale::Log ? QStringLiteral("log") : QStringLiteral("linear");
}

inline const char* chartSymbolWord(ChartSymbol symbol) {
  static constexpr std::array kWords{"disc", "square", "triangle", "diamond",
                                     "ring", "plus",   "cross"};
  return kWords[static_cast<std::size_t>(symbol)];
}

inline const char* chartDashWord(Qt::PenStyle style) {
  switch (style) {
    case Qt::DashLine:
      return "dashed";
    case Qt::DotLine:
      return "dotted";
    case Qt::DashDotLine:
      return "dash-dot";
    case Qt::DashDotDotLine:
      return "dash-dot-dot";
    default:
      return "solid";
  }
}

class LineChartProbe {
 public:
  /// What would be drawn over so many pixel columns, one command a line, places as shares of the
  /// width and the height from the lower left corner.
  [[nodiscard]] static QString commands(const LineChartFigure& figure, int columns);
};

inline QString LineChartProbe::commands(const LineChartFigure& figure, int columns) {
  const LineChart& chart = figure.chart_;
  QString text;
  const auto share = [](double value) { return QString::number(value, 'f', 4); };
  const auto place = [&](const QPointF& point) {
    return std::isnan(point.y())
               ? QStringLiteral("gap")
               : share(figure.xUnit(point.x())) + QLatin1Char(',') + share(figure.yUnit(point.y()));
  };
  const auto points = [&](const std::vector<QPointF>& list) {
    QString out = QStringLiteral("%1 points").arg(list.size());
    constexpr std::size_t kAll = 12;
    if (list.size() <= kAll) {
      for (const QPointF& point : list) out += QLatin1Char(' ') + place(point);
      return out;
    }
    const auto isLower = [](const QPointF& a, const QPointF& b) {
      if (std::isnan(a.y()) || std::isnan(b.y())) return !std::isnan(a.y());
      return a.y() < b.y();
    };
    const auto isHigher = [](const QPointF& a, const QPointF& b) {
      if (std::isnan(a.y()) || std::isnan(b.y())) return !std::isnan(a.y());
      return a.y() > b.y();
    };
    return out + QStringLiteral(" first %1 last %2 lowest %3 highest %4")
                     .arg(place(list.front()), place(list.back()),
                          place(*std::min_element(list.begin(), list.end(), isLower)),
                          place(*std::min_element(list.begin(), list.end(), isHigher)));
  };
  const auto axis = [&](const char* name, const ChartAxis& of, std::array<double, 2> range) {
    const ChartTicks ticks = chartTicks(of, range, 5);
    text += QStringLiteral("%1 \"%2\" %3 %4 to %5: %6\n")
                .arg(QLatin1String(name), of.title, chartScaleWord(of.scale), shortNumber(range[0]),
                     shortNumber(range[1]), ticks.labels.join(QLatin1Char(' ')) + ticks.factor);
  };
  text += QStringLiteral("chart \"%1\" about \"%2\"\n").arg(chart.title, chart.about);
  axis("x", chart.x, figure.xRange_);
  axis("y", chart.y, figure.yRange_);
  for (const ChartSeries& series : chart.series) {
    const auto drawn = figure.drawnOf(series, columns);
    const QString who = QStringLiteral("\"%1\" %2").arg(series.name, figure.colorOf(series).name());
    for (const auto& band : drawn.bands)
      text += QStringLiteral("band %1 %2\n").arg(who, points(band));
    if (!drawn.raw.empty()) text += QStringLiteral("raw %1 %2\n").arg(who, points(drawn.raw));
    if (series.draw != ChartSeries::Draw::Points)
      text += QStringLiteral("line %1 %2 %3\n")
                  .arg(who, QLatin1String(chartDashWord(figure.penOf(series).style())),
                       points(drawn.line));
    const ChartSymbol symbol = series.symbol.value_or(seriesSymbol(series.run));
    text += QStringLiteral("symbols %1 %2 %3\n")
                .arg(who, QLatin1String(chartSymbolWord(symbol)), points(drawn.symbols));
    for (const auto& edge : drawn.edges) {
      static constexpr std::array kMarks{"cross below", "arrow up", "arrow down", "floor"};
      text += QStringLiteral("mark %1 %2 at %3\n")
                  .arg(who, QLatin1String(kMarks[static_cast<std::size_t>(edge.mark)]),
                       share(figure.xUnit(edge.x)));
    }
    for (const double start : drawn.segmentStarts)
      text += QStringLiteral("segment start %1 at %2\n").arg(who, share(figure.xUnit(start)));
  }
  for (const ChartNote& note : chart.notes)
    text += QStringLiteral("note \"%1\" at %2\n").arg(note.text, share(figure.xUnit(note.x)));
  for (const ChartRule& rule : chart.rules) {
    const bool isAcross = rule.direction == Qt::Horizontal;
    text += QStringLiteral("rule \"%1\" at %2\n")
                .arg(rule.text, share(isAcross ? figure.yUnit(rule.at) : figure.xUnit(rule.at)));
  }
  if (!chart.footnote.isEmpty()) text += QStringLiteral("footnote \"%1\"\n").arg(chart.footnote);
  return text;
}

}  // namespace vitrine::ui
