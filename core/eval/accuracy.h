// Accuracy: the share of samples whose class is among the first k, over all samples and class by
// class.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/engine_export.h"

namespace vitrine::eval {

/// Samples whose label is among the k largest logits. Equal logits rank by class index, so that
/// k = 1 is argmax (the first of equals). NaN ranks above all numbers, and a label whose logit is
/// NaN is never right.
/// \param logits  [samples, classes], any floating dtype
/// \param labels  [samples] int64
/// \throws ShapeError
[[nodiscard]] VITRINE_ENGINE_EXPORT std::int64_t topKCorrect(const at::Tensor& logits,
                                                             const at::Tensor& labels,
                                                             std::int64_t k);

/// Up to this many classes a confusion matrix is counted: 4 MB of float32, four times the squares a
/// figure can show.
inline constexpr std::int64_t kMostMatrixClasses = 1000;

/// Counts of the predictions for the samples of each class, batch by batch; prediction = argmax
/// (the first of equals).
class VITRINE_ENGINE_EXPORT ClassCounts {
 public:
  /// \pre classes > 0
  explicit ClassCounts(std::int64_t classes);

  /// \throws ShapeError  the logits are not of that many classes, or a label is none of them
  void add(const at::Tensor& logits, const at::Tensor& labels);

  [[nodiscard]] const std::vector<std::int64_t>& samples() const noexcept { return samples_; }
  /// Share of each class's samples that were predicted as it; NaN for a class without samples.
  [[nodiscard]] std::vector<double> accuracy() const;
  /// [classes, classes], row the label, column the prediction; empty above kMostMatrixClasses.
  [[nodiscard]] const std::vector<std::int64_t>& matrix() const noexcept { return matrix_; }

 private:
  std::vector<std::int64_t> samples_, correct_, matrix_;
};

}  // namespace vitrine::eval
