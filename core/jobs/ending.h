// The end of a run's process, as text.
#pragma once

#include <string>

#include "core/jobs/queue.h"

namespace vitrine::jobs {

/// Why the supervisor itself ended a process.
enum class EndedBy { Itself, GraceTime, TimeLimit, Hang, MemoryLimit, TaskLimit };

/// Facts about a process that ended.
struct ProcessEnd {
  int exitCode = -1;           ///< -1 when a signal ended it
  int signal = 0;              ///< 0 when it ended by itself
  bool isOutOfMemory = false;  ///< the kernel killed it: out of memory
  EndedBy endedBy = EndedBy::Itself;
  std::string detail;   ///< of `endedBy`: "30 s", "2.0 GB"
  std::string logTail;  ///< the end of its log
  double seconds = 0;
};

/// \param state  of the run when its process was gone: what it says of itself, or in progress
/// \returns  reason, event data, and whether the queue may start the run again. It may after
/// SIGKILL or SIGTERM from outside, and may not after a crash, an exit, a limit
[[nodiscard]] VITRINE_STORE_EXPORT RunEnding classify(const ProcessEnd& end, store::RunState state);

/// "SIGSEGV (segmentation fault)"
[[nodiscard]] VITRINE_STORE_EXPORT std::string signalName(int number);

}  // namespace vitrine::jobs
