#include "core/nn/position/position_embedding.h"

#include <ATen/ATen.h>

#include "core/base/error.h"

namespace vitrine::nn {

std::optional<ResizeRule> resizeRule(const std::string& name) {
  if (name == "bicubic") return ResizeRule::Bicubic;
  if (name == "bicubic_antialias") return ResizeRule::BicubicAntialias;
  if (name == "linear_corners") return ResizeRule::LinearCorners;
  return std::nullopt;
}

at::Tensor resizePositions(const at::Tensor& table, ClassToken classToken,
                           std::array<std::int64_t, 2> from, std::array<std::int64_t, 2> to,
                           ResizeRule rule) {
  const std::int64_t patches = from[0] * from[1];
  const std::int64_t classRows = classToken == ClassToken::None ? 0 : 1;
  if (table.dim() != 3 || table.size(0) != 1 || table.size(1) != patches + classRows) {
    throw ShapeError("a position table " + c10::str(table.sizes()) + " is not one of a " +
                     std::to_string(from[0]) + " x " + std::to_string(from[1]) + " grid" +
                     (classRows ? " and a class token" : ""));
  }
  if (from == to) return table;
  const at::ScalarType type = table.scalar_type();
  const at::ScalarType wide = type == at::kDouble ? at::kDouble : at::kFloat;
  const std::int64_t firstPatch = classToken == ClassToken::First ? 1 : 0;
  const at::Tensor grid = table.narrow(1, firstPatch, patches)
                              .to(wide)
                              .reshape({1, from[0], from[1], table.size(2)})
                              .permute({0, 3, 1, 2})
                              .contiguous();
  at::Tensor resized;
  switch (rule) {
    case ResizeRule::Bicubic:
      resized = at::upsample_bicubic2d(grid, to, false);
      break;
    case ResizeRule::BicubicAntialias:
      resized = at::_upsample_bicubic2d_aa(grid, to, false);
      break;
    case ResizeRule::LinearCorners:
      resized = at::upsample_bilinear2d(grid, to, true);
      break;
  }
  const at::Tensor rows =
      resized.permute({0, 2, 3, 1}).reshape({1, to[0] * to[1], table.size(2)}).to(type);
  if (classToken == ClassToken::None) return rows;
  const at::Tensor classRow = table.narrow(1, classToken == ClassToken::First ? 0 : patches, 1);
  return classToken == ClassToken::First ? at::cat({classRow, rows}, 1)
                                         : at::cat({rows, classRow}, 1);
}

namespace {

/// sin, then cos, of places times 1e4 ^ (-2k / channels): [places, channels] float64.
at::Tensor sinesAndCosines(const at::Tensor& places, std::int64_t channels) {
  const at::Tensor frequencies =
      at::pow(at::scalar_tensor(1e4, at::kDouble),
              at::arange(0, channels / 2, at::kDouble) * (-2.0 / static_cast<double>(channels)));
  const at::Tensor angles =
      at::outer(places.to(at::kDouble), frequencies.to(places.device(), at::kDouble));
  return at::cat({angles.sin(), angles.cos()}, 1);
}

}  // namespace

at::Tensor sinCosPositions(std::array<std::int64_t, 2> grid, std::int64_t width,
                           ClassToken classToken, GridOrder order) {
  if (width <= 0 || width % 4 != 0) {
    throw ShapeError("sin-cos positions need a width that is a positive multiple of 4, not " +
                     std::to_string(width));
  }
  const at::Tensor rows =
      sinesAndCosines(at::arange(grid[0], at::kDouble).repeat_interleave(grid[1]), width / 2);
  const at::Tensor columns =
      sinesAndCosines(at::arange(grid[1], at::kDouble).repeat({grid[0]}), width / 2);
  at::Tensor table =
      order == GridOrder::ColumnFirst ? at::cat({columns, rows}, 1) : at::cat({rows, columns}, 1);
  const at::Tensor zero = at::zeros({1, width}, at::kDouble);
  if (classToken == ClassToken::First) table = at::cat({zero, table}, 0);
  if (classToken == ClassToken::Last) table = at::cat({table, zero}, 0);
  return table.unsqueeze(0).to(at::kFloat);
}

at::Tensor sinCosPositions(const at::Tensor& positions, std::int64_t width) {
  if (width <= 0 || width % 2 != 0) {
    throw ShapeError(
        "sin-cos positions on a line need a width that is a positive multiple of 2, "
        "not " +
        std::to_string(width));
  }
  return sinesAndCosines(positions, width).to(at::kFloat);
}

}  // namespace vitrine::nn
