#include "tests/support/golden/losses.h"

#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full.h>

namespace vitrine::testing {

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
  return at::cross_entropy_loss(logits, targets.to(logits.scalar_type()));
}

at::Tensor binaryCrossEntropy(const at::Tensor& logits, const at::Tensor& targets,
                              OverClasses over) {
  const at::Tensor mean =
      at::binary_cross_entropy_with_logits(logits, targets.to(logits.scalar_type()));
  return over == OverClasses::Mean ? mean : mean.mul(logits.size(1));
}

}  // namespace vitrine::testing
