#include "core/train/trust_ratio.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>

namespace vitrine {

namespace {

/// |parameter| / |update| without waiting for a device; 1 where either is 0.
at::Tensor trustRatio(const at::Tensor& parameter, const at::Tensor& update, double factor) {
  const at::Tensor weight = at::linalg_vector_norm(parameter),
                   length = at::linalg_vector_norm(update);
  const at::Tensor ratio = weight.div(length).mul_(factor);
  return at::where(weight.gt(0).logical_and(length.gt(0)), ratio, at::ones_like(ratio));
}

/// What is not finite must not reach a moment through a product with 0.
at::Tensor unlessSkipped(const at::Tensor& skip, const at::Tensor& value) {
  return at::where(skip.gt(0), at::scalar_tensor(0, value.options()), value);
}

}  // namespace

void lambStep(const TrustRatioStep& step, const OptimizerOptions& options, at::Tensor& first,
              at::Tensor& second, const at::Tensor& updates) {
  const at::NoGradGuard noGrad;
  const at::Tensor keep = step.skip.neg().add_(1);
  const at::Tensor gradient = unlessSkipped(step.skip, step.gradient);
  first.add_(gradient.sub(first).mul_(keep).mul_(1 - options.beta1));
  second.add_(gradient.mul(gradient).sub_(second).mul_(keep).mul_(1 - options.beta2));
  at::Tensor direction = first, root = second.sqrt();
  if (options.correctsBias) {
    // 1 - beta^t, in float64: the float32 power of a late step would round.
    // A run whose first steps are skipped has no update yet.
    const at::Tensor count = updates.to(at::kDouble).clamp_min(1);
    const at::Tensor one = at::pow(options.beta1, count).neg_().add_(1).to(at::kFloat);
    const at::Tensor two = at::pow(options.beta2, count).neg_().add_(1).sqrt_().to(at::kFloat);
    direction = first.div(one);
    root.div_(two);
  }
  at::Tensor update = direction.div(root.add_(options.eps));
  const at::Tensor rate = step.learningRate.mul(keep);
  if (step.weightDecay != 0) {
    if (options.decouplesDecay) {
      step.parameter.mul_(rate.mul(-step.weightDecay).add_(1));
    } else {
      update.add_(step.parameter, step.weightDecay);
    }
  }
  if (step.weightDecay != 0 || options.alwaysAdapts) {
    at::Tensor ratio = trustRatio(step.parameter, update, 1);
    if (options.clipsRatio) ratio.clamp_max_(1);
    update.mul_(ratio);
  }
  step.parameter.sub_(update.mul_(rate));
}

void larsStep(const TrustRatioStep& step, const OptimizerOptions& options, at::Tensor& buffer) {
  const at::NoGradGuard noGrad;
  const at::Tensor keep = step.skip.neg().add_(1);
  at::Tensor update = unlessSkipped(step.skip, step.gradient);
  if (step.parameter.dim() > 1) {
    update = update.add(step.parameter, step.weightDecay);
    update = update.mul(trustRatio(step.parameter, update, options.trustCoefficient));
  }
  // momentum * m + u, or m as it is
  buffer.add_(update.add(buffer, options.momentum - 1).mul_(keep));
  step.parameter.sub_(buffer.mul(step.learningRate).mul_(keep));
}

}  // namespace vitrine
