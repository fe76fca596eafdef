// Answers of a classifier, sample by sample: what a reader makes any bins and temperatures of.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/artifact/artifact.h"

namespace vitrine::analyses {

/// Rows of an evaluation, as logits of all classes while they take at most `largestBytes`. Else the
/// rows hold the top classes, with sums over all classes at a grid of temperatures.
class PredictionRows {
 public:
  static constexpr std::int64_t kTopClasses = 8;

  explicit PredictionRows(std::int64_t largestBytes) : largestBytes_(largestBytes) {}

  /// \param ids     of the samples; empty: not known, stored as -1
  /// \param logits  [samples, classes], any floating dtype and device
  /// \param labels  [samples] int64
  void append(const std::vector<std::int64_t>& ids, const at::Tensor& logits,
              const at::Tensor& labels);
  /// Neither form fits into `largestBytes`, or nothing was appended.
  [[nodiscard]] bool isLeftOut() const;
  /// "predictions", of kind `predictions`: see resources/docs/database.md.
  [[nodiscard]] Artifact artifact(const std::vector<std::string>& classes) const;

 private:
  enum class Form { Logits, Top };
  [[nodiscard]] std::int64_t bytes() const;

  std::int64_t largestBytes_;
  Form form_ = Form::Logits;
  bool isTooLarge_ = false;
  std::int64_t classes_ = 0, width_ = 0;
  std::vector<std::int64_t> ids_, labels_;
  std::vector<float> values_;  ///< [samples, width_]
};

}  // namespace vitrine::analyses
