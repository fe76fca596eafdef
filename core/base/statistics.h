// Means of a few seeds and how sure they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

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
/// A value that is not finite makes mean and interval not finite: nothing is left out.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT SampleStatistics
statisticsOf(std::span<const double> values);
/// Half of the interval's width; infinite below two values.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT double halfWidth(const SampleStatistics& statistics);

/// The 97.5 % quantile of Student's t distribution with `degrees` (from 1) degrees of freedom, to
/// four digits.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT double studentQuantile(std::size_t degrees) noexcept;

/// By linear interpolation between neighbours in order, as numpy.quantile does; NaN of nothing and
/// where a value is NaN. \param share  0 to 1
[[nodiscard]] VITRINE_FOUNDATION_EXPORT double quantileOf(std::vector<double> values, double share);

/// Of an even number of values the upper one of the two in the middle. \param values  at least one
template <typename Number>
[[nodiscard]] Number upperMedian(std::vector<Number> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Edges of `count` bins of [0, 1], of equal width. Of `values` in [0, 1] there are equally many in
/// each bin, but equal ones stay together; NaN does not count.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<double> binEdges(
    std::size_t count, std::vector<double> values = {});

enum class Centre { Mean, Median };
/// What a band around a centre shows. Deviation, StandardError and Interval are of the mean;
/// Quartiles are the middle half of the values.
enum class Spread { None, Deviation, StandardError, Interval, Range, Quartiles };
struct Band {
  double lower = 0, centre = 0, upper = 0;  ///< NaN where there is none
};
/// One value has no band but Range and Quartiles, which are the value.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Band bandOf(std::span<const double> values, Centre centre,
                                                    Spread spread);

/// Differences over the keys, as a rule seeds, that both samples have.
struct PairedSample {
  std::vector<std::uint64_t> keys;  ///< ascending
  std::vector<double> differences;  ///< of each key: first - second
  SampleStatistics statistics;      ///< of the differences
};
[[nodiscard]] VITRINE_FOUNDATION_EXPORT PairedSample pairedDifferences(
    const std::map<std::uint64_t, double>& first, const std::map<std::uint64_t, double>& second);

/// Which values of a metric are better.
enum class Direction { None, Lower, Higher };
/// "lower" | "higher", anything else is None.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Direction directionFromString(const std::string& text);

/// What a difference with its interval says. Higher and Lower: the metric has no better direction.
enum class Outcome { Unknown, Better, Worse, Higher, Lower, NoClearDifference };
/// Unknown below two pairs and where a value is not finite; NoClearDifference where zero lies
/// within the interval.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Outcome outcomeOf(const SampleStatistics& difference,
                                                          Direction direction);
/// "better", "worse", "higher", "lower", "no clear difference"; "" for Unknown.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string toString(Outcome outcome);

/// Decimals that a number with this uncertainty deserves: the uncertainty keeps two significant
/// digits. -1 where it is not a positive number.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT int decimalsFor(double uncertainty);
/// `value` with that many digits after the dot; "nan", "inf", "-inf".
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string formatFixed(double value, int decimals);

}  // namespace vitrine
