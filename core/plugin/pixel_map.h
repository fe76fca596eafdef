// From the images of a pipeline to those of another black and white, and back.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "core/plugin/pipeline.h"

namespace vitrine {

/// (pixel / 255 - mean) / deviation of each channel.
struct VITRINE_ENGINE_EXPORT PixelScale {
  std::vector<double> mean, deviation;
  [[nodiscard]] bool isHalf() const;  ///< pixels go to [-1, 1]
};

/// What a list of transforms ends with; nothing where it does not normalise.
/// \param plan  one phase of a pipeline: [{"name": "normalize", "by": "half"}, ...]
[[nodiscard]] VITRINE_ENGINE_EXPORT std::optional<PixelScale> pixelScaleOf(const Json& plan,
                                                                           const DatasetInfo& data);

/// value -> factor value + offset of each channel, so that pixels that the pipeline normalised
/// become pixels between `low` (black) and `high` (white).
class VITRINE_ENGINE_EXPORT PixelMap {
 public:
  /// \throws ConfigError  the field `image` is missing, ragged, or not normalised by the pipeline
  PixelMap(const Pipeline& pipeline, double low, double high);
  /// [batch, channels, height, width] of the pipeline to [low, high]; the tensor itself where the
  /// pipeline has that range already.
  [[nodiscard]] at::Tensor forward(const at::Tensor& images) const;

 private:
  bool isIdentity_ = false;
  at::Tensor factor_, offset_;  // [channels, 1, 1] float32 on the CPU
};

}  // namespace vitrine
