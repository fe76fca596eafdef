// Looks into models whose layers mix tokens through a gated memory (memory_source.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/kernels/mlstm.h"
#include "core/plugin/registry.h"

namespace vitrine::vision_lstm {

/// Number of tokens that each head remembers: 1 / -(mean log forget gate), with the gates along the
/// scan.
///
/// Artifacts: matrix "memory length" [layers, heads] in tokens; heatmaps "forget gate" and "input
/// gate" [layers, tokens], means over heads and images. Scores "length/layer<i>/head<j>". A head
/// whose mean log forget gate is 0 or more has NaN and no score: its state grows.
[[nodiscard]] std::unique_ptr<Analysis> makeMemoryLength();

/// The matrices of one pass, for chosen images, in the order of each layer's scan.
///
/// Artifacts per image of kind attention, [layers, heads, queries, keys]: "image ID decay", D, and
/// "image ID weights", S / max(|row sum|, exp(-m)). The latter multiplies the values. Weights are
/// signed and their rows do not sum to one. "image ID pixels" is a PNG of the image.
[[nodiscard]] std::unique_ptr<Analysis> makeMemoryWeights();

/// Singular values of the signed weights that makeMemoryWeights() shows, and the ranks that they
/// give.
///
/// Scores and artifacts of eval::rankFindings(), as analyses of attention have them.
[[nodiscard]] std::unique_ptr<Analysis> makeMemoryRank();

/// Time of one head's forward pass against the number of tokens: a memory in three forms, and
/// softmax attention of the same width.
///
/// Artifacts: curves "chunkwise", "quadratic", "recurrent", "softmax attention" of milliseconds of
/// processor time; table "cost", with multiply-adds and what a next token would need. Scores
/// "slope/<form>": slope of log time over log tokens, on the upper half of the sizes.
/// "crossing/measured": tokens from which chunks take less time than softmax attention, where that
/// lies among the sizes. "crossing/counted": the same by multiply-adds of causal pairs, chunk + 2
/// head widths.
[[nodiscard]] std::unique_ptr<Analysis> makeTokenCost();

enum class CostForm { Chunkwise, Quadratic, Recurrent, Softmax };

/// Milliseconds of the calling thread's processor time that one head takes for `tokens`, the least
/// of `repeats`. \param width  of the head
[[nodiscard]] double measureCost(CostForm form, std::int64_t tokens, std::int64_t width,
                                 int repeats);
/// Time against tokens, ascending.
struct CostCurve {
  std::vector<double> tokens, milliseconds;
};
/// Tokens at which `first` begins to cost more than `second`, on straight lines between the points
/// of both logarithms. None where it does not within them.
/// \throws ConfigError  curves of other tokens
[[nodiscard]] std::optional<double> crossingOf(const CostCurve& first, const CostCurve& second);
/// Least squares of log(milliseconds) over log(tokens).
[[nodiscard]] double fittedSlope(const std::vector<double>& tokens,
                                 const std::vector<double>& milliseconds);

}  // namespace vitrine::vision_lstm
