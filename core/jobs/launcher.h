// Starts a run as a process of its own: detached, own process group, output in a log file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/store/run_store.h"

namespace vitrine {

/// The headless program: $VITRINE_PROGRAM, else `vitrine` beside this program. \throws NotFoundError
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path headlessProgram();

/// `vitrine run --id N --db FILE`, detached; returns its pid. The log is `<files>/run-<uuid>/run.log`, appended.
/// The run must be queued, or interrupted, paused or stopped (then it resumes).
/// \throws RefusedError  its state does not allow it
VITRINE_STORE_EXPORT std::int64_t launchRun(RunStore& store, std::int64_t run);

/// Asks a running run to stop: `request` = stop, then SIGTERM.
VITRINE_STORE_EXPORT void stopRun(RunStore& store, std::int64_t run);

/// What `vitrine describe --json` says, cached per plugin file in $XDG_CACHE_HOME/vitrine. \throws Error  the program failed
[[nodiscard]] VITRINE_STORE_EXPORT std::string describeJson();

}  // namespace vitrine
