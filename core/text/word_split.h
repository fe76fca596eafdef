// Cuts text into words; a byte-level tokenizer joins bytes within a word only.
#pragma once

#include <string_view>
#include <vector>

namespace vitrine::text {

/// The first of these that fits is taken, again and again, as long as possible:
///
/// - an English contraction in either case;
/// - letters, with at most one character before them that is not a letter, number or line end;
/// - one to three numbers;
/// - other characters, with at most one space before and line ends after them;
/// - white space up to its last line end;
/// - white space without its last character, where a word follows;
/// - white space.
inline constexpr const char* kWordPattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/// \pre `text` is UTF-8 \returns  pieces that together are the text
[[nodiscard]] std::vector<std::string_view> splitWords(std::string_view text);

}  // namespace vitrine::text
