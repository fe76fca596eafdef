// The one door of the CUDA module: from tensors to launchers. Of LibTorch only c10/cuda: ATen/cuda
// needs the headers of every CUDA library.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <string>

#include "core/base/error.h"
#include "core/kernels/cuda_module.h"
#include "core/kernels/launch.cuh"
#include "core/kernels/mlstm_forms.h"
#include "core/kernels/mlstm_launch.h"
#include "core/kernels/mlstm_walk.h"
#include "core/kernels/rope_launch.h"

namespace vitrine::kernels {

namespace {

Scalar scalarOf(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kDouble:
      return Scalar::Float64;
    case at::kFloat:
      return Scalar::Float32;
    case at::kBFloat16:
      return Scalar::BFloat16;
    case at::kHalf:
      return Scalar::Float16;
    default:
      TORCH_CHECK(false, "no CUDA kernel for ", tensor.dtype());
  }
}

/// A channel pair is loaded as one word: odd strides or an odd offset would misalign it.
at::Tensor pairAligned(const at::Tensor& x) {
  const bool isAligned = x.stride(0) % 2 == 0 && x.stride(1) % 2 == 0 && x.stride(2) % 2 == 0 &&
                         x.storage_offset() % 2 == 0;
  return isAligned ? x : x.clone(at::MemoryFormat::Contiguous);
}

RopeTensor ropeTensor(const at::Tensor& in, at::Tensor& out) {
  return {in.const_data_ptr(), out.mutable_data_ptr(), in.stride(0), in.stride(1), in.stride(2)};
}

void ropePairCuda(const at::Tensor& q, const at::Tensor& k, const at::Tensor& angles,
                  at::Tensor& qOut, at::Tensor& kOut, Turn turn) {
  const c10::cuda::CUDAGuard guard(q.device());
  const auto real = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor table = angles.to(real).contiguous();
  const at::Tensor alignedQ = pairAligned(q), alignedK = pairAligned(k);
  const RopeShape shape{q.size(0), q.size(1), q.size(2), q.size(3) / 2};
  C10_CUDA_CHECK(launchRopePair(scalarOf(q), ropeTensor(alignedQ, qOut), ropeTensor(alignedK, kOut),
                                shape, table.const_data_ptr(), turn == Turn::Forward ? 1 : -1,
                                c10::cuda::getCurrentCUDAStream()));
}

void mlstmWalkCuda(const MlstmWalk& walk) {
  const c10::cuda::CUDAGuard guard(walk.x.device());
  MlstmWalkArrays arrays{.isForwards = walk.direction == WalkDirection::Forwards};
  arrays.units = walk.x.size(0), arrays.tokens = walk.x.size(1);
  arrays.inner = walk.x.size(2), arrays.outer = walk.z.size(2);
  arrays.tile = walk.tile, arrays.scale = walk.scale;
  arrays.x = walk.x.const_data_ptr(), arrays.y = walk.y.const_data_ptr();
  arrays.z = walk.z.const_data_ptr();
  arrays.rowLog = walk.rowLog.const_data_ptr<double>();
  arrays.columnLog = walk.columnLog.const_data_ptr<double>();
  arrays.row = walk.row.const_data_ptr(), arrays.column = walk.column.const_data_ptr();
  arrays.decay = walk.decay.const_data_ptr();
  arrays.state = walk.state.mutable_data_ptr(), arrays.out = walk.out.mutable_data_ptr();
  const cudaError_t status =
      launchMlstmWalk(scalarOf(walk.x), arrays, c10::cuda::getCurrentCUDAStream());
  if (status == cudaErrorInvalidValue) {
    (void)launchStatus();  // told here, not by the next call
    throw Error(
        "an mLSTM head of " + std::to_string(arrays.inner) +
        " channels does not fit the shared memory of this GPU; take more heads, or the CPU");
  }
  C10_CUDA_CHECK(status);
}

GateScanArrays scanArrays(const MlstmCall& call) {
  return {.units = call.units(),
          .scan = {call.tokens(), call.tile, call.logForget.const_data_ptr<double>(),
                   call.logInput.const_data_ptr<double>(), 0},
          .start = call.start.const_data_ptr<double>()};
}

void scanGatesCuda(MlstmCall& call) {
  const c10::cuda::CUDAGuard guard(call.q.device());
  C10_CUDA_CHECK(launchScanGates(scanArrays(call), call.local.mutable_data_ptr<double>(),
                                 call.stabiliser.mutable_data_ptr<double>(),
                                 c10::cuda::getCurrentCUDAStream()));
}

void scanGatesBackCuda(const MlstmCall& call, const at::Tensor& rows, const at::Tensor& columns,
                       const at::Tensor& stabilisers, MlstmGateGradients& out) {
  const c10::cuda::CUDAGuard guard(call.q.device());
  const GateScanBackArrays arrays{
      call.stabiliser.const_data_ptr<double>(), rows.const_data_ptr<double>(),
      columns.const_data_ptr<double>(),
      stabilisers.defined() ? stabilisers.const_data_ptr<double>() : nullptr,
      out.logForget.mutable_data_ptr<double>(), out.logInput.mutable_data_ptr<double>(),
      out.start.mutable_data_ptr<double>()};
  C10_CUDA_CHECK(
      launchScanGatesBack(scanArrays(call), arrays, c10::cuda::getCurrentCUDAStream()));
}

int deviceCountCuda() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

}  // namespace

}  // namespace vitrine::kernels

extern "C" __attribute__((visibility("default"))) const vitrine::kernels::CudaKernels*
vitrine_cuda_kernels() {
  static const vitrine::kernels::CudaKernels kernels{
      &vitrine::kernels::ropePairCuda, &vitrine::kernels::mlstmWalkCuda,
      &vitrine::kernels::scanGatesCuda, &vitrine::kernels::scanGatesBackCuda,
      &vitrine::kernels::deviceCountCuda};
  return &kernels;
}
