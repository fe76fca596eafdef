// Attention of one image as numbers: layers with the places of their queries and keys, the row of a
// query, and the mask. Knows no widget and no database.
#pragma once

#include <QImage>
#include <QRectF>
#include <QString>
#include <QStringList>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/base/json.h"
#include "ui/figures/token_cells.h"

namespace vitrine::ui {

/// The tokens on one side of a layer: a grid of their own, and those that are on none (a class
/// token, words).
struct TokenGrid {
  using Cell = TokenCell;
  using Place = TokenPlace;

  int rows = 0, columns = 0;  ///< 0: no token is on a grid
  std::vector<Cell> cells;    ///< of each token
  /// Of each token, in patches of the grid of the queries: where distances are measured.
  std::vector<Place> places;
  std::vector<int> tokenAt;  ///< of each cell, row by row; -1: none
  QStringList words;         ///< of each token; "" for one on the grid
  /// The part of the image that the grid covers, 0 to 1; none where that is not known.
  std::optional<QRectF> frame;

  /// A grid of these tokens, whose places are their cells. \param words  of tokens that are on no
  /// grid; missing ones are called "class token", or by their number where there are several
  [[nodiscard]] static TokenGrid of(std::vector<Cell> cells, QStringList words = {});

  /// At least this many rows and columns: where a few tokens of a grid were kept.
  void grow(int leastRows, int leastColumns);
  [[nodiscard]] int tokens() const { return static_cast<int>(cells.size()); }
  [[nodiscard]] int at(int row, int column) const;     ///< a token, or -1
  [[nodiscard]] std::vector<int> offGrid() const;      ///< tokens that are on no grid
  [[nodiscard]] Place middle(const Cell& cell) const;  ///< of a cell in the grid, 0 to 1
  /// "row 4, column 5", "class token": for people, counted from 0 as in artifacts.
  [[nodiscard]] QString name(int token) const;
  bool operator==(const TokenGrid&) const = default;
};

/// The attention of one layer, or of one of its windows.
struct AttentionLayer {
  int number = 0;   ///< from 0, as the model counts
  int window = -1;  ///< -1: the layer sees the whole grid
  int heads = 0, queries = 0, keys = 0;
  std::vector<float> weights;  ///< [heads, queries, keys]
  TokenGrid queryGrid, keyGrid;

  [[nodiscard]] float at(int head, int query, int key) const {
    return weights[(static_cast<std::size_t>(head) * static_cast<std::size_t>(queries) +
                    static_cast<std::size_t>(query)) *
                       static_cast<std::size_t>(keys) +
                   static_cast<std::size_t>(key)];
  }
  [[nodiscard]] QString name() const;  ///< "layer 3", "layer 3, window 4"
};

/// All layers of one image at one step.
struct AttentionImage {
  std::vector<AttentionLayer> layers;  ///< by number, then by window
  bool isSigned = false;               ///< some weight is negative
  bool sumsToOne = true;               ///< rows are probabilities
  bool isWhole = true;                 ///< false: layers without queries are still being computed
  QImage picture;                      ///< what the model looked at; may be null
  QString quantity;  ///< of values that are not attention, "cosine similarity"; else ""
  Json about;        ///< meta of its newest map, which may name the class and the model's answer
  /// Small pictures that belong to it: an artifact of kind image_grid.
  struct Filters {
    Json meta;
    std::vector<std::byte> data;
  };
  std::optional<Filters> filters;
  [[nodiscard]] int mostHeads() const;
};

/// Gives the layers the queries of `more` too; of one that both have, that of `more`. Layers that
/// differ in heads or keys stay next to each other.
void addQueries(AttentionImage& image, const AttentionImage& more);

/// By number, then by window.
void sortLayers(AttentionImage& image);

/// Gives the image the windows of `known` that it has not, in order.
void addWindows(AttentionImage& image, const AttentionImage& known);

/// The layers of `known`, all without queries but those that `part` has. That is all there is of an
/// image while only some of its layers are computed. \param known  another image of the same model
[[nodiscard]] AttentionImage amongLayersOf(const AttentionImage& known, AttentionImage part);

/// Which query is asked, in words that hold for every layer and every model: grids differ, the
/// place in the image does not.
struct QueryChoice {
  enum class Kind {
    Auto,   ///< the class token or first word that sees a patch, or the patch in the middle
    Patch,  ///< the patch at `place`
    Token,  ///< the token of this number among those on no grid
    Mean,   ///< all queries, their mean
  };
  Kind kind = Kind::Auto;
  TokenGrid::Place place{0.5, 0.5};  ///< down and right, 0 to 1
  int token = 0;
  bool operator==(const QueryChoice&) const = default;
};

inline constexpr int kMeanQuery = -1;

/// The query of a layer: kMeanQuery for the mean. Nothing where the layer has none of the kind, as
/// when only the class token's row was kept. Nothing also where a patch lies in another window.
[[nodiscard]] std::optional<int> queryOf(const AttentionLayer& layer, const QueryChoice& choice);
/// The choice that names this query of the layer.
[[nodiscard]] QueryChoice choiceOf(const AttentionLayer& layer, int query);

/// Keys that the query cannot see: their weight is exactly zero, or not a number, in every head. A
/// softmax gives that to masked keys alone. \param query  kMeanQuery: masked for every query
[[nodiscard]] std::vector<bool> maskedKeys(const AttentionLayer& layer, int query);

/// The weights of a query, of each key; NaN where it is masked.
/// \param masked  maskedKeys(layer, query)
[[nodiscard]] std::vector<float> rowOf(const AttentionLayer& layer, int head, int query,
                                       const std::vector<bool>& masked);
[[nodiscard]] inline std::vector<float> rowOf(const AttentionLayer& layer, int head, int query) {
  return rowOf(layer, head, query, maskedKeys(layer, query));
}

/// The smallest set of keys that holds `share` of the sum of absolute weights, larger ones first,
/// of equal ones the first. \param share  0 to 1; 1: every key that is not masked
[[nodiscard]] std::vector<bool> keysOfMass(std::span<const float> row, double share);

/// What colours stand for. Signed: `low` is -`high`.
struct ValueRange {
  double low = 0, high = 0;
  bool isSigned = false;
  bool operator==(const ValueRange&) const = default;
};
/// Zero to the largest weight; where a weight is negative, symmetric around zero. NaN is left out.
[[nodiscard]] ValueRange rangeOf(std::span<const float> row);
/// Both, and what lies between.
[[nodiscard]] ValueRange joined(const ValueRange& a, const ValueRange& b);

}  // namespace vitrine::ui
