#include "core/store/sqlite/writer_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "core/base/error.h"
#include "core/store/types.h"

namespace vitrine::store {

WriterLock::WriterLock(const std::filesystem::path& database)
    : file_(database.string() + ".gate") {}

void WriterLock::open() {
  descriptor_ = files::Descriptor(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (descriptor_.get() < 0)
    throwUnopened("'" + file_.string() + "', which serialises writers", errno);
}

namespace {

using Clock = std::chrono::steady_clock;

/// A process that waits for the writer lock holds its turn, a lock next to it. One that comes back
/// right after leaving must wait for the turn first. Otherwise a writer that writes without pause
/// would lock again before the others look, and they would never get in.
bool setTurn(int descriptor, short type) noexcept {
  struct flock turn {};
  turn.l_type = type;
  turn.l_whence = SEEK_SET;
  turn.l_len = 1;
  return ::fcntl(descriptor, F_OFD_SETLK, &turn) == 0;
}

/// Calls `isThere` until it says so or `isOver` does, ever less often. \returns  the last answer
template <typename Call, typename Over>
bool waitUntil(Call&& isThere, Over&& isOver) {
  auto pause = std::chrono::microseconds(200);
  while (!isThere()) {
    if (isOver()) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(2000));
  }
  return true;
}

}  // namespace

bool WriterLock::lock(std::chrono::milliseconds wait) {
  if (descriptor_.get() < 0) open();  // the first time, or it was gone the last time
  const auto last = Clock::now() + 12 * wait;
  std::uint64_t seen = entries();
  auto since = Clock::now();
  const auto isOver = [&](std::chrono::milliseconds limit) {
    const auto now = Clock::now();
    if (const std::uint64_t count = entries(); count != seen) {
      seen = count;
      since = now;
    }
    return now - since >= limit || now >= last;
  };
  // One that was stopped while it had its turn must not keep the others out: after half of the
  // time they go without.
  const int descriptor = descriptor_.get();
  const bool hasTurn = waitUntil([descriptor] { return setTurn(descriptor, F_WRLCK); },
                                 [&] { return isOver(wait / 2); });
  struct Turn {
    int descriptor;
    ~Turn() { setTurn(descriptor, F_UNLCK); }
  };
  {
    const Turn turn{hasTurn ? descriptor : -1};
    const auto isLocked = [this] {
      if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) == 0) return true;
      if (errno == EWOULDBLOCK || errno == EINTR) return false;
      throw StoreError("cannot lock '" + file_.string() + "': " + std::strerror(errno));
    };
    if (!waitUntil(isLocked, [&] { return isOver(wait); })) return false;
  }
  if (files::isStillAt(descriptor, file_)) {
    countEntry();
    return true;
  }
  // The file was removed: processes that open it now lock another one.
  descriptor_ = files::Descriptor();
  open();
  return lock(std::max(
      std::chrono::milliseconds(0),
      std::min(wait, std::chrono::duration_cast<std::chrono::milliseconds>(last - Clock::now()))));
}

/// How often the writer lock was passed: waiting writers see that it moves. Lost with the machine,
/// or where the disk is full; then they wait as for one that hangs.
std::uint64_t WriterLock::entries() const noexcept {
  std::uint64_t count = 0;
  return ::pread(descriptor_.get(), &count, sizeof count, 0) == sizeof count ? count : 0;
}

void WriterLock::countEntry() noexcept {
  const std::uint64_t count = entries() + 1;
  [[maybe_unused]] const ssize_t written = ::pwrite(descriptor_.get(), &count, sizeof count, 0);
}

void WriterLock::unlock() noexcept { ::flock(descriptor_.get(), LOCK_UN); }

}  // namespace vitrine::store
