#include "core/base/statistics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/base/text.h"

namespace vitrine {

double studentQuantile(std::size_t degrees) noexcept {
  // Below ten the series that follows is not good to four digits.
  static constexpr std::array<double, 10> kFew = {0,      12.7062, 4.3027, 3.1824, 2.7764,
                                                  2.5706, 2.4469,  2.3646, 2.3060, 2.2622};
  if (degrees < kFew.size()) return kFew[degrees == 0 ? 1 : degrees];
  // Cornish-Fisher expansion about the normal quantile.
  constexpr double z = 1.959963984540054;
  const double n = static_cast<double>(degrees);
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, z9 = z7 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n) +
         (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / (92160 * n * n * n * n);
}

SampleStatistics statisticsOf(std::span<const double> values) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  SampleStatistics out{.count = values.size(), .interval = {-infinity, infinity}};
  if (values.empty()) {
    out.mean = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  const double n = static_cast<double>(values.size());
  // About the first value: equal values have exactly that mean, and no deviation.
  const double about = std::isfinite(values.front()) ? values.front() : 0;
  for (const double value : values) out.mean += value / n - about / n;
  out.mean += about;
  if (values.size() < 2) return out;
  double squares = 0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.deviation = std::sqrt(squares / (n - 1));
  const double half = studentQuantile(values.size() - 1) * out.deviation / std::sqrt(n);
  out.interval = {out.mean - half, out.mean + half};
  return out;
}

double halfWidth(const SampleStatistics& statistics) {
  return (statistics.interval.upper - statistics.interval.lower) / 2;
}

double quantileOf(std::vector<double> values, double share) {
  if (values.empty() ||
      std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
    return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double rest = place - static_cast<double>(below);
  if (rest == 0) return values[below];
  return values[below] + rest * (values[below + 1] - values[below]);
}

std::vector<double> binEdges(std::size_t count, std::vector<double> values) {
  std::vector<double> edges(count + 1);
  for (std::size_t k = 0; k <= count; ++k)
    edges[k] = static_cast<double>(k) / static_cast<double>(count);
  std::erase_if(values, [](double value) { return std::isnan(value); });
  std::sort(values.begin(), values.end());
  // The upper edge of bin k is the last value of the k-th of `count` equal parts.
  for (std::size_t k = 1; k < count && !values.empty(); ++k) {
    const std::size_t end = values.size() * k / count;
    edges[k] = end == 0 ? 0.0 : values[end - 1];
  }
  return edges;
}

Band bandOf(std::span<const double> values, Centre centre, Spread spread) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const SampleStatistics s = statisticsOf(values);
  const std::vector<double> all(values.begin(), values.end());
  Band band{kNone, centre == Centre::Mean ? s.mean : quantileOf(all, 0.5), kNone};
  if (values.empty() || std::isnan(s.mean)) return band;
  const auto around = [&](double half) {
    if (s.count > 1) band = {s.mean - half, band.centre, s.mean + half};
  };
  switch (spread) {
    case Spread::None:
      break;
    case Spread::Deviation:
      around(s.deviation);
      break;
    case Spread::StandardError:
      around(s.deviation / std::sqrt(static_cast<double>(s.count)));
      break;
    case Spread::Interval:
      around(halfWidth(s));
      break;
    case Spread::Range:
      band.lower = *std::min_element(values.begin(), values.end());
      band.upper = *std::max_element(values.begin(), values.end());
      break;
    case Spread::Quartiles:
      band.lower = quantileOf(all, 0.25);
      band.upper = quantileOf(all, 0.75);
      break;
  }
  return band;
}

PairedSample pairedDifferences(const std::map<std::uint64_t, double>& first,
                               const std::map<std::uint64_t, double>& second) {
  PairedSample out;
  for (const auto& [key, value] : first) {
    const auto other = second.find(key);
    if (other == second.end()) continue;
    out.keys.push_back(key);
    out.differences.push_back(value - other->second);
  }
  out.statistics = statisticsOf(out.differences);
  return out;
}

Direction directionFromString(const std::string& text) {
  if (text == "lower") return Direction::Lower;
  return text == "higher" ? Direction::Higher : Direction::None;
}

Outcome outcomeOf(const SampleStatistics& difference, Direction direction) {
  const Interval& interval = difference.interval;
  if (difference.count < 2 || !std::isfinite(interval.lower) || !std::isfinite(interval.upper))
    return Outcome::Unknown;
  if (interval.lower <= 0 && interval.upper >= 0) return Outcome::NoClearDifference;
  const bool isHigher = interval.lower > 0;
  if (direction == Direction::None) return isHigher ? Outcome::Higher : Outcome::Lower;
  return isHigher == (direction == Direction::Higher) ? Outcome::Better : Outcome::Worse;
}

std::string toString(Outcome outcome) {
  static constexpr std::array kNames = {"",       "better", "worse",
                                        "higher", "lower",  "no clear difference"};
  return kNames.at(static_cast<std::size_t>(outcome));
}

int decimalsFor(double uncertainty) {
  if (!(uncertainty > 0) || !std::isfinite(uncertainty)) return -1;
  // 0.0996 is written 0.10: what counts is the place after rounding.
  const int place = static_cast<int>(std::floor(std::log10(uncertainty * 1.00502512563)));
  return std::clamp(1 - place, 0, 15);
}

std::string formatFixed(double value, int decimals) {
  if (!std::isfinite(value)) return formatReal(value);
  std::array<char, 400> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, std::clamp(decimals, 0, 40));
  return {text.data(), end.ptr};
}

}  // namespace vitrine
