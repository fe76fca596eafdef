// Rotary position embedding applied to queries and keys: the kernel below core/nn/position/rope.h.
//
// Channel pair (2m, 2m+1) of the token at position n turns by angles[n][m] radians:
//
//     out[2m]   = x[2m] cos a - x[2m+1] sin a
//     out[2m+1] = x[2m] sin a + x[2m+1] cos a
//
// (Su et al. 2021, "RoFormer", arXiv:2104.09864, interleaved pairs.) Positions on a line and on a
// patch grid differ in the angles alone, so 1-D and 2-D share one kernel. The map is orthogonal,
// so the backward pass is the same turn by -a.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>

#include "core/engine_export.h"
#include "core/kernels/cpu/layer_kinds.h"

namespace vitrine::kernels {

enum class Turn { Forward, Backward };

/// One tensor on the CPU: the readable definition that tests compare every other version with.
///
/// \param x       [batch, heads, tokens, headDim], headDim even and dense, any strides otherwise;
///                float64, float32, bfloat16 or float16; the half types turn in float32
/// \param angles  [tokens, headDim/2] radians, float32 (float64 for float64 `x`), contiguous
/// \returns       a new contiguous tensor of the shape and dtype of `x`
/// \throws ShapeError  the two do not fit
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor ropeCpu(const at::Tensor& x,
                                                       const at::Tensor& angles, Turn turn);

/// Queries and keys together, on their device, differentiable in both: one kernel launch on a GPU.
/// \returns  {q turned, k turned}, contiguous
/// \throws ShapeError  q, k and angles do not fit
[[nodiscard]] VITRINE_ENGINE_EXPORT std::array<at::Tensor, 2> ropePair(const at::Tensor& q,
                                                                       const at::Tensor& k,
                                                                       const at::Tensor& angles);

/// Queries or keys alone, with pairs of either kind: float32 on the CPU, differentiable.
/// \param x       [batch, heads, tokens, headDim], the last axis dense
/// \param angles  [tokens, headDim/2] or [batch, tokens, headDim/2], float32
/// \returns       a new tensor [batch, heads, tokens, headDim] that lies as [batch, tokens, heads,
///                headDim]
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor ropeAlone(const at::Tensor& x,
                                                         const at::Tensor& angles, RopePairs pairs);
/// Whether ropeAlone() takes these: a type, a device or a path of the processor may not suit.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool takesRopeAlone(const at::Tensor& x,
                                                        const at::Tensor& angles);

}  // namespace vitrine::kernels
