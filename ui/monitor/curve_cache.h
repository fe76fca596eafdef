// The curves of the selected runs, read from the store once and then only appended to.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/store/run_store.h"
#include "ui/monitor/curve_series.h"

namespace vitrine::ui {

/// A curve's name is a metric ("train/loss"), or the stem of several of one clock, whose mean it
/// is: "analysis/attention_rank/rank80/layer1" is the mean over ".../layer1/head*".
class CurveCache {
 public:
  static constexpr std::size_t kUsualLimit = 512u << 20;  ///< bytes
  using Key = std::pair<std::int64_t, std::string>;       ///< run, name

  explicit CurveCache(RunStore& store) : store_(store) {}

  /// The curve as last read; empty when it never was.
  [[nodiscard]] const CurveSeries& curve(std::int64_t run, const std::string& name) const;
  /// The curve in the order of another metric; both must have been read. It stays the same until
  /// one of them has grown.
  [[nodiscard]] const CurveSeries& curveOver(std::int64_t run, const std::string& name,
                                             const std::string& other);
  /// Reads what is new; true if the curve changed. \throws StoreError
  bool update(std::int64_t run, const std::string& name);
  /// Gives a curve the start of its segments, for x(XAxis::Wall). \throws StoreError
  void learnSegments(std::int64_t run, const std::string& name);
  /// Drops the curves of a run.
  void forget(std::int64_t run);

  void setLimit(std::size_t bytes) { limit_ = bytes; }
  [[nodiscard]] std::size_t limit() const { return limit_; }
  [[nodiscard]] std::size_t bytes() const;
  /// Drops what was not asked for the longest until the limit is kept; never what is in `shown`.
  void trim(const std::set<Key>& shown);
  /// How often the store was asked for points: what a test counts.
  [[nodiscard]] std::int64_t readings() const { return readings_; }

 private:
  struct Entry {
    CurveSeries series;
    std::vector<std::string> sources;  ///< metrics it is read from; empty while none exists
    std::size_t sourcePoints = 0;
    std::int64_t usedAt = 0;
  };
  struct Over {
    CurveSeries series;
    std::size_t points = 0, otherPoints = 0;  ///< that it was made of
  };
  bool updateMean(std::int64_t run, Entry& entry);
  std::vector<MetricPoint> read(std::int64_t run, const std::string& name, std::int64_t after);

  RunStore& store_;
  std::map<Key, Entry> entries_;
  std::map<std::pair<Key, std::string>, Over> overs_;
  std::size_t limit_ = kUsualLimit;
  std::int64_t clock_ = 0, readings_ = 0;
};

}  // namespace vitrine::ui
