// The plain backbone of detection (section 4.4.2, after ViTDet): windows in most blocks, all tokens
// in the others. Names are those of the MAE code, whose weights it takes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/plugin/registry.h"
#include "core/plugin/trained_values.h"

namespace vitrine::visionllama {

class VitDetArchitecture final : public Architecture, public KeepsTrainedValues {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
  [[nodiscard]] Json trainedValues(const Config& trained) const override;
};

}  // namespace vitrine::visionllama
