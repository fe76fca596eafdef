#include "core/kernels/cpu/mlstm/cell.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <limits>

#include "core/kernels/cpu/mlstm/head.h"

namespace vitrine::cpu {

namespace {

using kernels::MlstmOutput;

/// [batch, heads, tokens, width] with heads next to each other in memory, as projections have them.
at::Tensor headsInRows(const at::Tensor& like, std::int64_t width) {
  const std::int64_t heads = like.size(1), tokens = like.size(2);
  return at::empty_strided({like.size(0), heads, tokens, width},
                           {heads * tokens * width, width, heads * width, 1}, like.options());
}

MlstmShape shapeOf(const MlstmCellCall& call) {
  MlstmShape p;
  p.tokens = call.q.size(2);
  p.keyWidth = call.q.size(3);
  p.valueWidth = call.v.size(3);
  p.queryStride = call.q.stride(2);
  p.keyStride = call.k.stride(2);
  p.valueStride = call.v.stride(2);
  p.outStride = call.q.size(1) * p.valueWidth;
  p.chunk = std::min(call.options.chunk, p.tokens);
  p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(p.keyWidth)));
  p.eps = call.options.eps;
  p.isBounded = call.options.normaliser == kernels::Normaliser::Bounded;
  p.isExact = call.options.normaliserGradient == kernels::NormaliserGradient::Exact;
  p.keepsState = call.options.lastState == kernels::LastState::Keep;
  return p;
}

float* writable(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.mutable_data_ptr<float>() : nullptr;
}
const float* readable(const at::Tensor& tensor, std::int64_t places) {
  return tensor.defined() ? tensor.const_data_ptr<float>() + places : nullptr;
}

/// Where head h of sample b begins.
struct HeadPlace {
  std::int64_t b, h, unit;
  HeadPlace(std::int64_t index, std::int64_t heads)
      : b(index / heads), h(index % heads), unit(index) {}
  [[nodiscard]] const float* of(const at::Tensor& tensor) const {
    return tensor.const_data_ptr<float>() + b * tensor.stride(0) + h * tensor.stride(1);
  }
  [[nodiscard]] float* in(const at::Tensor& tensor) const {
    return tensor.mutable_data_ptr<float>() + b * tensor.stride(0) + h * tensor.stride(1);
  }
};

MlstmRows rowsOf(const MlstmCellCall& call, const HeadPlace& at, const MlstmShape& p) {
  MlstmRows rows;
  rows.query = at.of(call.q);
  rows.key = at.of(call.k);
  rows.value = at.of(call.v);
  rows.logInput = call.logInput.const_data_ptr<double>() + at.unit * p.tokens;
  rows.logForget = call.logForget.const_data_ptr<double>() + at.unit * p.tokens;
  rows.memory = readable(call.start.memory, at.unit * p.keyWidth * p.valueWidth);
  rows.sum = readable(call.start.sum, at.unit * p.keyWidth);
  rows.start = call.start.memory.defined() ? call.start.stabiliser.const_data_ptr<double>()[at.unit]
                                           : -std::numeric_limits<double>::infinity();
  return rows;
}

/// Heads are independent of each other: results do not depend on which thread takes which.
template <class Body>
void forEachHead(const MlstmCellCall& call, const MlstmShape& p, const Body& body) {
  const std::int64_t heads = call.q.size(1);
  at::parallel_for(0, call.q.size(0) * heads, 1, [&](std::int64_t begin, std::int64_t end) {
    MlstmHead head(p);
    for (std::int64_t i = begin; i < end; ++i) body(head, HeadPlace(i, heads));
  });
}

}  // namespace

MlstmOutput mlstmForward(const MlstmCellCall& call, at::Tensor* scores) {
  const MlstmShape p = shapeOf(call);
  const std::int64_t batch = call.q.size(0), heads = call.q.size(1);
  MlstmOutput out{.h = headsInRows(call.v, p.valueWidth),
                  .stabiliser = at::empty({batch, heads, p.tokens}, call.q.options())};
  out.signedSum = at::empty_like(out.stabiliser);
  if (p.keepsState) {
    out.last.memory = at::empty({batch, heads, p.keyWidth, p.valueWidth}, call.q.options());
    out.last.sum = at::empty({batch, heads, p.keyWidth}, call.q.options());
  }
  const std::int64_t stride = p.scoreStride();
  float *memory = writable(out.last.memory), *sum = writable(out.last.sum), *kept = nullptr;
  if (scores != nullptr) {
    *scores = at::empty({batch, heads, p.tokens, stride}, call.q.options());
    kept = writable(*scores);
  }
  forEachHead(call, p, [&](MlstmHead& head, const HeadPlace& at) {
    MlstmResults to{at.in(out.h), writable(out.stabiliser) + at.unit * p.tokens,
                    writable(out.signedSum) + at.unit * p.tokens};
    if (kept != nullptr) to.scores = kept + at.unit * p.tokens * stride;
    if (p.keepsState) {
      to.memory = memory + at.unit * p.keyWidth * p.valueWidth;
      to.sum = sum + at.unit * p.keyWidth;
    }
    head.forward(rowsOf(call, at, p), to);
  });
  if (p.keepsState) out.last.stabiliser = out.stabiliser.select(2, p.tokens - 1).clone();
  return out;
}

MlstmCellGradients mlstmBackward(const MlstmCellCall& call, const MlstmKept& kept,
                                 const at::Tensor& slope) {
  const MlstmShape p = shapeOf(call);
  at::Tensor slopes = headsInRows(call.v, p.valueWidth);
  if (slope.strides() == slopes.strides()) {
    slopes = slope;
  } else {
    slopes.copy_(slope);
  }
  // Dense rows of one head: products add to them many times over.
  MlstmCellGradients out{at::empty_like(call.q, at::MemoryFormat::Contiguous),
                         at::empty_like(call.k, at::MemoryFormat::Contiguous),
                         at::empty_like(call.v, at::MemoryFormat::Contiguous),
                         at::empty_like(call.logInput),
                         at::empty_like(call.logForget),
                         {}};
  if (call.start.memory.defined()) {
    out.start = {at::empty_like(call.start.memory), at::empty_like(call.start.sum),
                 at::empty_like(call.start.stabiliser)};
  }
  double* logInput = out.logInput.mutable_data_ptr<double>();
  double* logForget = out.logForget.mutable_data_ptr<double>();
  forEachHead(call, p, [&](MlstmHead& head, const HeadPlace& at) {
    MlstmSlopes to{};
    to.h = at.of(kept.h);
    to.signedSum = kept.signedSum.const_data_ptr<float>() + at.unit * p.tokens;
    to.scores = kept.scores.const_data_ptr<float>() + at.unit * p.tokens * p.scoreStride();
    to.slope = at.of(slopes);
    to.query = at.in(out.q);
    to.key = at.in(out.k);
    to.value = at.in(out.v);
    to.logInput = logInput + at.unit * p.tokens;
    to.logForget = logForget + at.unit * p.tokens;
    if (out.start.memory.defined()) {
      to.memory = out.start.memory.mutable_data_ptr<float>() + at.unit * p.keyWidth * p.valueWidth;
      to.sum = out.start.sum.mutable_data_ptr<float>() + at.unit * p.keyWidth;
      to.start = out.start.stabiliser.mutable_data_ptr<double>() + at.unit;
    }
    head.backward(rowsOf(call, at, p), to);
  });
  return out;
}

}  // namespace vitrine::cpu
