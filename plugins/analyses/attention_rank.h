// Ranks of a layer's attention (core/eval/matrix_rank.h).
#pragma once

#include <functional>

#include "core/plugin/registry.h"

namespace vitrine::analyses {

class AttentionRank final : public Analysis {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] Kind kind() const noexcept override { return Kind::Probe; }
  [[nodiscard]] ProbeSamples probeSamples(const Config& config) const override;
  /// Scores and artifacts of eval::rankFindings().
  [[nodiscard]] std::function<Findings()> probe(const Config& config,
                                                ProbeContext& context) const override;
};

}  // namespace vitrine::analyses
