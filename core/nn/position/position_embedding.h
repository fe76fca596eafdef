// Position tables: fixed sin-cos ones, and carrying a learned one to another grid.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/engine_export.h"

namespace vitrine::nn {

enum class ClassToken { None, First, Last };

/// Rule that resizes a position table to another grid.
enum class ResizeRule {
  Bicubic,           ///< a = -0.75, half-pixel centres, no antialias
  BicubicAntialias,  ///< the same with antialias
  LinearCorners,     ///< corner-aligned linear: scipy.ndimage.zoom of order 1
};

/// "bicubic" | "bicubic_antialias" | "linear_corners"; anything else is not a rule.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::optional<ResizeRule> resizeRule(const std::string& name);

/// The table of another grid of patches; the row of the class token stays as it is.
/// \param table  [1, rows, width]; the class token's row is first, last or absent
/// \param from   [height, width] of the table's grid in patches
/// \param to     the grid wanted
/// \returns  [1, rows', width] of the table's dtype, computed in float32 at least
/// \throws ShapeError  the rows are not those of `from`
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor resizePositions(const at::Tensor& table,
                                                               ClassToken classToken,
                                                               std::array<std::int64_t, 2> from,
                                                               std::array<std::int64_t, 2> to,
                                                               ResizeRule rule);

/// Axis of the first half of the channels.
enum class GridOrder { ColumnFirst, RowFirst };

/// Fixed 2-D sines and cosines. One half of the channels holds sin and cos of column * w_k, the
/// other of row * w_k, with w_k = 1e4 ^ (-4k / width). The class token's row is zero.
/// \returns  [1, height * width (+ 1), width] float32 on the CPU
/// \throws ShapeError  width is not a multiple of 4
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor sinCosPositions(
    std::array<std::int64_t, 2> grid, std::int64_t width, ClassToken classToken,
    GridOrder order = GridOrder::ColumnFirst);

/// Fixed sines and cosines of places on a line (Vaswani et al. 2017, sines first): sin and cos of
/// position * w_k, w_k = 1e4 ^ (-2k / width).
/// \param positions  [tokens], of any number type
/// \returns          [tokens, width] float32 on their device
/// \throws ShapeError  width is not a multiple of 2
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor sinCosPositions(const at::Tensor& positions,
                                                               std::int64_t width);

}  // namespace vitrine::nn
