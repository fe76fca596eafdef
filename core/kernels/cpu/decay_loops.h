// Rows of scores under decay: what stands in the place of a softmax where the weights of pairs of
// tokens are known from gates.
#pragma once

#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/vectors.h"

namespace vitrine::cpu {
namespace {

/// Calls body(lanes, column, factor) along the keys of row `r`: first those of tiles before, then
/// those of its own tile up to itself.
template <class Body>
VITRINE_INLINE void walkDecay(const DecayRows& p, std::int64_t r, const Body& body) {
  const Vector before = all(p.row[r]), high = all(p.rowHigh[r]), low = all(p.rowLow[r]);
  walk(p.before,
       [&](auto lanes, std::int64_t c) { body(lanes, c, before * lanes.read(p.column + c)); });
  walk(r + 1, [&](auto lanes, std::int64_t c) {
    // The leading parts nearly cancel where a weight is worth having, and then without an error.
    const Vector exponent =
        (high + lanes.read(p.columnHigh + c)) + (low + lanes.read(p.columnLow + c));
    body(lanes, p.before + c, p.scale * expNegative(least(exponent, Vector{})));
  });
}

VITRINE_INLINE void clearAfter(const DecayRows& p, std::int64_t r, float* row) {
  for (std::int64_t c = p.before + r + 1; c < p.before + p.rows; ++c) row[c] = 0;
}

void decayRows(const DecayRows& p, float* products, float* sums) {
  for (std::int64_t r = 0; r < p.rows; ++r) {
    float* row = products + r * p.stride;
    Vector total = {};
    walkDecay(p, r, [&](auto lanes, std::int64_t c, Vector factor) {
      const Vector score = lanes.read(row + c) * factor;
      lanes.write(row + c, score);
      total += score;
    });
    sums[r] = sumOf(total);
    clearAfter(p, r, row);
  }
}

void decayRowsBackward(const DecayRows& p, const float* factors, const float* shifts,
                       float* slopes) {
  for (std::int64_t r = 0; r < p.rows; ++r) {
    float* row = slopes + r * p.stride;
    const Vector shift = all(shifts[r]), own = all(factors[r]);
    walkDecay(p, r, [&](auto lanes, std::int64_t c, Vector factor) {
      lanes.write(row + c, (own * lanes.read(row + c) + shift) * factor);
    });
    clearAfter(p, r, row);
  }
}

void scaleRows(std::int64_t rows, std::int64_t width, const float* x, std::int64_t stride,
               const float* factors, float* out, std::int64_t outStride) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const Vector factor = all(factors[r]);
    walk(width, [&](auto lanes, std::int64_t c) {
      lanes.write(out + r * outStride + c, factor * lanes.read(x + r * stride + c));
    });
  }
}

/// Half a vector's floats as doubles, in one conversion: of __builtin_convertvector the compiler
/// makes several of two floats each.
using Doubles = double __attribute__((vector_size(4 * VITRINE_LANES)));
VITRINE_INLINE Doubles doublesOf(const float* from) {
#if VITRINE_LANES == 16
  return reinterpret_cast<Doubles>(_mm512_maskz_cvtps_pd(0xFF, _mm256_loadu_ps(from)));
#elif VITRINE_LANES == 8
  return reinterpret_cast<Doubles>(_mm256_cvtps_pd(_mm_loadu_ps(from)));
#else
  return Doubles{from[0], from[1]};
#endif
}

double dotInDouble(std::int64_t count, const float* a, const float* b) {
  constexpr std::int64_t kHalf = kLanes / 2;
  const auto product = [&](std::int64_t c) { return doublesOf(a + c) * doublesOf(b + c); };
  Doubles low = {}, high = {};
  std::int64_t c = 0;
  for (; c + kLanes <= count; c += kLanes) low += product(c), high += product(c + kHalf);
  low += high;
  double sum = 0;
  for (; c < count; ++c) sum += static_cast<double>(a[c]) * b[c];
  for (std::int64_t i = 0; i < kHalf; ++i) sum += low[i];
  return sum;
}

/// The next four rows are fetched meanwhile: what reads a whole map once waits for memory alone.
void dotRows(std::int64_t count, const float* x, std::int64_t rows, const float* map,
             std::int64_t stride, float* sums) {
  constexpr int kTogether = 4;
  std::int64_t r = 0;
  for (; r + kTogether <= rows; r += kTogether, map += kTogether * stride) {
    Vector totals[kTogether] = {};
    walk(count, [&](auto lanes, std::int64_t c) {
      const Vector factor = lanes.read(x + c);
#pragma GCC unroll 4
      for (int i = 0; i < kTogether; ++i) {
        const float* at = map + i * stride + c;
        __builtin_prefetch(at + kTogether * stride);
        totals[i] += factor * lanes.read(at);
      }
    });
#pragma GCC unroll 4
    for (int i = 0; i < kTogether; ++i) sums[r + i] = sumOf(totals[i]);
  }
  for (; r < rows; ++r, map += stride) {
    Vector total = {};
    walk(count,
         [&](auto lanes, std::int64_t c) { total += lanes.read(x + c) * lanes.read(map + c); });
    sums[r] = sumOf(total);
  }
}

}  // namespace
}  // namespace vitrine::cpu
