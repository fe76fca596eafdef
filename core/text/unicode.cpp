#include "core/text/unicode.h"

#include <array>

#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine::text {

namespace {

/// The code point at `begin`; size 0 where the bytes are none.
CodePoint pointAt(std::string_view text, std::size_t begin) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return begin + i < text.size() ? static_cast<unsigned char>(text[begin + i]) : 0U;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {static_cast<char32_t>(lead), begin, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {0, begin, 0};
  constexpr std::array<unsigned, 5> kLeadBits{0, 0, 0x1F, 0x0F, 0x07};
  char32_t value = lead & kLeadBits[size];
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {0, begin, 0};
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool isSurrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kLeast[size] || value > 0x10FFFF || isSurrogate) return {0, begin, 0};
  return {value, begin, size};
}

}  // namespace

std::vector<CodePoint> codePoints(std::string_view text, const std::string& where) {
  std::vector<CodePoint> points;
  points.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = pointAt(text, at);
    if (point.size == 0) throw ConfigError(where + " is not UTF-8: " + whyNotUtf8(text));
    points.push_back(point);
    at += point.size;
  }
  return points;
}

void requireUtf8(std::string_view text, const std::string& where) {
  if (!isUtf8(text)) (void)codePoints(text, where);  // names the byte
}

void appendUtf8(std::string& text, char32_t point) {
  const auto put = [&](unsigned bits) { text.push_back(static_cast<char>(bits)); };
  const auto bits = static_cast<unsigned>(point);
  if (bits < 0x80) {
    put(bits);
  } else if (bits < 0x800) {
    put(0xC0U | (bits >> 6U));
    put(0x80U | (bits & 0x3FU));
  } else if (bits < 0x10000) {
    put(0xE0U | (bits >> 12U));
    put(0x80U | ((bits >> 6U) & 0x3FU));
    put(0x80U | (bits & 0x3FU));
  } else {
    put(0xF0U | (bits >> 18U));
    put(0x80U | ((bits >> 12U) & 0x3FU));
    put(0x80U | ((bits >> 6U) & 0x3FU));
    put(0x80U | (bits & 0x3FU));
  }
}

}  // namespace vitrine::text
