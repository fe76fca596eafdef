// Byte positions of the statements of a TOML text, for edits that keep comments.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

using TomlPath = std::vector<std::string>;

/// [begin, end) in bytes.
struct TomlRange {
  std::size_t begin = 0, end = 0;
};

/// A header or a `key = value`. Ranges are [begin, end) in bytes.
struct TomlStatement {
  enum class Kind { Header, ArrayHeader, Entry };
  Kind kind = Kind::Entry;
  TomlPath path;           ///< whole: an entry's starts with that of its header
  std::size_t header = 0;  ///< of an entry: its header's place in the list plus 1, 0 at the top
  std::size_t begin = 0, end = 0;            ///< whole lines, the line break included
  std::size_t valueBegin = 0, valueEnd = 0;  ///< of an entry
  std::vector<TomlRange> parts;              ///< of the key as it is written here, quotes included
};

/// \param text  must be TOML: other text is skipped
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<TomlStatement> outlineToml(
    std::string_view text);

/// Number of the `[[variant]]`, from 0, that a line (from 1) belongs to; -1: none.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT int variantAt(std::string_view text, int line);

/// A `key = value` inside `{ ... }`.
struct TomlInlineEntry {
  TomlPath path;          ///< within the table
  std::size_t begin = 0;  ///< of the key
  std::size_t valueBegin = 0, valueEnd = 0;
  std::vector<TomlRange> parts;  ///< of the key
};
/// \param begin  of the brace, in `text`
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<TomlInlineEntry> outlineInline(
    std::string_view text, std::size_t begin);

/// The elements of a `[ ... ]`. \param begin  of the bracket, in `text`
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<TomlRange> outlineArray(std::string_view text,
                                                                            std::size_t begin);

[[nodiscard]] VITRINE_FOUNDATION_EXPORT bool startsWith(const TomlPath& path,
                                                        const TomlPath& prefix);

}  // namespace vitrine
