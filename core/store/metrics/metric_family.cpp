#include "core/store/metrics/metric_family.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/base/parse_number.h"
#include "core/store/metrics/metric_titles.h"

namespace vitrine::store {

std::optional<NumberedMetric> numberedMetric(const std::string& metric) {
  constexpr std::string_view kOfAnalyses = "analysis/";
  if (!metric.starts_with(kOfAnalyses)) return std::nullopt;
  const std::size_t end = std::min(metric.rfind('@'), metric.size());
  const std::string name = metric.substr(0, end);
  const std::size_t slash = name.rfind('/');
  const std::size_t quantity = name.find('/', kOfAnalyses.size());
  if (quantity == std::string::npos || quantity == slash) return std::nullopt;
  const auto number = parseNumber<double>(std::string_view(name).substr(slash + 1));
  if (!number || !std::isfinite(*number)) return std::nullopt;
  return NumberedMetric{name.substr(0, slash) + metric.substr(end), *number};
}

std::vector<MetricFamily> metricFamilies(const std::vector<std::string>& names) {
  std::map<std::string, std::map<double, std::string>> byName;
  for (const std::string& name : names) {
    if (const auto point = numberedMetric(name)) byName[point->family][point->number] = name;
  }
  std::vector<MetricFamily> families;
  for (auto& [name, members] : byName) {
    if (members.size() < 2) continue;
    std::string over = metricName(name).quantity;
    std::replace(over.begin(), over.end(), '_', ' ');
    families.push_back({name, std::move(over), std::move(members)});
  }
  return families;
}

}  // namespace vitrine::store
