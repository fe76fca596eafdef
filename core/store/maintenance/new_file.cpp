#include "core/store/maintenance/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "core/base/error.h"
#include "core/files/posix_file.h"
#include "core/store/sqlite/file_system.h"

namespace vitrine::store {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBuffer = 1u << 20;

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
  removeUnfinishedFiles(target_, ".tmp-", ".tmp-");
  std::error_code error;
  fs::remove_all(temporary_, error);  // of a process with this number that was killed
}

NewFile::~NewFile() {
  if (isFinished_) return;
  std::error_code error;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"})
    fs::remove_all(temporary_.string() + suffix, error);
}

void NewFile::finish() {
  syncTree(temporary_);
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST) refuse(target_);
    // A file system without that flag: the window between look and rename has to be borne.
    if (errno != EINVAL && errno != ENOSYS)
      files::throwSystemError(target_, "cannot be put in place");
    if (isThere(target_)) refuse(target_);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0)
      files::throwSystemError(target_, "cannot be put in place");
  }
  isFinished_ = true;
  files::syncFolder(target_.parent_path());
}

void syncTree(const fs::path& folder) {
  if (fs::is_directory(folder)) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
      files::syncPath(entry.path());
  }
  files::syncPath(folder);
}

Appender::Appender(const fs::path& file, const fs::path& named)
    : named_(named.empty() ? file : named), descriptor_(files::openNew(file)) {}

void Appender::write(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() >= kBuffer) flush();
}

void Appender::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void Appender::flush() {
  files::writeAll(descriptor_, named_, std::as_bytes(std::span(waiting_)));
  waiting_.clear();
}

void Appender::close() {
  flush();
  descriptor_.close(named_);
}

}  // namespace vitrine::store
