// A checkpoint is a folder that is there completely or not at all. Knows no torch.
//
// Written: `<name>.tmp-<pid>/` files, fsync each, `manifest.json` with size and SHA-256 of each,
// fsync the folder, rename to `<name>/`, fsync the parent. A folder without a verifying manifest
// does not count.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// "step-000000500"
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string checkpointName(std::int64_t step);

/// Writes one checkpoint folder `parent/checkpointName(step)`.
/// \param write  puts its files into the folder it is given
/// \param facts  goes into the manifest next to the file list (format version, step, configuration
///         hash)
/// \returns      bytes written
/// \throws FileError  no space, no permission; the temporary folder has been removed and older
///         checkpoints are untouched
VITRINE_FOUNDATION_EXPORT std::uint64_t writeCheckpointFolder(
    const std::filesystem::path& parent, std::int64_t step, const Json& facts,
    const std::function<void(const std::filesystem::path& folder)>& write);

/// Why a folder is not a whole checkpoint; "" when it is.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string verifyCheckpointFolder(
    const std::filesystem::path& folder);

struct CheckpointFolder {
  std::int64_t step = 0;
  std::filesystem::path folder;
};
/// Checkpoints below `parent` by step, oldest first, unverified; sweeps `*.tmp-*` of dead
/// processes.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<CheckpointFolder> listCheckpoints(
    const std::filesystem::path& parent);
/// The newest that verifies; `report` is called with each one that does not, and why.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::optional<CheckpointFolder> newestCheckpoint(
    const std::filesystem::path& parent,
    const std::function<void(const std::string&)>& report = {});
/// The same among those that were listed.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::optional<CheckpointFolder> newestCheckpoint(
    const std::vector<CheckpointFolder>& listed,
    const std::function<void(const std::string&)>& report = {});

/// Writes `text` to a temporary file next to `file`, fsyncs, renames, fsyncs the folder.
/// \throws FileError
VITRINE_FOUNDATION_EXPORT void writeFileAtomically(const std::filesystem::path& file,
                                                   const std::string& text);
/// \throws FileError  it cannot be read, or is larger than `limit` bytes
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string readTextFile(const std::filesystem::path& file,
                                                                std::uint64_t limit = 8u << 20);

}  // namespace vitrine
