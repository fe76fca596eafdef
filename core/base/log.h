// Messages for people: to stderr, one line each. stdout belongs to results.
#pragma once

#include <string_view>

#include "core/foundation_export.h"

namespace vitrine::log {

enum class Level { Info, Warning, Error };

/// Writes "warning: text" (no prefix for Info) and a newline in one write. Thread-safe.
VITRINE_FOUNDATION_EXPORT void write(Level level, std::string_view text);

inline void info(std::string_view text) { write(Level::Info, text); }
inline void warning(std::string_view text) { write(Level::Warning, text); }
inline void error(std::string_view text) { write(Level::Error, text); }

}  // namespace vitrine::log
