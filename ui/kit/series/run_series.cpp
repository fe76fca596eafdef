#include "ui/kit/series/run_series.h"

#include <mutex>
#include <utility>

namespace vitrine::ui {
namespace {

struct RunSeries {
  std::mutex lock;
  std::map<std::int64_t, std::int64_t> numbers, own;
};

RunSeries& runSeries() {
  static RunSeries value;
  return value;
}

}  // namespace

std::int64_t seriesOf(std::int64_t run) {
  RunSeries& known = runSeries();
  const std::lock_guard held(known.lock);
  if (const auto chosen = known.own.find(run); chosen != known.own.end()) return chosen->second;
  const auto found = known.numbers.find(run);
  return found == known.numbers.end() ? run : found->second;
}

bool isSeriesShared() {
  RunSeries& known = runSeries();
  const std::lock_guard held(known.lock);
  return !known.numbers.empty();
}

bool hasOwnSeries(std::int64_t run) {
  RunSeries& known = runSeries();
  const std::lock_guard held(known.lock);
  return known.own.contains(run);
}

void setRunSeries(std::map<std::int64_t, std::int64_t> shared,
                  std::map<std::int64_t, std::int64_t> own) {
  RunSeries& known = runSeries();
  const std::lock_guard held(known.lock);
  known.numbers = std::move(shared);
  known.own = std::move(own);
}

}  // namespace vitrine::ui
