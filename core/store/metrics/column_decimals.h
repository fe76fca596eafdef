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
/// The middle of what the intervals support; without intervals the most that one of the numbers is
/// written with, and -1 where one of them needs an exponent.
[[nodiscard]] VITRINE_STORE_EXPORT int columnDecimals(const std::vector<ColumnNumber>& column,
                                                      const MetricFormat& format);

}  // namespace vitrine::store
