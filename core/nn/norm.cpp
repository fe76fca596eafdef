#include "core/nn/norm.h"

#include <ATen/ATen.h>

#include <string>

#include "core/base/error.h"
#include "core/kernels/cpu/cpu_layers.h"

namespace vitrine::nn {

at::Tensor normalise(NormKind kind, const at::Tensor& x, const at::Tensor& weight,
                     const at::Tensor& bias, double eps) {
  if (weight.defined() && x.size(-1) != weight.size(0)) {
    throw ShapeError("a norm of width " + std::to_string(weight.size(0)) + " cannot take " +
                     std::to_string(x.size(-1)) +
                     " channels; the last axis must be the model's width");
  }
  if (kind == NormKind::Layer)
    return at::layer_norm(x, x.sizes().slice(x.dim() - 1), weight, bias, eps);
  if (cpu::takesRmsNorm(x, weight)) return cpu::rmsNorm(x, weight, eps);
  const at::ScalarType type = x.scalar_type();
  const at::Tensor wide = type == at::kDouble ? x : x.to(at::kFloat);
  const at::Tensor scaled = wide * at::rsqrt(wide.square().mean(-1, true) + eps);
  return weight.defined() ? scaled.to(type) * weight : scaled.to(type);
}

std::pair<at::Tensor, at::Tensor> addAndNormalise(NormKind kind, const at::Tensor& x,
                                                  const at::Tensor& branch,
                                                  const at::Tensor& weight, const at::Tensor& bias,
                                                  double eps) {
  if (cpu::takesAddAndNormalise(x, branch, weight))
    return cpu::addAndNormalise(kind, x, branch, weight, bias, eps);
  const at::Tensor sum = branch.defined() ? x + branch : x;
  return {sum, normalise(kind, sum, weight, bias, eps)};
}

}  // namespace vitrine::nn
