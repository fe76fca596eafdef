#include "core/store/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/base/error.h"

namespace vitrine {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBuffer = 1u << 20;

[[noreturn]] void fail(const fs::path& path, const char* what) {
  throw FileError("'" + path.string() + "' " + what + ": " + std::strerror(errno));
}

[[noreturn]] void refuse(const fs::path& target) {
  throw RefusedError("'" + target.string() +
                     "' exists already and is left alone; choose another name or remove it");
}

bool isThere(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

}  // namespace

NewFile::NewFile(fs::path target) : target_(std::move(target)) {
  if (!target_.has_filename()) target_ = target_.parent_path();  // "folder/"
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  if (isThere(target_)) refuse(target_);
  if (!fs::is_directory(folder)) {
    throw NotFoundError("there is no folder '" + folder.string() + "' for '" +
                        target_.filename().string() + "'; make it first");
  }
  temporary_ = target_.string() + ".tmp-" + std::to_string(::getpid());
  std::error_code error;
  fs::remove_all(temporary_, error);  // of a process with this number that was killed
}

NewFile::~NewFile() {
  if (isFinished_) return;
  std::error_code error;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    fs::remove_all(temporary_.string() + suffix, error);
  }
}

void NewFile::finish() {
  syncTree(temporary_);
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST) refuse(target_);
    // A file system without that flag: the window between look and rename has to be borne.
    if (errno != EINVAL && errno != ENOSYS) fail(target_, "cannot be put in place");
    if (isThere(target_)) refuse(target_);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(target_, "cannot be put in place");
  }
  isFinished_ = true;
  syncPath(target_.has_parent_path() ? target_.parent_path() : fs::path("."));
}

void syncPath(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) fail(path, "cannot be opened");
  const int code = ::fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  errno = error;
  // Some file systems cannot sync a folder and say EINVAL: nothing more can be had there.
  if (code != 0 && errno != EINVAL) fail(path, "cannot be made durable");
}

void syncTree(const fs::path& folder) {
  if (fs::is_directory(folder)) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      syncPath(entry.path());
    }
  }
  syncPath(folder);
}

Appender::Appender(const fs::path& file)
    : file_(file),
      descriptor_(
          ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) fail(file_, "cannot be made");
}

Appender::~Appender() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Appender::write(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() >= kBuffer) flush();
}

void Appender::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void Appender::flush() {
  std::string_view rest = waiting_;
  while (!rest.empty()) {
    const ssize_t put = ::write(descriptor_, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(file_, "cannot be written");
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  waiting_.clear();
}

void Appender::close() {
  flush();
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
    fail(file_, "cannot be closed");
  }
}

}  // namespace vitrine
