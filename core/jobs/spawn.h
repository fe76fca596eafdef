// Starts a program that outlives this one. Private to core/jobs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace vitrine::jobs {

/// Input of a started program next to its arguments.
struct SpawnExtras {
  std::vector<std::string> environment;  ///< NAME=value, before what this process has
  std::vector<int> keep;                 ///< descriptors that stay open in it
};

/// Runs `arguments` (the program first) in a session of its own, with stdin from /dev/null and
/// stdout and stderr appended to `log`. Returns its pid. It is not a child of this process: no
/// caller needs to wait for it.
/// \throws Error  the log cannot be opened or the program cannot be run
[[nodiscard]] std::int64_t spawnDetached(const std::vector<std::string>& arguments,
                                         const std::filesystem::path& log,
                                         const SpawnExtras& extras = {});

}  // namespace vitrine::jobs
