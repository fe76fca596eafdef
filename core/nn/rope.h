// Rotary position embedding (Su et al. 2021): channel pairs turned by an angle that grows with
// position.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "core/engine_export.h"

namespace vitrine::nn {

/// Angles of a sequence:  angle[n, k] = positions[n] * theta ^ (-2k / headDim).
///
/// \param positions  [tokens], any number type
/// \param headDim    channels of one head, positive and even
/// \returns          [tokens, headDim/2] float32 on the CPU
/// \throws ShapeError  headDim is odd or not positive, theta is not above 1
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor ropeAngles(const at::Tensor& positions,
                                                          std::int64_t headDim, double theta);

/// Where the patches lie, and how fast each channel pair turns with position.
///
/// The patch at row i, column j of an H x W grid turns, for k in [0, headDim/4):
///
///     w_k       = theta ^ (-4k / headDim)              radians per patch
///     pair 2k   : j * (anchorWidth  / W) * w_k
///     pair 2k+1 : i * (anchorHeight / H) * w_k
///
/// A fixed anchor lets weights trained on one grid run on another (auto-scaled 2-D RoPE,
/// arXiv:2403.00522); anchor == grid is plain 2-D RoPE.
struct RopeGrid {
  std::int64_t height = 0;        ///< patches, > 0
  std::int64_t width = 0;         ///< patches, > 0
  std::int64_t anchorHeight = 0;  ///< patches in training; 0 means `height`
  std::int64_t anchorWidth = 0;   ///< patches in training; 0 means `width`
  double theta = 1e4;             ///< base of the frequency ladder, > 1
};

/// \param headDim  channels of one head, a positive multiple of 4
/// \returns        [H*W, headDim/2] float32 on the CPU, patches in raster order
/// \throws ShapeError  headDim or the grid is not as above
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor ropeAngles(const RopeGrid& grid,
                                                          std::int64_t headDim);

/// Turns channel pairs (2m, 2m+1) of `x` by column m of `angles`, keeping every norm:
/// (a, b) -> (a cos - b sin, a sin + b cos).
///
/// \param x       [batch, heads, tokens, headDim], any floating dtype; q or k, never v
/// \param angles  [tokens, headDim/2] float32, on the device of `x`
/// \returns       a new tensor of the shape, dtype and device of `x`; half types turn in float32
/// \throws ShapeError  tokens or headDim differ between the two
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor applyRope(const at::Tensor& x,
                                                         const at::Tensor& angles);

/// Queries and keys of the same tokens together, by the kernel of core/kernels/rope.h where there
/// is one for their device: one pass each way.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::array<at::Tensor, 2> applyRope(const at::Tensor& query,
                                                                        const at::Tensor& key,
                                                                        const at::Tensor& angles);

}  // namespace vitrine::nn
