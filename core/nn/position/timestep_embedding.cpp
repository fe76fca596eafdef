#include "core/nn/position/timestep_embedding.h"

#include <ATen/ATen.h>

#include <cmath>

#include "core/base/error.h"

namespace vitrine::nn {

at::Tensor timestepEmbedding(const at::Tensor& time, std::int64_t width, double period) {
  if (time.dim() != 1 || width < 2) {
    throw ShapeError("a timestep embedding takes times [batch] and a width of at least 2, not " +
                     c10::str(time.sizes()) + " and " + std::to_string(width));
  }
  const std::int64_t half = width / 2;
  const auto options = at::TensorOptions(at::kDouble).device(time.device());
  const at::Tensor frequencies =
      at::arange(half, options).mul_(-std::log(period) / static_cast<double>(half)).exp_();
  const at::Tensor angles = time.to(at::kDouble).unsqueeze(1) * frequencies;
  at::Tensor embedding = at::cat({angles.cos(), angles.sin()}, 1);
  if (width % 2 != 0) embedding = at::constant_pad_nd(embedding, {0, 1});
  return time.scalar_type() == at::kDouble ? embedding : embedding.to(at::kFloat);
}

}  // namespace vitrine::nn
