// A file that is memory and has a path: what a reader of files is given, a hundred thousand times a
// minute.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "tests/fuzz/targets.h"

namespace vitrine::fuzz {

class MemoryFile {
 public:
  explicit MemoryFile(Bytes content) : fd_(::memfd_create("input", MFD_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error("no memory file");
    for (std::size_t at = 0; at < content.size();) {
      const ssize_t put = ::write(fd_, content.data() + at, content.size() - at);
      if (put <= 0) throw std::runtime_error("a memory file cannot be written");
      at += static_cast<std::size_t>(put);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(fd_); }
  [[nodiscard]] std::filesystem::path path() const {
    return "/proc/self/fd/" + std::to_string(fd_);
  }

 private:
  int fd_;
};

/// True when `read` took the bytes, false when it refused them in words.
template <class Refusal, class Function>
bool takes(Function&& read) {
  try {
    read();
    return true;
  } catch (const Refusal& refusal) {
    require(*refusal.what() != '\0', "a refusal says why");
    return false;
  }
}

}  // namespace vitrine::fuzz
