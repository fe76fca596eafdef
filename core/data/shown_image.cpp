#include "core/data/shown_image.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "core/files/png.h"

namespace vitrine {

at::Tensor stretchedBytes(const at::Tensor& image) {
  const double low = image.min().item<double>(), high = image.max().item<double>();
  return ((image - low) * (255 / std::max(high - low, 1e-12)))
      .round()
      .clamp(0, 255)
      .to(at::kByte)
      .permute({1, 2, 0})
      .contiguous();
}

ShownImage shownImage(const at::Tensor& image) {
  ShownImage shown;
  shown.channels = image.size(0) == 3 ? 3 : 1;
  const at::Tensor bytes = stretchedBytes(image.narrow(0, 0, shown.channels));
  shown.height = bytes.size(0);
  shown.width = bytes.size(1);
  shown.png =
      encodePng({bytes.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(bytes.numel())},
                static_cast<int>(shown.height), static_cast<int>(shown.width),
                static_cast<int>(shown.channels));
  return shown;
}

Artifact imageArtifact(const at::Tensor& image) {
  ShownImage shown = shownImage(image);
  Artifact artifact;
  artifact.kind = artifact_kind::kImage;
  artifact.data = std::move(shown.png);
  artifact.meta["version"] = 1;
  artifact.meta["dtype"] = "png";
  artifact.meta["shape"] = {shown.height, shown.width, shown.channels};
  artifact.meta["axes"] = {"row", "column", "channel"};
  artifact.meta["scaling"] = ShownImage::kScaling;
  return artifact;
}

}  // namespace vitrine
