#include "core/base/log.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

namespace vitrine::log {

namespace {

std::string_view prefixOf(Level level) {
  static constexpr std::array kPrefixes = {"", "warning: ", "error: "};
  return kPrefixes.at(static_cast<std::size_t>(level));
}

}  // namespace

void write(Level level, std::string_view text) {
  std::string line(prefixOf(level));
  line += text;
  line += '\n';
  // One write keeps lines of several threads and processes whole; a closed stderr is not an
  // error.
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, left.data(), left.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace vitrine::log
