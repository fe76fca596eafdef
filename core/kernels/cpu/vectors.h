// The vectors of one path, as wide as VITRINE_LANES says. Included once, by a file of that path.
#pragma once

#if VITRINE_LANES > 4
#include <immintrin.h>
#endif

#include <cstdint>
#include <utility>

#define VITRINE_INLINE inline __attribute__((always_inline))

namespace vitrine::cpu {
namespace {

constexpr std::int64_t kLanes = VITRINE_LANES;
/// Columns of a panel of a right factor.
constexpr std::int64_t kPanel = 2 * kLanes;
/// kLanes floats, anywhere in memory.
using Vector = float __attribute__((vector_size(4 * VITRINE_LANES), aligned(4), may_alias));
using Bits = std::int32_t __attribute__((vector_size(4 * VITRINE_LANES), aligned(4), may_alias));

VITRINE_INLINE Vector all(float value) { return value - Vector{}; }
VITRINE_INLINE Vector least(Vector a, Vector b) { return a < b ? a : b; }
VITRINE_INLINE Vector most(Vector a, Vector b) { return a > b ? a : b; }
VITRINE_INLINE Vector magnitude(Vector v) {
  return reinterpret_cast<Vector>(reinterpret_cast<Bits>(v) & 0x7FFFFFFF);
}

using Indices = std::make_integer_sequence<int, VITRINE_LANES>;

template <int kBy, int... kIndex>
VITRINE_INLINE Vector rotated(Vector v, std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(v, v, ((kIndex + kBy) % VITRINE_LANES)...);
}
/// The sum of all lanes, and the largest of them, by halves.
template <int kHalf = VITRINE_LANES / 2>
VITRINE_INLINE float sumOf(Vector v) {
  v += rotated<kHalf>(v, Indices());
  if constexpr (kHalf > 1) return sumOf<kHalf / 2>(v);
  return v[0];
}
template <int kHalf = VITRINE_LANES / 2>
VITRINE_INLINE float largestOf(Vector v) {
  v = most(v, rotated<kHalf>(v, Indices()));
  if constexpr (kHalf > 1) return largestOf<kHalf / 2>(v);
  return v[0];
}

template <int... kIndex>
VITRINE_INLINE Bits countedLanes(std::integer_sequence<int, kIndex...>) {
  return Bits{kIndex...};
}
/// All bits set in the first `lanes` lanes.
VITRINE_INLINE Bits firstLanes(std::int64_t lanes) {
  return countedLanes(Indices()) < static_cast<std::int32_t>(lanes);
}

/// Reads and writes a whole vector.
struct WholeVector {
  VITRINE_INLINE Vector read(const float* from) const {
    return *reinterpret_cast<const Vector*>(from);
  }
  VITRINE_INLINE void write(float* to, Vector v) const { *reinterpret_cast<Vector*>(to) = v; }
};

/// Reads and writes the first lanes of a vector; the others are zero, and their memory is not
/// touched.
struct PartOfVector {
  std::int64_t lanes;
#if VITRINE_LANES == 16
  [[nodiscard]] VITRINE_INLINE __mmask16 mask() const {
    return static_cast<__mmask16>((1U << lanes) - 1U);
  }
  VITRINE_INLINE Vector read(const float* from) const {
    return reinterpret_cast<Vector>(_mm512_maskz_loadu_ps(mask(), from));
  }
  VITRINE_INLINE void write(float* to, Vector v) const {
    _mm512_mask_storeu_ps(to, mask(), reinterpret_cast<__m512>(v));
  }
#else
#if VITRINE_LANES == 8
  VITRINE_INLINE Vector read(const float* from) const {
    return reinterpret_cast<Vector>(
        _mm256_maskload_ps(from, reinterpret_cast<__m256i>(firstLanes(lanes))));
  }
#else
  VITRINE_INLINE Vector read(const float* from) const {
    float some[kLanes] = {};
    for (std::int64_t i = 0; i < lanes; ++i) some[i] = from[i];
    return *reinterpret_cast<const Vector*>(some);
  }
#endif
  // Not AVX2's masked store, which takes dozens of cycles on some processors.
  VITRINE_INLINE void write(float* to, Vector v) const {
#pragma GCC unroll 8
    for (int i = 0; i < kLanes; ++i) {
      if (i < lanes) to[i] = v[i];
    }
  }
#endif
};

/// Calls body(lanes, place) for each vector of `count` floats, the last with those that are left.
template <class Body>
VITRINE_INLINE void walk(std::int64_t count, const Body& body) {
  std::int64_t c = 0;
  for (; c + kLanes <= count; c += kLanes) body(WholeVector{}, c);
  if (c < count) body(PartOfVector{count - c}, c);
}

/// exp(x) for x <= 0, relative error below 2e-7; exactly 0 below -87, so that -inf leaves nothing
/// behind; NaN stays NaN.
VITRINE_INLINE Vector expNegative(Vector x) {
  const Vector clamped = x < -87.0F ? all(-87.0F) : x;
  // Rounds to nearest by adding 1.5 * 2^23.
  const Vector shifted = clamped * 1.44269504F + 12582912.0F;
  const Vector whole = shifted - 12582912.0F;
  const Vector rest = (clamped - whole * 0.693145752F) - whole * 1.42860677e-6F;
  Vector sum = rest * 1.9875691500e-4F + 1.3981999507e-3F;
  sum = sum * rest + 8.3334519073e-3F;
  sum = sum * rest + 4.1665795894e-2F;
  sum = sum * rest + 1.6666665459e-1F;
  sum = sum * rest + 5.0000001201e-1F;
  sum = sum * rest * rest + rest + 1.0F;
  const Bits exponent = (reinterpret_cast<Bits>(shifted) - 0x4B400000) << 23;
  const Vector value = reinterpret_cast<Vector>(reinterpret_cast<Bits>(sum) + exponent);
  return x < -87.0F ? Vector{} : (x == x ? value : x);
}

/// 1 / (1 + exp(-v))
VITRINE_INLINE Vector sigmoid(Vector v) {
  const Vector e = expNegative(-magnitude(v));
  return (v < 0.0F ? e : all(1.0F)) / (1.0F + e);
}

}  // namespace
}  // namespace vitrine::cpu
