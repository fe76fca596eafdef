// A linear map of rows.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/engine_export.h"

namespace vitrine::kernels {

/// y = x weight^T + bias
///
/// In float32 on the CPU the engine's own products compute it: many rows with a gradient, a few
/// without one. A few rows through a small map are summed in float64. LibTorch computes all else,
/// and all under autocast. The number of threads does not change the order of a sum.
/// \param x       [.., in]
/// \param weight  [out, in]
/// \param bias    [out], or undefined
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor linear(const at::Tensor& x, const at::Tensor& weight,
                                                      const at::Tensor& bias);

}  // namespace vitrine::kernels
