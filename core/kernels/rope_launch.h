// The launcher of rope.cu, as its caller sees it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace vitrine::kernels {

enum class Scalar;

/// One of the two tensors of a pair: [batch, heads, tokens, headDim] with strides in elements, head
/// width dense.
struct RopeTensor {
  const void* in = nullptr;
  void* out = nullptr;  ///< contiguous
  std::int64_t batchStride = 0, headStride = 0, tokenStride = 0;
};

struct RopeShape {
  std::int64_t batch = 0, heads = 0, tokens = 0, pairs = 0;  ///< pairs = headDim / 2
};

/// \param angles  [tokens, pairs] float32 (float64 for Scalar::Float64), contiguous, on the device
/// \param sign    1 forward, -1 backward
cudaError_t launchRopePair(Scalar scalar, const RopeTensor& q, const RopeTensor& k,
                           const RopeShape& shape, const void* angles, int sign,
                           cudaStream_t stream);

}  // namespace vitrine::kernels
