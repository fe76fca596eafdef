// Cuts text into the pieces that a byte-level tokenizer joins within.
#pragma once

#include <string_view>
#include <vector>

namespace vitrine::text {

/// The first of these that fits, again and again, greedy: an English contraction in either case;
/// letters, with at most one character before them that is neither letter, number nor line end; one
/// to three numbers; other characters, with at most one space before and line ends behind; white
/// space up to its last line end; white space but the last before a word; white space.
inline constexpr const char* kWordPattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/// \pre `text` is UTF-8 \returns  pieces that together are the text
[[nodiscard]] std::vector<std::string_view> splitWords(std::string_view text);

}  // namespace vitrine::text
