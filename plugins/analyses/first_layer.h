// The patch embedding of a model: filters as small images and similarity of positions, as
// Dosovitskiy et al. 2021 (arXiv:2010.11929, figure 7) draw both. Measured by the tokens alone,
// whatever the layer is made of.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/capabilities.h"

namespace vitrine::analyses {

struct FirstLayer {
  /// [D, C, height, width] float64: how much a channel of a patch's token changes when a pixel of
  /// the patch changes by one. Undefined where the embedding is not linear in the pixels.
  at::Tensor filters;
  at::Tensor tokens;     ///< [patches, D] float64, of an image of zeros: position and bias
  at::Tensor positions;  ///< [patches, 2] row and column
};
/// \param image  [1, C, H, W]: its shape, type and device alone are used
/// \throws ConfigError  the patches are on no grid that divides the image
[[nodiscard]] FirstLayer firstLayerOf(TokenEncoder& model, const at::Tensor& image);

}  // namespace vitrine::analyses
