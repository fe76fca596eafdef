// Attention for short sequences on the CPU: one pass per image and head, straight from the packed
// projections, RoPE and masks included. A library's batched products spend most of such a call on
// packing and copies.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/nn/attention.h"

namespace vitrine::nn {

/// Up to here the short path is taken: it was the faster one, forward and backward, at every length
/// tried from 17 to 257 keys; above, a head's probabilities leave the
/// cache.
inline constexpr std::int64_t kShortKeys = 288;
inline constexpr std::int64_t kShortHeadDim = 256;

/// Float32 on the CPU, or a half type, which is widened: the library's half-precision attention is
/// slower still for short sequences.
[[nodiscard]] bool fitsShort(const at::Tensor& query, std::int64_t keys, std::int64_t headDim);
/// Whether a mask (or none) is a constant that all samples and heads share.
[[nodiscard]] bool isShortMask(const at::Tensor& mask, std::int64_t queries, std::int64_t keys);

/// Differentiable in `query` and `keyValue`; the masks are constants.
/// \pre  float32 on the CPU, headDim <= kShortHeadDim, masks (if any) hold queries * keys values,
/// angles (if any) are [keys, headDim / 2]
[[nodiscard]] at::Tensor shortAttention(const AttentionInput& input, std::int64_t keys);

}  // namespace vitrine::nn
