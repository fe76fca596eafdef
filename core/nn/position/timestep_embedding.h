// Sines and cosines of a denoising time (Ho et al. 2020, arXiv:2006.11239).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/engine_export.h"

namespace vitrine::nn {

/// [cos(t w_k) | sin(t w_k)], w_k = period ^ (-k / half), half = width / 2; an odd width ends with
/// a zero. The angles are float64, since float32 loses four digits at t = 1000.
/// \param time  [batch], of any number type
/// \returns  [batch, width] on its device: float64 for float64 times, else float32
/// \throws ShapeError  `time` is not one number a sample, or width is below 2
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor timestepEmbedding(const at::Tensor& time,
                                                                 std::int64_t width,
                                                                 double period = 1e4);

}  // namespace vitrine::nn
