// A language model, and the same with modules of its own for images in every layer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/plugin/registry.h"

namespace vitrine::llamafusion {

/// A plain Llama: the language model that LlamaFusion begins from.
///
/// Grouped-query attention, RMSNorm, SwiGLU, rotary positions, key-value cache. Public weights load
/// under transformers' names, also in shards, and under the first authors'.
class LlamaArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

/// LlamaFusion: Shi et al. 2024, arXiv:2412.15188.
///
/// Begins from a Llama's weights: image modules that a file lacks are copies of the text's.
class LlamaFusionArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

}  // namespace vitrine::llamafusion
