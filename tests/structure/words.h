// Words that the project does not use, and the reader of sources that finds them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::structure {

struct FoundWord {
  std::string file;  ///< relative to the root
  int line = 0;
  std::string word;  ///< as it is in the table: "go on" for "goes on"
};

/// The forbidden words of one file: of people for processes, names that were replaced, codes
/// without a definition.
[[nodiscard]] std::vector<FoundWord> forbiddenWords(const std::string& file, std::string_view text);

/// Those of every source, script and document below `root`.
[[nodiscard]] std::vector<FoundWord> forbiddenWords(const std::filesystem::path& root);

/// A place where a forbidden word stays. \param file  or the beginning of its path
struct AllowedWord {
  std::string file, word, reason;
};
[[nodiscard]] const std::vector<AllowedWord>& allowedWords();

/// A sentence for each word that is not allowed, and for each permission without a use. Upper and
/// lower case are alike. \param fault  of a word  \param table  file of the permissions
[[nodiscard]] std::vector<std::string> violations(
    const std::vector<FoundWord>& found, const std::vector<AllowedWord>& allowed,
    const std::string& fault = "write the plain term (resources/docs/vocabulary.md).",
    const std::string& table = "words_table.cpp");

[[nodiscard]] std::string lower(std::string_view word);

}  // namespace vitrine::structure
