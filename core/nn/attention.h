// Self-attention straight from packed projections: what a layer with one map for queries, keys and
// values has in its hands. attend.h is the general form.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/engine_export.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "core/nn/attend.h"

namespace vitrine::nn {

/// Inputs of one attention; `additive` is the `bias` of AttendOptions, `multiplicative` its
/// `factor`, angles may be any of its angles.
using AttentionInput = cpu::PackedAttention;

/// \returns  as attend(query, key, value), but values are [batch, queries, width]
/// \throws ShapeError  the parts do not fit together, or the path does not support the call
[[nodiscard]] VITRINE_ENGINE_EXPORT AttentionOutput
attend(const AttentionInput& input, AttentionPath path = AttentionPath::Automatic);

/// The path Automatic takes.
[[nodiscard]] VITRINE_ENGINE_EXPORT AttentionPath fastestPath(const AttentionInput& input);

}  // namespace vitrine::nn
