// Products of bfloat16 pairs with sums in float32, for AVX-512 processors that multiply them.
#include <immintrin.h>

#define VITRINE_LANES 16
#define VITRINE_TILE_ROWS 12
#define VITRINE_PAIRS
#include "core/kernels/cpu/pair_loops.h"
#include "core/kernels/cpu/product_loops.h"

namespace vitrine::cpu {

namespace {

void multiply(const Product& product) { multiplyByTiles(product); }

}  // namespace

const PairKernels& avx512Pairs() {
  static constexpr PairKernels kTable{multiply, packRowPairs, packColumnPairs, packLeftRows,
                                      packLeftColumns};
  return kTable;
}

}  // namespace vitrine::cpu
