#include "core/live/shared_segment.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "core/base/error.h"

namespace vitrine::live {

namespace {

constexpr const char* kFolder = "/dev/shm";  // where Linux keeps what shm_open() makes

std::byte* mapped(int descriptor, std::size_t bytes) noexcept {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

[[noreturn]] void refuse(const std::string& name, std::size_t bytes, int code) {
  throw Error("shared memory " + name + " of " + std::to_string(bytes / 1024) +
              " KiB cannot be made: " + std::strerror(code) + "; free some of " + kFolder);
}

/// A plain file of this user that no other user can open.
bool isOwn(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

}  // namespace

std::optional<SharedSegment> SharedSegment::create(const std::string& name, std::size_t bytes) {
  const int descriptor = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    if (errno == EEXIST) return std::nullopt;
    refuse(name, bytes, errno);
  }
  int problem = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  std::byte* data = problem == 0 ? mapped(descriptor, bytes) : nullptr;
  if (data == nullptr) {
    if (problem == 0) problem = errno;
    ::close(descriptor);
    ::shm_unlink(name.c_str());
    refuse(name, bytes, problem);
  }
  return SharedSegment(name, descriptor, data, bytes);
}

std::optional<SharedSegment> SharedSegment::open(const std::string& name,
                                                 std::size_t bytes) noexcept {
  const int descriptor = ::shm_open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
  if (descriptor < 0) return std::nullopt;
  struct stat status {};
  const bool fits = ::fstat(descriptor, &status) == 0 && isOwn(status) &&
                    status.st_size == static_cast<off_t>(bytes) &&
                    // A sparse one would end this process at the first write to a full disk.
                    static_cast<std::size_t>(status.st_blocks) * 512 >= bytes;
  std::byte* data = fits ? mapped(descriptor, bytes) : nullptr;
  if (data == nullptr) {
    ::close(descriptor);
    return std::nullopt;
  }
  return SharedSegment(name, descriptor, data, bytes);
}

SharedSegment::~SharedSegment() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

SharedSegment::SharedSegment(SharedSegment&& other) noexcept
    : name_(std::move(other.name_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_) {}

SharedSegment& SharedSegment::operator=(SharedSegment&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

bool SharedSegment::isNamed() const noexcept {
  struct stat status {};
  return ::fstat(descriptor_, &status) == 0 && status.st_nlink > 0;
}

void SharedSegment::unlink() const noexcept {
  if (isNamed()) ::shm_unlink(name_.c_str());
}

void sweepSegments(
    const std::string& prefix, std::size_t headBytes,
    const std::function<bool(const std::string&, const std::string&, double)>& isStale) noexcept {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(kFolder), ::closedir);
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string name = entry->d_name;
    if (!name.starts_with(prefix)) continue;
    const int descriptor = ::shm_open(("/" + name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
    if (descriptor < 0) continue;
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && isOwn(status)) {
      std::string head(headBytes, '\0');
      const ssize_t got = ::pread(descriptor, head.data(), head.size(), 0);
      head.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
      timespec now{};
      ::clock_gettime(CLOCK_REALTIME, &now);
      const double age = static_cast<double>(now.tv_sec - status.st_ctim.tv_sec);
      if (isStale(name, head, age)) ::shm_unlink(("/" + name).c_str());
    }
    ::close(descriptor);
  }
}

}  // namespace vitrine::live
