#include "core/store/sqlite/open_file_locks.h"

#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdarg>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace vitrine::store {

namespace {

// Where SQLite's locks lie in a database; those of `-shm` lie at bytes 120 to 128.
constexpr off_t kPending = 0x40000000;
constexpr off_t kShared = kPending + 2;
constexpr off_t kSharedBytes = 510;

using File = std::pair<dev_t, ino_t>;

std::optional<File> fileOf(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  return File(status.st_dev, status.st_ino);
}

int lockWith(int descriptor, int command, struct flock* lock) {
  lock->l_pid = 0;  // as F_OFD_SETLK requires
  return ::fcntl(descriptor, command, lock);
}

int setShared(int descriptor, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = kShared;
  lock.l_len = kSharedBytes;
  return lockWith(descriptor, F_OFD_SETLK, &lock);
}

/// SQLite counts the locks of all connections of the process to a database. It takes each from the
/// kernel once, with the descriptor of any of them. So all go through the descriptor that took the
/// first: SQLite closes none while the process has a lock.
class Holders {
 public:
  int call(int descriptor, int command, struct flock* lock) {
    const std::optional<File> file = fileOf(descriptor);
    if (!file) return lockWith(descriptor, command, lock);
    const std::lock_guard guard(mutex_);
    auto held = held_.find(*file);
    if (held != held_.end() && fileOf(held->second) != file) {
      held_.erase(held);
      held = held_.end();
    }
    const bool isWrite = command != F_OFD_GETLK && lock->l_type == F_WRLCK;
    if (held != held_.end() && isWrite && held->second != descriptor &&
        (::fcntl(held->second, F_GETFL) & O_ACCMODE) == O_RDONLY) {
      // A descriptor for reading cannot hold a lock for writing: it hands over what it holds.
      if (setShared(descriptor, F_RDLCK) != 0) return -1;
      setShared(held->second, F_UNLCK);
      held->second = descriptor;
    }
    const int code = lockWith(held == held_.end() ? descriptor : held->second, command, lock);
    if (code != 0 || command == F_OFD_GETLK) return code;
    if (lock->l_type == F_UNLCK) {
      if (lock->l_start == 0 && lock->l_len == 0 && held != held_.end()) held_.erase(held);
    } else if (lock->l_start == kShared) {
      held_.emplace(*file, descriptor);
    }
    return 0;
  }

 private:
  std::mutex mutex_;
  std::map<File, int> held_;
};

Holders& holders() {
  static auto* const all = new Holders;  // connections may be closed after everything else is gone
  return *all;
}

bool hasOpenFileLocks() {
  const int descriptor = ::memfd_create("locks", MFD_CLOEXEC);
  if (descriptor < 0) return false;
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  const bool hasThem = ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
  ::close(descriptor);
  return hasThem;
}

}  // namespace

int lockOpenFile(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  const bool isLock = command == F_SETLK || command == F_SETLKW || command == F_GETLK;
  struct flock* const lock = isLock ? va_arg(rest, struct flock*) : nullptr;
  const int value = isLock ? 0 : va_arg(rest, int);
  va_end(rest);
  if (lock == nullptr) return ::fcntl(descriptor, command, value);
  const int ours = command == F_SETLK    ? F_OFD_SETLK
                   : command == F_SETLKW ? F_OFD_SETLKW
                                         : F_OFD_GETLK;
  // The process has one descriptor of a `-shm`, whichever connections use it.
  const bool isOfSharedMemory = lock->l_start > 0 && lock->l_start < kPending;
  return isOfSharedMemory ? lockWith(descriptor, ours, lock)
                          : holders().call(descriptor, ours, lock);
}

void keepLocksWithOpenFiles() {
  static const bool isDone = [] {
    if (sqlite3_initialize() != SQLITE_OK || !hasOpenFileLocks()) return false;
    sqlite3_vfs* const files = sqlite3_vfs_find("unix");
    if (files == nullptr || files->iVersion < 3 || files->xSetSystemCall == nullptr) return false;
    return files->xSetSystemCall(files, "fcntl",
                                 reinterpret_cast<sqlite3_syscall_ptr>(lockOpenFile)) == SQLITE_OK;
  }();
  static_cast<void>(isDone);
}

}  // namespace vitrine::store
