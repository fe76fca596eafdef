// Values and whole configurations as TOML text that reads back the same.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// A string in double quotes. Control characters, DEL among them, become escapes; bytes that are
/// not UTF-8 become U+FFFD, since TOML can carry nothing else.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string tomlString(std::string_view text);
/// A key as it stands before '=': bare where TOML allows that, else quoted.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string tomlKey(std::string_view key);
/// One value on one line: tables inline, null as "none", a real always with a point or exponent.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string tomlValue(const Json& value);
/// "{ key = value, key = value }" in the given order; "{}" of nothing.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string tomlTable(
    const std::vector<std::pair<std::string, Json>>& entries);

}  // namespace vitrine
