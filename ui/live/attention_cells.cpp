#include "ui/live/attention_cells.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

/// The keys' places by rank: sub-sampled keys and windows have a grid of their own.
struct LiveGrid {
  std::vector<float> rows, columns;  ///< distinct, ascending

  explicit LiveGrid(const std::vector<live::Place>& places) {
    for (const live::Place& place : places) {
      if (!place.isPatch()) continue;
      rows.push_back(place.row);
      columns.push_back(place.column);
    }
    for (auto* axis : {&rows, &columns}) {
      std::sort(axis->begin(), axis->end());
      axis->erase(std::unique(axis->begin(), axis->end()), axis->end());
    }
  }
  [[nodiscard]] int cellOf(const live::Place& place) const {
    const auto rank = [](const std::vector<float>& axis, float value) {
      return static_cast<int>(std::lower_bound(axis.begin(), axis.end(), value) - axis.begin());
    };
    const int row = rank(rows, place.row), column = rank(columns, place.column);
    if (row >= std::ssize(rows) || column >= std::ssize(columns)) return -1;
    return row * static_cast<int>(columns.size()) + column;
  }
};

/// Sides of the whole image in patches.
std::array<double, 2> extentOf(const live::AttentionLayer& layer) {
  std::array<double, 2> extent{1, 1};
  for (const auto* places : {&layer.queries, &layer.keys}) {
    for (const live::Place& place : *places) {
      if (!place.isPatch()) continue;
      extent[0] = std::max(extent[0], std::ceil(place.row + 0.5));
      extent[1] = std::max(extent[1], std::ceil(place.column + 0.5));
    }
  }
  return extent;
}

int queryOf(const live::AttentionLayer& layer, const LiveQuery& query) {
  const bool isClass = query.kind == LiveQuery::Kind::Class && hasClassToken(layer);
  const std::array<double, 2> wanted{isClass ? -1 : query.row, isClass ? -1 : query.column};
  return static_cast<int>(live::nearestPlace(layer.queries, extentOf(layer), wanted).first);
}

AttentionCells cellsOf(const live::AttentionLayer& layer, std::span<const float> row,
                       const live::Place* asking) {
  const LiveGrid grid(layer.keys);
  AttentionCells cells{.rows = static_cast<int>(grid.rows.size()),
                       .columns = static_cast<int>(grid.columns.size())};
  if (cells.rows == 0 || cells.columns == 0) {
    // Without places: all keys in one line.
    cells.rows = 1;
    cells.columns = static_cast<int>(row.size());
    cells.values.assign(row.begin(), row.end());
    for (const float value : row) cells.rowSum += value;
    return cells;
  }
  const auto extent = extentOf(layer);
  const double stepRow = cells.rows > 1 ? (grid.rows.back() - grid.rows.front()) / (cells.rows - 1)
                                        : extent[0],
               stepColumn = cells.columns > 1
                                ? (grid.columns.back() - grid.columns.front()) / (cells.columns - 1)
                                : extent[1];
  if (cells.rows > 1 || cells.columns > 1) {
    cells.area = {(grid.rows.front() + 0.5 - stepRow / 2) / extent[0],
                  (grid.columns.front() + 0.5 - stepColumn / 2) / extent[1],
                  stepRow * cells.rows / extent[0], stepColumn * cells.columns / extent[1]};
    for (const std::size_t i : {0U, 1U}) {
      cells.area[i] = std::clamp(cells.area[i], 0.0, 1.0);
      cells.area[i + 2] = std::min(cells.area[i + 2], 1 - cells.area[i]);
    }
  }
  cells.values.assign(static_cast<std::size_t>(cells.rows * cells.columns),
                      std::numeric_limits<float>::quiet_NaN());
  double distances = 0, weights = 0;
  const bool hasClass = hasClassToken(layer);
  for (std::size_t i = 0; i < row.size(); ++i) {
    cells.rowSum += row[i];
    const live::Place& place = layer.keys[i];
    if (!place.isPatch()) {
      if (hasClass && !std::isnan(place.row)) cells.classValue = row[i];
      continue;
    }
    const int cell = grid.cellOf(place);
    if (cell >= 0) cells.values[static_cast<std::size_t>(cell)] = row[i];
    if (asking != nullptr && asking->isPatch()) {
      distances +=
          std::abs(row[i]) * std::hypot(place.row - asking->row, place.column - asking->column);
      weights += std::abs(row[i]);
    }
  }
  if (weights > 0) cells.meanDistance = distances / weights;
  if (asking != nullptr && asking->isPatch()) {
    for (std::size_t i = 0; i < layer.keys.size(); ++i) {
      if (layer.keys[i].row == asking->row && layer.keys[i].column == asking->column)
        cells.asking = grid.cellOf(layer.keys[i]);
    }
  }
  return cells;
}

}  // namespace

bool hasClassToken(const live::AttentionLayer& layer) {
  return std::count_if(layer.keys.begin(), layer.keys.end(),
                       [](const live::Place& place) { return place.row < 0; }) == 1;
}

std::array<int, 2> keyGrid(const live::AttentionLayer& layer) {
  const LiveGrid grid(layer.keys);
  return {static_cast<int>(grid.rows.size()), static_cast<int>(grid.columns.size())};
}

AttentionCells attentionCells(const live::AttentionLayer& layer, int head, const LiveQuery& query) {
  if (head < 0 || head >= layer.heads || layer.queries.empty()) return {};
  if (query.kind == LiveQuery::Kind::Mean) return cellsOf(layer, layer.meanRow(head), nullptr);
  const int asking = queryOf(layer, query);
  return cellsOf(layer, layer.row(head, asking), &layer.queries[static_cast<std::size_t>(asking)]);
}

AttentionCells meanOverHeads(const live::AttentionLayer& layer, const LiveQuery& query) {
  if (layer.heads < 1 || layer.queries.empty()) return {};
  const bool isMean = query.kind == LiveQuery::Kind::Mean;
  const int asking = isMean ? -1 : queryOf(layer, query);
  std::vector<float> row(layer.keys.size());
  for (int head = 0; head < layer.heads; ++head) {
    const auto one = isMean ? layer.meanRow(head) : layer.row(head, asking);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += one[i] / static_cast<float>(layer.heads);
  }
  return cellsOf(layer, row, isMean ? nullptr : &layer.queries[static_cast<std::size_t>(asking)]);
}

void LiveRange::add(std::span<const float> values) {
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, static_cast<double>(value));
    high = std::max(high, static_cast<double>(value));
  }
  if (low < 0) {
    high = std::max(high, -low);
    low = -high;
  }
}

QRgb liveColor(double value, const LiveRange& range) {
  if (range.isSigned()) {
    // Blue below zero, orange above it, pale between.
    const double t = range.high > 0 ? std::clamp(value / range.high, -1.0, 1.0) : 0;
    const QColor end = t < 0 ? QColor(0x2B, 0x6C, 0xB0) : QColor(0xC9, 0x5B, 0x0C);
    const double share = std::abs(t);
    const auto mix = [&](int part) {
      return static_cast<int>(std::lround(235 + (part - 235) * share));
    };
    return qRgb(mix(end.red()), mix(end.green()), mix(end.blue()));
  }
  return viridis(range.high > 0 ? std::clamp(value / range.high, 0.0, 1.0) : 0).rgb();
}

QImage cellsImage(std::span<const float> values, int rows, int columns, const LiveRange& range,
                  QRgb masked) {
  QImage image(std::max(columns, 1), std::max(rows, 1), QImage::Format_RGBA8888);
  image.fill(Qt::transparent);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const float value = values[static_cast<std::size_t>(row * columns + column)];
      if (std::isnan(value)) continue;
      image.setPixelColor(column, row,
                          QColor::fromRgb(value == 0 ? masked : liveColor(value, range)));
    }
  }
  return image;
}

}  // namespace vitrine::ui
