#include "core/jobs/kernel_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/base/error.h"
#include "core/files/posix_file.h"
#include "core/store/run_store.h"

namespace vitrine {

namespace {

namespace fs = std::filesystem;

/// The value of an environment variable that names a folder, or "".
fs::path folderFrom(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && value[0] == '/' ? fs::path(value) : fs::path();
}

}  // namespace

std::optional<KernelLock> KernelLock::tryLock(const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  for (;;) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) {
      throw Error("cannot open the lock '" + file.string() + "': " + std::strerror(errno) +
                  "; make its folder writable");
    }
    KernelLock lock(descriptor);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) return std::nullopt;
      throw Error("cannot lock '" + file.string() + "': " + std::strerror(errno));
    }
    // Somebody may have removed the file: those who open it from now on lock another one.
    if (files::isStillAt(descriptor, file)) return lock;
  }
}

// Closing alone: unlocking would free it for the processes that inherited it, too.
KernelLock::~KernelLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

KernelLock& KernelLock::operator=(KernelLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

fs::path lockFolder() {
  if (const fs::path runtime = folderFrom("XDG_RUNTIME_DIR"); !runtime.empty())
    return runtime / "vitrine";
  if (const fs::path cache = folderFrom("XDG_CACHE_HOME"); !cache.empty()) return cache / "vitrine";
  return folderFrom("HOME") / ".cache" / "vitrine";
}

fs::path deviceLockFile(const std::string& device) {
  std::string name = device;
  for (char& c : name) {
    if (c == '/' || c == ':') c = '-';
  }
  return lockFolder() / ("device-" + name + ".lock");
}

fs::path runLockFile(const fs::path& database, const std::string& uuid) {
  return filesFolder(database) / ("run-" + uuid) / ".lock";
}

}  // namespace vitrine
