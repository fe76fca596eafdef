// Reliability of a classifier's confidence, measured on the evaluation that runs anyway.
#pragma once

#include "core/plugin/registry.h"

namespace vitrine::analyses {

/// Score: ece. Artifacts: "reliability", [bins, 5], with ece and the published diagram's gaps in its
/// meta; "predictions", one row per sample, to be binned again.
class Calibration final : public Analysis {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] Kind kind() const noexcept override { return Kind::Listener; }
  [[nodiscard]] std::vector<std::string> outputs() const override { return {"logits"}; }
  [[nodiscard]] std::unique_ptr<EvaluationListener> listen(
      const Config& config, const DatasetInfo& dataset) const override;
};

}  // namespace vitrine::analyses
