// A test body on each path of the engine that this processor can run.
#pragma once

#include <gtest/gtest.h>

#include "core/base/cpu_path.h"

namespace vitrine::testing {

/// Calls body() on each path; a failure names it. Afterwards the path is the one from before.
template <class Body>
void onEveryCpuPath(const Body& body) {
  struct Restore {
    CpuPath before = cpuPath();
    ~Restore() { setCpuPath(before); }
  } const restore;
  for (const CpuPath path : cpuPathsHere()) {
    SCOPED_TRACE(nameOf(path));
    setCpuPath(path);
    body();
  }
}

}  // namespace vitrine::testing
