// The text format of a metric's values: the one place that every page, table and report takes it
// from.
#pragma once

#include <string>

#include "core/store/run_card.h"
#include "core/store_export.h"

namespace vitrine::store {

struct MetricFormat {
  static constexpr int kDigits = 4;  ///< significant ones, where `decimals` says nothing
  bool isPercent = false;            ///< a fraction, written times 100 with unit()
  int decimals = -1;                 ///< of the text; -1: kDigits significant digits
  bool arePoints = false;            ///< a difference of fractions
  /// Of the number as it is written; "" where there is none.
  [[nodiscard]] const char* unit() const { return !isPercent ? "" : arePoints ? "points" : "%"; }
  [[nodiscard]] bool operator==(const MetricFormat&) const = default;
};
/// \param kind  of the metric: its unit says whether values are fractions, or differences of them
[[nodiscard]] VITRINE_STORE_EXPORT MetricFormat metricFormat(const std::string& metric,
                                                             const MetricKind& kind);

/// The same from the facts of a metric without its kind.
/// \param title  as MetricKind::title
[[nodiscard]] VITRINE_STORE_EXPORT MetricFormat metricFormat(const std::string& metric,
                                                             const std::string& unit,
                                                             const std::string& title);

/// "42.3 %", "17.9 points", "0.3412", "3,410", "2.5e-5". A value that so many decimals would leave
/// one digit or none has some more; "nan", "inf" and "-inf" are written so.
[[nodiscard]] VITRINE_STORE_EXPORT std::string metricWords(const MetricFormat& format,
                                                           double value);

/// The same number in a column whose head says the unit.
/// \param shown     in that unit, a fraction times 100
/// \param decimals  those that an interval supports (decimalsFor()); -1: there is no interval, and
///         the format decides
[[nodiscard]] VITRINE_STORE_EXPORT std::string metricNumber(const MetricFormat& format,
                                                            double shown, int decimals = -1);

}  // namespace vitrine::store
