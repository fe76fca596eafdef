// The chunkwise mLSTM in float32 on the CPU: threads share the heads of all samples.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/kernels/cpu/mlstm/kinds.h"

namespace vitrine::cpu {

/// One call. q, k and v are [batch, heads, tokens, width] float32 with dense widths. Logarithms of
/// gates are [batch, heads, tokens] float64 and contiguous; the start state is contiguous.
struct MlstmCellCall {
  at::Tensor q, k, v, logInput, logForget;
  kernels::MlstmState start;
  kernels::MlstmOptions options;  ///< with a chunk
};

/// What a backward pass needs of a forward one.
struct MlstmKept {
  at::Tensor h, signedSum;
  at::Tensor scores;  ///< weights of the values, divided: [batch, heads, tokens, of its chunk]
};

/// \param scores  receives MlstmKept::scores; null: no backward pass follows
/// \pre cpuPath() is not the reference path
[[nodiscard]] kernels::MlstmOutput mlstmForward(const MlstmCellCall& call, at::Tensor* scores);

/// Gradients of the tensors of the same names; those of `start` are undefined without a start
/// state.
struct MlstmCellGradients {
  at::Tensor q, k, v, logInput, logForget;
  kernels::MlstmState start;
};
/// \param kept   of mlstmForward()
/// \param slope  gradient of h, any strides
[[nodiscard]] MlstmCellGradients mlstmBackward(const MlstmCellCall& call, const MlstmKept& kept,
                                               const at::Tensor& slope);

}  // namespace vitrine::cpu
