// Processes of this machine, as /proc shows them. Private to core/jobs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "core/store_export.h"

namespace vitrine::jobs {

struct ProcessFacts {
  pid_t pid = 0;
  pid_t group = 0;
  std::int64_t tasks = 0;  ///< threads, the first one included
  std::int64_t residentBytes = 0;
};
/// Children of `root`, their children and so on, without `root` and without the dead.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<ProcessFacts> descendantsOf(pid_t root);

/// Processes and threads of this process's user.
[[nodiscard]] std::int64_t tasksOfUser();
/// Those of the whole machine; 0 where /proc does not say.
[[nodiscard]] VITRINE_STORE_EXPORT std::int64_t tasksOfMachine();
/// Limit of tasks of the machine; 0 where /proc has none.
[[nodiscard]] std::int64_t mostTasksOfMachine();

/// Sends `number` once to every descendant of this process, and to the process groups that they
/// lead. \returns  how many there are that are not dead
int signalDescendants(int number);

/// Ends every descendant of this process by SIGKILL and waits for them, two seconds at most.
/// \returns  how many were left
VITRINE_STORE_EXPORT int killDescendants();

/// Whether the kernel's log says that it killed `pid` because memory ran out; false where it cannot
/// be read.
[[nodiscard]] bool wasKilledForMemory(pid_t pid);

}  // namespace vitrine::jobs
