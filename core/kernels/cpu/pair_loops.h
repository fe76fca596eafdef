// Factors rounded to bfloat16, two neighbours along the depth in one word.
#pragma once

#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/vectors.h"

namespace vitrine::cpu {
namespace {

/// The upper half of a float's bits, rounded to nearest, ties to even; NaN stays NaN.
VITRINE_INLINE std::uint32_t roundedBits(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
  return (bits & 0x7FFFFFFFU) > 0x7F800000U ? 0x7FC0U : rounded;
}
VITRINE_INLINE float pairOf(float first, float second) {
  return __builtin_bit_cast(float, roundedBits(first) | (roundedBits(second) << 16U));
}

void packRowPairs(const PanelSource& source, float* panel) {
  for (std::int64_t k = 0; k < source.depth; k += 2) {
    const float *row = source.from + k * source.stride, *next = row + source.stride;
    float* to = panel + k / 2 * kPanel;
    if (k + 1 == source.depth) {
      for (std::int64_t j = 0; j < source.lanes; ++j) to[j] = pairOf(row[j], 0);
    } else {
      for (std::int64_t j = 0; j < source.lanes; ++j) to[j] = pairOf(row[j], next[j]);
    }
    for (std::int64_t j = source.lanes; j < kPanel; ++j) to[j] = 0;
  }
}

void packColumnPairs(const PanelSource& source, float* panel) {
  const std::int64_t words = (source.depth + 1) / 2;
  for (std::int64_t j = source.lanes; j < kPanel; ++j) {
    for (std::int64_t k = 0; k < words; ++k) panel[k * kPanel + j] = 0;
  }
  for (std::int64_t j = 0; j < source.lanes; ++j) {
    const float* column = source.from + j * source.stride;
    for (std::int64_t k = 0; k < source.depth / 2; ++k)
      panel[k * kPanel + j] = pairOf(column[2 * k], column[2 * k + 1]);
    if (source.depth % 2 != 0)
      panel[source.depth / 2 * kPanel + j] = pairOf(column[source.depth - 1], 0);
  }
}

/// Pairs along dense rows of the left factor.
void packLeftRows(std::int64_t rows, std::int64_t depth, const float* from, std::int64_t rowStride,
                  float* to) {
  const std::int64_t words = (depth + 1) / 2;
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* row = from + i * rowStride;
    float* out = to + i * words;
    for (std::int64_t k = 0; k < depth / 2; ++k) out[k] = pairOf(row[2 * k], row[2 * k + 1]);
    if (depth % 2 != 0) out[words - 1] = pairOf(row[depth - 1], 0);
  }
}

/// Pairs of neighbouring dense columns of the left factor.
void packLeftColumns(std::int64_t rows, std::int64_t depth, const float* from,
                     std::int64_t columnStride, float* to) {
  for (std::int64_t k = 0; k < depth; k += 2) {
    const float *column = from + k * columnStride, *next = column + columnStride;
    float* out = to + k / 2 * rows;
    if (k + 1 == depth) {
      for (std::int64_t i = 0; i < rows; ++i) out[i] = pairOf(column[i], 0);
    } else {
      for (std::int64_t i = 0; i < rows; ++i) out[i] = pairOf(column[i], next[i]);
    }
  }
}

}  // namespace
}  // namespace vitrine::cpu
