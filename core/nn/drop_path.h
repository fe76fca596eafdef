// Dropout and drop path (stochastic depth, Huang et al. 2016), drawn from a generator of the
// caller.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/engine_export.h"

namespace vitrine::nn {

/// The factors by which dropPath() multiplies the branch of each image, as drawn from `generator`:
/// [batch] of `like`'s type, but float32 at least, undefined for a rate of zero.
[[nodiscard]] at::Tensor dropPathGains(std::int64_t batch, const at::Tensor& like, double rate,
                                       const at::Generator& generator);

/// Each sample's branch is dropped whole with probability `rate`, kept ones are scaled by 1 / (1 -
/// rate), rounded once to the type of `branch`. \param branch     [batch, ..] \param generator  of
/// the branch's device; never torch's global one
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor dropPath(const at::Tensor& branch, double rate,
                                                        const at::Generator& generator);

/// Each element is dropped with probability `rate`, kept ones are scaled by 1 / (1 - rate).
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor dropout(const at::Tensor& x, double rate,
                                                       const at::Generator& generator);

/// Rates of the blocks: linspace(0, last, depth). The first block never drops; a single block takes
/// 0.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<double> dropPathRates(double last,
                                                                      std::int64_t depth);

}  // namespace vitrine::nn
