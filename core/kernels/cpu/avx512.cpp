// AVX-512: 16 floats. 12 rows of 2 vectors fill 24 of the 32 registers.
#define VITRINE_LANES 16
#define VITRINE_TILE_ROWS 12
#include "core/kernels/cpu/loops.h"

namespace vitrine::cpu {

const Kernels& avx512Kernels() {
  static constexpr Kernels kTable = tableOf("avx512");
  return kTable;
}

}  // namespace vitrine::cpu
