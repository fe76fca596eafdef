// LayerNorm and RMSNorm over the last axis, each with the residual sum that precedes it in a
// pre-norm block.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

#include "core/engine_export.h"
#include "core/kernels/cpu/layer_kinds.h"

namespace vitrine::nn {

using kernels::NormKind;

/// \param x       [.., width]
/// \param weight  [width], or undefined for gains of one
/// \param bias    [width], LayerNorm only; undefined for RMSNorm and for none
/// \returns       the shape and dtype of `x`. RMSNorm's statistics and scaling are float32 for half
/// types, the product with
///                `weight` follows in the dtype of `x`
/// \throws ShapeError  the last axis of `x` is not the width of `weight`
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor normalise(NormKind kind, const at::Tensor& x,
                                                         const at::Tensor& weight,
                                                         const at::Tensor& bias, double eps);

/// {x + branch, normalise(x + branch)}, one pass over memory each way on the CPU. An undefined
/// `branch` is zero.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::pair<at::Tensor, at::Tensor> addAndNormalise(
    NormKind kind, const at::Tensor& x, const at::Tensor& branch, const at::Tensor& weight,
    const at::Tensor& bias, double eps);

}  // namespace vitrine::nn
