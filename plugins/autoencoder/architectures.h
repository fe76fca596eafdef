// The autoencoders in whose latents other models are trained.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/plugin/registry.h"

namespace vitrine::autoencoder {

/// The variational autoencoder of latent diffusion: Rombach et al. 2022, "High-Resolution Image
/// Synthesis with Latent Diffusion Models", arXiv:2112.10752, in Stable Diffusion's layout.
///
/// Images in [-1, 1] to a normal distribution over latents, and latents to images. Offers
/// `latent_codec`, `measured_scale` and `tensor_program`. Weights under the names of diffusers'
/// AutoencoderKL, recent and older, and under those of CompVis load as they are.
class KlArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  /// \throws ConfigError  groups do not divide a width, or the sides of an image are not multiples
  ///                      of the factor
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

/// The small autoencoder of madebyollin/taesd: convolutions and ReLU, a point in place of a
/// distribution.
///
/// Images in [0, 1] to latents that are scaled already, and back. Weights load under the names of
/// taesd.py and of diffusers' AutoencoderTiny. The latter reads and makes images in [-1, 1], and so
/// does a model whose weights have its names. Offers `latent_codec`, `measured_scale` and
/// `tensor_program`.
class TaesdArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  /// \throws ConfigError  the sides of an image are not multiples of the factor
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

}  // namespace vitrine::autoencoder
