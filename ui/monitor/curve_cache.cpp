#include "ui/monitor/curve_cache.h"

#include <algorithm>

namespace vitrine::ui {

const CurveSeries& CurveCache::curve(std::int64_t run, const std::string& name) const {
  static const CurveSeries kNone;
  const auto found = entries_.find({run, name});
  return found == entries_.end() ? kNone : found->second.series;
}

bool CurveCache::update(std::int64_t run, const std::string& name) {
  Entry& entry = entries_[{run, name}];
  if (entry.sources.empty()) {
    for (const std::string& metric : store_.metricNames(run)) {
      if (metric == name) {
        entry.sources = {metric};
        break;
      }
      if (metric.starts_with(name + "/head")) entry.sources.push_back(metric);
    }
    if (entry.sources.empty()) return false;
  }
  if (entry.sources.size() > 1 || entry.sources.front() != name) return updateMean(run, entry);

  const auto fresh = store_.points(run, name, entry.series.lastSequence());
  if (fresh.empty()) return false;
  if (!entry.series.append(fresh)) {
    entry.series.clear();
    entry.series.append(store_.points(run, name, 0));
  }
  return true;
}

// A few dozen points: read whole when a source has grown.
bool CurveCache::updateMean(std::int64_t run, Entry& entry) {
  if (entry.series.size() > 0 &&
      store_.points(run, entry.sources.back(), entry.series.lastSequence()).empty()) {
    return false;
  }
  std::vector<std::vector<MetricPoint>> curves;
  std::size_t total = 0;
  for (const std::string& source : entry.sources) {
    curves.push_back(store_.points(run, source, 0));
    total += curves.back().size();
  }
  entry.series.clear();
  entry.series.append(meanOf(curves));
  const bool isChanged = total != entry.sourcePoints;
  entry.sourcePoints = total;
  return isChanged;
}

void CurveCache::forget(std::int64_t run) {
  std::erase_if(entries_, [run](const auto& entry) { return entry.first.first == run; });
}

}  // namespace vitrine::ui
