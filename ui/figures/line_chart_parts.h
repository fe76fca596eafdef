// What the two halves of the line chart share: a series after decimation.
#pragma once

#include <QPointF>
#include <vector>

#include "ui/figures/line_chart.h"

namespace vitrine::ui {

/// In values of the axes, ready to be placed; NaN in y is a gap.
struct LineChartFigure::Drawn {
  enum class Mark { NotANumber, Above, Below, Floor };
  struct Edge {
    double x = 0;
    Mark mark = Mark::NotANumber;
  };
  std::vector<QPointF> line, raw;
  std::vector<std::vector<QPointF>> bands;  ///< closed
  std::vector<QPointF> symbols;
  std::vector<Edge> edges;
  std::vector<double> seams;
};

}  // namespace vitrine::ui
