// The includes between files of the tree.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::structure {

/// `from` includes `to`; both relative to the root of the tree.
struct Include {
  std::string from, to;
};

/// \throws std::runtime_error  it cannot be read
[[nodiscard]] std::string contentOf(const std::filesystem::path& file);

/// The quoted includes of one file, as they are written.
[[nodiscard]] std::vector<std::string> quotedIncludes(std::string_view text);

/// Includes between files below `folders`. What is not in the tree (generated headers) is left
/// out; a path relative to the file itself is resolved. \throws std::runtime_error  a folder or
/// file cannot be read
[[nodiscard]] std::vector<Include> readIncludes(const std::filesystem::path& root,
                                                const std::vector<std::string>& folders);

}  // namespace vitrine::structure
