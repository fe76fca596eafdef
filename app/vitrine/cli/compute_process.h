// Settings of memory and waiting threads for a process that computes for minutes. Called before
// anything else: the program starts again with the settings that libraries read once, at load.
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <system_error>

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

/// Does not return where the settings are new: the process begins again with them.
/// \param words  the arguments of main()
inline void becomeComputeProcess(char** words) {
  // A step frees what the next one allocates. Given back to the system in between, every page of it
  // would be faulted in and cleared again: a fifth of a small model's step.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest value glibc takes
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  // A thread that has finished its part spins for a tenth to half a millisecond and then sleeps.
  // Left to spin on, it takes the core from other processes, the thread it waits for included. With
  // a tenth of this it sleeps between the parts of a small model's step, and waking it takes longer
  // than its part. OpenMP reads this when it is loaded, and Qt's libraries have loaded it before
  // main().
  constexpr const char* kSpinning = "GOMP_SPINCOUNT";
  const bool isSet = std::getenv(kSpinning) != nullptr;
  ::setenv(kSpinning, "10000", /*replace=*/0);
  // Rows of heads and maps lie a few kilobytes apart. On pages of 4 KiB most of them need an entry
  // of their own in the processor's table, which has room for fewer.
  ::setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", /*replace=*/0);
  limitLibraries();
  if (isSet) return;
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  // If it cannot start again, it computes with the settings that it has.
  if (!error) ::execv(self.c_str(), words);
}

}  // namespace vitrine::app
