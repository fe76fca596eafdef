#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <random>

#include "core/base/utc.h"

namespace vitrine {

namespace {

std::string nonFinite(double value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

/// "1e-04" as "1e-4", "1e+20" as "1e20".
std::string plainExponent(std::string text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  const std::size_t digits = e + 2;
  text.erase(digits, std::min(text.find_first_not_of('0', digits), text.size() - 1) - digits);
  if (text[e + 1] == '+') text.erase(e + 1, 1);
  return text;
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min(
          {previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(row);
  }
  return previous[b.size()];
}

/// Bytes of the character that `text` starts with; 0 when it starts with none (Unicode 15, table
/// 3-7).
std::size_t utf8Length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto isBetween = [&](std::size_t i, unsigned low, unsigned high) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return isBetween(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return isBetween(1, low, high) && isBetween(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return isBetween(1, low, high) && isBetween(2, 0x80, 0xBF) && isBetween(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string formatReal(double value) {
  if (!std::isfinite(value)) return nonFinite(value);
  std::array<char, 64> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return plainExponent({buffer.data(), result.ptr});
}

std::string formatReal(double value, int digits) {
  if (!std::isfinite(value)) return nonFinite(value);
  std::array<char, 512> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                    std::chars_format::general, std::clamp(digits, 1, 17));
  return plainExponent({buffer.data(), result.ptr});
}

std::string formatSides(std::int64_t height, std::int64_t width) {
  return std::to_string(height) + " x " + std::to_string(width);
}

std::string formatCount(long long value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string formatBytes(double bytes) {
  static constexpr std::array<const char*, 6> kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  if (!std::isfinite(bytes)) return nonFinite(bytes) + " B";
  std::size_t unit = 0;
  // 999.95 would be shown as 1000.0.
  while (std::fabs(bytes) >= (unit == 0 ? 1000.0 : 999.95) && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  std::array<char, 512> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), bytes,
                                    std::chars_format::fixed, unit == 0 ? 0 : 1);
  return std::string(buffer.data(), result.ptr) + " " + kUnits[unit];
}

std::string formatDuration(double seconds) {
  if (!std::isfinite(seconds)) return "--:--:--";
  const bool isNegative = seconds < 0;
  const auto whole = static_cast<long long>(std::llround(std::min(std::fabs(seconds), 3.6e12)));
  std::array<char, 48> buffer;
  std::snprintf(buffer.data(), buffer.size(), "%s%02lld:%02lld:%02lld",
                isNegative && whole > 0 ? "-" : "", whole / 3600, whole / 60 % 60, whole % 60);
  return buffer.data();
}

std::int64_t utcMilliseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string utcNow() { return utcText(utcMilliseconds()); }

std::string utcText(std::int64_t milliseconds) {
  const auto seconds = static_cast<std::time_t>(milliseconds / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 96> buffer;
  std::snprintf(buffer.data(), buffer.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
                parts.tm_sec, static_cast<int>(milliseconds % 1000));
  return buffer.data();
}

std::string lowerCase(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lowered;
}

std::string firstLine(std::string_view text) {
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

std::string lastLine(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \r\n\t");
  if (end == std::string_view::npos) return {};
  const std::size_t before = text.find_last_of("\r\n", end);
  const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
  return std::string(text.substr(start, end + 1 - start));
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  // Long words are not typing slips, and the distance costs their product.
  if (word.empty() || word.size() > 64) return "";
  const std::string lowered = lowerCase(word);
  const std::size_t allowed = std::max<std::size_t>(1, word.size() / 3);
  const std::string* best = nullptr;
  std::size_t bestDistance = allowed + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > word.size() + allowed || word.size() > candidate.size() + allowed)
      continue;
    const std::size_t distance = editDistance(lowered, lowerCase(candidate));
    if (distance < bestDistance && distance < std::max(word.size(), candidate.size())) {
      bestDistance = distance;
      best = &candidate;
    }
  }
  return best ? *best : "";
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool matchesGlob(std::string_view pattern, std::string_view text) {
  // Greedy with one point to come back to: linear in practice, quadratic at worst.
  std::size_t p = 0, t = 0;
  std::size_t star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string shorten(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  const std::string_view dots = std::string_view("...").substr(0, std::min<std::size_t>(bytes, 3));
  std::size_t end = bytes - dots.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + std::string(dots);
}

namespace {

/// Bytes before the first that is not UTF-8.
std::size_t utf8Bytes(std::string_view text) noexcept {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const std::size_t length = utf8Length(text.substr(bytes));
    if (length == 0) break;
    bytes += length;
  }
  return bytes;
}

}  // namespace

bool isUtf8(std::string_view text) noexcept { return utf8Bytes(text) == text.size(); }

std::string whyNotUtf8(std::string_view text) {
  const std::size_t at = utf8Bytes(text);
  if (at == text.size()) return "";
  std::array<char, 8> hex{};
  std::snprintf(hex.data(), hex.size(), "0x%02X", static_cast<unsigned char>(text[at]));
  return "byte " + std::to_string(at) + " is " + hex.data() + "; convert the text to UTF-8";
}

std::string cleanUtf8(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t length = utf8Length(text);
    clean += length > 0 ? text.substr(0, length) : std::string_view("\xEF\xBF\xBD");
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return clean;
}

std::string newUuid() {
  std::random_device source;
  std::array<std::uint8_t, 16> bytes;
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    const std::uint32_t word = source();
    for (std::size_t k = 0; k < 4; ++k) bytes[i + k] = static_cast<std::uint8_t>(word >> (8 * k));
  }
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3F) | 0x80);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

}  // namespace vitrine
