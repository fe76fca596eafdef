// The small autoencoder of madebyollin/taesd: convolutions and ReLU, a point in place of a
// distribution.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/plugin/registry.h"

namespace vitrine::autoencoder {

/// Images in [0, 1] to latents that are scaled already, and back. Weights under the names of
/// taesd.py load as they are, and under those of diffusers' AutoencoderTiny, which reads and makes
/// images in [-1, 1]: a model whose weights have these names does so, too. Offers `latent_codec`,
/// `measured_scale` and `tensor_program`.
class TaesdArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  /// \throws ConfigError  the sides of an image are not multiples of the factor
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

}  // namespace vitrine::autoencoder
