// DiT-LLaMA and SiT-LLaMA: Chu et al. 2024, "VisionLLaMA: a unified LLaMA backbone for vision
// tasks", arXiv:2403.00522, section 3.4. The denoising transformers of the `baselines` plugin with
// SwiGLU and two-dimensional rotary positions, and without the added table.
#pragma once

#include "core/plugin/registry.h"

namespace vitrine::visionllama_diffusion {

class DitLlamaArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

class SitLlamaArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
};

}  // namespace vitrine::visionllama_diffusion
