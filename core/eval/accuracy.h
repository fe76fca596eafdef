// How often the right class is among the first k, over all samples and class by class.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/engine_export.h"

namespace vitrine::eval {

/// Samples whose label is among the k largest logits. Equal logits rank by class index, so that k = 1 is argmax (the
/// first of equals). NaN ranks above all numbers, and a label whose logit is NaN is never right.
/// \param logits  [samples, classes], any floating dtype
/// \param labels  [samples] int64
/// \throws ShapeError
[[nodiscard]] VITRINE_ENGINE_EXPORT std::int64_t topKCorrect(const at::Tensor& logits,
                                                             const at::Tensor& labels, std::int64_t k);

/// Adds a batch to counts of (label, prediction), prediction = argmax (the first of equals).
/// \param counts  [classes, classes] int64: row the label, column the prediction
/// \throws ShapeError
VITRINE_ENGINE_EXPORT void addToConfusion(at::Tensor& counts, const at::Tensor& logits,
                                          const at::Tensor& labels);

/// Share of each class's samples that were predicted as it; NaN for a class without samples.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<double> classAccuracy(const at::Tensor& counts);

}  // namespace vitrine::eval
