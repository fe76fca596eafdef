// The one place that picks how RoPE is computed.
#include "core/nn/rope.h"

#include <ATen/ATen.h>

#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/kernels/cuda_module.h"
#include "core/kernels/rope.h"

namespace vitrine::nn {

namespace {

void checkTheta(double theta) {
  if (!(theta > 1))
    throw ShapeError("RoPE's theta is " + std::to_string(theta) + "; it must be above 1");
}

}  // namespace

at::Tensor ropeAngles(const at::Tensor& positions, std::int64_t headDim, double theta) {
  checkTheta(theta);
  if (headDim <= 0 || headDim % 2 != 0) {
    throw ShapeError("RoPE turns channel pairs: a head of " + std::to_string(headDim) +
                     " channels is not a positive even number");
  }
  const at::Tensor exponents =
      at::arange(0, headDim, 2, at::kDouble) * (-1.0 / static_cast<double>(headDim));
  const at::Tensor frequencies = at::pow(at::scalar_tensor(theta, at::kDouble), exponents);
  return at::outer(positions.to(at::kCPU, at::kDouble), frequencies).to(at::kFloat);
}

at::Tensor ropeAngles(const RopeGrid& grid, std::int64_t headDim) {
  checkTheta(grid.theta);
  if (headDim <= 0 || headDim % 4 != 0) {
    throw ShapeError("2-D RoPE turns two channel pairs at a time: a head of " +
                     std::to_string(headDim) + " channels is not a positive multiple of 4");
  }
  if (grid.height <= 0 || grid.width <= 0 || grid.anchorHeight < 0 || grid.anchorWidth < 0) {
    throw ShapeError("a RoPE grid of " + std::to_string(grid.height) + " x " +
                     std::to_string(grid.width) + " patches is not positive");
  }
  const double anchorHeight =
      static_cast<double>(grid.anchorHeight > 0 ? grid.anchorHeight : grid.height);
  const double anchorWidth =
      static_cast<double>(grid.anchorWidth > 0 ? grid.anchorWidth : grid.width);
  const std::int64_t pairs = headDim / 2;
  at::Tensor angles = at::empty({grid.height * grid.width, pairs}, at::kFloat);
  auto* out = angles.data_ptr<float>();
  for (std::int64_t i = 0; i < grid.height; ++i) {
    for (std::int64_t j = 0; j < grid.width; ++j) {
      for (std::int64_t k = 0; k < headDim / 4; ++k) {
        const double turn =
            std::pow(grid.theta, -4.0 * static_cast<double>(k) / static_cast<double>(headDim));
        const double column =
            static_cast<double>(j) * (anchorWidth / static_cast<double>(grid.width));
        const double row =
            static_cast<double>(i) * (anchorHeight / static_cast<double>(grid.height));
        *out++ = static_cast<float>(column * turn);
        *out++ = static_cast<float>(row * turn);
      }
    }
  }
  return angles;
}

namespace {

void checkAngles(const at::Tensor& x, const at::Tensor& angles) {
  if (x.dim() != 4 || angles.dim() != 2 || x.size(2) != angles.size(0) ||
      x.size(3) != 2 * angles.size(1)) {
    throw ShapeError("RoPE angles " + c10::str(angles.sizes()) + " do not fit queries or keys " +
                     c10::str(x.sizes()) +
                     "; they must be [tokens, headDim/2] of [batch, heads, tokens, headDim]");
  }
}

bool hasKernel(const at::Tensor& x) {
  return x.is_cpu() || (x.is_cuda() && kernels::cudaKernels() != nullptr);
}

}  // namespace

std::array<at::Tensor, 2> applyRope(const at::Tensor& query, const at::Tensor& key,
                                    const at::Tensor& angles) {
  checkAngles(query, angles);
  checkAngles(key, angles);
  if (hasKernel(query) && query.sizes() == key.sizes())
    return kernels::ropePair(query, key, angles);
  return {applyRope(query, angles), applyRope(key, angles)};
}

at::Tensor applyRope(const at::Tensor& x, const at::Tensor& angles) {
  checkAngles(x, angles);
  const at::ScalarType type = x.scalar_type();
  const at::ScalarType wide = type == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor pairs = x.to(wide).unflatten(-1, {angles.size(1), 2});
  const at::Tensor cosine = at::cos(angles.to(wide)), sine = at::sin(angles.to(wide));
  const at::Tensor a = pairs.select(-1, 0), b = pairs.select(-1, 1);
  return at::stack({a * cosine - b * sine, a * sine + b * cosine}, -1).flatten(-2).to(type);
}

}  // namespace vitrine::nn
