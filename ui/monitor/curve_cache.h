// The curves of the selected runs: read elsewhere (curve_reader.h), kept here and appended
// to.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "ui/monitor/curve_reader.h"

namespace vitrine::ui {

class CurveCache {
 public:
  static constexpr std::size_t kUsualLimit = 512u << 20;  ///< bytes

  /// The curve as last read; empty when it never was. It stays where it is until it is dropped.
  [[nodiscard]] const CurveSeries& curve(const CurveKey& key) const;
  /// The same to be smoothed again on another thread: whatever drops it here leaves it there.
  [[nodiscard]] std::shared_ptr<const CurveSeries> share(const CurveKey& key) const;
  /// Takes such a line, made of the curve as it is.
  void adopt(const CurveKey& key, SmoothedLine&& line);
  /// What to ask for, so that only news are read.
  [[nodiscard]] CurveReadRequest ask(const CurveKey& key) const;
  /// Keeps an answer; true if the curve changed.
  bool take(CurveReadResponse&& answer);
  /// Whether the curve was read when database and run had these versions or later ones.
  [[nodiscard]] bool isRead(const CurveKey& key, std::int64_t version,
                            std::int64_t changeSequence = 0) const;
  /// Whether it was read at all, though nothing may have been there.
  [[nodiscard]] bool isKnown(const CurveKey& key) const { return entries_.contains(key); }
  /// Whether it was asked where the segments of the run began, and nothing has changed since.
  [[nodiscard]] bool hasStarts(const CurveKey& key) const;
  /// Drops the curves of a run.
  void forget(std::int64_t run);

  void setLimit(std::size_t bytes) { limit_ = bytes; }
  [[nodiscard]] std::size_t limit() const { return limit_; }
  [[nodiscard]] std::size_t bytes() const;
  /// Drops the least recently used curves until the limit is kept; never those in `shown`.
  void trim(const std::set<CurveKey>& shown);

 private:
  friend class Probe;  ///< of tests

  struct Entry {
    std::shared_ptr<CurveSeries> series = std::make_shared<CurveSeries>();
    std::vector<std::string> sources;
    std::int64_t overSequence = 0;
    std::int64_t version = 0, changeSequence = 0;
    std::int64_t usedAt = 0;
    bool hasStarts = false;
  };

  std::map<CurveKey, Entry> entries_;
  std::size_t limit_ = kUsualLimit;
  std::int64_t clock_ = 0, readings_ = 0;
};

}  // namespace vitrine::ui
