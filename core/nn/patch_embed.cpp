#include "core/nn/patch_embed.h"

#include <ATen/ATen.h>

#include "core/base/error.h"

namespace vitrine::nn {

void refuseImages(const at::Tensor& images, const char* what, std::int64_t channels,
                  std::array<std::int64_t, 2> size) {
  throw ShapeError("images " + c10::str(images.sizes()) + " " + what + " " +
                   std::to_string(channels) + " channels, " + std::to_string(size[0]) + " x " +
                   std::to_string(size[1]) +
                   " pixels; images are [batch, channels, height, width]");
}

at::Tensor patchEmbed(const at::Tensor& images, const at::Tensor& weight, const at::Tensor& bias) {
  const std::int64_t channels = weight.size(1), patchHeight = weight.size(2),
                     patchWidth = weight.size(3);
  if (images.dim() != 4 || images.size(1) != channels || images.size(2) % patchHeight != 0 ||
      images.size(3) % patchWidth != 0) {
    refuseImages(images, "cannot be cut into patches of", channels, {patchHeight, patchWidth});
  }
  const std::int64_t rows = images.size(2) / patchHeight, columns = images.size(3) / patchWidth;
  // A map of tokens keeps its channels together: cut it so, and reorder the smaller kernels.
  if (channels > 1 && images.stride(1) == 1) {
    const at::Tensor patches =
        images.permute({0, 2, 3, 1})
            .reshape({images.size(0), rows, patchHeight, columns, patchWidth, channels})
            .transpose(2, 3)
            .reshape({images.size(0), rows * columns, patchHeight * patchWidth * channels});
    return at::linear(patches, weight.permute({0, 2, 3, 1}).flatten(1), bias);
  }
  const at::Tensor patches =
      images.reshape({images.size(0), channels, rows, patchHeight, columns, patchWidth})
          .permute({0, 2, 4, 1, 3, 5})
          .reshape({images.size(0), rows * columns, channels * patchHeight * patchWidth});
  return at::linear(patches, weight.flatten(1), bias);
}

}  // namespace vitrine::nn
