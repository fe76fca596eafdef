#include "core/files/posix_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/base/error.h"

namespace vitrine::files {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

void Descriptor::close(const std::filesystem::path& file) {
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) throwSystemError(file, "cannot be closed");
}

void throwSystemError(const std::filesystem::path& file, const std::string& what) {
  const std::string reason = std::generic_category().message(errno);
  throw FileError(file.string() + " " + what + ": " + reason);
}

std::pair<Descriptor, std::uint64_t> openToRead(const std::filesystem::path& file) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer before it is refused.
  Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) throwSystemError(file, "cannot be read");
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) throwSystemError(file, "cannot be read");
  if (!S_ISREG(info.st_mode)) throw FileError(file.string() + " is not a regular file");
  return {std::move(fd), static_cast<std::uint64_t>(info.st_size)};
}

std::size_t readAt(const Descriptor& fd, const std::filesystem::path& file,
                   std::span<std::byte> out, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t want = std::min<std::size_t>(out.size() - done, std::size_t{1} << 30);
    const ssize_t got =
        ::pread(fd.get(), out.data() + done, want, static_cast<off_t>(offset + done));
    if (got < 0) {
      if (errno == EINTR) continue;
      throwSystemError(file, "cannot be read");
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Descriptor openToWrite(const std::filesystem::path& file, const std::filesystem::path& named) {
  Descriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (fd.get() < 0) throwSystemError(named.empty() ? file : named, "cannot be written");
  return fd;
}

Descriptor openNew(const std::filesystem::path& file) {
  Descriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (fd.get() < 0) throwSystemError(file, "cannot be made");
  return fd;
}

void writeAll(const Descriptor& fd, const std::filesystem::path& file,
              std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t want = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
    const ssize_t put = ::write(fd.get(), bytes.data(), want);
    if (put < 0) {
      if (errno == EINTR) continue;
      throwSystemError(file, "cannot be written");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void syncFile(const Descriptor& fd, const std::filesystem::path& file) {
  if (::fsync(fd.get()) != 0) throwSystemError(file, "cannot be made durable");
}

namespace {

void syncOpened(const std::filesystem::path& path, int flags) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  if (fd.get() < 0) throwSystemError(path, "cannot be opened");
  // Some file systems cannot sync a folder and say EINVAL: nothing more can be had there.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) throwSystemError(path, "cannot be made durable");
}

}  // namespace

void syncFolder(const std::filesystem::path& folder) {
  syncOpened(folder.empty() ? std::filesystem::path(".") : folder, O_DIRECTORY);
}

void syncPath(const std::filesystem::path& path) { syncOpened(path, O_NOFOLLOW); }

bool isStillAt(int descriptor, const std::filesystem::path& path) noexcept {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

bool isForbidden(int error) noexcept { return error == EACCES || error == EPERM || error == EROFS; }

std::string inQuotes(const std::string& text) {
  constexpr std::size_t kLongest = 80;
  std::string out = "'";
  for (const char c : text.substr(0, kLongest)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out + (text.size() > kLongest ? "...'" : "'");
}

}  // namespace vitrine::files
