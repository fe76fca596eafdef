// Softmax attention of any queries over any keys: one function for windows, sub-sampled keys,
// shared key heads, key-value caches, packed documents and gathered tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "core/engine_export.h"
#include "core/nn/position/rope.h"

namespace vitrine::nn {

enum class AttentionPath {
  Automatic,  ///< whichever is fastest for the shape, dtype and device
  Explicit,   ///< probabilities in full, returned
  Fused,  ///< at::scaled_dot_product_attention, or our own loops for one query; refuses a factor
  Short,  ///< our own kernel for short sequences on the CPU, float32 inside
};

/// Options of the attention of queries over keys:
///
///     P = softmax(scale * q k^T + bias)      q and k turned by their angles first
///     out = (P * factor) v                   rows are not renormalised
struct AttendOptions {
  /// Angles of applyRope(), [tokens, pairs], [batch, tokens, pairs] or [batch or 1, heads, tokens,
  /// pairs]; undefined turns nothing. Keys that come from a cache are turned already.
  at::Tensor queryAngles, keyAngles;
  RopePairs pairs = RopePairs::Interleaved;
  at::Tensor bias;    ///< broadcastable to [batch, heads, queries, keys]; may be trained
  at::Tensor factor;  ///< broadcastable to [batch, heads, queries, keys]
  /// Keys [first, last] that a query may see: integers [queries] or [batch, queries], undefined for
  /// no bound. A query without any key gives zeros.
  at::Tensor firstAllowedKey, lastAllowedKey;
  bool isCausal = false;        ///< queries are the last keys, each sees itself and those before it
  std::optional<double> scale;  ///< 1 / sqrt(headDim) where nothing else is said
  AttentionPath path = AttentionPath::Automatic;
};

struct AttentionOutput {
  at::Tensor values;     ///< [batch, queries, heads, valueDim]
  at::Tensor softmax;    ///< P, [batch, heads, queries, keys]; explicit path only
  at::Tensor effective;  ///< P * factor; explicit path only
};

/// \param query  [batch, queries, heads, headDim]
/// \param key    [batch, keys, keyHeads, headDim]; keyHeads divides heads: query head h reads key
///               head h / (heads / keyHeads)
/// \param value  [batch, keys, keyHeads, valueDim]
/// \throws ShapeError  the parts do not fit together, or the path does not support the call
[[nodiscard]] VITRINE_ENGINE_EXPORT AttentionOutput attend(const at::Tensor& query,
                                                           const at::Tensor& key,
                                                           const at::Tensor& value,
                                                           const AttendOptions& options = {});

}  // namespace vitrine::nn
