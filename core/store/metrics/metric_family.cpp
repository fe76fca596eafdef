#include "core/store/metrics/metric_family.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>
#include <utility>

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
  NumberedMetric found{name.substr(0, slash) + metric.substr(end)};
  const char* const last = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + slash + 1, last, found.number);
  if (parsed.ec != std::errc() || parsed.ptr != last || !std::isfinite(found.number))
    return std::nullopt;
  return found;
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
