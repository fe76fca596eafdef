// Forms and results of an mLSTM, shared by its callers and its kernels. The cell itself is in
// core/kernels/mlstm.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace vitrine::kernels {

/// Activation of a gate.
enum class GateKind { Exp, Sigmoid };

enum class MlstmForm {
  Recurrent,  ///< token by token; on the CPU, slow and readable
  Parallel,   ///< all pairs of tokens; on the CPU, slow and readable
  Chunkwise,  ///< for use: linear in the number of tokens
};

/// Divisor of the sum over the memory.
enum class Normaliser {
  Bounded,  ///< max(|s n.q|, 1)
  None,     ///< 1
};

/// Whether gradients pass through the normaliser. Without it h is differentiated as if it were a
/// constant.
enum class NormaliserGradient { Exact, Ignored };

/// Whether the memory after the last token is wanted.
enum class LastState { Drop, Keep };

struct MlstmOptions {
  GateKind forgetGate = GateKind::Sigmoid;
  GateKind inputGate = GateKind::Exp;
  Normaliser normaliser = Normaliser::Bounded;
  NormaliserGradient normaliserGradient = NormaliserGradient::Exact;
  double eps = 0;  ///< added to the stabilised normaliser
  MlstmForm form = MlstmForm::Chunkwise;
  /// Tokens of a chunk; 0: chosen by length and width. On a CPU a backward pass keeps as many
  /// scores of each token and head.
  std::int64_t chunk = 0;
  LastState lastState = LastState::Drop;
};

/// A running memory; keys in it are not scaled by s.
struct MlstmState {
  at::Tensor memory;      ///< C / exp(m): [batch, heads, key width, value width], or undefined
  at::Tensor sum;         ///< n / exp(m): [batch, heads, key width]
  at::Tensor stabiliser;  ///< m: [batch, heads]
};

struct MlstmOutput {
  at::Tensor h;  ///< [batch, heads, tokens, value width], memory [batch, tokens, heads, ..]
  at::Tensor stabiliser;  ///< m: [batch, heads, tokens], no gradient
  at::Tensor signedSum;   ///< s n.q / exp(m): [batch, heads, tokens], no gradient
  MlstmState last;        ///< with LastState::Keep; no gradient
};

}  // namespace vitrine::kernels
