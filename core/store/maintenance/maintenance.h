// Care of the database: copies while it is in use, checks, what takes the space.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store_export.h"

namespace vitrine::store {

/// Called with the progress of a long task, 0 to 1.
using Fraction = std::function<void(double done)>;

/// Copies `database` to `file` as it is at one moment, while others write to it, checks the copy
/// and gives it its name. Checkpoints and logs are not in it. Returns its size in bytes.
/// \throws RefusedError  `file` exists
/// \throws StoreError  the copy is not whole
VITRINE_STORE_EXPORT std::uint64_t backupDatabase(const std::filesystem::path& database,
                                                  const std::filesystem::path& file,
                                                  const Fraction& progress = {});

/// What is wrong with the database beyond what SQLite's own check finds (RunStore::check). These
/// are points, chunks and summaries that do not agree, and checkpoints whose files are not there.
/// Sentences; empty when all is well. \param verify  also compares the checksums of all checkpoint
/// files
enum class CheckpointFiles { Present, Verified };
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::string> checkContents(
    const std::filesystem::path& database, CheckpointFiles files, const Fraction& progress = {});

struct CompactReport {
  std::uint64_t before = 0, after = 0;  ///< bytes of the file and its log
};
/// Rewrites the database without the space of deleted rows. Others may read meanwhile; writers
/// wait. \throws RefusedError  a run is in progress, or the disk has too little room; says which
VITRINE_STORE_EXPORT CompactReport compactDatabase(const std::filesystem::path& database);

/// Use of space, in bytes: `tables` (by name, with their indexes) and `experiments` (title, runs,
/// metrics, artifacts, images, other, files). Also `files` (checkpoints, logs, other, trash,
/// orphans), and `free` (`compact` would give it back).
[[nodiscard]] VITRINE_STORE_EXPORT Json databaseSpace(const std::filesystem::path& database);

}  // namespace vitrine::store
