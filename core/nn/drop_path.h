// Dropout and drop path (stochastic depth, Huang et al. 2016), drawn from a generator of the
// caller.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/engine_export.h"

namespace vitrine::nn {

/// The way in which branches are left out in training.
struct DropPath {
  enum class Kind {
    Sample,  ///< each sample by its own draw: dropPath()
    Subset,  ///< a random part of the batch goes through the branch, the rest is not computed
             ///< (Oquab et al. 2023, arXiv:2304.07193, section 5): keptSamples()
  };
  double rate = 0;
  Kind kind = Kind::Sample;
};

/// The factors by which dropPath() multiplies the branch of each image, as drawn from `generator`.
/// They are [batch] of `like`'s type, but float32 at least, undefined for a rate of zero.
[[nodiscard]] at::Tensor dropPathGains(std::int64_t batch, const at::Tensor& like, double rate,
                                       const at::Generator& generator);

/// Drops the whole branch of each sample with probability `rate`. Kept ones are scaled by
/// 1 / (1 - rate), rounded once to the type of `branch`.
/// \param branch     [batch, ..]
/// \param generator  of the branch's device; never torch's global one
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor dropPath(const at::Tensor& branch, double rate,
                                                        const at::Generator& generator);

/// Samples that go through the branch when a random part of the batch does: the first
/// floor(batch * (1 - rate)) of a random permutation. The caller scales their branch by
/// batch / kept.
/// \returns  [kept] int64 on `device`. Undefined for a rate of zero, and where kept / batch misses
///           1 - rate by more than a hundredth. Such a small batch is dropped by sample
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor keptSamples(std::int64_t batch, double rate,
                                                           const at::Generator& generator,
                                                           at::Device device);

/// The factors by which dropout() multiplies each element, as drawn from `generator`. They are of
/// `like`'s type, but float32 at least, undefined for a rate of zero.
[[nodiscard]] at::Tensor dropoutFactors(at::IntArrayRef shape, const at::Tensor& like, double rate,
                                        const at::Generator& generator);

/// Each element is dropped with probability `rate`, kept ones are scaled by 1 / (1 - rate).
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor dropout(const at::Tensor& x, double rate,
                                                       const at::Generator& generator);

/// Rates of the blocks: linspace(0, last, depth). The first block never drops; a single block takes
/// 0.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<double> dropPathRates(double last,
                                                                      std::int64_t depth);

}  // namespace vitrine::nn
