// Numbers in texts, whatever the locale.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace vitrine {

/// The number that `text` is as a whole; nothing where it is another text or has no room in
/// `Number`.
template <typename Number>
[[nodiscard]] std::optional<Number> parseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace vitrine
