// The loss of a classifier that learns from another one.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "core/engine_export.h"

namespace vitrine::nn {

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
/// \throws ShapeError  student and teacher differ in shape
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor distilled(const at::Tensor& base,
                                                         const at::Tensor& student,
                                                         const at::Tensor& teacher,
                                                         const Distillation& options);

}  // namespace vitrine::nn
