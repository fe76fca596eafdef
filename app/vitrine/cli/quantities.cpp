#include "app/vitrine/cli/quantities.h"

#include <charconv>
#include <cmath>

#include "core/base/error.h"

namespace vitrine::app {

namespace {

/// Reads a number that is not negative from the front of [at, end). \returns  false when there is
/// none
bool takeNumber(const char*& at, const char* end, double& number) {
  const auto result = std::from_chars(at, end, number);
  if (result.ec != std::errc() || !std::isfinite(number) || number < 0) return false;
  at = result.ptr;
  return true;
}

}  // namespace

double parseDuration(const std::string& option, const std::string& text) {
  constexpr double kLongest = 36500 * 86400.0;
  const char* at = text.data();
  const char* end = at + text.size();
  double seconds = 0, number = 0;
  bool isWhole = !text.empty();
  while (isWhole && at != end) {
    isWhole = takeNumber(at, end, number);
    const char unit = at == end ? 's' : *at++;
    const double size = unit == 's'   ? 1
                        : unit == 'm' ? 60
                        : unit == 'h' ? 3600
                        : unit == 'd' ? 86400
                                      : 0;
    isWhole = isWhole && size > 0;
    seconds += number * size;
  }
  if (!isWhole)
    throw ConfigError(option + " '" + text +
                      "' is not a length of time; write it like 2h, 90m, 1h30m or 45s");
  if (!(seconds <= kLongest))
    throw ConfigError(option + " '" + text + "' is too long; give at most 36500d");
  return seconds;
}

std::int64_t parseBytes(const std::string& text) {
  const char* at = text.data();
  const char* end = at + text.size();
  double number = 0;
  const bool hasNumber = takeNumber(at, end, number);
  const std::string unit(at, end);
  static constexpr struct {
    const char* name;
    double size;
  } kUnits[] = {
      {"", 1},      {"B", 1},      {"KB", 1e3},      {"MB", 1e6},      {"GB", 1e9},
      {"TB", 1e12}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1 << 30}, {"TiB", 1099511627776.0}};
  for (const auto& known : kUnits) {
    const double bytes = number * known.size;
    if (hasNumber && unit == known.name && bytes < 9e18) return static_cast<std::int64_t>(bytes);
  }
  throw ConfigError("'" + text + "' is not an amount of memory; write it like 8GB, 500MB or 2GiB");
}

}  // namespace vitrine::app
