#include "core/base/statistics.h"

#include <array>
#include <cmath>
#include <limits>

namespace vitrine {

double studentQuantile(std::size_t degrees) noexcept {
  // Below ten the series that follows is not good to four digits.
  static constexpr std::array<double, 10> kFew = {0,      12.7062, 4.3027, 3.1824, 2.7764,
                                                  2.5706, 2.4469,  2.3646, 2.3060, 2.2622};
  if (degrees < kFew.size()) return kFew[degrees == 0 ? 1 : degrees];
  // Cornish-Fisher expansion about the normal quantile.
  constexpr double z = 1.959963984540054;
  const double n = static_cast<double>(degrees);
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

SampleStatistics statisticsOf(std::span<const double> values) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  SampleStatistics out;
  out.count = values.size();
  out.interval = {-infinity, infinity};
  if (values.empty()) {
    out.mean = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  const double n = static_cast<double>(values.size());
  for (const double value : values) out.mean += value / n;
  if (values.size() < 2) return out;
  double squares = 0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.deviation = std::sqrt(squares / (n - 1));
  const double half = studentQuantile(values.size() - 1) * out.deviation / std::sqrt(n);
  out.interval = {out.mean - half, out.mean + half};
  return out;
}

}  // namespace vitrine
