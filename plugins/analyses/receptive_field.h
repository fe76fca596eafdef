// The influence of each part of an image on the patch in the middle, from gradients with respect to
// the input. It is the effective receptive field of Luo et al. 2016 (arXiv:1701.04128).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/model/capabilities.h"

namespace vitrine::analyses {

struct ReceptiveField {
  /// One for each block, in order: [rows, columns] float64, sums to 1. The absolute gradient of the
  /// sum of the central token after the block. It is averaged over images and summed over the
  /// pixels of each cell and their channels.
  std::vector<at::Tensor> maps;
  std::int64_t row = 0, column = 0;  ///< of the cell in the middle of the central patch
};
/// The residual stream is looked at, before the last norm: a norm without gain has a constant sum.
/// \param images    [B, C, H, W], as the model reads them
/// \param mostCells of a map: pixels are put together into cells where there are more
/// \throws ConfigError  no token is a patch, or no gradient reaches the image
[[nodiscard]] ReceptiveField receptiveFieldOf(TokenEncoder& model, const at::Tensor& images,
                                              std::int64_t mostCells);

/// The smallest share of the cells that holds `mass` of a map.
[[nodiscard]] double areaOf(const at::Tensor& map, double mass);

}  // namespace vitrine::analyses
