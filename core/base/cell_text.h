// Values as text for people, and text as a cell of a CSV file, a word of a shell or a file name.
#pragma once

#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// JSON in one line, or with `indent` spaces a level; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string dumpJson(const Json& value, int indent = -1);
/// Text as it is, a real number in its shortest form, anything else as dumpJson() writes it.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string plainText(const Json& value);
/// `text` in the form of RFC 4180: in quotes where a comma, a quote or a line break is in it.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string csvCell(std::string_view text);
/// `text` as one word of a command line: in single quotes where a shell would read it otherwise.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string shellWord(std::string_view text);
/// A title as a part of a file name: a-z, 0-9 and single dashes between, at most 60 characters;
/// "experiment" where nothing is left.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string fileSlug(std::string_view title);

}  // namespace vitrine
