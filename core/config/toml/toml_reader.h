// TOML text to nodes with places. Internal to core/config.
#pragma once

#include <string>
#include <vector>

#include "core/config/toml/node.h"
#include "core/config/toml/override.h"
#include "core/config/toml/problem_list.h"
#include "core/config/toml/toml_refusal.h"

namespace vitrine {

inline constexpr std::size_t kLargestText = std::size_t{8} << 20;
inline constexpr int kDeepestTable = 64;

/// The document as a table, children in the order of the text. Problems go to `problems`; the table
/// is empty after one.
[[nodiscard]] Node readToml(const std::string& text, ProblemList& problems);

/// The key and the value of KEY=VALUE; their problems go to `problems`. \returns  false: `path` and
///         `node` hold nothing
[[nodiscard]] bool readOverride(const Override& given, ProblemList& problems,
                                std::vector<std::string>& path, Node& node);

/// The value of an override. A bare word is text; `none` and `null` are absent.
/// \returns a refusal without a message when `node` holds the value
[[nodiscard]] TomlRefusal readTomlValue(const std::string& text, Node& node);

}  // namespace vitrine
