// Row-wise pieces of a block in one pass over memory each way: residual sum with norm, GELU, the
// gate of SwiGLU. Float32 on the CPU; norm.h and mlp.h decide when they are used.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

#include "core/nn/mlp.h"
#include "core/nn/norm.h"

namespace vitrine::nn {

/// Whether the kernels here take these: float32 on the CPU, one shape, and not the reference path.
[[nodiscard]] bool isFusable(const at::Tensor& a, const at::Tensor& b);

/// {x + branch, norm(x + branch)}; both [.., width]. \pre isFusable(x, branch)
[[nodiscard]] std::pair<at::Tensor, at::Tensor> fusedAddAndNormalise(
    NormKind kind, const at::Tensor& x, const at::Tensor& branch, const at::Tensor& weight,
    const at::Tensor& bias, double eps);

/// The forward pass already knows the slope, so the backward pass is one product. \pre isFusable(x,
/// x)
[[nodiscard]] at::Tensor fusedGelu(const at::Tensor& x, Gelu form);

/// silu(gate) * up. \pre isFusable(gate, up)
[[nodiscard]] at::Tensor fusedSwiGlu(const at::Tensor& gate, const at::Tensor& up);

}  // namespace vitrine::nn
