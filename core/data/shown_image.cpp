#include "core/data/shown_image.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>
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
  ShownImage shown{.channels = image.size(0) == 3 ? 3 : 1};
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
  Artifact artifact{.kind = artifact_kind::kImage, .data = std::move(shown.png)};
  artifact.meta["version"] = 1;
  artifact.meta["dtype"] = "png";
  artifact.meta["shape"] = {shown.height, shown.width, shown.channels};
  artifact.meta["axes"] = {"row", "column", "channel"};
  artifact.meta["scaling"] = ShownImage::kScaling;
  return artifact;
}

void describeAnswer(Json& meta, std::int64_t label, const std::vector<std::string>& classes,
                    const at::Tensor& logits) {
  const auto nameOf = [&](std::int64_t number) {
    const bool isNamed = number >= 0 && number < std::ssize(classes);
    return isNamed ? classes[static_cast<std::size_t>(number)] : std::to_string(number);
  };
  meta["label"] = label;
  meta["label_name"] = nameOf(label);
  if (!logits.defined()) return;
  const auto [confidence, predicted] = logits.softmax(0).max(0);
  meta["predicted"] = predicted.item<std::int64_t>();
  meta["predicted_name"] = nameOf(predicted.item<std::int64_t>());
  meta["confidence"] = confidence.item<float>();
}

}  // namespace vitrine
