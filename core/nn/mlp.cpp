#include "core/nn/mlp.h"

#include <ATen/ATen.h>

#include "core/kernels/cpu/cpu_layers.h"

namespace vitrine::nn {

at::Tensor gelu(const at::Tensor& x, Gelu form) {
  if (cpu::takesGelu(x)) return cpu::gelu(x, form);
  return at::gelu(x, form == Gelu::Tanh ? "tanh" : "none");
}

at::Tensor swiGlu(const at::Tensor& gate, const at::Tensor& up) {
  return cpu::takesSwiGlu(gate, up) ? cpu::swiGlu(gate, up) : at::silu(gate) * up;
}

std::int64_t swiGluHidden(std::int64_t width, std::int64_t multiple) {
  const std::int64_t hidden = 2 * 4 * width / 3;
  return (hidden + multiple - 1) / multiple * multiple;
}

}  // namespace vitrine::nn
