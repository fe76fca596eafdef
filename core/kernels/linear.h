// A linear map of rows.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/engine_export.h"

namespace vitrine::kernels {

/// y = x weight^T + bias
///
/// In float32 on the CPU by this engine's products, which take processors as they are and not as
/// their maker's library knows them: of many rows each way, and of a few without a gradient. By the
/// library elsewhere, and under autocast. Each sum runs in one order, whatever the threads.
/// \param x       [.., in]
/// \param weight  [out, in]
/// \param bias    [out], or undefined
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor linear(const at::Tensor& x, const at::Tensor& weight,
                                                      const at::Tensor& bias);

}  // namespace vitrine::kernels
