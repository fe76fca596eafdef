// Checkpoints of ended runs removed at the request of a user: curves, artifacts and logs stay.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/store_export.h"

namespace vitrine::store {

enum class KeptCheckpoints {
  None,
  Best,  ///< the newest one where none is the best
};

struct PrunedRun {
  std::int64_t run = 0;
  std::string name;
  std::int64_t checkpoints = 0, bytes = 0;  ///< that are removed
  std::string refusal;                      ///< why all of them stay, or ""
};

/// Runs and checkpoints that pruneCheckpoints() would change. Checkpoints of a run that is in
/// progress, paused or queued stay, and those of a run that another run starts from or uses.
/// \throws NotFoundError  there is no such run
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<PrunedRun> planPruning(
    const std::filesystem::path& database, std::span<const std::int64_t> runs,
    KeptCheckpoints kept);

/// Removes them permanently, and leaves an event `checkpoints_removed` in each run that had some.
/// \throws NotFoundError  there is no such run; nothing is removed
/// \throws FileError  a folder cannot be removed; its row says that it is gone
VITRINE_STORE_EXPORT std::vector<PrunedRun> pruneCheckpoints(const std::filesystem::path& database,
                                                             std::span<const std::int64_t> runs,
                                                             KeptCheckpoints kept);

}  // namespace vitrine::store
