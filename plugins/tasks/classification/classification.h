// Image classification: one label per image, cross-entropy.
#pragma once

#include <memory>

#include "core/plugin/registry.h"

namespace vitrine::classification {

/// Scores of a split: top1, top5, loss (mean cross-entropy without smoothing), ece (15 bins), and
/// up to 100 classes class_accuracy/<name>. Artifacts: a table of the classes and, up to 1,000 of
/// them, the confusion matrix. `train_samples` and `test_samples` take a subset of a split
/// (core/data/subset.h), that of the training split drawn by the run's seed.
class ClassificationTask final : public Task {
 public:
  [[nodiscard]] ItemCard card() const override;
  /// \throws ConfigError  the data has no labels to learn or normalising does not fit
  [[nodiscard]] std::unique_ptr<TaskSession> open(const TaskSetup& setup) const override;
};

}  // namespace vitrine::classification
