// The rows of attention: softmax, its gradient, and rotary positions.
#pragma once

#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/vectors.h"

namespace vitrine::cpu {
namespace {

// Rows of logits and slopes may be read and written as whole vectors; what lies after the last key
// counts nowhere.
static_assert(kScoreStep % kLanes == 0);

/// Plain products of one row become logits; columns after the last key are left with nothing.
/// \returns  the largest
VITRINE_INLINE float scaleRow(const ScoreRows& p, const float* mask, float* row) {
  Vector largest = all(-__builtin_inff());
  const auto take = [&](auto lanes, std::int64_t j, Bits isKey) {
    Vector logit = WholeVector{}.read(row + j) * p.scale;
    if (mask != nullptr) logit += lanes.read(mask + j);
    logit = isKey ? logit : all(-__builtin_inff());
    WholeVector{}.write(row + j, logit);
    largest = most(largest, logit);
  };
  for (std::int64_t j = 0; j < p.stride; j += kLanes) {
    const std::int64_t left = p.keys - j;
    if (left >= kLanes) {
      take(WholeVector{}, j, firstLanes(kLanes));
    } else {
      take(PartOfVector{left < 0 ? 0 : left}, j, firstLanes(left));
    }
  }
  return largestOf(largest);
}

void softmaxRows(const ScoreRows& p, float* logits, float* probabilities) {
  const WholeVector whole;
  for (std::int64_t i = 0; i < p.queries; ++i) {
    float* row = logits + i * p.stride;
    const float largest =
        scaleRow(p, p.additive == nullptr ? nullptr : p.additive + i * p.keys, row);
    Vector sums = {};
    for (std::int64_t j = 0; j < p.stride; j += kLanes) {
      const Vector e = expNegative(whole.read(row + j) - largest);
      whole.write(row + j, e);
      sums += e;
    }
    const float inverse = 1 / sumOf(sums);
    float* out = probabilities + i * p.keys;
    if (p.multiplicative == nullptr) {
      walk(p.keys, [&](auto lanes, std::int64_t j) {
        lanes.write(out + j, whole.read(row + j) * inverse);
      });
    } else {
      const float* mask = p.multiplicative + i * p.keys;
      walk(p.keys, [&](auto lanes, std::int64_t j) {
        const Vector probability = whole.read(row + j) * inverse;
        lanes.write(out + j, probability);
        whole.write(row + j, probability * lanes.read(mask + j));
      });
    }
  }
}

void slopeRows(const ScoreRows& p, const float* probabilities, float* slopes, float* weights) {
  const WholeVector whole;
  for (std::int64_t i = 0; i < p.queries; ++i) {
    const float* row = probabilities + i * p.keys;
    float* slope = slopes + i * p.stride;
    if (p.multiplicative != nullptr) {
      const float* mask = p.multiplicative + i * p.keys;
      float* weight = weights + i * p.keys;
      walk(p.keys, [&](auto lanes, std::int64_t j) {
        const Vector factor = lanes.read(mask + j);
        lanes.write(weight + j, lanes.read(row + j) * factor);
        whole.write(slope + j, whole.read(slope + j) * factor);
      });
    }
    Vector sums = {};
    walk(p.keys,
         [&](auto lanes, std::int64_t j) { sums += lanes.read(row + j) * lanes.read(slope + j); });
    const float mean = sumOf(sums);
    walk(p.keys, [&](auto lanes, std::int64_t j) {
      whole.write(slope + j, lanes.read(row + j) * (whole.read(slope + j) - mean) * p.scale);
    });
  }
}

// In a form that compilers turn into vector code: pairs have to change places.

void turnRow(const float* in, const float* cosine, const float* sine, float direction,
             std::int64_t pairs, float* out) {
  for (std::int64_t m = 0; m < pairs; ++m) {
    const float a = in[2 * m], b = in[2 * m + 1], s = direction * sine[m];
    out[2 * m] = a * cosine[m] - b * s;
    out[2 * m + 1] = a * s + b * cosine[m];
  }
}

void turnHalves(const float* in, const float* cosine, const float* sine, float direction,
                std::int64_t pairs, float* out) {
  walk(pairs, [&](auto lanes, std::int64_t m) {
    const Vector a = lanes.read(in + m), b = lanes.read(in + pairs + m);
    const Vector c = lanes.read(cosine + m), s = direction * lanes.read(sine + m);
    lanes.write(out + m, a * c - b * s);
    lanes.write(out + pairs + m, a * s + b * c);
  });
}

VITRINE_INLINE float floatOf(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// A float's bits rounded to the nearest bfloat16, in the upper half; ties go to even.
VITRINE_INLINE std::uint32_t rounded(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t near = bits + 0x7FFFU + ((bits >> 16U) & 1U);
  return ((bits & 0x7FFFFFFFU) > 0x7F800000U ? 0x7FC00000U : near) & 0xFFFF0000U;
}

void turnWords(const BFloat16Pair* in, const float* cosine, const float* sine, std::int64_t pairs,
               BFloat16Pair* out) {
  for (std::int64_t m = 0; m < pairs; ++m) {
    const float a = floatOf(in[m] << 16U), b = floatOf(in[m] & 0xFFFF0000U);
    out[m] = rounded(a * cosine[m] - b * sine[m]) >> 16U | rounded(a * sine[m] + b * cosine[m]);
  }
}

}  // namespace
}  // namespace vitrine::cpu
