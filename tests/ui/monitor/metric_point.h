// A point of a curve, for tests.
#pragma once

#include <cstdint>

#include "core/store/run_store.h"

namespace vitrine::ui {

inline store::MetricPoint point(std::int64_t step, double value, std::int64_t segment = 1) {
  return {.sequence = step,
          .segment = segment,
          .step = step,
          .epoch = static_cast<double>(step) / 100,
          .time = static_cast<double>(step) * 0.02,
          .value = value};
}

}  // namespace vitrine::ui
