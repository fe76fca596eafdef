// Losses of classification that several tasks share, and the targets they are taken against.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "core/engine_export.h"

namespace vitrine::nn {

/// Targets of labels [batch] int64: [batch, classes] float32. With smoothing s the label's class
/// has 1 - s + s / classes and every other one s / classes.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor smoothedTargets(const at::Tensor& labels,
                                                               std::int64_t classes,
                                                               double smoothing);

/// lambda * targets + (1 - lambda) * targets of the batch in reverse order (mixup and cutmix of
/// timm). \param lambda  in [0, 1]
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor mixedTargets(const at::Tensor& targets,
                                                            double lambda);

/// 1 where a target is above `threshold`, else 0: every class of a mixed image counts in full. With
/// smoothed targets and threshold 0 that is every class.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor binaryTargets(const at::Tensor& targets,
                                                             double threshold = 0);

/// Mean over the batch of -sum_k target_k log softmax(logits)_k.
/// \param logits, targets  [batch, classes]
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor softCrossEntropy(const at::Tensor& logits,
                                                                const at::Tensor& targets);

enum class OverClasses { Mean, Sum };
/// Sigmoid cross-entropy of every class by itself, the mean over the batch; finite for every finite
/// logit. \param logits, targets  [batch, classes]
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor binaryCrossEntropy(const at::Tensor& logits,
                                                                  const at::Tensor& targets,
                                                                  OverClasses over);

/// Loss of a student that learns from a teacher (Touvron et al. 2021, arXiv:2012.12877, equations 2
/// and 3).
struct Distillation {
  double alpha = 0.5;  ///< share of the teacher's part
  /// None: the teacher's first class is the label. Otherwise temperature^2 KL(teacher || student),
  /// both softened by it, divided by batch times classes as the authors' code does.
  std::optional<double> temperature;
};
/// \param base     0-d: the loss against the labels
/// \param student  [batch, classes] logits of the distillation head
/// \param teacher  [batch, classes] logits, no gradient flows into them
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor distilled(const at::Tensor& base,
                                                         const at::Tensor& student,
                                                         const at::Tensor& teacher,
                                                         const Distillation& options);

/// Bias of a sigmoid head at which every class has probability `prior`: -ln((1 - prior) / prior).
[[nodiscard]] VITRINE_ENGINE_EXPORT double biasOfPrior(double prior);

}  // namespace vitrine::nn
