// Small text helpers, none of which looks at the locale.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

/// Shortest decimal that reads back as `value`; "nan", "inf", "-inf". Always a dot, in every
/// locale.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string formatReal(double value);
/// `value` with `digits` significant digits, trailing zeros kept off.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string formatReal(double value, int digits);
/// 12345678 as "12,345,678".
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string formatCount(long long value);
[[nodiscard]] inline std::string formatCount(std::unsigned_integral auto value) {
  return formatCount(static_cast<long long>(value));
}
/// "28 x 32"
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string formatSides(std::int64_t height,
                                                                std::int64_t width);
[[nodiscard]] inline std::string formatSides(const std::array<std::int64_t, 2>& sides) {
  return formatSides(sides[0], sides[1]);
}
/// Bytes as "1.7 MB" (powers of 1000).
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string formatBytes(double bytes);
[[nodiscard]] inline std::string formatBytes(std::integral auto bytes) {
  return formatBytes(static_cast<double>(bytes));
}
/// Seconds as "01:12:40" or "1 min 52 s"-free clock form.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string formatDuration(double seconds);
/// Now, ISO 8601 UTC with milliseconds: "2026-11-21T11:40:02.123Z".
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string utcNow();
/// The candidate with the smallest edit distance to `word` when that is small enough to be a typing
/// slip, else "".
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string nearest(
    std::string_view word, std::span<const std::string> candidates);
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<std::string> split(std::string_view text,
                                                                       char separator);
/// `text` with A to Z as a to z; every other byte as it is.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string lowerCase(std::string_view text);
/// Up to the first line break.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string firstLine(std::string_view text);
/// The last line that has more than white space, without white space at its end; "" of none.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string lastLine(std::string_view text);
/// True if `text` matches `pattern`, in which `*` stands for any run of characters.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT bool matchesGlob(std::string_view pattern,
                                                         std::string_view text);
/// `text` cut to at most `bytes` bytes, "..." included, never inside a UTF-8 character.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string shorten(std::string_view text,
                                                            std::size_t bytes);
[[nodiscard]] VITRINE_FOUNDATION_EXPORT bool isUtf8(std::string_view text) noexcept;
/// What is wrong with `text` and what helps: "byte 12 is 0xE9; convert the text to UTF-8"; "" where
/// it is UTF-8.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string whyNotUtf8(std::string_view text);
/// `text` with every byte that is not UTF-8 replaced by U+FFFD: what JSON can carry.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string cleanUtf8(std::string_view text);
/// A random UUID (version 4) from the system's random source.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string newUuid();

}  // namespace vitrine
