#include "ui/monitor/curve_cache.h"

#include <QDateTime>
#include <algorithm>

namespace vitrine::ui {
namespace {

const CurveSeries& noCurve() {
  static const CurveSeries kNone;
  return kNone;
}

}  // namespace

const CurveSeries& CurveCache::curve(std::int64_t run, const std::string& name) const {
  const auto found = entries_.find({run, name});
  return found == entries_.end() ? noCurve() : found->second.series;
}

const CurveSeries& CurveCache::curveOver(std::int64_t run, const std::string& name,
                                         const std::string& other) {
  const CurveSeries& y = curve(run, name);
  const CurveSeries& x = curve(run, other);
  if (y.size() == 0 || x.size() == 0) return noCurve();
  Over& over = overs_[{{run, name}, other}];
  if (over.points != y.size() || over.otherPoints != x.size()) {
    over.series = y.over(x);
    over.points = y.size();
    over.otherPoints = x.size();
  }
  return over.series;
}

std::vector<MetricPoint> CurveCache::read(std::int64_t run, const std::string& name,
                                          std::int64_t after) {
  ++readings_;
  return store_.points(run, name, after);
}

bool CurveCache::update(std::int64_t run, const std::string& name) {
  Entry& entry = entries_[{run, name}];
  entry.usedAt = ++clock_;
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

  const auto fresh = read(run, name, entry.series.lastSequence());
  if (fresh.empty()) return false;
  if (!entry.series.append(fresh)) {
    entry.series.clear();
    entry.series.append(read(run, name, 0));
  }
  return true;
}

// A few dozen points: read whole when a source has grown.
bool CurveCache::updateMean(std::int64_t run, Entry& entry) {
  if (entry.series.size() > 0 &&
      read(run, entry.sources.back(), entry.series.lastSequence()).empty()) {
    return false;
  }
  std::vector<std::vector<MetricPoint>> curves;
  std::size_t total = 0;
  for (const std::string& source : entry.sources) {
    curves.push_back(read(run, source, 0));
    total += curves.back().size();
  }
  entry.series.clear();
  entry.series.append(meanOf(curves));
  const bool isChanged = total != entry.sourcePoints;
  entry.sourcePoints = total;
  return isChanged;
}

void CurveCache::learnSegments(std::int64_t run, const std::string& name) {
  const auto found = entries_.find({run, name});
  if (found == entries_.end() || found->second.series.knowsSegments()) return;
  std::map<std::int64_t, double> starts;
  for (const SegmentRow& segment : store_.segments(run)) {
    const QDateTime at =
        QDateTime::fromString(QString::fromStdString(segment.startedAt), Qt::ISODateWithMs);
    if (at.isValid()) starts[segment.number] = static_cast<double>(at.toMSecsSinceEpoch()) / 1000;
  }
  found->second.series.setSegmentStarts(std::move(starts));
}

void CurveCache::forget(std::int64_t run) {
  std::erase_if(entries_, [run](const auto& entry) { return entry.first.first == run; });
  std::erase_if(overs_, [run](const auto& entry) { return entry.first.first.first == run; });
}

std::size_t CurveCache::bytes() const {
  std::size_t sum = 0;
  for (const auto& [key, entry] : entries_) sum += entry.series.bytes();
  for (const auto& [key, over] : overs_) sum += over.series.bytes();
  return sum;
}

void CurveCache::trim(const std::set<Key>& shown) {
  std::size_t held = bytes();
  if (held <= limit_) return;
  std::erase_if(overs_, [&](const auto& over) { return !shown.contains(over.first.first); });
  held = bytes();
  std::vector<std::pair<std::int64_t, Key>> oldest;
  for (const auto& [key, entry] : entries_) {
    if (!shown.contains(key)) oldest.emplace_back(entry.usedAt, key);
  }
  std::sort(oldest.begin(), oldest.end());
  for (const auto& [usedAt, key] : oldest) {
    if (held <= limit_) break;
    const auto found = entries_.find(key);
    held -= std::min(held, found->second.series.bytes());
    entries_.erase(found);
  }
}

}  // namespace vitrine::ui
