// One number of decimals for a column of numbers with intervals.
#pragma once

#include <vector>

#include "core/store/metrics/metric_format.h"
#include "core/store_export.h"

namespace vitrine::store {

struct ColumnNumber {
  double shown = 0;    ///< in the unit of the column: a fraction times 100
  int supported = -1;  ///< decimals that its interval supports, of decimalsFor(); -1: no interval
};
/// The median of the decimals that the intervals support. Without intervals it is the largest
/// number of decimals in use, and -1 where a number needs an exponent.
[[nodiscard]] VITRINE_STORE_EXPORT int columnDecimals(const std::vector<ColumnNumber>& column,
                                                      const MetricFormat& format);

}  // namespace vitrine::store
