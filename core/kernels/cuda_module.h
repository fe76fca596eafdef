// The CUDA half of the engine: a module of its own that is loaded when a run first asks for a GPU.
//
// A process that stays on the CPU never maps the 350 MB of CUDA libraries and starts in two thirds
// of the time. The module brings LibTorch's CUDA back end with it, and must be loaded before
// anything else asks LibTorch about CUDA.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "core/engine_export.h"
#include "core/kernels/rope.h"

namespace vitrine::kernels {

struct MlstmWalk;
struct MlstmCall;
struct MlstmGateGradients;

/// Functions of the module; all use the current CUDA stream.
struct CudaKernels {
  /// Turns q and k into `qOut` and `kOut` (contiguous, allocated). Shapes are checked by the
  /// caller; head width dense.
  void (*ropePair)(const at::Tensor& q, const at::Tensor& k, const at::Tensor& angles,
                   at::Tensor& qOut, at::Tensor& kOut, Turn turn);
  /// The loop of mlstm_walk.h, float32 or float64. \pre walk.tile <= 32
  void (*mlstmWalk)(const MlstmWalk& walk);
  /// Fills `local` and `stabiliser` of the call (allocated).
  void (*scanGates)(MlstmCall& call);
  /// Fills `out` (allocated); `stabilisers` may be undefined.
  void (*scanGatesBack)(const MlstmCall& call, const at::Tensor& rows, const at::Tensor& columns,
                        const at::Tensor& stabilisers, MlstmGateGradients& out);
  /// Number of devices, 0 when the driver reports none.
  int (*deviceCount)();
};

/// Loads the module once; nullptr when it cannot be had. Thread-safe.
/// \param why  receives one sentence when the answer is nullptr: no driver, built without CUDA, no
/// device
[[nodiscard]] VITRINE_ENGINE_EXPORT const CudaKernels* cudaKernels(std::string* why = nullptr);

}  // namespace vitrine::kernels
