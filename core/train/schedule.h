// The learning rate as a pure function of the step: a schedule's decay under a warm-up.
#pragma once

#include <cstdint>

#include "core/config/config.h"
#include "core/engine_export.h"
#include "core/plugin/schedule.h"

namespace vitrine::train {

/// With W warm-up steps, T total steps, base rate b, start factor s and a decay d:
///
///     progress   clip((step - W) / (T - W), 0, 1) after the warm-up, or step / T over all steps;
///                the divisor is one less where the decay is whole at the last step
///
/// While step < W, by kind of warm-up:
///
///     zero-based    d(progress) (s + (1 - s) step / W)    the floor is scaled, too
///     inclusive     b (s + (1 - s) step / (W - 1))        steps W - 1 and W have the base rate
///     independent   b (s + (1 - s) step / W)              as in timm
struct Schedule {
  enum class WarmUp { ZeroBased, Inclusive, Independent };
  Decay decay;
  WarmUp warmUp = WarmUp::ZeroBased;
  double base = 0;  ///< peak learning rate
  std::int64_t warmUpSteps = 0;
  double warmUpStart = 0;       ///< times the base at step 0
  bool spansWarmUp = false;     ///< the decay begins at step 0
  bool endsAtLastStep = false;  ///< the last step has progress 1; else the step after it would
};

/// Reads `optimizer.learning_rate` and `schedule` of a [train] table.
/// \param item           the schedule that `schedule.name` is
/// \param stepsPerEpoch  turns `warmup_epochs` into steps, rounded
[[nodiscard]] VITRINE_ENGINE_EXPORT Schedule scheduleFrom(const ScheduleItem& item,
                                                          const Config& train,
                                                          std::int64_t stepsPerEpoch);

/// \param step  optimizer steps completed before this one: 0 .. totalSteps - 1
[[nodiscard]] VITRINE_ENGINE_EXPORT double learningRate(const Schedule& schedule, std::int64_t step,
                                                        std::int64_t totalSteps);

}  // namespace vitrine::train
