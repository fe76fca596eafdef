// The forms of an mLSTM between its gates and its normaliser. They compute numerators and sums
// forwards, and the gradients of queries, keys and values back from theirs.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/kernels/mlstm.h"

namespace vitrine::kernels {

/// One call with heads flattened into units, contiguous, of one real type; gates in float64.
struct MlstmCall {
  at::Tensor q, k, v;              ///< [units, tokens, width]
  at::Tensor logForget, logInput;  ///< [units, tokens]
  at::Tensor local, stabiliser;    ///< [units, tokens] of scanGates()
  at::Tensor memory, sum;          ///< start state: [units, key, value], [units, key], or undefined
  at::Tensor start;                ///< [units] m_0, -inf without a start state
  std::int64_t tile = 1;
  double scale = 1;

  [[nodiscard]] std::int64_t units() const { return q.size(0); }
  [[nodiscard]] std::int64_t tokens() const { return q.size(1); }
  [[nodiscard]] std::int64_t keyWidth() const { return q.size(2); }
  [[nodiscard]] std::int64_t valueWidth() const { return v.size(2); }
};

/// All divided by exp(m).
struct MlstmSums {
  at::Tensor numerator;     ///< [units, tokens, value]
  at::Tensor sum;           ///< s n.q: [units, tokens]
  at::Tensor memory, last;  ///< C and n after the last token
};

/// Shapes as in MlstmCall; `memory` and `sum` are those of the start state.
struct MlstmGradients {
  at::Tensor q, k, v, memory, sum;
};

/// Calls `body` with the number of each unit, in parallel.
template <class Body>
void forEachUnit(const MlstmCall& call, const Body& body) {
  at::parallel_for(0, call.units(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t unit = begin; unit < end; ++unit) body(unit);
  });
}

/// Fills `local` and `stabiliser` on the call's device.
void scanGatesOf(MlstmCall& call);

/// Numerators and sums of `call`, whose gates are scanned, in the given form.
[[nodiscard]] MlstmSums mlstmForward(MlstmForm form, const MlstmCall& call);
/// \param numerator  gradient of the numerators, [units, tokens, value]
/// \param sum        gradient of the sums, [units, tokens]
[[nodiscard]] MlstmGradients mlstmBackward(MlstmForm form, const MlstmCall& call,
                                           const at::Tensor& numerator, const at::Tensor& sum);

/// Gradients of log forget, log input and m_0, float64.
struct MlstmGateGradients {
  at::Tensor logForget, logInput, start;
};
/// \param rows, columns  sums of the pairs' gradients over keys and over queries, [units, tokens]
///                       float64
/// \param stabilisers    direct gradients of m, [units, tokens] float64, or undefined
[[nodiscard]] MlstmGateGradients mlstmGateGradients(const MlstmCall& call, const at::Tensor& rows,
                                                    const at::Tensor& columns,
                                                    const at::Tensor& stabilisers);

/// The recurrent and the parallel form, token by token and pair by pair: mlstm_cpu.cpp.
[[nodiscard]] MlstmSums mlstmForwardCpu(MlstmForm form, const MlstmCall& call);
[[nodiscard]] MlstmGradients mlstmBackwardCpu(MlstmForm form, const MlstmCall& call,
                                              const at::Tensor& numerator, const at::Tensor& sum);

}  // namespace vitrine::kernels
