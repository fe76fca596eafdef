// The pyramid VisionLLaMA as a classifier and as a backbone of dense tasks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/plugin/registry.h"
#include "core/plugin/trained_values.h"

namespace vitrine::visionllama {

class PyramidArchitecture final : public Architecture, public KeepsTrainedValues {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
  [[nodiscard]] Json trainedValues(const Config& trained) const override;
};

/// Without classifier, with a norm behind every stage.
class DensePyramidArchitecture final : public Architecture, public KeepsTrainedValues {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] Json trainedValues(const Config& trained) const override;
};

}  // namespace vitrine::visionllama
