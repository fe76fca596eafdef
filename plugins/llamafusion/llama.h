// A plain Llama: the language model that LlamaFusion begins from.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/plugin/registry.h"

namespace vitrine::llamafusion {

/// Grouped-query attention, RMSNorm, SwiGLU, rotary positions, key-value cache. Public weights load
/// under transformers' names, also in shards, and under the first authors'.
class LlamaArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

}  // namespace vitrine::llamafusion
