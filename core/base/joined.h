// Words in a row, for sentences.
#pragma once

#include <concepts>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace vitrine {

/// "a, b, c" of what `textOf` makes of each item; "" of none.
template <class Items, class TextOf>
requires std::invocable<TextOf, decltype(*std::begin(std::declval<const Items&>()))>
[[nodiscard]] std::string joined(const Items& items, const TextOf& textOf,
                                 std::string_view separator = ", ") {
  std::string text;
  bool isFirst = true;
  for (const auto& item : items) {
    if (!isFirst) text += separator;
    text += textOf(item);
    isFirst = false;
  }
  return text;
}

/// \param words  of anything that a std::string takes on
template <class Words>
[[nodiscard]] std::string joined(const Words& words, std::string_view separator = ", ") {
  return joined(
      words, [](const auto& word) { return word; }, separator);
}

}  // namespace vitrine
