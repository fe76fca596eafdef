// Measures of attention: distances, entropy, rollout over layers.
#pragma once

#include <QString>
#include <span>
#include <vector>

#include "ui/attention/attention_data.h"

namespace vitrine::ui {

/// Mean distance between a query and the patches that it reads, weighted by |attention|, in patches
/// of the grid of the queries. It is the mean over the queries that are patches. Tokens on no grid
/// are left out. NaN where no query and no key is a patch.
[[nodiscard]] double meanDistance(const AttentionLayer& layer, int head);

/// Entropy of |row| scaled to a sum of one, in bits; masked keys hold nothing. NaN where all is 0.
[[nodiscard]] double entropyBits(std::span<const float> row);

/// The sum of weights on patches and on all keys; of a signed row with their signs.
struct RowSums {
  double onGrid = 0, all = 0;
};
[[nodiscard]] RowSums sumsOf(std::span<const float> row, const TokenGrid& keys);

/// Attention rollout (Abnar & Zuidema 2020): the product over layers 0 to `upTo` of the mean over
/// heads with half an identity. Rows are scaled to a sum of one.
struct Rollout {
  std::vector<float> row;  ///< of each key of layer 0
  QString whyNot;          ///< one sentence where it is not defined; "" where it is
};
/// \param upTo  index among the layers
[[nodiscard]] Rollout rolloutOf(const AttentionImage& image, int upTo, const QueryChoice& choice);
/// As Rollout::whyNot, without the numbers.
[[nodiscard]] QString whyNoRollout(const AttentionImage& image);

}  // namespace vitrine::ui
