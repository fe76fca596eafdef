// DiT and SiT: what denoising transformers with other blocks are compared with.
#pragma once

#include "core/plugin/registry.h"

namespace vitrine::baselines {

/// Peebles & Xie 2022, "Scalable diffusion models with transformers", arXiv:2212.09748. Time is the
/// step of a diffusion of 1000; the head holds noise and variance.
class DitArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

/// Ma et al. 2024, "SiT: exploring flow and diffusion-based generative models with scalable
/// interpolant transformers", arXiv:2401.08740. Time runs from noise at 0 to data at 1; of the head
/// the first half is the prediction.
class SitArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
};

}  // namespace vitrine::baselines
