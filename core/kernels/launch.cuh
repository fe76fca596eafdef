// How kernels are launched: raw pointers and an explicit stream, so that .cu files need no LibTorch
// header.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace vitrine::kernels {

enum class Scalar { Float64, Float32, BFloat16, Float16 };

/// The first error of launches so far, or cudaSuccess.
inline cudaError_t launchStatus() { return cudaGetLastError(); }

}  // namespace vitrine::kernels
