// The curves of the selected runs, read from the store once and then only appended to.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/store/run_store.h"
#include "ui/monitor/curve_series.h"

namespace vitrine::ui {

/// A curve's name is a metric ("train/loss"), or the stem of several of one clock, whose mean it
/// is: "analysis/attention_rank/rank80/layer1" is the mean over ".../layer1/head*".
class CurveCache {
 public:
  explicit CurveCache(RunStore& store) : store_(store) {}

  /// The curve as last read; empty when it never was.
  [[nodiscard]] const CurveSeries& curve(std::int64_t run, const std::string& name) const;
  /// Reads what is new; true if the curve changed. \throws StoreError
  bool update(std::int64_t run, const std::string& name);
  /// Drops the curves of a run.
  void forget(std::int64_t run);

 private:
  struct Entry {
    CurveSeries series;
    std::vector<std::string> sources;  ///< metrics it is read from; empty while none exists
    std::size_t sourcePoints = 0;
  };
  bool updateMean(std::int64_t run, Entry& entry);

  RunStore& store_;
  std::map<std::pair<std::int64_t, std::string>, Entry> entries_;
};

}  // namespace vitrine::ui
