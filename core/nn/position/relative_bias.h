// Relative positions as a bias of the attention (Bao et al. 2021, "BEiT", arXiv:2106.08254). Each
// head has a learned number for each distance between two patches, added to the scores.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "core/engine_export.h"
#include "core/nn/position/position_embedding.h"

namespace vitrine::nn {

/// The table's name in an attention, as BEiT's checkpoints have it.
inline constexpr const char* kRelativeTable = "relative_position_bias_table";

/// Rows of a table [rows, heads]: the (2 height - 1)(2 width - 1) distances, rows outermost. A
/// class token adds three: from it to a patch, from a patch to it, and to itself.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::int64_t relativeRows(std::array<std::int64_t, 2> grid,
                                                              ClassToken classToken);

/// The row for each query and each key, of query minus key.
/// \param places  [tokens, 2] or [batch, tokens, 2]: row and column in patches; -1 for a class
///         token
/// \param grid    patches of the image, [height, width]
/// \returns       [.., tokens, tokens] int64 on the device of `places`
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor relativeIndex(const at::Tensor& places,
                                                             std::array<std::int64_t, 2> grid);

/// The bias of the scores, [batch or 1, heads, tokens, tokens]; differentiable in `table`.
/// \param table  [rows, heads]
/// \param index  of relativeIndex(), on the device of `table`
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor relativeBias(const at::Tensor& table,
                                                            const at::Tensor& index);

/// The table of another grid of patches; rows of the class token stay as they are.
/// \throws ShapeError  the rows are not those of `from`
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor resizeRelativeTable(const at::Tensor& table,
                                                                   ClassToken classToken,
                                                                   std::array<std::int64_t, 2> from,
                                                                   std::array<std::int64_t, 2> to,
                                                                   ResizeRule rule);

}  // namespace vitrine::nn
