// Starts a program that outlives this one. Private to core/jobs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace vitrine {

/// Runs `arguments` (the program first) in a session of its own, with stdin from /dev/null and
/// stdout and stderr appended to `log`. Returns its pid. It is no child of this process: nobody
/// needs to wait for it. \throws Error  the log cannot be opened or the program cannot be run
[[nodiscard]] std::int64_t spawnDetached(const std::vector<std::string>& arguments,
                                         const std::filesystem::path& log);

}  // namespace vitrine
