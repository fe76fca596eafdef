// Products of matrices by tiles of sums that stay in registers while they walk along the depth.
// VITRINE_TILE_ROWS times two vectors of sums, two of the right factor and one of the left fit the
// registers of the path.
#pragma once

#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/vectors.h"

namespace vitrine::cpu {
namespace {

constexpr int kTileRows = VITRINE_TILE_ROWS;

/// Layout of the left factor.
enum class Left {
  Rows,     ///< a row is dense: the tile walks along kRows rows
  Columns,  ///< a column is dense: the tile reads kRows neighbours at a time
};

/// One tile, all columns of which are there.
struct Tile {
  std::int64_t words;
  const float* left;
  std::int64_t leftStride;
  const float* right;
  const float* start;
  std::int64_t startStride;
  float* out;
  std::int64_t outStride;
};

// Steps along the depth that are unrolled: with bfloat16 a second one would push sums out of the
// registers.
#ifdef VITRINE_PAIRS
constexpr int kUnroll = 1;
VITRINE_INLINE Vector addProduct(Vector sum, float left, Vector right) {
  return reinterpret_cast<Vector>(_mm512_dpbf16_ps(reinterpret_cast<__m512>(sum),
                                                   reinterpret_cast<__m512bh>(_mm512_set1_ps(left)),
                                                   reinterpret_cast<__m512bh>(right)));
}
#else
constexpr int kUnroll = 2;
VITRINE_INLINE Vector addProduct(Vector sum, float left, Vector right) {
  return sum + left * right;
}
#endif

template <int kRows, int kVectors, Left kLeft>
void fillTile(const Tile& tile) {
  Vector sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      sums[r][v] = WholeVector{}.read(tile.start + r * tile.startStride + v * kLanes);
  }
  const std::int64_t stride = tile.leftStride;
  const float* left = tile.left;
  const float* right = tile.right;
#pragma GCC unroll kUnroll
  for (std::int64_t k = 0; k < tile.words; ++k) {
    Vector factors[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) factors[v] = WholeVector{}.read(right + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const float factor = left[kLeft == Left::Rows ? r * stride : r];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[r][v] = addProduct(sums[r][v], factor, factors[v]);
    }
    left += kLeft == Left::Rows ? 1 : stride;
    right += kPanel;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      WholeVector{}.write(tile.out + r * tile.outStride + v * kLanes, sums[r][v]);
  }
}

using FillTile = void (*)(const Tile&);

/// fillTile() for 1 .. kTileRows rows.
template <int kVectors, Left kLeft>
struct Tiles {
  FillTile of[kTileRows];
  constexpr Tiles() : of() { set<kTileRows>(); }
  template <int kRows>
  constexpr void set() {
    of[kRows - 1] = fillTile<kRows, kVectors, kLeft>;
    if constexpr (kRows > 1) set<kRows - 1>();
  }
};

/// A tile of fewer columns: through a copy that has them all.
VITRINE_INLINE void fillNarrowTile(FillTile fill, Tile tile, std::int64_t rows,
                                   std::int64_t columns) {
  float whole[kTileRows * kPanel];
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c)
      whole[r * kPanel + c] = tile.start[r * tile.startStride + c];
    for (std::int64_t c = columns; c < kPanel; ++c) whole[r * kPanel + c] = 0;
  }
  float* out = tile.out;
  tile.start = tile.out = whole;
  tile.startStride = kPanel;
  const std::int64_t outStride = tile.outStride;
  tile.outStride = kPanel;
  fill(tile);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) out[r * outStride + c] = whole[r * kPanel + c];
  }
}

/// Words of the depth that tiles walk along at once. On AVX2 a panel's 32 KiB then stay in the
/// first cache for all tiles of its columns. A tile's rows are copied together for as many.
constexpr std::int64_t kTileDepth = 512;
/// Floats over which a left factor may lie to be read in place by all columns.
constexpr std::int64_t kNear = 1 << 14;

/// A part of the depth.
struct Words {
  std::int64_t first, end;
};

/// Those of `words` in which rows [row, end) of the left factor may hold anything but zeros.
VITRINE_INLINE Words usedWords(const Product& p, std::int64_t row, std::int64_t end, Words words) {
  const std::int64_t zeros = p.triangle.kind == Triangle::LeftColumns ? row - p.triangle.first : 0,
                     all = p.triangle.kind == Triangle::LeftRows ? end + p.triangle.first : p.words;
  const std::int64_t last = words.end < all ? words.end : all;
  const std::int64_t first = words.first > zeros ? words.first : zeros;
  return {first < last ? first : last, last};
}

/// Neighbours of dense columns, as tiles of kTileRows each, `size` floats apart.
/// \param rows  first row of each tile
VITRINE_INLINE void packLeft(const Product& p, const Words& words, const std::int64_t* rows,
                             std::int64_t tiles, std::int64_t size, float* packed) {
  constexpr std::int64_t kAhead = 8;  // rows of memory, too far apart for the processor's guess
  for (std::int64_t k = words.first; k < words.end; ++k) {
    const float* from = p.left + k * p.leftColumnStride;
    for (std::int64_t line = rows[0]; line < rows[tiles - 1] + kTileRows; line += 16)
      __builtin_prefetch(from + kAhead * p.leftColumnStride + line);
    float* to = packed + k * kTileRows;
    for (std::int64_t t = 0; t < tiles; ++t) {
      if (rows[t] + kTileRows <= p.rows) {
        __builtin_memcpy(to + t * size, from + rows[t], sizeof(float) * kTileRows);
      } else {
        for (std::int64_t r = rows[t]; r < p.rows; ++r) to[t * size + r - rows[t]] = from[r];
      }
    }
  }
}

/// The whole product in tiles of at most kTileRows rows, as even as can be.
template <Left kLeft>
void fillAll(const Product& p) {
  static constexpr Tiles<1, kLeft> kNarrow;
  static constexpr Tiles<2, kLeft> kWide;
  static constexpr float kZeros[kPanel] = {};
  const bool hasStart = p.start != nullptr;
  const std::int64_t blocks = (p.rows + kTileRows - 1) / kTileRows;
  // Two divisions a product, not a tile.
  const std::int64_t least = p.rows / blocks, larger = p.rows % blocks;
  const auto firstRow = [&](std::int64_t block) {
    return least * block + (block < larger ? block : larger);
  };
  // `left` is the block's first row at the first of all words.
  const auto fill = [&](std::int64_t block, std::int64_t column, const Words& words,
                        const float* left, std::int64_t leftStride) __attribute__((always_inline)) {
    const std::int64_t row = firstRow(block), end = firstRow(block + 1), rows = end - row,
                       columns = p.columns - column;
    if (p.triangle.kind == Triangle::Result && column >= end + p.triangle.first) return;
    const Words used = usedWords(p, row, end, words);
    const std::int64_t wordStride = kLeft == Left::Rows ? 1 : leftStride;
    float* out = p.out + row * p.outStride + column;
    Tile tile{used.end - used.first,
              left + used.first * wordStride,
              leftStride,
              p.right + column * p.words + used.first * kPanel,
              out,
              p.outStride,
              out,
              p.outStride};
    if (words.first == 0) {
      tile.start = hasStart ? p.start + row * p.startStride + column : kZeros;
      tile.startStride = hasStart ? p.startStride : 0;
    }
    const FillTile fillTile = (columns <= kLanes ? kNarrow.of : kWide.of)[rows - 1];
    if (columns >= kPanel || columns == kLanes) {
      fillTile(tile);
    } else {
      fillNarrowTile(fillTile, tile, rows, columns);
    }
  };
  if (kLeft == Left::Columns && p.columns >= 3 * kPanel && p.words <= kTileDepth &&
      p.words * p.leftColumnStride > kNear) {
    // Neighbours along the depth lie so far apart that each is on another page, and often in the
    // same set of the cache. They are fetched once for all columns, where these are worth the copy.
    constexpr std::int64_t kTogether = 48 / kTileRows;
    float packed[kTogether * kTileRows * kTileDepth];
    const std::int64_t size = kTileRows * p.words;
    for (std::int64_t first = 0; first < blocks; first += kTogether) {
      const std::int64_t last = first + kTogether < blocks ? first + kTogether : blocks;
      std::int64_t rows[kTogether];
      for (std::int64_t block = first; block < last; ++block) rows[block - first] = firstRow(block);
      packLeft(p, usedWords(p, rows[0], firstRow(last), {0, p.words}), rows, last - first, size,
               packed);
      for (std::int64_t column = 0; column < p.columns; column += kPanel) {
        for (std::int64_t block = first; block < last; ++block)
          fill(block, column, {0, p.words}, packed + (block - first) * size, kTileRows);
      }
    }
    return;
  }
  const std::int64_t stride = kLeft == Left::Rows ? p.leftRowStride : p.leftColumnStride;
  const std::int64_t parts = (p.words + kTileDepth - 1) / kTileDepth;
  for (std::int64_t column = 0; column < p.columns; column += kPanel) {
    for (std::int64_t part = 0; part < parts; ++part) {
      const Words words{p.words * part / parts, p.words * (part + 1) / parts};
      for (std::int64_t block = 0; block < blocks; ++block)
        fill(block, column, words, p.left + firstRow(block) * p.leftRowStride, stride);
    }
  }
}

VITRINE_INLINE void multiplyByTiles(const Product& p) {
  if (p.leftColumnStride == 1) {
    fillAll<Left::Rows>(p);
  } else {
    fillAll<Left::Columns>(p);
  }
}

}  // namespace
}  // namespace vitrine::cpu
