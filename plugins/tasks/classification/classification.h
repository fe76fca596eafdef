// Image classification: one label per image, cross-entropy.
#pragma once

#include <memory>

#include "core/plugin/registry.h"

namespace vitrine::classification {

/// Scores of a split: top1, top5, loss (mean cross-entropy without smoothing), ece (15 bins), and
/// up to 100 classes class_accuracy/<name>. Artifacts: the confusion matrix and a table of the
/// classes.
class ClassificationTask final : public Task {
 public:
  [[nodiscard]] ItemCard card() const override;
  /// \throws ConfigError  the data has no labels to learn or normalising does not fit
  [[nodiscard]] std::unique_ptr<TaskSession> open(const Config& task, const Config& data,
                                                  std::shared_ptr<const Dataset> dataset,
                                                  const TaskContext& context) const override;
};

}  // namespace vitrine::classification
