// A number over seeds with what lies around it, as the window writes it: "86.58 ± 0.11".
#pragma once

#include <QString>
#include <cstddef>
#include <vector>

#include "core/base/statistics.h"
#include "core/store/metrics/metric_format.h"

namespace vitrine::ui {

/// A number and what lies around it, in the unit that is shown.
struct ShownNumber {
  enum class Around { Nothing, Half, Ends };
  std::size_t count = 0;  ///< values that it is from; 0: there is none
  double centre = 0, lower = 0, upper = 0;
  Around around = Around::Nothing;
  double uncertainty = 0;  ///< decides the digits; not a positive number: nothing is known
  store::MetricFormat format;

  /// Digits after the dot; -1 where the uncertainty does not say.
  [[nodiscard]] int decimals() const;
};
/// The mean with half of its interval.
[[nodiscard]] ShownNumber shownNumber(const SampleStatistics& statistics,
                                      const store::MetricFormat& format);
enum class Signed { No, Yes };
/// "86.58 ± 0.11", "86.6 [86.5; 86.7]"; an en dash where there is nothing, "not a number" where a
/// seed has none. \param decimals  -1: as the runs list writes a value
[[nodiscard]] QString numberText(const ShownNumber& shown, int decimals, Signed isSigned);

/// Digits after the dot that all numbers of a column are written with; see
/// store::columnDecimals().
[[nodiscard]] int columnDecimals(const std::vector<ShownNumber>& column,
                                 const store::MetricFormat& format);

/// "86.58 ± 0.11", as many digits as the interval supports; "86.6" where there is none.
[[nodiscard]] QString meanText(const SampleStatistics& statistics,
                               const store::MetricFormat& format);

}  // namespace vitrine::ui
