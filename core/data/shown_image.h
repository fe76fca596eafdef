// Pixels of a normalised image and what it shows, for people.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <string>
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
/// Puts the true class of an image and the most likely one of a classifier into its meta.
/// \param classes  names; numbers stand for those that are missing
/// \param logits   [classes]; undefined where nothing classifies
VITRINE_ENGINE_EXPORT void describeAnswer(Json& meta, std::int64_t label,
                                          const std::vector<std::string>& classes,
                                          const at::Tensor& logits);

}  // namespace vitrine
