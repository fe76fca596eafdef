// The process that stands next to a run's process: starts it within limits, keeps its log short,
// and writes down how it ended. It outlives `vitrine work` and the window.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/store_export.h"

namespace vitrine::jobs {

/// Settings for every run of a `vitrine work`.
struct SupervisorSettings {
  double hangAlarmSeconds = 30;  ///< without a sign of life: an event says so
  double hangLimitSeconds = 0;   ///< without a sign of life: the end; 0: never
  std::int64_t tasks = 4096;     ///< processes and threads of a run
};

struct SupervisorOptions {
  std::filesystem::path database;
  std::int64_t run = 0;
  std::vector<std::string> command;  ///< `vitrine run --id N --db FILE`
  SupervisorSettings settings;
  std::int64_t memoryLimitBytes = 0;  ///< 0: none
  double graceSeconds = 30;
  double timeLimitSeconds = 0;  ///< that is left; 0: none
};

/// Works until the run's process has ended and the database knows how it ended.
/// \returns  the exit code of the process, 128 + its signal, or 4 when the run must not be started
///         any more
VITRINE_STORE_EXPORT int superviseRun(const SupervisorOptions& options);

/// Does the work of `vitrine work --supervise N`: reads limits from the queue, then calls
/// superviseRun(). `program` is the headless program.
VITRINE_STORE_EXPORT int superviseQueuedRun(const std::filesystem::path& database, std::int64_t run,
                                            const std::filesystem::path& program,
                                            const SupervisorSettings& settings);

}  // namespace vitrine::jobs
