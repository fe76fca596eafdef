// Positions of queries and keys of each attention layer on the grid of patches, as a drawing.
#pragma once

#include "core/plugin/registry.h"

namespace vitrine::analyses {

/// One image for each layout of tokens: "layers 0, 2", or with ", window 4" behind it. Cells are
/// patches, a grey disc is a query, a coloured one a key; both stand at the positions that the
/// layer computes with, which `query_positions` and `key_positions` of the meta hold as numbers:
/// rows and columns in patches, cells begin at whole numbers less one half. Of layers with windows
/// the one in the middle is drawn.
class TokenPositions final : public Analysis {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] Kind kind() const noexcept override { return Kind::Probe; }
  [[nodiscard]] ProbeSamples probeSamples(const Config& config) const override;
  [[nodiscard]] std::function<Findings()> probe(const Config& config,
                                                ProbeContext& context) const override;
};

}  // namespace vitrine::analyses
