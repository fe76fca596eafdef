// The two optimizer rules that scale each parameter's update by its own norm: LAMB and LARS.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/train/optimizer.h"

namespace vitrine {

/// One parameter and what a step of it needs; all on one device.
struct TrustRatioStep {
  at::Tensor parameter, gradient;  ///< the gradient is already divided (clipping)
  at::Tensor learningRate;         ///< 0-d float32
  at::Tensor skip;                 ///< 0-d float32: 1 leaves parameter and moments as they are
  double weightDecay = 0;
};

/// LAMB (You et al. 2020, arXiv:1904.00962, algorithm 2, as in timm): with u the Adam direction
/// plus decay * p,
///
///     p -= learning rate * |p| / |u| * u        ratio 1 where either norm is 0
///
/// \param first, second  moments, of the parameter's shape
/// \param updates        0-d float32: updates including this one
void lambStep(const TrustRatioStep& step, const OptimizerOptions& options, at::Tensor& first,
              at::Tensor& second, const at::Tensor& updates);

/// LARS (You et al. 2017, arXiv:1708.03888, as in MAE's linear probe): with d = g + decay * p,
///
///     m = momentum * m + trust * |p| / |d| * d,   p -= learning rate * m
///
/// A one-dimensional parameter gets neither decay nor ratio.
void larsStep(const TrustRatioStep& step, const OptimizerOptions& options, at::Tensor& buffer);

}  // namespace vitrine
