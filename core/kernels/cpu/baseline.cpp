// Every processor of the architecture: 4 floats.
#define VITRINE_LANES 4
#define VITRINE_TILE_ROWS 6
#include "core/kernels/cpu/loops.h"

namespace vitrine::cpu {

const Kernels& baselineKernels() {
  // Against SSE4.2 in MKL, a training step of a width of 64 takes 0.8 times as long as layer by
  // layer, one of 192 1.15 times.
  static constexpr Kernels kTable = tableOf("baseline", 64);
  return kTable;
}

}  // namespace vitrine::cpu
