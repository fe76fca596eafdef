#include "core/nn/tile_product.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/kernels/vector_clones.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define VITRINE_X86 1
#include <immintrin.h>
#endif

namespace vitrine::nn {

namespace {

constexpr std::int64_t kLanes = 16;
/// Sixteen floats, anywhere in memory.
using Vector = float __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));

#define VITRINE_INLINE inline __attribute__((always_inline))

struct Call {
  std::int64_t rows, columns, words;  ///< words: depth in 32-bit words of the factors
  MatrixView left;
  const float* right;
  Start start;
  float* out;
  std::int64_t outStride;
};

/// Rows and columns of `out` that one tile fills; columns from `column`, at most kVectors * 16.
struct Place {
  std::int64_t row, column;
};

/// The sums of a tile, from their start.
template <int kRows, int kVectors>
VITRINE_INLINE void load(const Call& call, const Place& at, Vector (&sums)[kRows][kVectors]) {
  const std::int64_t count = std::min<std::int64_t>(call.columns - at.column, kVectors * kLanes);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      if (call.start.values == nullptr) {
        sums[r][v] = Vector{};
        continue;
      }
      const float* from =
          call.start.values + (at.row + r) * call.start.stride + at.column + v * kLanes;
      const std::int64_t lanes = count - v * kLanes;
      if (lanes >= kLanes) {
        sums[r][v] = *reinterpret_cast<const Vector*>(from);
      } else {
        float some[kLanes] = {};
        for (std::int64_t i = 0; i < lanes; ++i) some[i] = from[i];
        sums[r][v] = *reinterpret_cast<const Vector*>(some);
      }
    }
  }
}

template <int kRows, int kVectors>
VITRINE_INLINE void store(const Call& call, const Place& at,
                          const Vector (&sums)[kRows][kVectors]) {
  const std::int64_t count = std::min<std::int64_t>(call.columns - at.column, kVectors * kLanes);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      float* to = call.out + (at.row + r) * call.outStride + at.column + v * kLanes;
      const std::int64_t lanes = count - v * kLanes;
      if (lanes >= kLanes) {
        *reinterpret_cast<Vector*>(to) = sums[r][v];
      } else {
        for (std::int64_t i = 0; i < lanes; ++i) to[i] = sums[r][v][i];
      }
    }
  }
}

/// A tile whose sums stay in registers while it walks along the depth.
template <int kRows, int kVectors>
struct FloatTile {
  static VITRINE_INLINE void fill(const Call& call, const Place& at) {
    Vector sums[kRows][kVectors];
    load(call, at, sums);
    const float* left = call.left.values + at.row * call.left.rowStride;
    const float* right = call.right + at.column / kPanel * kPanel * call.words + at.column % kPanel;
    for (std::int64_t k = 0; k < call.words; ++k) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const float factor = left[r * call.left.rowStride];
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v)
          sums[r][v] += factor * *reinterpret_cast<const Vector*>(right + v * kLanes);
      }
      left += call.left.columnStride;
      right += kPanel;
    }
    store(call, at, sums);
  }
};

/// Fills `size` rows, `size` being one of 1 .. sizeof...(kLess).
template <template <int, int> class Tile, int kVectors, int... kLess>
VITRINE_INLINE void fillRows(const Call& call, const Place& at, std::int64_t size,
                             std::integer_sequence<int, kLess...>) {
  static_cast<void>(
      ((size == kLess + 1 ? (Tile<kLess + 1, kVectors>::fill(call, at), true) : false) || ...));
}

/// The whole product in tiles of at most kRows rows, as even as can be.
template <template <int, int> class Tile, int kRows, int kVectors>
VITRINE_INLINE void fillAll(const Call& call) {
  const std::int64_t blocks = (call.rows + kRows - 1) / kRows;
  for (std::int64_t column = 0; column < call.columns; column += kVectors * kLanes) {
    const bool isNarrow = call.columns - column <= kLanes;
    std::int64_t row = 0;
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t size = call.rows * (block + 1) / blocks - row;
      if (isNarrow || kVectors == 1) {
        fillRows<Tile, 1>(call, {row, column}, size, std::make_integer_sequence<int, kRows>());
      } else {
        fillRows<Tile, kVectors>(call, {row, column}, size,
                                 std::make_integer_sequence<int, kRows>());
      }
      row += size;
    }
  }
}

// The same tiles for three widths of registers: 12 rows of 32 columns fill 24 of AVX-512's 32, 6
// rows of 16 columns 12 of AVX2's 16.
#ifdef VITRINE_X86
__attribute__((target("arch=x86-64-v4"))) void multiplyWide(const Call& call) {
  fillAll<FloatTile, 12, 2>(call);
}
__attribute__((target("arch=x86-64-v3"))) void multiplyMiddle(const Call& call) {
  fillAll<FloatTile, 6, 1>(call);
}

/// Not inlined: its caller is compiled for any machine.
template <int kRows, int kVectors>
struct PairTile {
  __attribute__((target("arch=x86-64-v4,avx512bf16"))) static void fill(const Call& call,
                                                                        const Place& at) {
    Vector ends[kRows][kVectors];
    load(call, at, ends);
    __m512 sums[kRows]
               [kVectors];  // apart from what load() and store() see: these stay in registers
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[r][v] = reinterpret_cast<__m512>(ends[r][v]);
    }
    const float* left = call.left.values + at.row * call.left.rowStride;
    const float* right = call.right + at.column / kPanel * kPanel * call.words + at.column % kPanel;
    for (std::int64_t k = 0; k < call.words; ++k) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const __m512 factor = _mm512_set1_ps(left[r * call.left.rowStride]);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
          const __m512 other = _mm512_loadu_ps(right + v * kLanes);
          sums[r][v] = _mm512_dpbf16_ps(sums[r][v], reinterpret_cast<__m512bh>(factor),
                                        reinterpret_cast<__m512bh>(other));
        }
      }
      left += call.left.columnStride;
      right += kPanel;
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) ends[r][v] = reinterpret_cast<Vector>(sums[r][v]);
    }
    store(call, at, ends);
  }
};

void multiplyPairs(const Call& call) { fillAll<PairTile, 12, 2>(call); }
#endif
void multiplyNarrow(const Call& call) { fillAll<FloatTile, 3, 1>(call); }

using Multiply = void (*)(const Call&);

Multiply widest() {
#ifdef VITRINE_X86
  if (__builtin_cpu_supports("x86-64-v4")) return multiplyWide;
  if (__builtin_cpu_supports("x86-64-v3")) return multiplyMiddle;
#endif
  return multiplyNarrow;
}

/// The upper half of a float's bits, rounded to nearest, ties to even; NaN stays NaN.
VITRINE_INLINE std::uint32_t roundedBits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
  return (bits & 0x7FFFFFFFU) > 0x7F800000U ? 0x7FC0U : rounded;
}
VITRINE_INLINE float pairOf(float first, float second) {
  return std::bit_cast<float>(roundedBits(first) | (roundedBits(second) << 16U));
}

constexpr std::int64_t wordsOf(Factor factor, std::int64_t depth) {
  return factor == Factor::BFloat16 ? (depth + 1) / 2 : depth;
}

/// `lanes` neighbouring columns of a panel from a matrix whose rows are dense.
VITRINE_VECTOR_CLONES
void packDense(Factor factor, std::int64_t depth, std::int64_t lanes, const float* from,
               std::int64_t rowStride, float* panel) {
  if (factor == Factor::Float32) {
    for (std::int64_t k = 0; k < depth; ++k) {
      const float* row = from + k * rowStride;
      float* to = panel + k * kPanel;
      if (lanes == kPanel) {
        for (std::int64_t j = 0; j < kPanel; ++j) to[j] = row[j];
      } else {
        for (std::int64_t j = 0; j < lanes; ++j) to[j] = row[j];
        for (std::int64_t j = lanes; j < kPanel; ++j) to[j] = 0;
      }
    }
    return;
  }
  for (std::int64_t k = 0; k < depth; k += 2) {
    const float *row = from + k * rowStride, *next = row + rowStride;
    float* to = panel + k / 2 * kPanel;
    if (k + 1 == depth) {
      for (std::int64_t j = 0; j < lanes; ++j) to[j] = pairOf(row[j], 0);
    } else {
      for (std::int64_t j = 0; j < lanes; ++j) to[j] = pairOf(row[j], next[j]);
    }
    for (std::int64_t j = lanes; j < kPanel; ++j) to[j] = 0;
  }
}

/// The same from a matrix whose columns are dense.
VITRINE_VECTOR_CLONES
void packTransposed(Factor factor, std::int64_t depth, std::int64_t lanes, const float* from,
                    std::int64_t columnStride, float* panel) {
  const std::int64_t words = wordsOf(factor, depth);
  for (std::int64_t j = lanes; j < kPanel; ++j) {
    for (std::int64_t k = 0; k < words; ++k) panel[k * kPanel + j] = 0;
  }
  for (std::int64_t j = 0; j < lanes; ++j) {
    const float* column = from + j * columnStride;
    if (factor == Factor::Float32) {
      for (std::int64_t k = 0; k < depth; ++k) panel[k * kPanel + j] = column[k];
    } else {
      for (std::int64_t k = 0; k < depth / 2; ++k)
        panel[k * kPanel + j] = pairOf(column[2 * k], column[2 * k + 1]);
      if (depth % 2 != 0) panel[depth / 2 * kPanel + j] = pairOf(column[depth - 1], 0);
    }
  }
}

/// Pairs along dense rows.
VITRINE_VECTOR_CLONES
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
VITRINE_VECTOR_CLONES
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

bool hasFastProducts() noexcept { return widest() != multiplyNarrow; }

bool hasBFloat16Products() noexcept {
#ifdef VITRINE_X86
  return __builtin_cpu_supports("x86-64-v4") != 0 && __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

std::int64_t packedRightSize(Factor factor, std::int64_t depth, std::int64_t columns) {
  return (columns + kPanel - 1) / kPanel * kPanel * wordsOf(factor, depth);
}

void packRight(Factor factor, std::int64_t depth, std::int64_t columns, const MatrixView& right,
               float* packed) {
  for (std::int64_t j = 0; j < columns; j += kPanel) {
    const std::int64_t lanes = std::min(kPanel, columns - j);
    float* panel = packed + j * wordsOf(factor, depth);
    if (right.columnStride == 1) {
      packDense(factor, depth, lanes, right.values + j, right.rowStride, panel);
    } else {
      packTransposed(factor, depth, lanes, right.values + j * right.columnStride,
                     right.columnStride, panel);
    }
  }
}

std::int64_t packedLeftSize(Factor factor, std::int64_t rows, std::int64_t depth) {
  return factor == Factor::BFloat16 ? rows * wordsOf(factor, depth) : 0;
}

MatrixView packLeft(Factor factor, std::int64_t rows, std::int64_t depth, const MatrixView& left,
                    float* packed) {
  if (factor == Factor::Float32) return left;
  if (left.columnStride == 1) {
    packLeftRows(rows, depth, left.values, left.rowStride, packed);
    return {packed, wordsOf(factor, depth), 1};
  }
  packLeftColumns(rows, depth, left.values, left.columnStride, packed);
  return {packed, 1, rows};
}

void multiply(Factor factor, std::int64_t rows, std::int64_t columns, std::int64_t depth,
              const MatrixView& left, const float* right, const Start& start, float* out,
              std::int64_t outStride) {
  static const Multiply wide = widest();
  const Call call{rows, columns, wordsOf(factor, depth), left, right, start, out, outStride};
#ifdef VITRINE_X86
  if (factor == Factor::BFloat16) return multiplyPairs(call);
#endif
  wide(call);
}

}  // namespace vitrine::nn
