// RoPE on q and k in one launch. Bound by memory: each element is read once and written once, an
// angle is read from cache by every (batch, head) that shares its token.
//
// One thread turns one channel pair; threads of a warp walk along the head width and then over
// tokens, so loads and stores are coalesced for every head width. grid.y picks the tensor: 0 is q,
// 1 is k.
#include "core/kernels/launch.cuh"
#include "core/kernels/rope_launch.h"

namespace vitrine::kernels {

namespace {

template <class T>
struct Pair;  // two neighbouring elements, loaded and stored as one word
template <>
struct Pair<double> {
  using Word = double2;
  using Real = double;
  static __device__ void load(Word w, Real& a, Real& b) { a = w.x, b = w.y; }
  static __device__ Word make(Real a, Real b) { return make_double2(a, b); }
};
template <>
struct Pair<float> {
  using Word = float2;
  using Real = float;
  static __device__ void load(Word w, Real& a, Real& b) { a = w.x, b = w.y; }
  static __device__ Word make(Real a, Real b) { return make_float2(a, b); }
};
template <>
struct Pair<__nv_bfloat16> {
  using Word = __nv_bfloat162;
  using Real = float;
  static __device__ void load(Word w, Real& a, Real& b) {
    a = __bfloat162float(w.x), b = __bfloat162float(w.y);
  }
  static __device__ Word make(Real a, Real b) { return __floats2bfloat162_rn(a, b); }
};
template <>
struct Pair<__half> {
  using Word = __half2;
  using Real = float;
  static __device__ void load(Word w, Real& a, Real& b) {
    a = __half2float(w.x), b = __half2float(w.y);
  }
  static __device__ Word make(Real a, Real b) { return __floats2half2_rn(a, b); }
};

__device__ void sineCosine(float angle, float* s, float* c) { sincosf(angle, s, c); }
__device__ void sineCosine(double angle, double* s, double* c) { sincos(angle, s, c); }

template <class T>
__global__ void ropePairKernel(RopeTensor q, RopeTensor k, RopeShape shape,
                               const typename Pair<T>::Real* angles, int sign) {
  using Word = typename Pair<T>::Word;
  using Real = typename Pair<T>::Real;
  const RopeTensor tensor = blockIdx.y == 0 ? q : k;
  const std::int64_t count = shape.batch * shape.heads * shape.tokens * shape.pairs;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const std::int64_t m = i % shape.pairs;
    const std::int64_t token = i / shape.pairs % shape.tokens;
    const std::int64_t row = i / (shape.pairs * shape.tokens);
    const std::int64_t head = row % shape.heads, batch = row / shape.heads;
    const T* in = static_cast<const T*>(tensor.in) + batch * tensor.batchStride +
                  head * tensor.headStride + token * tensor.tokenStride;
    Real a, b, s, c;
    Pair<T>::load(reinterpret_cast<const Word*>(in)[m], a, b);
    sineCosine(angles[token * shape.pairs + m], &s, &c);
    s *= sign;
    reinterpret_cast<Word*>(tensor.out)[i] = Pair<T>::make(a * c - b * s, a * s + b * c);
  }
}

template <class T>
cudaError_t launch(const RopeTensor& q, const RopeTensor& k, const RopeShape& shape,
                   const void* angles, int sign, cudaStream_t stream) {
  const std::int64_t count = shape.batch * shape.heads * shape.tokens * shape.pairs;
  if (count == 0) return cudaSuccess;
  constexpr int kThreads = 256;
  constexpr std::int64_t kMostBlocks = 65536;
  const std::int64_t blocks = (count + kThreads - 1) / kThreads;
  const dim3 grid(static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks), 2);
  ropePairKernel<T><<<grid, kThreads, 0, stream>>>(
      q, k, shape, static_cast<const typename Pair<T>::Real*>(angles), sign);
  return launchStatus();
}

}  // namespace

cudaError_t launchRopePair(Scalar scalar, const RopeTensor& q, const RopeTensor& k,
                           const RopeShape& shape, const void* angles, int sign,
                           cudaStream_t stream) {
  switch (scalar) {
    case Scalar::Float64:
      return launch<double>(q, k, shape, angles, sign, stream);
    case Scalar::Float32:
      return launch<float>(q, k, shape, angles, sign, stream);
    case Scalar::BFloat16:
      return launch<__nv_bfloat16>(q, k, shape, angles, sign, stream);
    case Scalar::Float16:
      return launch<__half>(q, k, shape, angles, sign, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace vitrine::kernels
