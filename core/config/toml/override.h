// KEY=VALUE as every verb takes it. The value is TOML; a bare word is text; `none` and `null` mean
// absent.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// A `key=value` from the command line or a form.
struct Override {
  std::string key;
  std::string value;
};
/// Blanks around both parts and quotes around the key go. None: there is no '=' or no key.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::optional<Override> splitOverride(
    std::string_view text);
/// The VALUE that reads back as `value`: null as none, a text without quotes where that can be.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string overrideValue(const Json& value);
/// \throws ConfigError  there is no '=' or no key
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Override parseOverride(const std::string& text);
/// \throws ConfigError  one of them is not a KEY=VALUE
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<Override> parseOverrides(
    const std::vector<std::string>& texts);

/// Puts each at its dotted key below resolved `tables`. "none" stays a word, and a value that
/// replaces a text is the text as typed. \throws ConfigError a value that is not TOML
VITRINE_FOUNDATION_EXPORT void layOverrides(Json& tables, const std::vector<Override>& overrides);

}  // namespace vitrine
