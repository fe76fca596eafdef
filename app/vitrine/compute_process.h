// How a process that computes for minutes treats memory and waiting threads. Called before LibTorch
// is loaded: its thread pool reads its settings once, at load.
#pragma once

#include <malloc.h>

#include <climits>
#include <cstdlib>

namespace vitrine::app {

inline void becomeComputeProcess() noexcept {
  // A step frees what the next one allocates. Given back to the system in between, every page of it
  // would be faulted in and cleared again: a fifth of a small model's step.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest value glibc takes
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  // A thread that has finished its part spins a little and then sleeps. Left to spin on, it takes
  // the core from whoever else wants it, the thread it waits for included.
  ::setenv("GOMP_SPINCOUNT", "1000", /*replace=*/0);
}

}  // namespace vitrine::app
