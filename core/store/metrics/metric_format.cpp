#include "core/store/metrics/metric_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/text.h"
#include "core/store/metrics/metric_titles.h"

namespace vitrine::store {

namespace {

constexpr int kMostDecimals = 12;

/// With commas between thousands: "3,410.5".
std::string fixed(double value, int decimals) {
  char text[400];
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals).ptr;
  std::string out(text, end);
  const std::size_t dot = std::min(out.find('.'), out.size()), first = out.front() == '-' ? 1 : 0;
  for (std::size_t i = dot; i > first + 3; i -= 3) out.insert(i - 3, ",");
  return out;
}

void chopZeros(std::string& text) {
  if (text.find('.') == std::string::npos) return;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
}

/// At most so many significant digits; of a large number all before the dot.
std::string significant(double value, int digits) {
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  if (magnitude < -4 || magnitude > 8) return formatReal(value, digits);
  std::string text = fixed(value, std::clamp(digits - 1 - magnitude, 0, kMostDecimals));
  chopZeros(text);
  return text;
}

std::string plain(const MetricFormat& format, double value) {
  if (value == 0) return fixed(0, std::max(format.decimals, 0));
  if (format.decimals < 0) return significant(value, MetricFormat::kDigits);
  // 0.52 % has a decimal more than 42.3 %: two digits at least, of four decimals four.
  const bool isTiny = std::abs(value) < std::pow(10.0, 1 - std::min(format.decimals, 3));
  const int digits = format.decimals < MetricFormat::kDigits ? 2 : MetricFormat::kDigits;
  return isTiny ? significant(value, digits) : fixed(value, format.decimals);
}

}  // namespace

MetricFormat metricFormat(const std::string& metric, const MetricKind& kind) {
  return metricFormat(metric, kind.unit, kind.title);
}

MetricFormat metricFormat(const std::string& metric, const std::string& unit,
                          const std::string& title) {
  constexpr int kMostFixed = 6;  // beyond, as of learning rates, digits say more
  const MetricTitle known = metricTitle(metric, title);
  MetricFormat format{.arePoints = unit == "points"};
  format.isPercent = format.arePoints || unit == "fraction";
  if (format.isPercent) {
    format.decimals = 1;
  } else if (known.isKnown && known.decimals <= kMostFixed) {
    format.decimals = known.decimals;
  }
  return format;
}

std::string metricWords(const MetricFormat& format, double value) {
  if (!format.isPercent || !std::isfinite(value)) return metricNumber(format, value);
  return metricNumber(format, value * 100) + ' ' + format.unit();
}

std::string metricNumber(const MetricFormat& format, double shown, int decimals) {
  if (!std::isfinite(shown)) return formatReal(shown);
  return decimals < 0 ? plain(format, shown) : fixed(shown, decimals);
}

}  // namespace vitrine::store
