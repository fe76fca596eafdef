// One row of attention laid out on its grid: pure numbers, for any painter.
#pragma once

#include <QImage>
#include <array>
#include <span>
#include <vector>

#include "core/live/frame.h"

namespace vitrine::ui {

/// Which token asks.
struct LiveQuery {
  enum class Kind { Patch, Class, Mean } kind = Kind::Class;
  double row = 0.5, column = 0.5;  ///< of a patch, in shares of the image
  bool operator==(const LiveQuery&) const = default;
};

/// Cells of a grid, row by row; NaN where no key lies.
struct AttentionCells {
  int rows = 0, columns = 0;
  std::vector<float> values;
  std::array<double, 4> area{0, 0, 1, 1};  ///< that they cover, in shares of the image: y, x, h, w
  int asking = -1;                         ///< the cell of the query, where it lies in the grid
  float classValue = -1;                   ///< of the key that is not a patch, or -1
  double rowSum = 0;         ///< of all keys: below 1 behind a mask that is not renormalised
  double meanDistance = -1;  ///< from the query, in patches, weighted; -1: has none
  [[nodiscard]] bool isEmpty() const { return values.empty(); }
};

/// \returns  empty cells where the layer lacks that head
[[nodiscard]] AttentionCells attentionCells(const live::AttentionLayer& layer, int head,
                                            const LiveQuery& query);
[[nodiscard]] AttentionCells meanOverHeads(const live::AttentionLayer& layer,
                                           const LiveQuery& query);
/// One token that is not a patch; several are words.
[[nodiscard]] bool hasClassToken(const live::AttentionLayer& layer);
/// Rows and columns of the patches of a layer's keys.
[[nodiscard]] std::array<int, 2> keyGrid(const live::AttentionLayer& layer);

/// Range of the colours: from 0 to the largest value, or as far below as above zero where a value
/// is negative.
struct LiveRange {
  double low = 0, high = 0;
  void add(std::span<const float> values);
  [[nodiscard]] bool isSigned() const { return low < 0; }
};

/// One pixel a cell. Masked cells, which are exactly zero, are grey. \param masked  their colour
[[nodiscard]] QImage cellsImage(std::span<const float> values, int rows, int columns,
                                const LiveRange& range, QRgb masked);
[[nodiscard]] QRgb liveColor(double value, const LiveRange& range);

}  // namespace vitrine::ui
