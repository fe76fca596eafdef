// Refusals as data: the class of the error is the code, and the message names the item and the
// place. The rest of the sentence is wording, which one test for each kind of refusal checks.
#pragma once

#include <gmock/gmock.h>

#include <cctype>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace vitrine::test {

/// The message of the Exception that `action` throws; "" when it throws nothing. Another exception
/// fails the test.
template <class Exception, class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

/// True where `message` has `item`, and not only as a part of a longer word or number.
inline bool isNamed(std::string_view message, std::string_view item) {
  const auto isWord = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = message.find(item); at != std::string_view::npos;
       at = message.find(item, at + 1)) {
    const std::size_t end = at + item.size();
    const bool begins = at == 0 || !isWord(message[at - 1]) || !isWord(item.front());
    const bool ends = end == message.size() || !isWord(message[end]) || !isWord(item.back());
    if (begins && ends) return true;
  }
  return false;
}

template <class Item>
std::string itemText(const Item& item) {
  if constexpr (std::is_arithmetic_v<Item>) {
    return std::to_string(item);
  } else {
    return std::string(item);
  }
}

MATCHER_P(NamesAll, items,
          (negation ? "does not name " : "names ") + ::testing::PrintToString(items)) {
  const std::string message(arg);
  for (const std::string& item : items) {
    if (isNamed(message, item)) continue;
    *result_listener << "which does not name " << item;
    return false;
  }
  return true;
}

/// Matches a message that names every one of `items`: keys, names, numbers, paths.
template <class... Items>
auto Names(const Items&... items) {
  return NamesAll(std::vector<std::string>{itemText(items)...});
}

/// Matches an action that throws an Exception whose message names every one of `items`.
template <class Exception, class... Items>
auto Fails(const Items&... items) {
  return ::testing::ThrowsMessage<Exception>(Names(items...));
}

}  // namespace vitrine::test
