#include "core/store/metrics/column_decimals.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/statistics.h"

namespace vitrine::store {

int columnDecimals(const std::vector<ColumnNumber>& column, const MetricFormat& format) {
  std::vector<int> supported;
  int most = 0;
  bool isFixed = true;
  for (const ColumnNumber& number : column) {
    if (!std::isfinite(number.shown)) continue;
    const std::string text = metricNumber(format, number.shown);
    const std::size_t dot = text.find('.');
    isFixed = isFixed && text.find('e') == std::string::npos;
    if (dot != std::string::npos) most = std::max(most, static_cast<int>(text.size() - dot - 1));
    if (number.supported >= 0) supported.push_back(number.supported);
  }
  if (supported.empty()) return isFixed ? most : -1;
  return upperMedian(std::move(supported));
}

}  // namespace vitrine::store
