// AVX2 and FMA: 8 floats. 6 rows of 2 vectors fill 12 of the 16 registers.
#define VITRINE_LANES 8
#define VITRINE_TILE_ROWS 6
#include "core/kernels/cpu/loops.h"

namespace vitrine::cpu {

const Kernels& avx2Kernels() {
  static constexpr Kernels kTable = tableOf("avx2");
  return kTable;
}

}  // namespace vitrine::cpu
