// How often this process has a file open: the connections to a database, as the kernel sees them.
#pragma once

#include <algorithm>
#include <filesystem>

namespace vitrine::ui {

/// Without opening the file, which would take SQLite's locks away.
inline std::ptrdiff_t connectionsTo(const std::filesystem::path& file) {
  const std::filesystem::path place = std::filesystem::canonical(file);
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return std::count_if(begin(open), end(open), [&](const auto& entry) {
    std::error_code error;
    return std::filesystem::read_symlink(entry.path(), error) == place;
  });
}

}  // namespace vitrine::ui
