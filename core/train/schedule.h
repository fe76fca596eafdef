// The learning rate as a pure function of the step.
#pragma once

#include <cstdint>

#include "core/config/config.h"
#include "core/engine_export.h"

namespace vitrine {

/// With W warm-up steps, T total steps, base rate b, floor m and p = clip((step - W) / (T - W), 0,
/// 1):
///
///     constant   d(p) = b
///     linear     d(p) = m + (b - m) (1 - p)
///     cosine     d(p) = m + (b - m) (1 + cos(pi p)) / 2
///
///     zero-based warm-up   d(p) * min(1, step / W)                      (ViT's code: floor
///     included) inclusive warm-up    b * step / (W - 1) while step < W, then d(p)  (iLLaMA's code:
///     a linspace
///                          with both ends, so steps W - 1 and W both have the base rate)
struct Schedule {
  enum class Kind { Constant, Linear, Cosine };
  enum class WarmUp { ZeroBased, Inclusive };
  Kind kind = Kind::Cosine;
  WarmUp warmUp = WarmUp::ZeroBased;
  double base = 0;     ///< peak learning rate
  double minimum = 0;  ///< at the end; a constant schedule has no use for it
  std::int64_t warmUpSteps = 0;
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
