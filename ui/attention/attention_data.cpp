#include "ui/attention/attention_data.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr float kMaskedKey = std::numeric_limits<float>::quiet_NaN();

bool seesNothing(float weight) { return weight == 0.0F || std::isnan(weight); }

/// Whether a head gives a patch some weight: words before an image see none.
bool seesPatches(const AttentionLayer& layer, int query) {
  for (int key = 0; key < layer.keys; ++key) {
    if (!layer.keyGrid.cells[static_cast<std::size_t>(key)].isOnGrid()) continue;
    for (int head = 0; head < layer.heads; ++head) {
      if (!seesNothing(layer.at(head, query, key))) return true;
    }
  }
  return false;
}

enum class Reach { Inside, Anywhere };

/// The patch of the grid that lies at `place` in the image; with Reach::Anywhere the nearest one.
int patchAt(const TokenGrid& grid, const TokenGrid::Place& place, Reach reach) {
  int best = -1;
  double nearest = std::numeric_limits<double>::infinity();
  const QRectF frame = grid.frame.value_or(QRectF(0, 0, 1, 1));
  const double down = (place[0] - frame.top()) / frame.height() * grid.rows;
  const double right = (place[1] - frame.left()) / frame.width() * grid.columns;
  for (int token = 0; token < grid.tokens(); ++token) {
    const TokenGrid::Cell& cell = grid.cells[static_cast<std::size_t>(token)];
    if (!cell.isOnGrid()) continue;
    const double y = std::abs(cell.row + 0.5 - down), x = std::abs(cell.column + 0.5 - right);
    if (reach == Reach::Inside && std::max(x, y) > 0.5 + 1e-6) continue;
    if (std::hypot(x, y) < nearest) {
      nearest = std::hypot(x, y);
      best = token;
    }
  }
  return best;
}

}  // namespace

TokenGrid TokenGrid::of(std::vector<Cell> cells, QStringList words) {
  TokenGrid grid{.cells = std::move(cells)};
  int off = 0;
  for (const Cell& cell : grid.cells) {
    grid.rows = std::max(grid.rows, cell.isOnGrid() ? cell.row + 1 : 0);
    grid.columns = std::max(grid.columns, cell.isOnGrid() ? cell.column + 1 : 0);
    off += cell.isOnGrid() ? 0 : 1;
  }
  int number = 0;
  for (int token = 0; token < grid.tokens(); ++token) {
    const Cell& cell = grid.cells[static_cast<std::size_t>(token)];
    grid.places.push_back({static_cast<double>(cell.row), static_cast<double>(cell.column)});
    QString word = words.value(token);
    if (cell.isOnGrid()) {
      word.clear();
    } else if (word.isEmpty()) {
      word = off == 1 ? QObject::tr("class token") : QObject::tr("token %1").arg(number);
    }
    number += cell.isOnGrid() ? 0 : 1;
    grid.words << word;
  }
  grid.grow(0, 0);
  return grid;
}

void TokenGrid::grow(int leastRows, int leastColumns) {
  rows = std::max(rows, leastRows);
  columns = std::max(columns, leastColumns);
  tokenAt.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), -1);
  for (int token = 0; token < tokens(); ++token) {
    const Cell& cell = cells[static_cast<std::size_t>(token)];
    if (cell.isOnGrid())
      tokenAt[static_cast<std::size_t>(cell.row * columns + cell.column)] = token;
  }
}

int TokenGrid::at(int row, int column) const {
  if (row < 0 || column < 0 || row >= rows || column >= columns) return -1;
  return tokenAt[static_cast<std::size_t>(row * columns + column)];
}

std::vector<int> TokenGrid::offGrid() const {
  std::vector<int> off;
  for (int token = 0; token < tokens(); ++token) {
    if (!cells[static_cast<std::size_t>(token)].isOnGrid()) off.push_back(token);
  }
  return off;
}

TokenGrid::Place TokenGrid::middle(const Cell& cell) const {
  return {(cell.row + 0.5) / std::max(rows, 1), (cell.column + 0.5) / std::max(columns, 1)};
}

QString TokenGrid::name(int token) const {
  if (token < 0 || token >= tokens()) return QString();
  const Cell& cell = cells[static_cast<std::size_t>(token)];
  if (!cell.isOnGrid()) return words.value(token);
  return patchName(cell.row, cell.column);
}

QString AttentionLayer::name() const {
  return window < 0 ? layerName(number)
                    : QObject::tr("%1, window %2").arg(layerName(number)).arg(window);
}

int AttentionImage::mostHeads() const {
  int most = 0;
  for (const AttentionLayer& layer : layers) most = std::max(most, layer.heads);
  return most;
}

void sortLayers(AttentionImage& image) {
  std::stable_sort(image.layers.begin(), image.layers.end(),
                   [](const AttentionLayer& a, const AttentionLayer& b) {
                     return std::pair(a.number, a.window) < std::pair(b.number, b.window);
                   });
}

void addWindows(AttentionImage& image, const AttentionImage& known) {
  for (const AttentionLayer& layer : known.layers) {
    const bool isThere =
        std::any_of(image.layers.begin(), image.layers.end(), [&layer](const AttentionLayer& one) {
          return one.number == layer.number && one.window == layer.window;
        });
    if (layer.window >= 0 && !isThere) image.layers.push_back(layer);
  }
  sortLayers(image);
}

AttentionImage amongLayersOf(const AttentionImage& known, AttentionImage part) {
  std::vector<AttentionLayer> layers;
  for (const AttentionLayer& layer : known.layers) {
    const auto own =
        std::find_if(part.layers.begin(), part.layers.end(), [&layer](const AttentionLayer& one) {
          return one.number == layer.number && one.window == layer.window;
        });
    if (own != part.layers.end()) {
      layers.push_back(std::move(*own));
      continue;
    }
    AttentionLayer waiting{layer.number, layer.window, layer.heads, 0, layer.keys, {}, {}, {}};
    waiting.keyGrid = layer.keyGrid;
    waiting.queryGrid.rows = layer.queryGrid.rows;
    waiting.queryGrid.columns = layer.queryGrid.columns;
    layers.push_back(std::move(waiting));
    part.isWhole = false;
  }
  part.layers = std::move(layers);
  return part;
}

std::optional<int> queryOf(const AttentionLayer& layer, const QueryChoice& choice) {
  if (layer.queries == 0) return std::nullopt;
  const TokenGrid& grid = layer.queryGrid;
  const std::vector<int> off = grid.offGrid();
  switch (choice.kind) {
    case QueryChoice::Kind::Mean:
      return kMeanQuery;
    case QueryChoice::Kind::Token: {
      if (choice.token < 0 || choice.token >= static_cast<int>(off.size())) return std::nullopt;
      return off[static_cast<std::size_t>(choice.token)];
    }
    case QueryChoice::Kind::Auto: {
      if (off.empty()) break;
      const auto seeing = std::find_if(off.begin(), off.end(),
                                       [&](int query) { return seesPatches(layer, query); });
      return seeing == off.end() ? off.front() : *seeing;
    }
    case QueryChoice::Kind::Patch:
      break;
  }
  const bool isAuto = choice.kind == QueryChoice::Kind::Auto;
  const int patch = isAuto ? patchAt(grid, {0.5, 0.5}, Reach::Anywhere)
                           : patchAt(grid, choice.place, Reach::Inside);
  return patch < 0 ? std::nullopt : std::optional(patch);
}

QueryChoice choiceOf(const AttentionLayer& layer, int query) {
  QueryChoice choice;
  if (query == kMeanQuery) {
    choice.kind = QueryChoice::Kind::Mean;
    return choice;
  }
  const TokenGrid& grid = layer.queryGrid;
  const TokenGrid::Cell& cell = grid.cells[static_cast<std::size_t>(query)];
  if (!cell.isOnGrid()) {
    const std::vector<int> off = grid.offGrid();
    choice.kind = QueryChoice::Kind::Token;
    choice.token = static_cast<int>(std::find(off.begin(), off.end(), query) - off.begin());
    return choice;
  }
  const QRectF frame = grid.frame.value_or(QRectF(0, 0, 1, 1));
  const TokenGrid::Place middle = grid.middle(cell);
  choice.kind = QueryChoice::Kind::Patch;
  choice.place = {frame.top() + middle[0] * frame.height(),
                  frame.left() + middle[1] * frame.width()};
  return choice;
}

std::vector<bool> maskedKeys(const AttentionLayer& layer, int query) {
  std::vector<bool> masked(static_cast<std::size_t>(layer.keys), true);
  const int first = query == kMeanQuery ? 0 : query;
  const int last = query == kMeanQuery ? layer.queries : query + 1;
  for (int head = 0; head < layer.heads; ++head) {
    for (int one = first; one < last; ++one) {
      for (int key = 0; key < layer.keys; ++key) {
        if (!seesNothing(layer.at(head, one, key))) masked[static_cast<std::size_t>(key)] = false;
      }
    }
  }
  return masked;
}

std::vector<float> rowOf(const AttentionLayer& layer, int head, int query,
                         const std::vector<bool>& masked) {
  std::vector<float> row(static_cast<std::size_t>(layer.keys), 0.0F);
  if (query == kMeanQuery) {
    std::vector<double> sums(row.size(), 0.0);
    for (int one = 0; one < layer.queries; ++one) {
      for (int key = 0; key < layer.keys; ++key) {
        const float weight = layer.at(head, one, key);
        if (!std::isnan(weight)) sums[static_cast<std::size_t>(key)] += static_cast<double>(weight);
      }
    }
    for (std::size_t key = 0; key < row.size(); ++key)
      row[key] = static_cast<float>(sums[key] / std::max(layer.queries, 1));
  } else {
    for (int key = 0; key < layer.keys; ++key) {
      const float weight = layer.at(head, query, key);
      row[static_cast<std::size_t>(key)] = std::isnan(weight) ? 0.0F : weight;
    }
  }
  for (std::size_t key = 0; key < row.size(); ++key) {
    if (masked[key]) row[key] = kMaskedKey;
  }
  return row;
}

std::vector<bool> keysOfMass(std::span<const float> row, double share) {
  std::vector<bool> kept(row.size(), false);
  std::vector<std::size_t> order;
  double total = 0;
  for (std::size_t key = 0; key < row.size(); ++key) {
    if (std::isnan(row[key])) continue;
    order.push_back(key);
    total += std::abs(static_cast<double>(row[key]));
  }
  if (share >= 1) {
    for (const std::size_t key : order) kept[key] = true;
    return kept;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(row[a]) > std::abs(row[b]);
  });
  double held = 0;
  // The weights are float32: a sum that reaches the share but for their last digits holds it.
  const double wanted = share * total * (1 - 1e-6);
  for (const std::size_t key : order) {
    if (held >= wanted) break;
    kept[key] = true;
    held += std::abs(static_cast<double>(row[key]));
  }
  return kept;
}

ValueRange rangeOf(std::span<const float> row) {
  ValueRange range;
  for (const float weight : row) {
    if (!std::isfinite(weight)) continue;
    range.low = std::min(range.low, static_cast<double>(weight));
    range.high = std::max(range.high, static_cast<double>(weight));
  }
  if (range.low < 0) {
    range.isSigned = true;
    range.high = std::max(range.high, -range.low);
    range.low = -range.high;
  }
  return range;
}

ValueRange joined(const ValueRange& a, const ValueRange& b) {
  ValueRange both{std::min(a.low, b.low), std::max(a.high, b.high), a.isSigned || b.isSigned};
  if (both.isSigned) {
    both.high = std::max(both.high, -both.low);
    both.low = -both.high;
  }
  return both;
}

void addQueries(AttentionImage& image, const AttentionImage& more) {
  image.isSigned = image.isSigned || more.isSigned;
  for (const AttentionLayer& added : more.layers) {
    const auto found =
        std::find_if(image.layers.begin(), image.layers.end(), [&](const AttentionLayer& layer) {
          return layer.number == added.number && layer.window == added.window &&
                 layer.heads == added.heads && layer.keyGrid == added.keyGrid;
        });
    if (found == image.layers.end()) {
      image.layers.push_back(added);
      continue;
    }
    AttentionLayer& layer = *found;
    const std::vector<TokenGrid::Cell>& others = added.queryGrid.cells;
    std::vector<int> kept;
    std::vector<TokenGrid::Cell> cells;
    for (int query = 0; query < layer.queries; ++query) {
      const TokenGrid::Cell& cell = layer.queryGrid.cells[static_cast<std::size_t>(query)];
      if (std::find(others.begin(), others.end(), cell) != others.end()) continue;
      kept.push_back(query);
      cells.push_back(cell);
    }
    cells.insert(cells.end(), others.begin(), others.end());
    AttentionLayer both = layer;
    both.queries = static_cast<int>(cells.size());
    both.weights.clear();
    for (int head = 0; head < layer.heads; ++head) {
      const auto take = [&](const AttentionLayer& from, int query) {
        for (int key = 0; key < from.keys; ++key) both.weights.push_back(from.at(head, query, key));
      };
      for (const int query : kept) take(layer, query);
      for (int query = 0; query < added.queries; ++query) take(added, query);
    }
    both.queryGrid = TokenGrid::of(std::move(cells));
    both.queryGrid.grow(layer.queryGrid.rows, layer.queryGrid.columns);
    both.queryGrid.frame = layer.queryGrid.frame;
    layer = std::move(both);
  }
}

}  // namespace vitrine::ui
