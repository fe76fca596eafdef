// Any two numbers of the runs against each other, with those that no other run beats in both.
#pragma once

#include <vector>

#include "ui/compare/compare_data.h"
#include "ui/figures/line_chart.h"

namespace vitrine::ui {

struct ScatterPoint {
  std::size_t run = 0;  ///< index into CompareData::runs
  double x = 0, y = 0;
};
/// Indices of the points that no other beats: none is at least as good in both and better in one.
/// By x; of equal points all. Nothing where a direction is None.
[[nodiscard]] std::vector<std::size_t> paretoFront(const std::vector<ScatterPoint>& points,
                                                   Direction x, Direction y);

/// What the choice, or a default, puts on the axes: cost against the first metric.
struct ScatterQuantities {
  Quantity x, y;
  Direction betterX = Direction::None, betterY = Direction::None;
};
[[nodiscard]] ScatterQuantities scatterQuantities(const CompareData& data,
                                                  const CompareChoice& choice);
[[nodiscard]] std::vector<ScatterPoint> scatterPoints(const CompareData& data,
                                                      const CompareChoice& choice,
                                                      const ScatterQuantities& quantities);
[[nodiscard]] LineChart scatterChart(const CompareData& data, const CompareChoice& choice);

}  // namespace vitrine::ui
