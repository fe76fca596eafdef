#include "ui/monitor/curve_cache.h"

#include <algorithm>

namespace vitrine::ui {
namespace {

const CurveSeries& noCurve() {
  static const CurveSeries kNone;
  return kNone;
}

}  // namespace

const CurveSeries& CurveCache::curve(const CurveKey& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? noCurve() : *found->second.series;
}

std::shared_ptr<const CurveSeries> CurveCache::share(const CurveKey& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second.series;
}

void CurveCache::adopt(const CurveKey& key, SmoothedLine&& line) {
  const auto found = entries_.find(key);
  if (found != entries_.end()) found->second.series->adopt(std::move(line));
}

CurveReadRequest CurveCache::ask(const CurveKey& key) const {
  CurveReadRequest made{.key = key};
  const auto found = entries_.find(key);
  if (found == entries_.end()) return made;
  const Entry& entry = found->second;
  made.sources = entry.sources;
  made.overSequence = entry.overSequence;
  if (entry.series->size() > 0) {
    made.lastSequence = entry.series->lastSequence();
    made.lastStep = entry.series->x(XAxis::Step).back();
  }
  return made;
}

bool CurveCache::take(CurveReadResponse&& answer) {
  Entry& entry = entries_[answer.key];
  entry.usedAt = ++clock_;
  entry.version = answer.version;
  readings_ += answer.readings;
  // It is asked for again with the next version, also of a run that has ended.
  if (!answer.error.empty()) return false;
  entry.changeSequence = answer.changeSequence;
  entry.sources = std::move(answer.sources);
  bool isChanged = false;
  if (answer.whole || !answer.fresh.empty()) entry.hasStarts = false;
  if (answer.whole) {
    *entry.series = std::move(*answer.whole);
    entry.overSequence = answer.overSequence;
    isChanged = true;
  } else if (!answer.fresh.empty()) {
    // An answer to what was asked before the curve grew by another one is not taken twice.
    isChanged = answer.fresh.front().sequence > entry.series->lastSequence() &&
                entry.series->append(answer.fresh);
  }
  if (answer.starts) {
    entry.series->setSegmentStarts(std::move(*answer.starts));
    entry.hasStarts = true;
  }
  return isChanged;
}

bool CurveCache::isRead(const CurveKey& key, std::int64_t version,
                        std::int64_t changeSequence) const {
  const auto found = entries_.find(key);
  return found != entries_.end() && found->second.version >= version &&
         found->second.changeSequence >= changeSequence;
}

bool CurveCache::hasStarts(const CurveKey& key) const {
  const auto found = entries_.find(key);
  return found != entries_.end() && found->second.hasStarts;
}

void CurveCache::forget(std::int64_t run) {
  std::erase_if(entries_, [run](const auto& entry) { return entry.first.run == run; });
}

std::size_t CurveCache::bytes() const {
  std::size_t sum = 0;
  for (const auto& [key, entry] : entries_) sum += entry.series->bytes();
  return sum;
}

void CurveCache::trim(const std::set<CurveKey>& shown) {
  std::size_t held = bytes();
  if (held <= limit_) return;
  std::vector<std::pair<std::int64_t, CurveKey>> oldest;
  for (const auto& [key, entry] : entries_) {
    if (!shown.contains(key)) oldest.emplace_back(entry.usedAt, key);
  }
  std::sort(oldest.begin(), oldest.end());
  for (const auto& [usedAt, key] : oldest) {
    if (held <= limit_) break;
    const auto found = entries_.find(key);
    held -= std::min(held, found->second.series->bytes());
    entries_.erase(found);
  }
}

}  // namespace vitrine::ui
