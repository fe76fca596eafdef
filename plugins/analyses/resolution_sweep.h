// Scores of a trained model on images of other sizes, without training it again.
#pragma once

#include "core/plugin/registry.h"

namespace vitrine::analyses {

/// Opens the run again for every size with the weights of now, as `evaluate` does with another
/// model.image_size, and takes the task's scores.
///
/// Artifacts: "SCORE by image size", a curve over pixels, and "scores by image size", a table of
/// every plain score. Both say how samples and weights were brought to the sizes. Scores:
/// SCORE/PIXELS, and fall/PIXELS, by how much it is below that of the size of training.
class ResolutionSweep final : public Analysis {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] Kind kind() const noexcept override { return Kind::Probe; }
  [[nodiscard]] ProbeSamples probeSamples(const Config& config) const override;
  [[nodiscard]] std::function<Findings()> probe(const Config& config,
                                                ProbeContext& context) const override;
};

}  // namespace vitrine::analyses
