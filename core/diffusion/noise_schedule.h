// Noise of each step of a diffusion, and the choice of a sampler's steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine_export.h"

namespace vitrine::diffusion {

enum class BetaSchedule {
  Linear,  ///< from 1e-4 to 0.02 over 1000 steps, both times 1000 / steps (arXiv:2006.11239)
  Cosine,  ///< of cos^2((u + 0.008) / 1.008 * pi / 2), at most 0.999 (arXiv:2102.09672)
};

/// beta_0 .. beta_(steps - 1), the variance that each step adds.
/// \throws ConfigError  there are fewer than 2 steps, or of a linear schedule fewer than 21
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<double> betasOf(BetaSchedule schedule,
                                                                std::int64_t steps);

/// Original indices of the steps that are kept, ascending.
///
/// "250": 250 steps evenly over [0, steps - 1], rounded half to even. "10,15,20": that of equal
/// sections. "ddim50": every k-th step for the smallest k that keeps exactly 50. "": all.
/// \throws ConfigError  the request is not of that form, or cannot be had
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::int64_t> respacedSteps(
    std::int64_t steps, const std::string& request);

}  // namespace vitrine::diffusion
