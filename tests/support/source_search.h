// Which files of the program's source hold a word: for rules that a compiler does not check.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace vitrine::testing_support {

/// Files of the program, its window and its plugins that hold one of `words`, in alphabetical order
/// with a space behind each.
inline std::string filesThatSay(const std::vector<std::string>& words) {
  namespace fs = std::filesystem;
  const fs::path source = VITRINE_SOURCE_DIR;
  std::vector<std::string> found;
  for (const char* room : {"app", "core", "plugins", "ui"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source / room)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".cpp" && ending != ".h") continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(in)),
                             std::istreambuf_iterator<char>());
      const bool saysOne = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return text.find(word) != std::string::npos;
      });
      if (saysOne) found.push_back(fs::relative(entry.path(), source).generic_string());
    }
  }
  std::sort(found.begin(), found.end());
  std::string list;
  for (const std::string& file : found) list += file + " ";
  return list;
}

}  // namespace vitrine::testing_support
