// Cells of an attention artifact's tokens on its patch grid.
#pragma once

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"

namespace vitrine::ui {

/// Row and column of a token in patches; negative for a class token.
struct TokenCell {
  int row = -1, column = -1;
  [[nodiscard]] bool isPatch() const { return row >= 0 && column >= 0; }
};

/// Positions from the first of `keys` that `meta` has; without any, those of a square grid.
/// \throws FileError  they are not one [row, column] per token
[[nodiscard]] inline std::vector<TokenCell> tokenCells(const Json& meta,
                                                       std::initializer_list<const char*> keys,
                                                       int tokens) {
  for (const char* key : keys) {
    const auto found = meta.find(key);
    if (found == meta.end() || !found->is_array() || found->empty()) continue;
    if (found->size() != static_cast<std::size_t>(tokens)) {
      throw FileError(std::string("meta.") + key + " does not name one position per token");
    }
    std::vector<TokenCell> cells;
    for (const Json& position : *found) {
      if (!position.is_array() || position.size() != 2 || !position[0].is_number() ||
          !position[1].is_number()) {
        throw FileError(std::string("meta.") + key + " is not a list of [row, column]");
      }
      const double row = position[0].get<double>(), column = position[1].get<double>();
      const bool isPatch = row >= 0 && column >= 0 && row < 4096 && column < 4096;
      cells.push_back(isPatch ? TokenCell{static_cast<int>(row), static_cast<int>(column)}
                              : TokenCell{});
    }
    return cells;
  }
  // Without positions: a square grid, with a class token before it when the count says so.
  const int side = static_cast<int>(std::lround(std::sqrt(static_cast<double>(tokens))));
  const int sideAfterClass =
      static_cast<int>(std::lround(std::sqrt(static_cast<double>(tokens - 1))));
  std::vector<TokenCell> cells(static_cast<std::size_t>(tokens));
  const bool hasClass = side * side != tokens && sideAfterClass * sideAfterClass == tokens - 1;
  const int columns = hasClass ? sideAfterClass : side * side == tokens ? side : tokens;
  for (int token = hasClass ? 1 : 0; token < tokens; ++token) {
    const int patch = token - (hasClass ? 1 : 0);
    cells[static_cast<std::size_t>(token)] = {patch / columns, patch % columns};
  }
  return cells;
}

}  // namespace vitrine::ui
