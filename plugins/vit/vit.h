// The Vision Transformer: Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words",
// arXiv:2010.11929.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/plugin/registry.h"

namespace vitrine::vit {

/// Schema, presets and construction. Initialised as the authors' code does; weights of timm and
/// Hugging Face load as they are.
class VitArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

}  // namespace vitrine::vit
