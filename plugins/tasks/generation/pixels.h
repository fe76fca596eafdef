// Pixels as networks read them: [-1, 1] here, and what a judge was trained on.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "core/base/json.h"
#include "core/data/dataset.h"

namespace vitrine::generation {

/// (pixel / 255 - mean) / deviation of each channel.
struct Normalisation {
  std::vector<double> mean, deviation;
  [[nodiscard]] bool isHalf() const;  ///< pixels go to [-1, 1]
};

/// What a list of transforms ends with; nothing where it normalises not at all.
/// \param plan  one phase of a pipeline: [{"name": "normalize", "by": "half"}, ...]
[[nodiscard]] std::optional<Normalisation> normalisationOf(const Json& plan,
                                                           const DatasetInfo& data);

/// 8-bit values of images in [-1, 1], as DiT's sampler writes them: 127.5 x + 128, clamped and cut.
/// \returns  [B, C, H, W] bytes
[[nodiscard]] at::Tensor bytesOf(const at::Tensor& images);
/// bytes [B, C, H, W] as a network with that normalisation reads them, float32.
[[nodiscard]] at::Tensor normalised(const at::Tensor& bytes, const Normalisation& by);

}  // namespace vitrine::generation
