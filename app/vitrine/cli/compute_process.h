// How a process that computes for minutes treats memory and waiting threads. Called before LibTorch
// is loaded: its thread pool reads its settings once, at load.
#pragma once

#include <malloc.h>

#include <climits>
#include <cstdlib>

#include "core/base/cpu_path.h"

namespace vitrine::app {

/// A path that is forced holds for LibTorch's own kernels and for the libraries below it, too.
/// \throws ConfigError  as cpuPath()
inline void limitLibraries() {
  const CpuPath path = cpuPath();
  if (std::getenv("VITRINE_CPU") == nullptr) return;
  const bool isAvx2 = path == CpuPath::Avx2;
  if (!isAvx2 && path != CpuPath::Baseline) return;
  ::setenv("ATEN_CPU_CAPABILITY", isAvx2 ? "avx2" : "default", /*replace=*/0);
  ::setenv("ONEDNN_MAX_CPU_ISA", isAvx2 ? "AVX2" : "SSE41", /*replace=*/0);
  ::setenv("MKL_ENABLE_INSTRUCTIONS", isAvx2 ? "AVX2" : "SSE4_2", /*replace=*/0);
}

inline void becomeComputeProcess() {
  // A step frees what the next one allocates. Given back to the system in between, every page of it
  // would be faulted in and cleared again: a fifth of a small model's step.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest value glibc takes
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  // A thread that has finished its part spins a little and then sleeps. Left to spin on, it takes
  // the core from other processes, the thread it waits for included.
  ::setenv("GOMP_SPINCOUNT", "1000", /*replace=*/0);
  limitLibraries();
}

}  // namespace vitrine::app
