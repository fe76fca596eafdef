#include "ui/kit/series/run_series.h"

#include <mutex>
#include <utility>

namespace vitrine::ui {
namespace {

struct RunSeries {
  std::mutex lock;
  std::map<std::int64_t, std::int64_t> numbers;
};

RunSeries& runSeries() {
  static RunSeries value;
  return value;
}

}  // namespace

std::int64_t seriesOf(std::int64_t run) {
  RunSeries& known = runSeries();
  const std::lock_guard held(known.lock);
  const auto found = known.numbers.find(run);
  return found == known.numbers.end() ? run : found->second;
}

bool isSeriesShared() {
  RunSeries& known = runSeries();
  const std::lock_guard held(known.lock);
  return !known.numbers.empty();
}

void setRunSeries(std::map<std::int64_t, std::int64_t> series) {
  RunSeries& known = runSeries();
  const std::lock_guard held(known.lock);
  known.numbers = std::move(series);
}

}  // namespace vitrine::ui
