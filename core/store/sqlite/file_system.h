// The file system of a folder: WAL needs memory that all processes share, which a network file
// system does not give (sqlite.org/wal.html, section 1).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/store_export.h"

namespace vitrine::store {

/// Type number of the file system of a folder (f_type of statfs(2)); nothing when it is not known.
using FileSystemProbe =
    std::function<std::optional<std::uint32_t>(const std::filesystem::path& folder)>;

/// Replaces the question to the kernel, for tests; an empty function restores it.
VITRINE_STORE_EXPORT void setFileSystemProbe(FileSystemProbe probe);

/// "NFS", "SMB" ... when `folder` lies on a network file system, else "".
[[nodiscard]] VITRINE_STORE_EXPORT std::string networkFileSystem(
    const std::filesystem::path& folder);

/// The folder that holds `file` itself, through symbolic links.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path folderOfFile(
    const std::filesystem::path& file);

/// `file`, or where it leads if it is a symbolic link: SQLite keeps the log there, whichever name
/// was opened.
[[nodiscard]] std::filesystem::path realFile(const std::filesystem::path& file);

/// $XDG_CACHE_HOME/vitrine, else ~/.cache/vitrine: for what can be made or fetched again.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path cacheFolder();

/// Removes files and folders next to `file` that are named as it, then `begin`, and end in `mark`
/// and the number of a process, with more behind a '-'. Only those of processes that have ended are
/// removed.
void removeUnfinishedFiles(const std::filesystem::path& file, const std::string& begin,
                           const std::string& mark);

/// Bytes of all files below `folder`; what cannot be read, and links, count nothing.
[[nodiscard]] std::uint64_t bytesBelow(const std::filesystem::path& folder);

/// Bytes that a user may still write into `folder`; nothing when it is not known.
[[nodiscard]] std::optional<std::uint64_t> freeBytes(const std::filesystem::path& folder);

}  // namespace vitrine::store
