// Self-attention straight from packed projections: what a layer with one map for queries, keys and
// values has in its hands. attend.h is the general form.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/engine_export.h"
#include "core/nn/attend.h"

namespace vitrine::nn {

/// What one attention reads. Channels of q, k and v are [heads, headDim] flattened, heads
/// outermost.
struct AttentionInput {
  at::Tensor query;     ///< [batch, queries, width]
  at::Tensor keyValue;  ///< [batch, keys, 2 * width]: k, then v; undefined when `query` is [.., 3 *
                        ///< width]: q, k, v
  std::int64_t heads = 1;
  std::int64_t firstQuery = 0;  ///< which key the first query is: with fewer queries than keys,
                                ///< they are keys firstQuery, firstQuery + 1, ...
  at::Tensor angles;            ///< of the keys, as in AttendOptions; or undefined
  at::Tensor additive;          ///< `bias` of AttendOptions
  at::Tensor multiplicative;    ///< `factor` of AttendOptions
};

/// \returns  as attend(query, key, value), but values are [batch, queries, width]
/// \throws ShapeError  the parts do not fit together, or the path cannot do what is asked
[[nodiscard]] VITRINE_ENGINE_EXPORT AttentionOutput
attend(const AttentionInput& input, AttentionPath path = AttentionPath::Automatic);

/// The path Automatic takes.
[[nodiscard]] VITRINE_ENGINE_EXPORT AttentionPath fastestPath(const AttentionInput& input);

}  // namespace vitrine::nn
