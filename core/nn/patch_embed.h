// Images to patch tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "core/engine_export.h"

namespace vitrine::nn {

/// A convolution whose stride is its kernel, as one matrix product.
///
/// \param images  [batch, channels, height, width]
/// \param weight  [width, channels, patchHeight, patchWidth]; \param bias  [width]
/// \returns       [batch, patches, width], patches in raster order
/// \throws ShapeError  channels differ, or patches do not divide the image
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor patchEmbed(const at::Tensor& images,
                                                          const at::Tensor& weight,
                                                          const at::Tensor& bias);

/// "images [2, 1, 28, 28] do not fit a model of 3 channels, 224 x 224 pixels; ...".
/// \param what  between the two
/// \throws ShapeError  always
[[noreturn]] VITRINE_ENGINE_EXPORT void refuseImages(const at::Tensor& images, const char* what,
                                                     std::int64_t channels,
                                                     std::array<std::int64_t, 2> size);

}  // namespace vitrine::nn
