// Every processor of the architecture: 4 floats.
#define VITRINE_LANES 4
#define VITRINE_TILE_ROWS 6
#include "core/kernels/cpu/loops.h"

namespace vitrine::cpu {

const Kernels& baselineKernels() {
  static constexpr Kernels kTable = tableOf("baseline");
  return kTable;
}

}  // namespace vitrine::cpu
