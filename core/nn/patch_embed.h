// Images to patch tokens.
#pragma once

#include <ATen/core/Tensor.h>

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

}  // namespace vitrine::nn
