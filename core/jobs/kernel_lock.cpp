#include "core/jobs/kernel_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "core/base/error.h"
#include "core/store/run_store.h"

namespace vitrine::jobs {

namespace fs = std::filesystem;

std::optional<KernelLock> KernelLock::tryLock(const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  for (;;) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0)
      store::throwUnopened("the lock '" + file.string() + "'", error ? error.value() : errno);
    KernelLock lock(descriptor);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) return std::nullopt;
      throw Error("cannot lock '" + file.string() + "': " + std::strerror(errno));
    }
    // The file may have been removed: processes that open it now lock another one.
    if (files::isStillAt(descriptor, file)) return lock;
  }
}

std::optional<KernelLock> KernelLock::tryName(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof address.sun_path)
    throw Error("the lock '" + name + "' has too long a name");
  // A first byte of zero: a name in the kernel instead of a file.
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw Error("cannot make the lock '" + name + "': " + std::strerror(errno));
  KernelLock lock(descriptor);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), length) == 0) return lock;
  if (errno == EADDRINUSE) return std::nullopt;
  throw Error("cannot take the lock '" + name + "': " + std::strerror(errno));
}

KernelLock::Try KernelLock::tryExisting(const fs::path& file, std::optional<KernelLock>& lock) {
  const int descriptor =
      ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return Try::Unusable;
  KernelLock opened(descriptor);
  int failed = 0;
  do {
    failed = ::flock(descriptor, LOCK_EX | LOCK_NB);
  } while (failed != 0 && errno == EINTR);
  if (failed != 0) return errno == EWOULDBLOCK ? Try::Held : Try::Unusable;
  lock.emplace(std::move(opened));
  return Try::Locked;
}

fs::path runLockFile(const fs::path& database, const std::string& uuid) {
  return store::filesFolder(database) / store::runFolderName(uuid) / ".lock";
}

}  // namespace vitrine::jobs
