#include "core/nn/attention_mask.h"

#include <ATen/ATen.h>

namespace vitrine::nn {

at::Tensor maskFactor(MaskKind kind, std::int64_t tokens, const at::Tensor& alpha) {
  const at::Tensor ones = at::ones({tokens, tokens}, alpha.options());
  if (kind == MaskKind::Bidirectional) return ones;
  const at::Tensor lower = ones.tril();
  if (kind == MaskKind::ModifiedCausal) {
    lower.select(0, 0).fill_(1);
    return lower;
  }
  // max(alpha, lower) and not alpha + (1 - alpha) * lower: at alpha 1 every entry is 1 to the last
  // bit.
  return kind == MaskKind::Soft ? at::maximum(lower, alpha) : lower;
}

}  // namespace vitrine::nn
