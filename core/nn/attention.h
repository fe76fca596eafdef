// Multi-head softmax attention, with masks before and after the softmax, RoPE, and a look at the
// probabilities.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/engine_export.h"

namespace vitrine::nn {

/// What one attention reads. Channels of q, k and v are [heads, headDim] flattened, heads
/// outermost.
///
///     P = softmax(q k^T / sqrt(headDim) + additive)          q and k turned by `angles` first
///     out = (P * multiplicative) v                           rows are not renormalised
struct AttentionInput {
  at::Tensor query;     ///< [batch, queries, width]
  at::Tensor keyValue;  ///< [batch, keys, 2 * width]: k, then v; undefined when `query` is [.., 3 *
                        ///< width]: q, k, v
  std::int64_t heads = 1;
  std::int64_t firstQuery = 0;  ///< which key the first query is: with fewer queries than keys,
                                ///< they are keys firstQuery, firstQuery + 1, ...
  at::Tensor angles;            ///< [keys, headDim/2] float32 of rope.h, or undefined
  at::Tensor additive;          ///< broadcastable to [batch, heads, queries, keys], or undefined
  at::Tensor multiplicative;    ///< [queries, keys] float32, or undefined
};

struct AttentionOutput {
  at::Tensor values;     ///< [batch, queries, width]
  at::Tensor softmax;    ///< P, [batch, heads, queries, keys]; explicit path only
  at::Tensor effective;  ///< P * multiplicative; explicit path only
};

/// Up to here the short path is taken: it was the faster one, forward and backward, at every length
/// tried from 17 to 257 keys; above, a head's probabilities leave the
/// cache.
inline constexpr std::int64_t kShortKeys = 288;

enum class AttentionPath {
  Automatic,  ///< whichever is fastest for the shape, dtype and device
  Explicit,   ///< probabilities in full, returned
  Fused,      ///< at::scaled_dot_product_attention; refuses a multiplicative mask
  Short,      ///< our own kernel for short sequences on the CPU, float32 inside
};

/// \throws ShapeError  the parts do not fit together, or the path cannot do what is asked
[[nodiscard]] VITRINE_ENGINE_EXPORT AttentionOutput
attend(const AttentionInput& input, AttentionPath path = AttentionPath::Automatic);

/// The path Automatic takes.
[[nodiscard]] VITRINE_ENGINE_EXPORT AttentionPath fastestPath(const AttentionInput& input);

}  // namespace vitrine::nn
