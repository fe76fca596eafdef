#include "plugins/vision_lstm/traversal.h"

namespace vitrine::vision_lstm {

namespace {

struct Walk {
  const char* name;
  bool isAlongColumns, startsAtBottom, startsAtRight;
};

const Walk& walkOf(Traversal traversal) {
  static constexpr Walk kWalks[] = {
      {"row-TL", false, false, false}, {"row-BR", false, true, true},
      {"col-TL", true, false, false},  {"col-BR", true, true, true},
      {"row-TR", false, false, true},  {"row-BL", false, true, false},
      {"col-TR", true, false, true},   {"col-BL", true, true, false},
  };
  return kWalks[static_cast<std::size_t>(traversal)];
}

}  // namespace

const char* nameOf(Traversal traversal) { return walkOf(traversal).name; }

Traversal traversalOf(Directions directions, std::int64_t block) {
  return static_cast<Traversal>(block % static_cast<std::int64_t>(directions));
}

std::vector<std::int64_t> scanOrder(Grid grid, Traversal traversal) {
  const Walk& walk = walkOf(traversal);
  const Grid seen = scanGrid(grid, traversal);
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(grid.count()));
  for (std::int64_t line = 0; line < seen.rows; ++line) {
    for (std::int64_t place = 0; place < seen.columns; ++place) {
      std::int64_t row = walk.isAlongColumns ? place : line;
      std::int64_t column = walk.isAlongColumns ? line : place;
      if (walk.startsAtBottom) row = grid.rows - 1 - row;
      if (walk.startsAtRight) column = grid.columns - 1 - column;
      order.push_back(row * grid.columns + column);
    }
  }
  return order;
}

std::vector<std::int64_t> inverseOf(const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> inverse(order.size());
  for (std::size_t j = 0; j < order.size(); ++j)
    inverse[static_cast<std::size_t>(order[j])] = static_cast<std::int64_t>(j);
  return inverse;
}

Grid scanGrid(Grid grid, Traversal traversal) {
  return walkOf(traversal).isAlongColumns ? Grid{grid.columns, grid.rows} : grid;
}

}  // namespace vitrine::vision_lstm
