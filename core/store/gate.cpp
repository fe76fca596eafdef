#include "core/store/gate.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "core/base/error.h"

namespace vitrine {

Gate::Gate(const std::filesystem::path& database) : file_(database.string() + ".gate") { open(); }

void Gate::open() {
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    throw StoreError("cannot open '" + file_.string() +
                     "', which serialises writers: " + std::strerror(errno) +
                     "; make its folder writable or open the database read-only");
  }
}

Gate::~Gate() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Gate::lock(std::chrono::milliseconds wait) {
  const auto end = std::chrono::steady_clock::now() + wait;
  auto pause = std::chrono::microseconds(200);
  while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      throw StoreError("cannot lock '" + file_.string() + "': " + std::strerror(errno));
    }
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(2000));
  }
  if (isInPlace()) return true;
  // Somebody removed the file: those who open it now lock another one.
  ::close(std::exchange(descriptor_, -1));
  open();
  return lock(
      std::max(std::chrono::milliseconds(0), std::chrono::duration_cast<std::chrono::milliseconds>(
                                                 end - std::chrono::steady_clock::now())));
}

bool Gate::isInPlace() const noexcept {
  struct stat mine {
  }, there{};
  return ::fstat(descriptor_, &mine) == 0 && ::stat(file_.c_str(), &there) == 0 &&
         mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

void Gate::unlock() noexcept { ::flock(descriptor_, LOCK_UN); }

}  // namespace vitrine
