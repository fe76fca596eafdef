// Words of configurations, and what they stand for.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/joined.h"

namespace vitrine {

/// What `word` stands for. \param what  for the message: "path"
/// \throws ConfigError  no such word: names them
template <class Value>
[[nodiscard]] Value valueOf(const char* what, const std::string& word,
                            std::initializer_list<std::pair<const char*, Value>> words) {
  for (const auto& [name, value] : words) {
    if (word == name) return value;
  }
  throw ConfigError(std::string(what) + " = \"" + word + "\" is not one of " +
                    joined(words, [](const auto& each) { return each.first; }));
}

}  // namespace vitrine
