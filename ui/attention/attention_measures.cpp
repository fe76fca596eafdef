#include "ui/attention/attention_measures.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr double kUnmeasured = std::numeric_limits<double>::quiet_NaN();

/// One step of the rollout: `reads` times the mean over heads with half an identity.
std::vector<double> throughLayer(const AttentionLayer& layer, const std::vector<double>& reads) {
  const auto tokens = static_cast<std::size_t>(layer.keys);
  std::vector<double> result(tokens, 0.0), mean(tokens);
  for (std::size_t query = 0; query < tokens; ++query) {
    if (reads[query] == 0) continue;
    std::fill(mean.begin(), mean.end(), 0.0);
    double sum = 0;
    for (int head = 0; head < layer.heads; ++head) {
      for (std::size_t key = 0; key < tokens; ++key) {
        const float weight = layer.at(head, static_cast<int>(query), static_cast<int>(key));
        if (!std::isnan(weight)) mean[key] += static_cast<double>(weight) / layer.heads;
      }
    }
    mean[query] += 1;
    for (const double one : mean) sum += one;
    for (std::size_t key = 0; key < tokens; ++key) result[key] += reads[query] * mean[key] / sum;
  }
  return result;
}

}  // namespace

double meanDistance(const AttentionLayer& layer, int head) {
  double total = 0;
  int measured = 0;
  for (int query = 0; query < layer.queries; ++query) {
    const auto from = static_cast<std::size_t>(query);
    if (!layer.queryGrid.cells[from].isOnGrid()) continue;
    const TokenGrid::Place& here = layer.queryGrid.places[from];
    double weighted = 0, mass = 0;
    for (int key = 0; key < layer.keys; ++key) {
      const auto to = static_cast<std::size_t>(key);
      const float weight = layer.at(head, query, key);
      if (!layer.keyGrid.cells[to].isOnGrid() || std::isnan(weight)) continue;
      const TokenGrid::Place& there = layer.keyGrid.places[to];
      const double amount = std::abs(static_cast<double>(weight));
      weighted += amount * std::hypot(there[0] - here[0], there[1] - here[1]);
      mass += amount;
    }
    if (mass <= 0) continue;
    total += weighted / mass;
    ++measured;
  }
  return measured == 0 ? kUnmeasured : total / measured;
}

double entropyBits(std::span<const float> row) {
  double total = 0;
  for (const float weight : row) {
    if (!std::isnan(weight)) total += std::abs(static_cast<double>(weight));
  }
  if (total <= 0) return kUnmeasured;
  double entropy = 0;
  for (const float weight : row) {
    if (std::isnan(weight) || weight == 0.0F) continue;
    const double share = std::abs(static_cast<double>(weight)) / total;
    entropy -= share * std::log2(share);
  }
  return std::max(entropy, 0.0);
}

RowSums sumsOf(std::span<const float> row, const TokenGrid& keys) {
  RowSums sums;
  for (std::size_t key = 0; key < row.size(); ++key) {
    if (std::isnan(row[key])) continue;
    sums.all += static_cast<double>(row[key]);
    if (keys.cells[key].isOnGrid()) sums.onGrid += static_cast<double>(row[key]);
  }
  return sums;
}

QString whyNoRollout(const AttentionImage& image) {
  if (image.layers.empty()) return QObject::tr("Rollout needs at least one layer.");
  if (image.isSigned)
    return QObject::tr(
        "Rollout is not defined for signed weights: their products over layers have no meaning.");
  if (!image.sumsToOne)
    return QObject::tr("Rollout is not defined here: the rows of these weights do not sum to one.");
  const AttentionLayer& first = image.layers.front();
  for (std::size_t i = 0; i < image.layers.size(); ++i) {
    const AttentionLayer& layer = image.layers[i];
    if (layer.number != static_cast<int>(i) && layer.window < 0)
      return QObject::tr("Rollout needs every layer; %1 is missing.").arg(layerName(i));
    if (layer.window >= 0)
      return QObject::tr("Rollout is not defined for layers that see windows, as %1 does.")
          .arg(layer.name());
    if (layer.queries != layer.keys)
      return QObject::tr("Rollout needs as many queries as keys; %1 has %2 queries and %3 keys.")
          .arg(layer.name())
          .arg(layer.queries)
          .arg(layer.keys);
    if (layer.queryGrid.cells != layer.keyGrid.cells ||
        layer.queryGrid.cells != first.queryGrid.cells)
      return QObject::tr("Rollout needs the same positions in every layer; those of %1 differ.")
          .arg(layer.name());
  }
  return {};
}

Rollout rolloutOf(const AttentionImage& image, int upTo, const QueryChoice& choice) {
  Rollout rollout{.whyNot = whyNoRollout(image)};
  if (!rollout.whyNot.isEmpty()) return rollout;
  const int last = std::clamp(upTo, 0, static_cast<int>(image.layers.size()) - 1);
  const AttentionLayer& top = image.layers[static_cast<std::size_t>(last)];
  const std::optional<int> query = queryOf(top, choice);
  if (!query) {
    rollout.whyNot = QObject::tr("This image has no such query.");
    return rollout;
  }
  std::vector<double> reads(static_cast<std::size_t>(top.queries), 0.0);
  if (*query == kMeanQuery)
    std::fill(reads.begin(), reads.end(), 1.0 / top.queries);
  else
    reads[static_cast<std::size_t>(*query)] = 1;
  for (int layer = last; layer >= 0; --layer)
    reads = throughLayer(image.layers[static_cast<std::size_t>(layer)], reads);
  rollout.row.assign(reads.begin(), reads.end());
  return rollout;
}

}  // namespace vitrine::ui
