// Which tier of the tests runs.
#pragma once

#include <cstdlib>
#include <string_view>

namespace vitrine {

/// `./vitrine test --long` asks for more rounds.
[[nodiscard]] inline bool isLong() {
  const char* value = std::getenv("VITRINE_LONG_TESTS");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace vitrine
