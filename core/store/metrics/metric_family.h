// Scores of an analysis that are points of one curve: their names end with a number.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/store_export.h"

namespace vitrine::store {

/// "analysis/resolution_sweep/top1/56@ema" is the point at 56 of
/// "analysis/resolution_sweep/top1@ema".
struct NumberedMetric {
  std::string family;
  double number = 0;
};
/// Nothing for a name that is not "analysis/ID/QUANTITY.../NUMBER".
[[nodiscard]] VITRINE_STORE_EXPORT std::optional<NumberedMetric> numberedMetric(
    const std::string& metric);

struct MetricFamily {
  std::string name;                       ///< "analysis/resolution_sweep/top1"
  std::string over;                       ///< what the numbers belong to: "resolution sweep"
  std::map<double, std::string> members;  ///< metrics by their number, at least two
};
/// Those that `names` are points of, by their name.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<MetricFamily> metricFamilies(
    const std::vector<std::string>& names);

}  // namespace vitrine::store
