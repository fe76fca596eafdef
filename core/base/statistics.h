// Means of a few seeds and how sure they are.
#pragma once

#include <cstddef>
#include <span>

#include "core/foundation_export.h"

namespace vitrine {

struct Interval {
  double lower = 0, upper = 0;
};

struct SampleStatistics {
  std::size_t count = 0;
  double mean = 0;       ///< NaN where there is nothing
  double deviation = 0;  ///< of the sample (n - 1 below); 0 for one value
  /// 95 % confidence interval of the mean, Student's t; from -inf to +inf below two values.
  Interval interval;
};
[[nodiscard]] VITRINE_FOUNDATION_EXPORT SampleStatistics
statisticsOf(std::span<const double> values);

/// The 97.5 % quantile of Student's t distribution with `degrees` (from 1) degrees of freedom, to
/// four digits.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT double studentQuantile(std::size_t degrees) noexcept;

}  // namespace vitrine
