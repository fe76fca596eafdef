// Runs that a training script of another program logs with `vitrine log`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/store/run_reader.h"

namespace vitrine::store {

/// Key of their environment: the command that started the script, "" where it is not known.
inline constexpr const char* kScriptKey = "script";

/// That command; nothing where Vitrine works on the run itself, or no process has begun to.
[[nodiscard]] VITRINE_STORE_EXPORT std::optional<std::string> scriptOf(RunReader& store,
                                                                       std::int64_t run);

/// Why Vitrine cannot start such a run, and what does.
[[nodiscard]] VITRINE_STORE_EXPORT std::string whyNotStarted(std::int64_t run,
                                                             const std::string& script);

}  // namespace vitrine::store
