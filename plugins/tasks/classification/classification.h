// Image classification: one label per image, cross-entropy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/plugin/registry.h"

namespace vitrine::classification {

/// Scores of a split: top1, top5, loss (mean cross-entropy without smoothing), ece (15 bins), and
/// up to 100 classes class_accuracy/<name>. Artifacts: a table of the classes and, up to 1,000 of
/// them, the confusion matrix. Batches with a field `soft_label` are learned from that.
class ClassificationTask final : public Task {
 public:
  [[nodiscard]] ItemCard card() const override;
  /// \pre setup.pipeline is set
  /// \throws ConfigError  the data has no labels to learn, or images are not floats of one size
  [[nodiscard]] std::unique_ptr<TaskSession> open(const TaskSetup& setup) const override;
  [[nodiscard]] std::vector<std::string> scores() const override;
};

}  // namespace vitrine::classification
