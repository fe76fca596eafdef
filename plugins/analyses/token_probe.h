// Probes the tokens of a trained model: a linear probe of every row of tokens. A scan in one
// direction has not seen the rest of the image in its first rows; Vision-LSTM scans in both (Alkin
// et al. 2024, arXiv:2406.04303, Table 4a).
#pragma once

#include "core/plugin/registry.h"

namespace vitrine::analyses {

/// Ridge regression in closed form, one for each row of patches: from what a token is after the
/// last block to the class of its image, fitted to training samples. Class tokens are left out.
///
/// Artifacts: "accuracy by token", a map of the patches, and "accuracy by row", a curve, on samples
/// of the last split that evaluations visit. Scores: top1 over all tokens, top1/ROW (from 0, the
/// uppermost), and rise, by how much the last row is above the first.
class TokenProbe final : public Analysis {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] Kind kind() const noexcept override { return Kind::Probe; }
  [[nodiscard]] ProbeSamples probeSamples(const Config& config) const override;
  /// \throws ConfigError  the data has no classes, or no token of the model is a patch
  [[nodiscard]] std::function<Findings()> probe(const Config& config,
                                                ProbeContext& context) const override;
};

}  // namespace vitrine::analyses
