// Starts a run as a process of its own: detached, own process group, output in a log file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "core/store/run_store.h"

namespace vitrine::jobs {

/// The headless program: $VITRINE_PROGRAM, else `vitrine` next to this program.
/// \throws NotFoundError
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path headlessProgram();

/// \throws RefusedError  the run that `run` depends on is not done; names it and its state
VITRINE_STORE_EXPORT void requireDependency(store::RunReader& store, std::int64_t run);

/// Asks a run to stop. In progress: `request` = stop, state stopping, then SIGTERM unless it is
/// only starting; a run whose process has ended is left to RunWriter::reapLostRuns(). Queued,
/// paused or interrupted: stopped at once. \throws RefusedError  it has ended
VITRINE_STORE_EXPORT void stopRun(store::RunStore& store, std::int64_t run);

/// Asks a run in progress to write a checkpoint and end as `paused`, which frees its process and
/// device memory. \throws RefusedError it is not in progress
VITRINE_STORE_EXPORT void pauseRun(store::RunStore& store, std::int64_t run);

/// Records that the process of a run has ended, with the state `to` and a reason. A stop that was
/// requested meanwhile wins over a pause or an interruption: the run is `stopped`.
/// \returns  its state now
VITRINE_STORE_EXPORT store::RunState endRun(store::RunStore& store, std::int64_t run,
                                            store::RunState to, const std::string& reason);

/// Output of `vitrine describe --json`, kept in $XDG_CACHE_HOME/vitrine/describe-<hash>.json until
/// the program, a library or a plugin file changes. \throws Error the program failed
[[nodiscard]] VITRINE_STORE_EXPORT std::string describeJson(const std::stop_token& stop = {});

}  // namespace vitrine::jobs
