// Parses TOML text from outside: the only place that calls toml++ for it. What the parser would
// follow without end is refused before, and what it made is within bounds afterwards.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string_view>

#include "core/config/toml/toml_refusal.h"
#include "core/foundation_export.h"

namespace vitrine {

/// The document: at most 8 MiB, 64 levels, a million values, and a thousand keys in each table.
/// \returns nullopt  `refusal` says why
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::optional<toml::table> parseToml(std::string_view text,
                                                                             TomlRefusal& refusal);

}  // namespace vitrine
