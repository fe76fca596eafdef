// Training a codec: images to latents and back.
#pragma once

#include <memory>

#include "core/plugin/registry.h"

namespace vitrine::autoencoder_task {

/// Loss: |decode(z) - x| or its square, the mean over pixel values, plus `kl_weight` times a
/// divergence. The divergence is that of the latents from the standard normal distribution in nats,
/// over as many pixel values. It is Stable Diffusion's objective (Rombach et al. 2022, appendix G)
/// without discriminator and perceptual part, divided by the pixel values of an image. z is drawn
/// with noise of the step's generator. A codec whose scale is measured sees every z of the
/// training.
///
/// Scores of a split, of the mean of the latents: psnr (dB), l1 (of [0, 1]), loss, kl,
/// latent_scale. kl is in nats an image, where the codec has variances. Artifact: a grid of inputs
/// next to outputs.
class AutoencoderTask final : public Task {
 public:
  [[nodiscard]] ItemCard card() const override;
  /// \pre setup.pipeline is set
  /// \throws ConfigError  the model is not a codec, or the images do not fit it
  [[nodiscard]] std::unique_ptr<TaskSession> open(const TaskSetup& setup) const override;
};

}  // namespace vitrine::autoencoder_task
