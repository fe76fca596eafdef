// Attention for short sequences on the CPU: one pass per image and head, straight from the packed
// projections, RoPE and masks included. A library's batched products spend most of such a call on
// packing and copies.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/nn/attention.h"

namespace vitrine::nn {

inline constexpr std::int64_t kShortHeadDim = 256;

/// Differentiable in `query` and `keyValue`; the masks are constants.
/// \pre  float32 on the CPU, headDim <= kShortHeadDim, additive (if any) holds queries * keys
/// values
[[nodiscard]] at::Tensor shortAttention(const AttentionInput& input, std::int64_t keys);

}  // namespace vitrine::nn
