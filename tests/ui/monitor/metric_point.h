// A point of a curve, for tests.
#pragma once

#include <cstdint>

#include "core/store/run_store.h"

namespace vitrine::ui {

inline store::MetricPoint point(std::int64_t step, double value, std::int64_t segment = 1) {
  store::MetricPoint made;
  made.sequence = step;
  made.segment = segment;
  made.step = step;
  made.epoch = static_cast<double>(step) / 100;
  made.time = static_cast<double>(step) * 0.02;
  made.value = value;
  return made;
}

}  // namespace vitrine::ui
