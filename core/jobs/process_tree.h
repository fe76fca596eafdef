// Processes of this machine, as /proc shows them. Private to core/jobs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/store_export.h"

namespace vitrine {

struct MachineMemory {
  std::int64_t totalBytes = 0, availableBytes = 0;
};
[[nodiscard]] VITRINE_STORE_EXPORT MachineMemory machineMemory();

struct ProcessFacts {
  pid_t pid = 0;
  std::int64_t residentBytes = 0;
};
/// Children of `root`, their children and so on, without `root` and without the dead.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<ProcessFacts> descendantsOf(pid_t root);

/// Processes and threads of this process's user.
[[nodiscard]] std::int64_t tasksOfUser();

/// Ends every descendant of this process by SIGKILL and waits for them, two seconds at most.
/// \returns  how many were left
VITRINE_STORE_EXPORT int killDescendants();

/// Whether the kernel's log says that it killed `pid` for want of memory; false where it cannot be
/// read.
[[nodiscard]] bool wasKilledForMemory(pid_t pid);

}  // namespace vitrine
