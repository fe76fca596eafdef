// Reconstructions of a codec: scores, pictures, and the analysis that shows them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/model/capabilities.h"
#include "core/plugin/pixel_map.h"
#include "core/plugin/registry.h"

namespace vitrine::autoencoder_task {

/// Inputs and outputs of a codec, both in [0, 1]: [batch, channels, height, width] float32.
struct Reconstructed {
  at::Tensor input, output;
  at::Tensor divergence;  ///< [batch] float32, nats; undefined of a codec of points
};

/// Encodes to the mean and decodes; outputs are clamped.
/// \param images  in the range of the codec
[[nodiscard]] Reconstructed reconstruct(LatentCodec& codec, const at::Tensor& images);

/// KL of each sample's latent from the standard normal distribution, summed over its elements:
/// [batch], nats, differentiable. \pre the latent has a variance
[[nodiscard]] at::Tensor divergenceOf(const LatentCodec::Latent& latent);

/// -10 log10 of the mean squared error of each image in [0, 1]: [batch] float64, dB; infinite where
/// nothing differs.
[[nodiscard]] at::Tensor psnrOf(const at::Tensor& input, const at::Tensor& output);

/// Tiles of input, output and their absolute difference side by side, one for each image. Of a
/// number of channels other than 1 and 3, the first is shown.
[[nodiscard]] Artifact pairsOf(const Reconstructed& images, const std::vector<std::int64_t>& ids);

/// \throws ConfigError  the pipeline's images have other channels or sides than the codec takes
void requireFitting(const LatentCodec& codec, const Pipeline& pipeline);

/// A session of this task: it knows how its batches are normalised.
class CodecSession {
 public:
  virtual ~CodecSession() = default;
  /// The field `image` in the range of the codec.
  [[nodiscard]] virtual at::Tensor codecImages(const Batch& batch) const = 0;
};

/// Analysis `reconstruction`: chosen images next to what the codec makes of them, and the PSNR and
/// L1 of each in a table. Of runs of the task `autoencoder`.
class Reconstruction final : public Analysis {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] Kind kind() const noexcept override { return Kind::Probe; }
  [[nodiscard]] ProbeSamples probeSamples(const Config& config) const override;
  [[nodiscard]] std::function<Findings()> probe(const Config& config,
                                                ProbeContext& context) const override;
};

}  // namespace vitrine::autoencoder_task
