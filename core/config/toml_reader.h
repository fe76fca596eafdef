// TOML text to nodes with places. Internal to core/config.
#pragma once

#include <string>

#include "core/config/node.h"
#include "core/config/problem_list.h"

namespace vitrine {

inline constexpr std::size_t kLargestText = std::size_t{8} << 20;
inline constexpr int kDeepestTable = 64;

/// The document as a table, children in the order of the text. Problems go to `problems`; the table
/// is empty after one.
[[nodiscard]] Node readToml(const std::string& text, ProblemList& problems);

/// The value of an override. A bare word is text; `none` and `null` are absent.
/// \returns a message, or "" when `node` holds the value
[[nodiscard]] std::string readTomlValue(const std::string& text, Node& node);

}  // namespace vitrine
