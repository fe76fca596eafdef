#include "core/nn/losses.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full.h>
#include <ATen/ops/kl_div.h>
#include <ATen/ops/log_softmax.h>

#include <cmath>

#include "core/base/error.h"

namespace vitrine::nn {

namespace {

void requireSameShape(const at::Tensor& logits, const at::Tensor& targets) {
  if (logits.sizes() != targets.sizes()) {
    throw ShapeError("logits " + c10::str(logits.sizes()) + " and targets " +
                     c10::str(targets.sizes()) +
                     " have different shapes; both are [batch, classes]");
  }
}

}  // namespace

at::Tensor smoothedTargets(const at::Tensor& labels, std::int64_t classes, double smoothing) {
  const double off = smoothing / static_cast<double>(classes);
  return at::full({labels.size(0), classes}, off, labels.options().dtype(at::kFloat))
      .scatter_(1, labels.unsqueeze(1), 1 - smoothing + off);
}

at::Tensor mixedTargets(const at::Tensor& targets, double lambda) {
  return targets.mul(lambda).add_(targets.flip(0), 1 - lambda);
}

at::Tensor binaryTargets(const at::Tensor& targets, double threshold) {
  return targets.gt(threshold).to(targets.scalar_type());
}

at::Tensor softCrossEntropy(const at::Tensor& logits, const at::Tensor& targets) {
  requireSameShape(logits, targets);
  return at::cross_entropy_loss(logits, targets.to(logits.scalar_type()));
}

at::Tensor binaryCrossEntropy(const at::Tensor& logits, const at::Tensor& targets,
                              OverClasses over) {
  requireSameShape(logits, targets);
  const at::Tensor mean =
      at::binary_cross_entropy_with_logits(logits, targets.to(logits.scalar_type()));
  return over == OverClasses::Mean ? mean : mean.mul(logits.size(1));
}

at::Tensor distilled(const at::Tensor& base, const at::Tensor& student, const at::Tensor& teacher,
                     const Distillation& options) {
  requireSameShape(student, teacher);
  at::Tensor part;
  if (options.temperature) {
    const double temperature = *options.temperature;
    part = at::kl_div(at::log_softmax(student.div(temperature), 1),
                      at::log_softmax(teacher.detach().div(temperature), 1), at::Reduction::Mean,
                      /*log_target=*/true)
               .mul(temperature * temperature);
  } else {
    part = at::cross_entropy_loss(student, teacher.argmax(1));
  }
  return base.mul(1 - options.alpha).add(part, options.alpha);
}

double biasOfPrior(double prior) { return -std::log((1 - prior) / prior); }

}  // namespace vitrine::nn
