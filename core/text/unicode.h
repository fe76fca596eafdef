// Code points of UTF-8 text and their classes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine_export.h"

namespace vitrine::text {

/// One code point and where its bytes lie.
struct CodePoint {
  char32_t value = 0;
  std::size_t begin = 0, size = 0;  ///< bytes
};

/// \param where  for messages: "sample 12 of train"
/// \throws ConfigError  the text is not UTF-8: names the first byte that is not
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<CodePoint> codePoints(std::string_view text,
                                                                      const std::string& where);
/// The same without the points. \throws ConfigError
VITRINE_ENGINE_EXPORT void requireUtf8(std::string_view text, const std::string& where);

/// UTF-8 of one code point. \pre it is one
VITRINE_ENGINE_EXPORT void appendUtf8(std::string& text, char32_t point);

[[nodiscard]] VITRINE_ENGINE_EXPORT bool isLetter(char32_t point) noexcept;  ///< category L
[[nodiscard]] VITRINE_ENGINE_EXPORT bool isNumber(char32_t point) noexcept;  ///< category N
/// Property White_Space.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool isSpace(char32_t point) noexcept;

}  // namespace vitrine::text
