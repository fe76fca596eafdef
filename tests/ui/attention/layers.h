// Small layers whose weights can be checked by hand.
#pragma once

#include <vector>

#include "ui/attention/attention_data.h"

namespace vitrine::ui {

using Cells = std::vector<TokenGrid::Cell>;

/// A class token, then `rows` x `columns` patches.
inline Cells cellsOf(int rows, int columns, bool hasClass) {
  Cells cells;
  if (hasClass) cells.push_back({});
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) cells.push_back({row, column});
  }
  return cells;
}

/// Both sides on the same tokens. \param weights  [heads, tokens, tokens]
inline AttentionLayer squareLayer(const Cells& cells, std::vector<float> weights, int number = 0) {
  AttentionLayer layer{.number = number, .queryGrid = TokenGrid::of(cells)};
  layer.queryGrid.frame = QRectF(0, 0, 1, 1);
  layer.keyGrid = layer.queryGrid;
  layer.queries = layer.keys = static_cast<int>(cells.size());
  layer.heads = static_cast<int>(weights.size() / (cells.size() * cells.size()));
  layer.weights = std::move(weights);
  return layer;
}

/// A class token and 1 x 2 patches, two heads; rows sum to one.
inline AttentionLayer threeTokens() {
  return squareLayer(cellsOf(1, 2, true), {0.50F, 0.30F, 0.20F,  //
                                           0.10F, 0.60F, 0.30F,  //
                                           0.20F, 0.20F, 0.60F,  //
                                           1.00F, 0.00F, 0.00F,  //
                                           0.25F, 0.75F, 0.00F,  //
                                           0.50F, 0.25F, 0.25F});
}

}  // namespace vitrine::ui
