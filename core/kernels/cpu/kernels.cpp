#include "core/kernels/cpu/kernels.h"

#include "core/base/cpu_path.h"

namespace vitrine::cpu {

#ifdef __x86_64__
namespace {

/// Whether the processor multiplies bfloat16 pairs is not part of the path.
const Kernels& widestKernels() {
  static const Kernels table = [] {
    Kernels kernels = avx512Kernels();
    if (__builtin_cpu_supports("avx512bf16")) kernels.pairs = &avx512Pairs();
    return kernels;
  }();
  return table;
}

}  // namespace
#endif

const Kernels& kernels() {
#ifdef __x86_64__
  switch (cpuPath()) {
    case CpuPath::Avx512:
      return widestKernels();
    case CpuPath::Avx2:
      return avx2Kernels();
    case CpuPath::Baseline:
    case CpuPath::Reference:
      break;
  }
#endif
  return baselineKernels();
}

}  // namespace vitrine::cpu
