#include "core/kernels/mlstm_forms.h"

#include <ATen/ATen.h>

#include "core/base/error.h"
#include "core/kernels/cpu/mlstm/gates.h"
#include "core/kernels/cuda_module.h"
#include "core/kernels/mlstm_walk.h"

namespace vitrine::kernels {

namespace {

const CudaKernels& cudaFor(const at::Tensor& tensor) {
  std::string why;
  const CudaKernels* cuda = cudaKernels(&why);
  if (cuda == nullptr || !tensor.is_cuda())
    throw Error("the mLSTM cell has no kernel for " + tensor.device().str() + ": " + why);
  return *cuda;
}

void runWalk(const MlstmWalk& walk) {
  if (walk.x.is_cpu()) return mlstmWalkCpu(walk);
  cudaFor(walk.x).mlstmWalk(walk);
}

GateScan scanOf(const MlstmCall& call, std::int64_t unit) {
  const std::int64_t tokens = call.tokens();
  return {tokens, call.tile, call.logForget.const_data_ptr<double>() + unit * tokens,
          call.logInput.const_data_ptr<double>() + unit * tokens,
          call.start.const_data_ptr<double>()[unit]};
}

/// One value per tile, that of its last token, and the same for the tile before: [units, tiles].
struct TileEnds {
  at::Tensor local, stabiliser, before;
};

TileEnds tileEnds(const MlstmCall& call) {
  const std::int64_t tokens = call.tokens(), tiles = (tokens + call.tile - 1) / call.tile;
  const at::Tensor last = at::arange(1, tiles + 1, call.local.options().dtype(at::kLong))
                              .mul(call.tile)
                              .clamp_max(tokens)
                              .sub(1);
  TileEnds ends{call.local.index_select(1, last), call.stabiliser.index_select(1, last), {}};
  ends.before = at::cat({call.start.unsqueeze(1), ends.stabiliser.narrow(1, 0, tiles - 1)}, 1);
  return ends;
}

/// What of a walk the gates decide.
MlstmWalk walkOf(const MlstmCall& call) {
  const std::int64_t tokens = call.tokens();
  const TileEnds ends = tileEnds(call);
  const auto perToken = [&](const at::Tensor& perTile) {
    return perTile.repeat_interleave(call.tile, 1).narrow(1, 0, tokens);
  };
  const auto type = call.q.scalar_type();
  MlstmWalk walk;
  walk.tile = call.tile;
  walk.scale = call.scale;
  walk.rowLog = (call.local - call.stabiliser).contiguous();
  walk.columnLog = (call.logInput - call.local).contiguous();
  walk.row = (walk.rowLog + perToken(ends.before)).exp().mul(call.scale).to(type).contiguous();
  walk.column =
      (walk.columnLog + perToken(ends.local - ends.stabiliser)).exp().to(type).contiguous();
  walk.decay = (ends.local + ends.before - ends.stabiliser).exp().to(type).contiguous();
  return walk;
}

at::Tensor withColumn(const at::Tensor& values, const at::Tensor& column) {
  return at::cat({values, column.unsqueeze(2)}, 2);
}
at::Tensor withOnes(const at::Tensor& values) {
  return withColumn(values, at::ones({values.size(0), values.size(1)}, values.options()));
}

/// \returns  the output; `state` becomes the last one
at::Tensor walked(MlstmWalk walk, WalkDirection direction, const at::Tensor& x, const at::Tensor& y,
                  const at::Tensor& z, at::Tensor& state) {
  walk.direction = direction;
  walk.x = x.contiguous();
  walk.y = y.contiguous();
  walk.z = z.contiguous();
  walk.state = state.defined() ? state.clone(at::MemoryFormat::Contiguous)
                               : at::zeros({x.size(0), x.size(2), z.size(2)}, x.options());
  walk.out = at::empty_like(walk.z, at::MemoryFormat::Contiguous);
  runWalk(walk);
  state = walk.state;
  return walk.out;
}

/// [C, n]
at::Tensor startOf(const MlstmCall& call) {
  return call.memory.defined() ? at::cat({call.memory, call.sum.unsqueeze(2)}, 2) : at::Tensor();
}

MlstmSums forwardByTiles(const MlstmCall& call) {
  at::Tensor state = startOf(call);
  const at::Tensor both =
      walked(walkOf(call), WalkDirection::Forwards, call.q, call.k, withOnes(call.v), state);
  const std::int64_t values = call.valueWidth();
  return {both.narrow(2, 0, values), both.select(2, values), state.narrow(2, 0, values),
          state.select(2, values)};
}

MlstmGradients backwardByTiles(const MlstmCall& call, const at::Tensor& numerator,
                               const at::Tensor& sum) {
  const MlstmWalk walk = walkOf(call);
  const at::Tensor slopes = withColumn(numerator, sum), values = withOnes(call.v);
  MlstmGradients out;
  at::Tensor state = startOf(call);
  if (state.defined()) state = state.transpose(1, 2);
  out.q = walked(walk, WalkDirection::Forwards, slopes, values, call.k, state);
  at::Tensor memory, memoryOfSums;
  out.v = walked(walk, WalkDirection::Backwards, call.k, call.q, numerator, memory);
  out.k = walked(walk, WalkDirection::Backwards, values, slopes, call.q, memoryOfSums);
  out.memory = memory;
  out.sum = memoryOfSums.select(1, call.valueWidth());
  return out;
}

}  // namespace

void scanGatesOf(MlstmCall& call) {
  call.local = at::empty_like(call.logForget);
  call.stabiliser = at::empty_like(call.logForget);
  if (!call.q.is_cpu()) return cudaFor(call.q).scanGates(call);
  double *local = call.local.mutable_data_ptr<double>(),
         *stabiliser = call.stabiliser.mutable_data_ptr<double>();
  forEachUnit(call, [&](std::int64_t unit) {
    const std::int64_t at = unit * call.tokens();
    scanGates(scanOf(call, unit), local + at, stabiliser + at);
  });
}

MlstmGateGradients mlstmGateGradients(const MlstmCall& call, const at::Tensor& rows,
                                      const at::Tensor& columns, const at::Tensor& stabilisers) {
  MlstmGateGradients out{at::empty_like(call.logForget), at::empty_like(call.logInput),
                         at::zeros_like(call.start)};
  if (!call.q.is_cpu()) {
    cudaFor(call.q).scanGatesBack(call, rows, columns, stabilisers, out);
    return out;
  }
  forEachUnit(call, [&](std::int64_t unit) {
    const std::int64_t at = unit * call.tokens();
    out.start.mutable_data_ptr<double>()[unit] =
        scanGatesBack(scanOf(call, unit), call.stabiliser.const_data_ptr<double>() + at,
                      rows.const_data_ptr<double>() + at, columns.const_data_ptr<double>() + at,
                      stabilisers.defined() ? stabilisers.const_data_ptr<double>() + at : nullptr,
                      out.logForget.mutable_data_ptr<double>() + at,
                      out.logInput.mutable_data_ptr<double>() + at);
  });
  return out;
}

MlstmSums mlstmForward(MlstmForm form, const MlstmCall& call) {
  return form == MlstmForm::Chunkwise ? forwardByTiles(call) : mlstmForwardCpu(form, call);
}
MlstmGradients mlstmBackward(MlstmForm form, const MlstmCall& call, const at::Tensor& numerator,
                             const at::Tensor& sum) {
  return form == MlstmForm::Chunkwise ? backwardByTiles(call, numerator, sum)
                                      : mlstmBackwardCpu(form, call, numerator, sum);
}

}  // namespace vitrine::kernels
