// Maps that mix channels in groups of four. A weight is held as a wheel: wheel[d][c] is what
// channel c takes of channel c ^ d, its d-th neighbour within the group.
#pragma once

#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/vectors.h"

namespace vitrine::cpu {
namespace {

template <int kBy, int... kIndex>
VITRINE_INLINE Vector neighbours(Vector v, std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(v, v, (kIndex ^ kBy)...);
}

void mixGroups(const GroupRows& p, const float* wheel, const float* bias, float* out) {
  constexpr Indices kAll;
  walk(p.width, [&](auto lanes, std::int64_t c) {
    const Vector w0 = lanes.read(wheel + c), w1 = lanes.read(wheel + p.width + c),
                 w2 = lanes.read(wheel + 2 * p.width + c), w3 = lanes.read(wheel + 3 * p.width + c);
    const Vector start = bias == nullptr ? Vector{} : lanes.read(bias + c);
    for (std::int64_t r = 0; r < p.rows; ++r) {
      const Vector v = lanes.read(p.x + r * p.stride + c);
      const Vector sum = start + w0 * v + w1 * neighbours<1>(v, kAll) +
                         w2 * neighbours<2>(v, kAll) + w3 * neighbours<3>(v, kAll);
      lanes.write(out + r * p.width + c, sum);
    }
  });
}

void mixGroupsBackward(const GroupRows& p, const float* gradient, float* wheel, float* bias) {
  constexpr Indices kAll;
  walk(p.width, [&](auto lanes, std::int64_t c) {
    Vector w0 = {}, w1 = {}, w2 = {}, w3 = {}, sum = {};
    for (std::int64_t r = 0; r < p.rows; ++r) {
      const Vector v = lanes.read(p.x + r * p.stride + c),
                   g = lanes.read(gradient + r * p.width + c);
      w0 += g * v;
      w1 += g * neighbours<1>(v, kAll);
      w2 += g * neighbours<2>(v, kAll);
      w3 += g * neighbours<3>(v, kAll);
      sum += g;
    }
    lanes.write(wheel + c, w0);
    lanes.write(wheel + p.width + c, w1);
    lanes.write(wheel + 2 * p.width + c, w2);
    lanes.write(wheel + 3 * p.width + c, w3);
    lanes.write(bias + c, sum);
  });
}

}  // namespace
}  // namespace vitrine::cpu
