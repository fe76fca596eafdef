// Rotary position embedding (Su et al. 2021, "RoFormer", arXiv:2104.09864): channel pairs turned by
// an angle that grows with position. Frequencies say how fast each pair turns, positions how far,
// angles are their product.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "core/engine_export.h"
#include "core/kernels/cpu/layer_kinds.h"

namespace vitrine::nn {

/// Kind of positions, and the axis of each pair.
enum class RopeAxes {
  Line,         ///< one number a token
  ColumnFirst,  ///< row and column: even pairs turn with the column, odd ones with the row
  RowFirst,     ///< row and column: even pairs turn with the row, odd ones with the column
};

using kernels::RopePairs;

/// How fast channel pairs turn:  w_k = theta ^ (-2 axes k / channels),  k < channels / (2 axes).
struct RopeSpectrum {
  std::int64_t channels = 0;  ///< of a head that turn, the first ones; the others pass
  RopeAxes axes = RopeAxes::Line;
  double theta = 1e4;  ///< base, > 1
  /// One spectrum for all heads (0), or one over the channels of this many heads together. Each
  /// head takes its slice of it; the first head turns fastest.
  std::int64_t heads = 0;
};

/// \returns  [channels / 2] (Line) or [channels / 4] float64 on the CPU; [heads, ..] where each
///           head has its own
/// \throws ShapeError  channels are not a positive multiple of 2 (Line) or 4, theta is not above 1
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor ropeFrequencies(const RopeSpectrum& spectrum);

/// angle[n, k] = position[n] * w_k; with two axes the pairs alternate between them.
///
/// \param positions    of any number type; Line: [tokens] or [batch, tokens]; else row and column,
///                     [tokens, 2] or [batch, tokens, 2]
/// \param frequencies  of ropeFrequencies(), or a spectrum of the caller's own
/// \param type         float32, or float64 for models in double
/// \returns  [tokens, pairs], with positions of each sample [batch, tokens, pairs]. With
///           frequencies of each head [1 or batch, heads, tokens, pairs]. All are on the device of
///           `positions`
/// \throws ShapeError  positions of another shape
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor ropeAngles(const at::Tensor& positions,
                                                          const at::Tensor& frequencies,
                                                          RopeAxes axes,
                                                          at::ScalarType type = at::kFloat);
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor ropeAngles(const at::Tensor& positions,
                                                          const RopeSpectrum& spectrum,
                                                          at::ScalarType type = at::kFloat);

/// Growth of the base by which a longer sequence turns slow pairs no further than in training
/// ("NTK-aware" scaling). Below, d is the number of channels that turn.
enum class NtkRule {
  Plain,       ///< theta * alpha
  LowestLine,  ///< theta * alpha ^ (d / (d - 2)): the lowest frequency of a line shrinks by alpha
  LowestGrid,  ///< theta * alpha ^ (d / (d - 4)): that of a grid does
};
/// \param alpha  at 1 the base stays
[[nodiscard]] VITRINE_ENGINE_EXPORT double ntkTheta(double theta, double alpha, NtkRule rule,
                                                    std::int64_t channels);

/// Row and column of every patch in raster order, [height * width, 2] float64 on the CPU.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor gridPositions(std::array<std::int64_t, 2> grid);
/// Positions of a grid that was reduced by square cells. They are the mean row and column of each
/// cell's tokens: (cell - 1) / 2 + cell * (row, column). [cells, 2] float64.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor cellPositions(std::array<std::int64_t, 2> cells,
                                                             std::int64_t cell);

/// Position of a leading class token.
enum class ClassPlace {
  Origin,      ///< (0, 0): it is not turned
  BeforeGrid,  ///< (-1, width - 1): raster index -1, divided with rounding down
  FirstRow,    ///< (0, width - 1): raster index -1, divided with rounding to zero
};
/// [2] float64: row and column.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor classPosition(std::array<std::int64_t, 2> grid,
                                                             ClassPlace place);

/// Factors {rows, columns} = anchor / grid of the positions of `grid`. The grid then spans as much
/// as the grid of training (auto-scaled 2-D RoPE, arXiv:2403.00522, equation 4).
/// \param perAxis  each axis by its own ratio; else both by that of the rows
/// \throws ShapeError  a side is not positive
[[nodiscard]] VITRINE_ENGINE_EXPORT std::array<double, 2> anchorScale(
    std::array<std::int64_t, 2> grid, std::array<std::int64_t, 2> anchor, bool perAxis);

/// Turns channel pairs of `x` by `angles`, keeping every norm:
/// (a, b) -> (a cos - b sin, a sin + b cos). Channels behind the last pair pass.
///
/// \param x       [batch, heads, tokens, headDim], any floating dtype; q or k, never v
/// \param angles  of ropeAngles(), on the device of `x`. They are [tokens, pairs], [batch, tokens,
///                pairs] or [batch or 1, heads or 1, tokens, pairs], with 2 * pairs <= headDim
/// \returns       a new tensor of the shape, dtype and device of `x`; half types turn in float32
/// \throws ShapeError  the two do not fit
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor applyRope(const at::Tensor& x,
                                                         const at::Tensor& angles,
                                                         RopePairs pairs = RopePairs::Interleaved);

/// Queries and keys of the same tokens together, by the kernel of core/kernels/rope.h where it
/// takes them: one pass each way.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::array<at::Tensor, 2> applyRope(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& angles,
    RopePairs pairs = RopePairs::Interleaved);

}  // namespace vitrine::nn
