// The architectures of VisionLLaMA: plain, in a pyramid, and the backbone of detection.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/plugin/registry.h"
#include "core/plugin/trained_values.h"
#include "plugins/visionllama/rope_settings.h"

namespace vitrine::visionllama {

/// An architecture whose positions are scaled to the grid of its training.
class AnchoredArchitecture : public Architecture, public KeepsTrainedValues {
 public:
  [[nodiscard]] Json trainedValues(const Config& trained) const final {
    return trainedAnchor(trained);
  }
};

/// A ViT whose blocks are those of LLaMA without a mask, with 2-D rotary positions (sections 3.1
/// and 3.3). Weights have the authors' names and are initialised as their code does.
class PlainArchitecture final : public AnchoredArchitecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

/// The pyramid as a classifier.
class PyramidArchitecture final : public AnchoredArchitecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

/// The pyramid as a backbone of dense tasks: without classifier, with a norm behind every stage.
class DensePyramidArchitecture final : public AnchoredArchitecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
};

/// The plain backbone of detection (section 4.4.2, after ViTDet): windows in most blocks, all
/// tokens in the others. Names are those of the MAE code, whose weights it takes.
class VitDetArchitecture final : public AnchoredArchitecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

}  // namespace vitrine::visionllama
