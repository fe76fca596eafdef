#include "core/files/checkpoint_use.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/files/checkpoint_folder.h"

namespace vitrine {

namespace fs = std::filesystem;

namespace {

constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

// After so many that are the same and without a whole checkpoint there is none.
constexpr int kListings = 10;
constexpr int kVerifications = 3;

int lockRetrying(int descriptor, int operation) {
  int result = 0;
  do {
    result = ::flock(descriptor, operation);
  } while (result != 0 && errno == EINTR);
  return result;
}

/// Takes the lock alone. A file system without locks (NFS has none for folders) never says that
/// another process has it.
bool isTaken(int descriptor) {
  return lockRetrying(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

CheckpointHold::CheckpointHold(const fs::path& folder) {
  do {
    folder_ = files::Descriptor(::open(folder.c_str(), kOpenFolder));
    if (folder_.get() < 0) files::throwSystemError(folder, "cannot be opened");
    lockRetrying(folder_.get(), LOCK_SH);
    // Who had the lock may have removed the folder, or put another in its place.
  } while (!files::isStillAt(folder_.get(), folder));
}

std::optional<HeldCheckpoint> holdNewestCheckpoint(
    const fs::path& parent, const std::function<void(const std::string&)>& report) {
  std::vector<fs::path> before;
  int same = 0;
  for (;;) {
    const std::vector<CheckpointFolder> listed = listCheckpoints(parent);
    const auto newest = newestCheckpoint(listed, same == 0 ? report : nullptr);
    if (!newest) {
      // A listing may miss every folder that another process renames into place or removes while it
      // is read (POSIX, readdir). A folder may also be gone before it is verified.
      std::vector<fs::path> folders;
      for (const CheckpointFolder& one : listed) folders.push_back(one.folder);
      same = folders == before ? same + 1 : 1;
      if (same == (listed.empty() ? kListings : kVerifications)) return std::nullopt;
      before = std::move(folders);
      continue;
    }
    try {
      HeldCheckpoint held{*newest, std::make_shared<CheckpointHold>(newest->folder)};
      // Removing one begins with its manifest.
      if (fs::exists(newest->folder / "manifest.json")) return held;
    } catch (const FileError&) {
      if (fs::exists(newest->folder)) throw;
    }
  }
}

CheckpointWriterLock::CheckpointWriterLock(const fs::path& parent) {
  std::error_code error;
  fs::create_directories(parent, error);
  parent_ = files::Descriptor(::open(parent.c_str(), kOpenFolder));
  if (parent_.get() < 0) files::throwSystemError(parent, "cannot be opened");
  if (isTaken(parent_.get())) {
    throw RefusedError("another process writes checkpoints into " + parent.string() +
                       "; a run is trained by one at a time");
  }
}

bool removeCheckpoint(const fs::path& folder) {
  const files::Descriptor fd(::open(folder.c_str(), kOpenFolder));
  if (fd.get() < 0 || isTaken(fd.get())) return false;
  // The manifest goes first: a removal that is cut off leaves no folder that counts.
  fs::remove(folder / "manifest.json");
  fs::remove_all(folder);
  return true;
}

std::vector<std::string> pruneCheckpoints(const fs::path& parent, std::int64_t now,
                                          const CheckpointRetention& retention) {
  const std::vector<CheckpointFolder> all = listCheckpoints(parent);
  std::vector<std::string> removed;
  std::int64_t kept = 0;
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (it->step <= now) {
      const bool isEvery = retention.everySteps > 0 && it->step % retention.everySteps == 0;
      if (kept++ < retention.newest || isEvery || retention.needed.count(it->step) != 0) continue;
    }
    if (removeCheckpoint(it->folder)) removed.push_back(it->folder.filename().string());
  }
  return removed;
}

}  // namespace vitrine
