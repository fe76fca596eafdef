// The plain VisionLLaMA: a ViT whose blocks are those of LLaMA without a mask, with 2-D rotary
// positions (sections 3.1 and 3.3).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/plugin/registry.h"
#include "core/plugin/trained_values.h"

namespace vitrine::visionllama {

/// Schema, presets and construction. Weights have the authors' names and are initialised as their
/// code does.
class PlainArchitecture final : public Architecture, public KeepsTrainedValues {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
  [[nodiscard]] Json trainedValues(const Config& trained) const override;
};

}  // namespace vitrine::visionllama
