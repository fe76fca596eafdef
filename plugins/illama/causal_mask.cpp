#include "plugins/illama/causal_mask.h"

#include <ATen/ATen.h>

namespace vitrine::illama {

at::Tensor maskFactor(MaskKind kind, std::int64_t tokens, const at::Tensor& alpha) {
  const at::Tensor lower = at::ones({tokens, tokens}, alpha.options()).tril();
  if (kind == MaskKind::ModifiedCausal) {
    lower.select(0, 0).fill_(1);
    return lower;
  }
  // max(alpha, lower) and not alpha + (1 - alpha) * lower: at alpha 1 every entry is 1 to the last
  // bit.
  return kind == MaskKind::Soft ? at::maximum(lower, alpha) : lower;
}

at::Tensor CausalMask::factor(std::int64_t tokens, at::Device device) {
  if (!alphaOnDevice_.defined() || alphaOnDevice_.device() != device)
    alphaOnDevice_ = at::full({}, alpha_, at::TensorOptions(at::kFloat).device(device));
  if (isSoft()) return maskFactor(kind_, tokens, alphaOnDevice_);
  if (!constant_.defined() || constant_.size(0) != tokens || constant_.device() != device)
    constant_ = maskFactor(kind_, tokens, alphaOnDevice_);
  return constant_;
}

std::string CausalMask::name() const {
  switch (kind_) {
    case MaskKind::Causal:
      break;
    case MaskKind::ModifiedCausal:
      return "modified causal";
    case MaskKind::Soft:
      return "soft";
  }
  return "causal";
}

void CausalMask::setAlpha(double alpha) {
  alpha_ = alpha;
  if (alphaOnDevice_.defined()) alphaOnDevice_.fill_(alpha);
}

}  // namespace vitrine::illama
