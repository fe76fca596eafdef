// Values as text for people, and text as a cell of a CSV file.
#pragma once

#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// Text as it is, a real number in its shortest form, anything else as JSON in one line; bytes that
/// are not UTF-8 become U+FFFD.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string plainText(const Json& value);
/// `text` as RFC 4180 wants it: in quotes where a comma, a quote or a line break is in it.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string csvCell(std::string_view text);

}  // namespace vitrine
