// The recurrent and the parallel form on the CPU: the definition, token by token and pair by pair.
// What every faster version is measured against.
#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/kernels/mlstm_forms.h"

namespace vitrine::kernels {

namespace {

template <class Real>
Real dot(const Real* a, const Real* b, std::int64_t count) {
  Real sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}
template <class Real>
void addScaled(Real factor, const Real* from, Real* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
}
/// matrix += a b^T
template <class Real>
void addOuter(const Real* a, std::int64_t rows, Real factor, const Real* b, std::int64_t columns,
              Real* matrix) {
  for (std::int64_t i = 0; i < rows; ++i)
    addScaled(factor * a[i], b, matrix + i * columns, columns);
}
/// to += factor matrix^T a
template <class Real>
void addTransposed(Real factor, const Real* matrix, const Real* a, std::int64_t rows,
                   std::int64_t columns, Real* to) {
  for (std::int64_t i = 0; i < rows; ++i)
    addScaled(factor * a[i], matrix + i * columns, to, columns);
}
/// to += factor matrix b
template <class Real>
void addProduct(Real factor, const Real* matrix, const Real* b, std::int64_t rows,
                std::int64_t columns, Real* to) {
  for (std::int64_t i = 0; i < rows; ++i) to[i] += factor * dot(matrix + i * columns, b, columns);
}

/// The tensors of one head.
template <class Real>
struct MlstmTruthHead {
  const MlstmCall& call;
  std::int64_t unit, tokens, keys, values;  ///< keys, values: widths
  const Real *q, *k, *v;
  const double *logForget, *logInput, *stabiliser;
  double start;

  MlstmTruthHead(const MlstmCall& c, std::int64_t u)
      : call(c), unit(u), tokens(c.tokens()), keys(c.keyWidth()), values(c.valueWidth()) {
    q = c.q.const_data_ptr<Real>() + u * tokens * keys;
    k = c.k.const_data_ptr<Real>() + u * tokens * keys;
    v = c.v.const_data_ptr<Real>() + u * tokens * values;
    logForget = c.logForget.const_data_ptr<double>() + u * tokens;
    logInput = c.logInput.const_data_ptr<double>() + u * tokens;
    stabiliser = c.stabiliser.const_data_ptr<double>() + u * tokens;
    start = c.start.const_data_ptr<double>()[u];
  }

  [[nodiscard]] bool hasStart() const { return call.memory.defined(); }
  [[nodiscard]] double before(std::int64_t t) const { return t == 0 ? start : stabiliser[t - 1]; }
  /// exp(l_t + m_{t-1} - m_t), exp(i_t - m_t)
  [[nodiscard]] Real forget(std::int64_t t) const {
    return static_cast<Real>(std::exp(logForget[t] + before(t) - stabiliser[t]));
  }
  [[nodiscard]] Real input(std::int64_t t) const {
    return static_cast<Real>(std::exp(logInput[t] - stabiliser[t]));
  }
  [[nodiscard]] Real scale() const { return static_cast<Real>(call.scale); }

  /// Memory and sum, from the start state on.
  struct State {
    std::vector<Real> memory, sum;
  };
  [[nodiscard]] State first() const {
    State state{std::vector<Real>(static_cast<std::size_t>(keys * values)),
                std::vector<Real>(static_cast<std::size_t>(keys))};
    if (hasStart()) {
      const Real* memory = call.memory.const_data_ptr<Real>() + unit * keys * values;
      const Real* sum = call.sum.const_data_ptr<Real>() + unit * keys;
      std::copy(memory, memory + keys * values, state.memory.begin());
      std::copy(sum, sum + keys, state.sum.begin());
    }
    return state;
  }
  void take(std::int64_t t, State& state) const {
    const Real kept = forget(t);
    for (Real& each : state.memory) each *= kept;
    for (Real& each : state.sum) each *= kept;
    addOuter(k + t * keys, keys, input(t), v + t * values, values, state.memory.data());
    addScaled(input(t), k + t * keys, state.sum.data(), keys);
  }

  /// Calls body(t, s, D_ts) for every pair s <= t, and body(t, -1, weight of the start state). Sums
  /// of logarithms run from s to t, so that nothing cancels.
  template <class Body>
  void forEachPair(const Body& body) const {
    for (std::int64_t t = 0; t < tokens; ++t) {
      double sum = 0;
      for (std::int64_t s = t; s >= 0; --s) {
        body(t, s, static_cast<Real>(std::exp(sum + logInput[s] - stabiliser[t])));
        sum += logForget[s];
      }
      if (hasStart()) body(t, -1, static_cast<Real>(std::exp(sum + start - stabiliser[t])));
    }
  }
};

template <class Real>
struct MlstmTruth {
  Real *numerator, *sum, *memory, *last;
};

template <class Real>
void forwardRecurrent(const MlstmTruthHead<Real>& head, const MlstmTruth<Real>& out) {
  auto state = head.first();
  for (std::int64_t t = 0; t < head.tokens; ++t) {
    head.take(t, state);
    const Real* q = head.q + t * head.keys;
    addTransposed(head.scale(), state.memory.data(), q, head.keys, head.values,
                  out.numerator + t * head.values);
    out.sum[t] = head.scale() * dot(state.sum.data(), q, head.keys);
  }
  std::copy(state.memory.begin(), state.memory.end(), out.memory);
  std::copy(state.sum.begin(), state.sum.end(), out.last);
}

template <class Real>
void forwardParallel(const MlstmTruthHead<Real>& head, const MlstmTruth<Real>& out) {
  const auto start = head.first();
  const std::int64_t final = head.tokens - 1;
  head.forEachPair([&](std::int64_t t, std::int64_t s, Real decay) {
    const Real* q = head.q + t * head.keys;
    Real* numerator = out.numerator + t * head.values;
    if (s < 0) {
      addTransposed(head.scale() * decay, start.memory.data(), q, head.keys, head.values,
                    numerator);
      out.sum[t] += head.scale() * decay * dot(start.sum.data(), q, head.keys);
      if (t != final) return;
      for (std::int64_t i = 0; i < head.keys * head.values; ++i)
        out.memory[i] += decay * start.memory[static_cast<std::size_t>(i)];
      addScaled(decay, start.sum.data(), out.last, head.keys);
      return;
    }
    const Real *k = head.k + s * head.keys, *v = head.v + s * head.values;
    const Real score = head.scale() * dot(q, k, head.keys) * decay;
    addScaled(score, v, numerator, head.values);
    out.sum[t] += score;
    if (t != final) return;
    addOuter(k, head.keys, decay, v, head.values, out.memory);
    addScaled(decay, k, out.last, head.keys);
  });
}

/// Gradients of one head; g and d are those of numerators and sums.
template <class Real>
struct MlstmTruthSlopes {
  const Real *g, *d;
  Real *q, *k, *v, *memory, *sum;
};

template <class Real>
void backwardRecurrent(const MlstmTruthHead<Real>& head, const MlstmTruthSlopes<Real>& at) {
  const std::int64_t keys = head.keys, values = head.values;
  // Queries see the memory of their own time: once more through the sequence.
  auto state = head.first();
  for (std::int64_t t = 0; t < head.tokens; ++t) {
    head.take(t, state);
    addProduct(head.scale(), state.memory.data(), at.g + t * values, keys, values, at.q + t * keys);
    addScaled(head.scale() * at.d[t], state.sum.data(), at.q + t * keys, keys);
  }
  // The memory's gradient runs back through it.
  std::vector<Real> memory(static_cast<std::size_t>(keys * values)),
      sum(static_cast<std::size_t>(keys));
  for (std::int64_t t = head.tokens - 1; t >= 0; --t) {
    const Real *q = head.q + t * keys, *k = head.k + t * keys, *v = head.v + t * values;
    addOuter(q, keys, head.scale(), at.g + t * values, values, memory.data());
    addScaled(head.scale() * at.d[t], q, sum.data(), keys);
    addTransposed(head.input(t), memory.data(), k, keys, values, at.v + t * values);
    addProduct(head.input(t), memory.data(), v, keys, values, at.k + t * keys);
    addScaled(head.input(t), sum.data(), at.k + t * keys, keys);
    const Real kept = head.forget(t);
    for (Real& each : memory) each *= kept;
    for (Real& each : sum) each *= kept;
  }
  std::copy(memory.begin(), memory.end(), at.memory);
  std::copy(sum.begin(), sum.end(), at.sum);
}

template <class Real>
void backwardParallel(const MlstmTruthHead<Real>& head, const MlstmTruthSlopes<Real>& at) {
  const std::int64_t keys = head.keys, values = head.values;
  const auto start = head.first();
  head.forEachPair([&](std::int64_t t, std::int64_t s, Real decay) {
    const Real *q = head.q + t * keys, *g = at.g + t * values;
    const Real weight = head.scale() * decay;
    if (s < 0) {
      addProduct(weight, start.memory.data(), g, keys, values, at.q + t * keys);
      addScaled(weight * at.d[t], start.sum.data(), at.q + t * keys, keys);
      addOuter(q, keys, weight, g, values, at.memory);
      addScaled(weight * at.d[t], q, at.sum, keys);
      return;
    }
    const Real *k = head.k + s * keys, *v = head.v + s * values;
    const Real slope = weight * (dot(g, v, values) + at.d[t]);
    addScaled(weight * dot(q, k, keys), g, at.v + s * values, values);
    addScaled(slope, k, at.q + t * keys, keys);
    addScaled(slope, q, at.k + s * keys, keys);
  });
}

}  // namespace

MlstmSums mlstmForwardCpu(MlstmForm form, const MlstmCall& call) {
  const std::int64_t units = call.units(), tokens = call.tokens(), keys = call.keyWidth(),
                     values = call.valueWidth();
  MlstmSums out{at::zeros_like(call.v), at::zeros({units, tokens}, call.q.options()),
                at::zeros({units, keys, values}, call.q.options()),
                at::zeros({units, keys}, call.q.options())};
  AT_DISPATCH_FLOATING_TYPES(call.q.scalar_type(), "mlstmForwardCpu", [&] {
    forEachUnit(call, [&](std::int64_t u) {
      const MlstmTruth<scalar_t> to{
          out.numerator.mutable_data_ptr<scalar_t>() + u * tokens * values,
          out.sum.mutable_data_ptr<scalar_t>() + u * tokens,
          out.memory.mutable_data_ptr<scalar_t>() + u * keys * values,
          out.last.mutable_data_ptr<scalar_t>() + u * keys};
      const MlstmTruthHead<scalar_t> head(call, u);
      form == MlstmForm::Recurrent ? forwardRecurrent(head, to) : forwardParallel(head, to);
    });
  });
  return out;
}

MlstmGradients mlstmBackwardCpu(MlstmForm form, const MlstmCall& call, const at::Tensor& numerator,
                                const at::Tensor& sum) {
  const std::int64_t units = call.units(), tokens = call.tokens(), keys = call.keyWidth(),
                     values = call.valueWidth();
  MlstmGradients out{at::zeros_like(call.q), at::zeros_like(call.k), at::zeros_like(call.v),
                     at::zeros({units, keys, values}, call.q.options()),
                     at::zeros({units, keys}, call.q.options())};
  AT_DISPATCH_FLOATING_TYPES(call.q.scalar_type(), "mlstmBackwardCpu", [&] {
    forEachUnit(call, [&](std::int64_t u) {
      const MlstmTruthSlopes<scalar_t> at{
          numerator.const_data_ptr<scalar_t>() + u * tokens * values,
          sum.const_data_ptr<scalar_t>() + u * tokens,
          out.q.mutable_data_ptr<scalar_t>() + u * tokens * keys,
          out.k.mutable_data_ptr<scalar_t>() + u * tokens * keys,
          out.v.mutable_data_ptr<scalar_t>() + u * tokens * values,
          out.memory.mutable_data_ptr<scalar_t>() + u * keys * values,
          out.sum.mutable_data_ptr<scalar_t>() + u * keys};
      const MlstmTruthHead<scalar_t> head(call, u);
      form == MlstmForm::Recurrent ? backwardRecurrent(head, at) : backwardParallel(head, at);
    });
  });
  return out;
}

}  // namespace vitrine::kernels
