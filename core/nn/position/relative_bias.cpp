#include "core/nn/position/relative_bias.h"

#include <ATen/ATen.h>

namespace vitrine::nn {

namespace {

/// Distances along both axes: from -(side - 1) to side - 1.
std::array<std::int64_t, 2> distancesOf(std::array<std::int64_t, 2> grid) {
  return {2 * grid[0] - 1, 2 * grid[1] - 1};
}

}  // namespace

std::int64_t relativeRows(std::array<std::int64_t, 2> grid, ClassToken classToken) {
  const auto [rows, columns] = distancesOf(grid);
  return rows * columns + (classToken == ClassToken::None ? 0 : 3);
}

at::Tensor relativeIndex(const at::Tensor& places, std::array<std::int64_t, 2> grid) {
  const auto [rows, columns] = distancesOf(grid);
  const at::Tensor whole = places.to(at::kLong), row = whole.select(-1, 0);
  const auto apart = [](const at::Tensor& line, std::int64_t side) {
    return line.unsqueeze(-1) - line.unsqueeze(-2) + (side - 1);
  };
  const at::Tensor index = apart(row, grid[0]) * columns + apart(whole.select(-1, 1), grid[1]);
  const at::Tensor isClass = row.lt(0);
  const at::Tensor fromClass = isClass.unsqueeze(-1), toClass = isClass.unsqueeze(-2);
  const std::int64_t first = rows * columns;
  return index.masked_fill(fromClass, first)
      .masked_fill(toClass, first + 1)
      .masked_fill(fromClass.logical_and(toClass), first + 2);
}

at::Tensor relativeBias(const at::Tensor& table, const at::Tensor& index) {
  // Sums the gradient of each row in a fixed order, on every device.
  const at::Tensor bias = at::embedding(table, index);
  return (bias.dim() == 3 ? bias.unsqueeze(0) : bias).permute({0, 3, 1, 2});
}

at::Tensor resizeRelativeTable(const at::Tensor& table, ClassToken classToken,
                               std::array<std::int64_t, 2> from, std::array<std::int64_t, 2> to,
                               ResizeRule rule) {
  const std::int64_t ofClass = classToken == ClassToken::None ? 0 : 3;
  const std::int64_t distances = table.size(0) - ofClass;
  const at::Tensor resized =
      resizePositions(table.narrow(0, 0, distances).unsqueeze(0), ClassToken::None,
                      distancesOf(from), distancesOf(to), rule)
          .squeeze(0);
  return ofClass == 0 ? resized : at::cat({resized, table.narrow(0, distances, ofClass)}, 0);
}

}  // namespace vitrine::nn
