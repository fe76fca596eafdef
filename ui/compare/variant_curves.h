// Curves of variants: mean or median over seeds with a band, and the paired difference to the
// baseline over training.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/curve_band.h"
#include "core/store/types.h"
#include "ui/compare/ablation_table.h"
#include "ui/figures/line_chart.h"

namespace vitrine::ui {

/// Superseded points are not among `points`. Points without an x (an epoch of an imported run) are
/// left out.
[[nodiscard]] RunCurve curveOf(const std::vector<store::MetricPoint>& points, CurveAxis axis);

/// Points of the runs that stand for the seeds, by run.
using CurvePoints = std::map<std::int64_t, std::vector<store::MetricPoint>>;

struct CurveRequest {
  std::string metric;
  std::vector<std::size_t> variants;  ///< at most kMostCurves, the baseline among them
  std::vector<std::int64_t> runs;     ///< that stand for their seeds
};
constexpr std::size_t kMostCurves = 12;
/// \param preferred  variants in the order of the table
[[nodiscard]] CurveRequest curveRequest(const CompareData& data, const CompareChoice& choice,
                                        const std::vector<std::size_t>& preferred);

/// One chart a panel, the name of the panel with it; one panel without a name where no key makes
/// panels.
struct CurvePanel {
  QString name;
  LineChart chart;
};
/// Both: millions of points take a second or two. \param isStale  once true, returned is anything
[[nodiscard]] std::vector<CurvePanel> variantCharts(const CompareData& data,
                                                    const CompareChoice& choice,
                                                    const CurveRequest& request,
                                                    const CurvePoints& points,
                                                    const std::atomic<bool>* isStale = nullptr);
/// Mean over common seeds of variant - baseline with its 95 % interval.
[[nodiscard]] LineChart differenceChart(const CompareData& data, const CompareChoice& choice,
                                        const CurveRequest& request, const CurvePoints& points,
                                        const std::atomic<bool>* isStale = nullptr);

/// Charts in a grid, with one title above: what panels look like.
[[nodiscard]] std::unique_ptr<Figure> makePanels(std::vector<CurvePanel> panels,
                                                 FigureStyle style = {});

}  // namespace vitrine::ui
