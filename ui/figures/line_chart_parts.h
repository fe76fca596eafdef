// Types shared by the parts of the line chart's painting: a series after decimation, its legend and
// its words.
#pragma once

#include <QPointF>
#include <QRectF>
#include <vector>

#include "ui/figures/chart_marks.h"
#include "ui/figures/line_chart.h"

namespace vitrine::ui {

/// In values of the axes, ready to be placed; NaN in y is a gap.
struct LineChartFigure::Drawn {
  struct Edge {
    double x = 0;
    ChartMark mark = ChartMark::NotANumber;
  };
  std::vector<QPointF> line, raw;
  std::vector<std::vector<QPointF>> bands;  ///< closed; of a point alone its two ends
  std::vector<QPointF> symbols;
  std::vector<Edge> edges;
  std::vector<double> segmentStarts;
};

struct LineChartFigure::Legend {
  std::vector<const ChartSeries*> named;
  int more = 0;  ///< series beyond these, which one entry more says
  std::vector<double> columns;
  int rows = 0;
  [[nodiscard]] int entries() const { return static_cast<int>(named.size()) + (more > 0 ? 1 : 0); }
};

struct LineChartFigure::Word {
  QString text;
  QRectF box;
  bool isFree = true;  ///< no line runs through it
};
struct LineChartFigure::Words {
  std::vector<Word> notes, rules;
};

inline constexpr double kChartBandShade = 0.18;
inline constexpr double kMostLegendBeside = 0.4;  ///< of the width

/// Height of the lines, axes not counted; on paper a long legend makes the picture higher, not the
/// plot flat.
inline double leastPlotHeight(const FigureStyle& style) { return style.isOnPaper() ? 130 : 80; }

}  // namespace vitrine::ui
