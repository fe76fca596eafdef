// The shape bias of a classifier, on images whose two cues are of different classes (Geirhos et al.
// 2019, arXiv:1811.12231).
#pragma once

#include "core/plugin/registry.h"

namespace vitrine::analyses {

/// Listens to evaluations of data with the label fields `shape` and `texture`. Score: shape_bias,
/// the share of shape among the decisions for either cue. Artifact "decisions" of kind
/// `cue_decisions`.
class ShapeBias final : public Analysis {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] Kind kind() const noexcept override { return Kind::Listener; }
  [[nodiscard]] std::vector<std::string> outputs() const override { return {"logits"}; }
  /// \throws ConfigError  the data have no such fields
  [[nodiscard]] std::unique_ptr<EvaluationListener> listen(
      const Config& config, const DatasetInfo& dataset) const override;
};

}  // namespace vitrine::analyses
