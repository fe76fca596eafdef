// Which of the engine's loops a process uses, by the vectors that they are compiled for.
//
// The environment variable VITRINE_CPU forces one: avx512, avx2, baseline or reference. Without it
// the widest that the processor has is used.
#pragma once

#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

/// From the slowest to the widest.
enum class CpuPath {
  Reference,  ///< layer by layer through LibTorch, without loops of our own
  Baseline,   ///< what every processor of this architecture has
  Avx2,       ///< AVX2 and FMA: 8 floats
  Avx512,     ///< AVX-512 F, BW, CD, DQ, VL: 16 floats; bfloat16 products where there are any
};

/// As VITRINE_CPU has it.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const char* nameOf(CpuPath path) noexcept;
/// All paths that this processor can run, widest last.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const std::vector<CpuPath>& cpuPathsHere();

/// The path of this process: the one of VITRINE_CPU as it was at the first call, otherwise the
/// widest.
/// \throws ConfigError  VITRINE_CPU names no path, or one that this processor cannot run
[[nodiscard]] VITRINE_FOUNDATION_EXPORT CpuPath cpuPath();

/// For tests: takes this path from now on. \pre one of cpuPathsHere(); nothing is computing
VITRINE_FOUNDATION_EXPORT void setCpuPath(CpuPath path);

}  // namespace vitrine
