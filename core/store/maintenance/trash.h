// Deleted runs that can be restored. Their rows and files lie in `trash` in the folder next to the
// database; no list, view, search or export shows them.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/store_export.h"

namespace vitrine::store {

/// Time for which a deleted run can be restored; the first deletion after that removes it
/// permanently.
constexpr std::chrono::days kTrashTime{30};

struct TrashedRun {
  std::int64_t id = 0;
  std::string uuid, name, experiment, deletedAt;
  std::uint64_t bytes = 0;  ///< of its rows and files
};
/// Runs in the trash, the newest first.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<TrashedRun> trashedRuns(
    const std::filesystem::path& database);

/// Moves a run out of the database into the trash, with its files, and removes permanently what has
/// been there for kTrashTime.
/// \throws NotFoundError  no such run
/// \throws RefusedError  it is in progress, or another run waits for it
/// \throws FileError  the trash cannot be written, say because the disk is full
VITRINE_STORE_EXPORT void trashRun(const std::filesystem::path& database, std::int64_t run);

/// Brings a run back under its id, or a new one where that is taken; what started from it is linked
/// to it again. A run that was queued comes back as stopped. Returns the id.
/// \throws NotFoundError  it is not in the trash
VITRINE_STORE_EXPORT std::int64_t restoreRun(const std::filesystem::path& database,
                                             std::int64_t run);

struct EmptiedTrash {
  std::int64_t runs = 0;
  std::uint64_t bytes = 0;
};
/// Removes permanently the runs that were deleted `age` ago or earlier.
VITRINE_STORE_EXPORT EmptiedTrash emptyTrash(const std::filesystem::path& database,
                                             std::chrono::seconds age = std::chrono::seconds(0));

}  // namespace vitrine::store
