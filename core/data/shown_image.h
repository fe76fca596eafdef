// Pixels of a normalised image, for people.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/engine_export.h"

namespace vitrine {

struct ShownImage {
  /// The value of `scaling` that results say about such pixels.
  static constexpr const char* kScaling = "smallest value black, largest white";
  std::vector<std::byte> png;
  std::int64_t height = 0, width = 0, channels = 0;
};

/// The image stretched from its smallest to its largest value, as its normalisation is not known
/// here. \param image [channels, height, width]; of other than 3 channels the first is shown
[[nodiscard]] VITRINE_ENGINE_EXPORT ShownImage shownImage(const at::Tensor& image);
/// The same as an artifact of kind image, without analysis and name.
[[nodiscard]] VITRINE_ENGINE_EXPORT Artifact imageArtifact(const at::Tensor& image);
/// The same as bytes [height, width, channels]. \param image  of the channels that are shown
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor stretchedBytes(const at::Tensor& image);

}  // namespace vitrine
