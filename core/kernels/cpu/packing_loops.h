// Right factors as products read them: panels of two vectors' columns, row after row.
#pragma once

#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/vectors.h"

namespace vitrine::cpu {
namespace {

void packRows(const PanelSource& source, float* panel) {
  constexpr std::int64_t kAhead = 8;  // rows too far apart for the processor's guess
  for (std::int64_t k = 0; k < source.depth; ++k) {
    const float* row = source.from + k * source.stride;
    __builtin_prefetch(row + kAhead * source.stride);
    float* to = panel + k * kPanel;
    if (source.lanes == kPanel) {
      const WholeVector at;
      at.write(to, at.read(row));
      at.write(to + kLanes, at.read(row + kLanes));
    } else {
      for (std::int64_t j = 0; j < source.lanes; ++j) to[j] = row[j];
      for (std::int64_t j = source.lanes; j < kPanel; ++j) to[j] = 0;
    }
  }
}

/// Neighbours a[4g + 2 kHigh], a[4g + 2 kHigh + 1] and those of b, kStep floats of each in turn.
template <int kStep, int kHigh, int... kIndex>
VITRINE_INLINE Vector mixed(Vector a, Vector b, std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(
      a, b,
      (kIndex / 4 * 4 + 2 * kHigh + (kStep == 1 ? kIndex % 4 / 2 : kIndex % 2) +
       (kStep == 1 ? kIndex % 2 : kIndex % 4 / 2) * VITRINE_LANES)...);
}
/// Every second group of four floats of a and then of b.
template <int kOdd, int... kIndex>
VITRINE_INLINE Vector groups(Vector a, Vector b, std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(a, b, ((2 * (kIndex / 4) + kOdd) * 4 + kIndex % 4)...);
}

/// v[i][j] becomes v[j][i].
VITRINE_INLINE void transpose(Vector (&v)[kLanes]) {
  constexpr Indices kAll;
  Vector fours[kLanes];  // [group of four rows][column within four]: groups of four are turned
#pragma GCC unroll 4
  for (int g = 0; g < kLanes; g += 4) {
    const Vector low01 = mixed<1, 0>(v[g], v[g + 1], kAll),
                 high01 = mixed<1, 1>(v[g], v[g + 1], kAll),
                 low23 = mixed<1, 0>(v[g + 2], v[g + 3], kAll),
                 high23 = mixed<1, 1>(v[g + 2], v[g + 3], kAll);
    fours[g] = mixed<2, 0>(low01, low23, kAll);
    fours[g + 1] = mixed<2, 1>(low01, low23, kAll);
    fours[g + 2] = mixed<2, 0>(high01, high23, kAll);
    fours[g + 3] = mixed<2, 1>(high01, high23, kAll);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    if constexpr (kLanes == 4) {
      v[i] = fours[i];
    } else if constexpr (kLanes == 8) {
      v[i] = groups<0>(fours[i], fours[4 + i], kAll);
      v[4 + i] = groups<1>(fours[i], fours[4 + i], kAll);
    } else {
      const Vector even = groups<0>(fours[i], fours[4 + i], kAll),
                   odd = groups<1>(fours[i], fours[4 + i], kAll),
                   evenLater = groups<0>(fours[8 + i], fours[12 + i], kAll),
                   oddLater = groups<1>(fours[8 + i], fours[12 + i], kAll);
      v[i] = groups<0>(even, evenLater, kAll);
      v[4 + i] = groups<0>(odd, oddLater, kAll);
      v[8 + i] = groups<1>(even, evenLater, kAll);
      v[12 + i] = groups<1>(odd, oddLater, kAll);
    }
  }
}

void packColumns(const PanelSource& source, float* panel) {
  const WholeVector at;
  const std::int64_t whole = source.depth / kLanes * kLanes;
  for (std::int64_t first = 0; first < kPanel; first += kLanes) {
    const float* from = source.from + first * source.stride;
    const std::int64_t lanes = source.lanes - first;
    float* to = panel + first;
    for (std::int64_t k = 0; k < whole; k += kLanes) {
      Vector block[kLanes];
#pragma GCC unroll 16
      for (int j = 0; j < kLanes; ++j)
        block[j] = j < lanes ? at.read(from + j * source.stride + k) : Vector{};
      transpose(block);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) at.write(to + (k + i) * kPanel, block[i]);
    }
    for (std::int64_t k = whole; k < source.depth; ++k) {
      for (std::int64_t j = 0; j < kLanes; ++j)
        to[k * kPanel + j] = j < lanes ? from[j * source.stride + k] : 0;
    }
  }
}

}  // namespace
}  // namespace vitrine::cpu
