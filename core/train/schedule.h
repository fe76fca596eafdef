// The learning rate as a pure function of the step.
#pragma once

#include <cstdint>
#include <vector>

#include "core/config/config.h"
#include "core/engine_export.h"

namespace vitrine {

/// With W warm-up steps, T total steps, base rate b, floor m, start factor s and progress p:
///
///     constant   d(p) = b
///     linear     d(p) = m + (b - m) (1 - p)
///     cosine     d(p) = m + (b - m) (1 + cos(pi p)) / 2
///     poly       d(p) = m + (b - m) (1 - p)^power
///     step       d    = b gamma^n, n milestones at or before this step
///
///     progress   clip((step - W) / (T - W), 0, 1) after the warm-up, or step / T over all steps;
///                the divisor is one less where the last step has the floor
///
/// While step < W, by kind of warm-up:
///
///     zero-based    d(p) (s + (1 - s) step / W)         the floor is scaled, too
///     inclusive     b (s + (1 - s) step / (W - 1))      steps W - 1 and W have the base rate
///     independent   b (s + (1 - s) step / W)            as in timm
struct Schedule {
  enum class Kind { Constant, Linear, Cosine, Poly, Step };
  enum class WarmUp { ZeroBased, Inclusive, Independent };
  Kind kind = Kind::Cosine;
  WarmUp warmUp = WarmUp::ZeroBased;
  double base = 0;     ///< peak learning rate
  double minimum = 0;  ///< at the end; constant and step schedules have no use for it
  std::int64_t warmUpSteps = 0;
  double warmUpStart = 0;                     ///< times the base at step 0
  double power = 0.9;                         ///< poly
  std::vector<std::int64_t> milestones = {};  ///< step: in steps of the run
  double gamma = 0.1;                         ///< step
  bool spansWarmUp = false;                   ///< the decay begins at step 0
  bool endsAtLastStep = false;  ///< the last step has the floor; else the step after it would
};

/// Reads `optimizer.learning_rate` and `schedule` of a table of trainSchema().
/// \param stepsPerEpoch  turns `warmup_epochs` into steps, rounded
[[nodiscard]] VITRINE_ENGINE_EXPORT Schedule scheduleFrom(const Config& train,
                                                          std::int64_t stepsPerEpoch);

/// \param step  optimizer steps completed before this one: 0 .. totalSteps - 1
[[nodiscard]] VITRINE_ENGINE_EXPORT double learningRate(const Schedule& schedule, std::int64_t step,
                                                        std::int64_t totalSteps);
[[nodiscard]] VITRINE_ENGINE_EXPORT double learningRate(const Config& train, std::int64_t step,
                                                        std::int64_t totalSteps,
                                                        std::int64_t stepsPerEpoch);

}  // namespace vitrine
