// The nonlinearity between the maps of an MLP: GELU, and the gate of SwiGLU (Shazeer 2020, "GLU
// variants improve Transformer").
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/engine_export.h"
#include "core/kernels/cpu/layer_kinds.h"

namespace vitrine::nn {

using kernels::Gelu;
using kernels::MlpKind;

/// Gaussian error linear unit (Hendrycks & Gimpel 2016, arXiv:1606.08415), element by element.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor gelu(const at::Tensor& x, Gelu form);

/// silu(gate) * up, same shapes.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor swiGlu(const at::Tensor& gate, const at::Tensor& up);

/// Hidden channels of a SwiGLU with as many parameters as a GELU of 4 * width hidden channels. They
/// are floor(2/3 * 4 * width), rounded up to a multiple of `multiple`.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::int64_t swiGluHidden(std::int64_t width,
                                                              std::int64_t multiple);

}  // namespace vitrine::nn
