// The one place that picks how RoPE is computed.
#include "core/nn/position/rope.h"

#include <ATen/ATen.h>

#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/kernels/cuda_module.h"
#include "core/kernels/rope.h"

namespace vitrine::nn {

at::Tensor ropeFrequencies(const RopeSpectrum& spectrum) {
  if (!(spectrum.theta > 1))
    throw ShapeError("RoPE's theta is " + std::to_string(spectrum.theta) + "; it must be above 1");
  const std::int64_t step = spectrum.axes == RopeAxes::Line ? 2 : 4;
  if (spectrum.channels <= 0 || spectrum.channels % step != 0) {
    throw ShapeError("RoPE " +
                     std::string(step == 2 ? "turns channel pairs"
                                           : "on a grid turns two channel pairs at a time") +
                     ": " + std::to_string(spectrum.channels) +
                     " channels of a head are not a positive multiple of " + std::to_string(step));
  }
  const std::int64_t heads = std::max<std::int64_t>(spectrum.heads, 1);
  const std::int64_t channels = heads * spectrum.channels;
  const at::Tensor exponents =
      at::arange(0, channels, step, at::kDouble) * (-1.0 / static_cast<double>(channels));
  const at::Tensor all = at::pow(at::scalar_tensor(spectrum.theta, at::kDouble), exponents);
  return spectrum.heads > 0 ? all.view({heads, -1}) : all;
}

at::Tensor ropeAngles(const at::Tensor& positions, const at::Tensor& frequencies, RopeAxes axes,
                      at::ScalarType type) {
  const bool isLine = axes == RopeAxes::Line;
  const std::int64_t plain = isLine ? 1 : 2;  // axes of the positions of one sample
  if ((positions.dim() != plain && positions.dim() != plain + 1) ||
      (!isLine && positions.size(-1) != 2)) {
    throw ShapeError("RoPE positions " + c10::str(positions.sizes()) + " are not " +
                     (isLine ? "[tokens] or [batch, tokens]"
                             : "rows and columns [tokens, 2] or [batch, tokens, 2]"));
  }
  const bool hasHeads = frequencies.dim() == 2;
  at::Tensor place = positions.to(at::kDouble);
  if (hasHeads && place.dim() == plain) place = place.unsqueeze(0);
  // To [.., tokens, 1] against [w], or [batch, 1, tokens, 1] against [heads, 1, w].
  at::Tensor speed = frequencies.to(positions.device(), at::kDouble);
  if (hasHeads) {
    place = place.unsqueeze(1);
    speed = speed.unsqueeze(1);
  }
  if (isLine) return (place.unsqueeze(-1) * speed).to(type);
  const at::Tensor row = place.select(-1, 0).unsqueeze(-1) * speed,
                   column = place.select(-1, 1).unsqueeze(-1) * speed;
  const bool isRowFirst = axes == RopeAxes::RowFirst;
  return at::stack({isRowFirst ? row : column, isRowFirst ? column : row}, -1).flatten(-2).to(type);
}

at::Tensor ropeAngles(const at::Tensor& positions, const RopeSpectrum& spectrum,
                      at::ScalarType type) {
  return ropeAngles(positions, ropeFrequencies(spectrum), spectrum.axes, type);
}

double ntkTheta(double theta, double alpha, NtkRule rule, std::int64_t channels) {
  const double d = static_cast<double>(channels);
  switch (rule) {
    case NtkRule::Plain:
      break;
    case NtkRule::LowestLine:
      return theta * std::pow(alpha, d / (d - 2));
    case NtkRule::LowestGrid:
      return theta * std::pow(alpha, d / (d - 4));
  }
  return theta * alpha;
}

at::Tensor gridPositions(std::array<std::int64_t, 2> grid) { return cellPositions(grid, 1); }

at::Tensor cellPositions(std::array<std::int64_t, 2> cells, std::int64_t cell) {
  const at::Tensor rows = at::arange(cells[0], at::kDouble).repeat_interleave(cells[1]);
  const at::Tensor columns = at::arange(cells[1], at::kDouble).repeat({cells[0]});
  const double side = static_cast<double>(cell);
  return at::stack({rows, columns}, 1) * side + (side - 1) / 2;
}

at::Tensor classPosition(std::array<std::int64_t, 2> grid, ClassPlace place) {
  const double last = static_cast<double>(grid[1] - 1);
  const at::Tensor position = at::zeros({2}, at::kDouble);
  if (place == ClassPlace::BeforeGrid) position[0] = -1;
  if (place != ClassPlace::Origin) position[1] = last;
  return position;
}

std::array<double, 2> anchorScale(std::array<std::int64_t, 2> grid,
                                  std::array<std::int64_t, 2> anchor, bool perAxis) {
  for (const std::int64_t side : {grid[0], grid[1], anchor[0], anchor[1]}) {
    if (side < 1) {
      throw ShapeError("a RoPE grid of " + std::to_string(grid[0]) + " x " +
                       std::to_string(grid[1]) + " patches cannot be scaled to an anchor of " +
                       std::to_string(anchor[0]) + " x " + std::to_string(anchor[1]) +
                       "; every side is at least 1");
    }
  }
  const auto ratio = [&](std::size_t axis) {
    return static_cast<double>(anchor[axis]) / static_cast<double>(grid[axis]);
  };
  return {ratio(0), perAxis ? ratio(1) : ratio(0)};
}

namespace {

void checkAngles(const at::Tensor& x, const at::Tensor& angles) {
  const std::int64_t axes = angles.dim();
  const auto fits = [&](std::int64_t axis, std::int64_t size) {
    return angles.size(axis) == size || (axes == 4 && angles.size(axis) == 1);
  };
  const bool isOne = x.dim() == 4 && axes >= 2 && axes <= 4 && angles.size(-2) == x.size(2) &&
                     2 * angles.size(-1) <= x.size(3) && (axes == 2 || fits(0, x.size(0))) &&
                     (axes < 4 || fits(1, x.size(1)));
  if (!isOne) {
    throw ShapeError("RoPE angles " + c10::str(angles.sizes()) + " do not fit queries or keys " +
                     c10::str(x.sizes()) +
                     "; they must be [tokens, pairs], [batch, tokens, pairs] or [batch, heads, "
                     "tokens, pairs] of [batch, heads, tokens, headDim]");
  }
}

/// The kernel turns whole heads in interleaved pairs, by one table for all samples.
bool hasKernel(const at::Tensor& x, const at::Tensor& angles, RopePairs pairs) {
  return pairs == RopePairs::Interleaved && angles.dim() == 2 && 2 * angles.size(1) == x.size(3) &&
         (x.is_cpu() || (x.is_cuda() && kernels::cudaKernels() != nullptr));
}

}  // namespace

std::array<at::Tensor, 2> applyRope(const at::Tensor& query, const at::Tensor& key,
                                    const at::Tensor& angles, RopePairs pairs) {
  checkAngles(query, angles);
  checkAngles(key, angles);
  if (hasKernel(query, angles, pairs) && query.sizes() == key.sizes())
    return kernels::ropePair(query, key, angles);
  return {applyRope(query, angles, pairs), applyRope(key, angles, pairs)};
}

at::Tensor applyRope(const at::Tensor& x, const at::Tensor& angles, RopePairs pairs) {
  checkAngles(x, angles);
  if (kernels::takesRopeAlone(x, angles)) return kernels::ropeAlone(x, angles, pairs);
  const at::ScalarType type = x.scalar_type();
  const at::ScalarType wide = type == at::kDouble ? at::kDouble : at::kFloat;
  const std::int64_t count = angles.size(-1), turning = 2 * count;
  const at::Tensor table = (angles.dim() == 3 ? angles.unsqueeze(1) : angles).to(wide);
  const at::Tensor cosine = at::cos(table), sine = at::sin(table);
  const at::Tensor part = turning == x.size(3) ? x : x.narrow(-1, 0, turning);
  at::Tensor turned;
  if (pairs == RopePairs::Interleaved) {
    const at::Tensor both = part.to(wide).unflatten(-1, {count, 2});
    const at::Tensor a = both.select(-1, 0), b = both.select(-1, 1);
    turned = at::stack({a * cosine - b * sine, a * sine + b * cosine}, -1).flatten(-2).to(type);
  } else {
    const auto both = part.to(wide).split(count, -1);
    const at::Tensor &a = both[0], &b = both[1];
    turned = at::cat({a * cosine - b * sine, a * sine + b * cosine}, -1).to(type);
  }
  if (turning == x.size(3)) return turned;
  return at::cat({turned, x.narrow(-1, turning, x.size(3) - turning)}, -1);
}

}  // namespace vitrine::nn
