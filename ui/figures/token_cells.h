// Places of an attention artifact's tokens on its patch grid.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"

namespace vitrine::ui {

inline constexpr double kMostGrid = 4096;  ///< rows or columns of a grid

using TokenPlace = std::array<double, 2>;  ///< down, right; negative: nowhere

/// Row and column of a token in patches; negative for one that is on no grid (a class token).
struct TokenCell {
  int row = -1, column = -1;
  [[nodiscard]] bool isOnGrid() const { return row >= 0 && column >= 0; }
  bool operator==(const TokenCell&) const = default;
};

/// [[row, column], ...] of `meta.<key>`; empty where `list` is not a list, or an empty one.
/// \throws FileError  it does not have one [row, column] per token
[[nodiscard]] inline std::vector<TokenPlace> tokenPlaces(const Json& list, int tokens,
                                                         const std::string& key) {
  std::vector<TokenPlace> places;
  if (!list.is_array() || list.empty()) return places;
  if (list.size() != static_cast<std::size_t>(tokens))
    throw FileError("meta." + key + " does not name one position per token");
  for (const Json& one : list) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_number() || !one[1].is_number())
      throw FileError("meta." + key + " is not a list of [row, column]");
    const TokenPlace place{one[0].get<double>(), one[1].get<double>()};
    if (!(place[0] < kMostGrid) || !(place[1] < kMostGrid))
      throw FileError("meta." + key + " has a row or column of 4096 or more");
    places.push_back(place[0] >= 0 && place[1] >= 0 ? place : TokenPlace{-1, -1});
  }
  return places;
}

/// The cells of `places`. Without places: those of a square grid, with a class token before it
/// where the number of tokens says so.
[[nodiscard]] inline std::vector<TokenCell> tokenCells(const std::vector<TokenPlace>& places,
                                                       int tokens) {
  std::vector<TokenCell> cells(static_cast<std::size_t>(tokens));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i][0] >= 0)
      cells[i] = {static_cast<int>(places[i][0]), static_cast<int>(places[i][1])};
  }
  if (!places.empty()) return cells;
  const auto root = [](int count) {
    return static_cast<int>(std::lround(std::sqrt(static_cast<double>(count))));
  };
  const bool isSquare = root(tokens) * root(tokens) == tokens;
  const bool hasClass =
      !isSquare && tokens > 1 && root(tokens - 1) * root(tokens - 1) == tokens - 1;
  const int columns = hasClass ? root(tokens - 1) : isSquare ? root(tokens) : tokens;
  const int first = hasClass ? 1 : 0;
  for (int token = first; token < tokens; ++token)
    cells[static_cast<std::size_t>(token)] = {(token - first) / columns, (token - first) % columns};
  return cells;
}

}  // namespace vitrine::ui
