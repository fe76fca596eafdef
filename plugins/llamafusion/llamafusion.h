// LlamaFusion: a language model with modules of its own for images in every layer. Shi et al. 2024,
// arXiv:2412.15188.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/plugin/registry.h"

namespace vitrine::llamafusion {

/// Begins from a Llama's weights: image modules that a file lacks are copies of the text's.
class LlamaFusionArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

}  // namespace vitrine::llamafusion
