#include "core/jobs/log_ring.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/text.h"

namespace vitrine::jobs {

namespace {

constexpr std::size_t kTail = 4000;

}  // namespace

LogRing::LogRing(std::filesystem::path file, std::int64_t limit)
    : file_(std::move(file)), half_(limit / 2) {
  open();
}

void LogRing::open() {
  descriptor_ =
      files::Descriptor(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  struct stat status {};
  size_ = ::fstat(descriptor_.get(), &status) == 0 ? status.st_size : 0;
}

void LogRing::write(std::string_view bytes) {
  tail_.append(bytes.substr(bytes.size() > kTail ? bytes.size() - kTail : 0));
  if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
  note(bytes);
}

void LogRing::note(std::string_view bytes) {
  while (!bytes.empty()) {
    if (size_ >= half_) {
      std::error_code error;
      std::filesystem::rename(file_, file_.string() + ".1", error);
      if (error) std::filesystem::remove(file_, error);
      open();
      if (size_ >= half_) return;  // it can be neither renamed nor removed
    }
    if (descriptor_.get() < 0) return;
    const auto room = static_cast<std::size_t>(half_ - size_);
    const ssize_t written = ::write(descriptor_.get(), bytes.data(), std::min(bytes.size(), room));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the disk is full: the log is the first thing to do without
    size_ += written;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string lastLines(const std::string& log, int lines) {
  const auto end = log.find_last_not_of(" \r\n\t");
  if (end == std::string::npos) return {};
  std::size_t start = end;
  for (int line = 0; line < lines && start != std::string::npos; ++line) {
    if (start == 0) {
      start = std::string::npos;
      break;
    }
    start = log.find_last_of('\n', start - 1);
  }
  std::string text = log.substr(start == std::string::npos ? 0 : start + 1,
                                end - (start == std::string::npos ? 0 : start + 1) + 1);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') c = ' ';
  }
  return cleanUtf8(text);
}

}  // namespace vitrine::jobs
