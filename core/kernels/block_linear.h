// A linear map that mixes channels within small groups alone: a block-diagonal matrix.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/engine_export.h"

namespace vitrine::kernels {

/// y[.., g * n + o] = sum_i weight[g, o, i] x[.., g * n + i] + bias[g * n + o]
///
/// Groups of four in float32 on the CPU take one pass over memory each way.
/// \param x       [.., groups * n]
/// \param weight  [groups, n, n]
/// \param bias    [groups * n], or undefined
/// \throws ShapeError  the last axis of `x` is not the groups' width
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor blockLinear(const at::Tensor& x,
                                                           const at::Tensor& weight,
                                                           const at::Tensor& bias);

}  // namespace vitrine::kernels
