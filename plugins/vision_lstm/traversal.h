// Orders in which a scan visits a grid of patches.
#pragma once

#include <cstdint>
#include <vector>

namespace vitrine::vision_lstm {

struct Grid {
  std::int64_t rows = 1, columns = 1;
  [[nodiscard]] std::int64_t count() const { return rows * columns; }
  bool operator==(const Grid&) const = default;
};

/// Row by row or column by column, from one of the four corners.
enum class Traversal {
  RowTopLeft,
  RowBottomRight,
  ColumnTopLeft,
  ColumnBottomRight,
  RowTopRight,
  RowBottomLeft,
  ColumnTopRight,    ///< columns downwards, the right one first
  ColumnBottomLeft,  ///< columns upwards, the left one first
};
/// "row-TL", ... as the reference data names them.
[[nodiscard]] const char* nameOf(Traversal traversal);

enum class Directions { Uni = 1, Bi = 2, Quad = 4, Oct = 8 };
/// Of a block: the cycle has one, two, four or eight of them, in the order of Traversal.
[[nodiscard]] Traversal traversalOf(Directions directions, std::int64_t block);

/// scan[j] = image[order[j]], patches in raster order.
[[nodiscard]] std::vector<std::int64_t> scanOrder(Grid grid, Traversal traversal);
[[nodiscard]] std::vector<std::int64_t> inverseOf(const std::vector<std::int64_t>& order);
/// The grid as the scan sees it: columns become rows where it walks along columns.
[[nodiscard]] Grid scanGrid(Grid grid, Traversal traversal);

}  // namespace vitrine::vision_lstm
