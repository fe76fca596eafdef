// Losses of classification that reference cases have and no task of Vitrine uses, and the targets
// that they are taken against.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace vitrine::testing {

/// Targets of labels [batch] int64: [batch, classes] float32. With smoothing s the label's class
/// has 1 - s + s / classes and every other one s / classes.
[[nodiscard]] at::Tensor smoothedTargets(const at::Tensor& labels, std::int64_t classes,
                                         double smoothing);

/// lambda * targets + (1 - lambda) * targets of the batch in reverse order (mixup and cutmix of
/// timm). \param lambda  in [0, 1]
[[nodiscard]] at::Tensor mixedTargets(const at::Tensor& targets, double lambda);

/// 1 where a target is above `threshold`, else 0: every class of a mixed image counts in full. With
/// smoothed targets and threshold 0 that is every class.
[[nodiscard]] at::Tensor binaryTargets(const at::Tensor& targets, double threshold = 0);

/// Mean over the batch of -sum_k target_k log softmax(logits)_k.
/// \param logits, targets  [batch, classes]
[[nodiscard]] at::Tensor softCrossEntropy(const at::Tensor& logits, const at::Tensor& targets);

enum class OverClasses { Mean, Sum };
/// Sigmoid cross-entropy of every class by itself, the mean over the batch; finite for every finite
/// logit. \param logits, targets  [batch, classes]
[[nodiscard]] at::Tensor binaryCrossEntropy(const at::Tensor& logits, const at::Tensor& targets,
                                            OverClasses over);

}  // namespace vitrine::testing
