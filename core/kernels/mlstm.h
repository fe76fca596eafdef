// The cell of an mLSTM: a matrix memory with a gate that forgets and one that writes (Beck et al.
// 2024, "xLSTM", arXiv:2405.04517, section 2.3). For each sample and head, with f and i the gates
// and s = 1 / sqrt(key width):
//
//     C_t = f_t C_{t-1} + i_t k_t v_t^T          n_t = f_t n_{t-1} + i_t k_t
//     h_t = s C_t^T q_t / max(|s n_t . q_t|, 1)
//
// computed with memory and sum divided by exp(m_t), m_t = max(log f_t + m_{t-1}, log i_t), where
// the bound 1 becomes exp(-m_t). Three forms compute the same: token by token, as a matrix of all
// pairs of tokens, and in chunks. The last takes pairs within a chunk, the memory between chunks.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/engine_export.h"
#include "core/kernels/cpu/mlstm/kinds.h"

namespace vitrine::kernels {

struct MlstmInput {
  at::Tensor q, k;                   ///< [batch, heads, tokens, key width]
  at::Tensor v;                      ///< [batch, heads, tokens, value width]
  at::Tensor inputGate, forgetGate;  ///< [batch, heads, tokens], before their activations
  MlstmState start;                  ///< undefined: empty
};

/// Differentiable once in everything of the input. Half types are computed in float32, the others
/// in their own; the gates' sums are float64. Deterministic for a given number of threads.
///
/// \throws ShapeError  tensors that do not fit together
/// \throws Error  a form that the device does not have, no kernel for the device, or a head that is
///                too wide for the GPU
[[nodiscard]] VITRINE_ENGINE_EXPORT MlstmOutput mlstm(const MlstmInput& input,
                                                      const MlstmOptions& options);

/// Default length of a chunk: all tokens up to 64 + 2 x width, else 64. From that length on, the
/// memory between chunks costs less than the pairs that it replaces.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::int64_t mlstmChunk(std::int64_t tokens,
                                                            std::int64_t width);

/// Logarithm of a gate, float64. \param gate  before its activation
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor logGate(GateKind kind, const at::Tensor& gate);

/// The weights of all pairs of tokens: D_ts = exp(log weight - m_t), zero for s > t.
struct MlstmWeights {
  at::Tensor decay;   ///< D: [batch, heads, tokens, tokens] of q's type
  at::Tensor scores;  ///< S = s (q k^T) D: rows are signed and do not sum to one
};
/// For analyses: without a start state and without gradient.
/// h = S v / (max(|row sum|, exp(-m)) + eps)
[[nodiscard]] VITRINE_ENGINE_EXPORT MlstmWeights mlstmWeights(const MlstmInput& input,
                                                              const MlstmOptions& options);

}  // namespace vitrine::kernels
