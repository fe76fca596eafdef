#include "tests/structure/papers.h"

#include <cctype>
#include <set>

#include "tests/structure/includes.h"

namespace vitrine::structure {

namespace fs = std::filesystem;

namespace {

const std::set<std::string> kNames{"vit", "illama", "visionllama", "dit",        "sit",
                                   "vil", "xlstm",  "mlstm",       "visionlstm", "llamafusion"};

bool isUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool isLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool isJoint(char c) { return c == '_' || c == '-'; }

/// Whether a word of an identifier begins at `at`: behind a joint, and where the case rises or the
/// last of several capitals begins a small word.
bool begins(std::string_view run, std::size_t at) {
  if (at == 0 || isJoint(run[at - 1])) return true;
  if (!isUpper(run[at])) return false;
  const bool isNextSmall = at + 1 < run.size() && isLetter(run[at + 1]) && !isUpper(run[at + 1]);
  return !isUpper(run[at - 1]) || isNextSmall;
}

/// The first name in a run of letters and joints; "" for none.
std::string nameIn(std::string_view run) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (isLetter(run[i]) && begins(run, i)) starts.push_back(i);
  }
  starts.push_back(run.size());
  if (kNames.contains(lower(run))) return run == "sit" ? "" : std::string(run);  // a verb
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    std::string together;
    for (std::size_t j = i; j + 1 < starts.size(); ++j) {
      for (const char c : run.substr(starts[j], starts[j + 1] - starts[j])) {
        if (isLetter(c)) together += c;
      }
      if (kNames.contains(lower(together)) && run != "sit") return together;
    }
  }
  return "";
}

bool isRead(const fs::path& file) {
  static const std::set<std::string> kEndings{".h", ".cpp", ".cu", ".cuh", ".in", ".md"};
  return kEndings.contains(file.extension().string()) ||
         file.filename().string() == "CMakeLists.txt";
}

}  // namespace

std::vector<FoundWord> paperNames(const std::string& file, std::string_view text) {
  std::vector<FoundWord> found;
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    if (!isLetter(text[at])) {
      if (text[at] == '\n') ++line;
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && (isLetter(text[end]) || isJoint(text[end]))) ++end;
    std::string name = nameIn(text.substr(at, end - at));
    if (!name.empty()) found.push_back({file, line, std::move(name)});
    at = end;
  }
  return found;
}

std::vector<FoundWord> paperNamesBelow(const fs::path& root,
                                       const std::vector<std::string>& folders) {
  std::vector<FoundWord> found;
  for (const std::string& folder : folders) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || !isRead(entry.path())) continue;
      const std::string file = entry.path().lexically_relative(root).generic_string();
      for (FoundWord& one : paperNames(file, contentOf(entry.path())))
        found.push_back(std::move(one));
    }
  }
  return found;
}

std::vector<std::string> paperViolations(const std::vector<FoundWord>& found,
                                         const std::vector<AllowedWord>& allowed) {
  return violations(found, allowed, "a paper's name; what serves all of them names none.",
                    "papers.cpp");
}

const std::vector<AllowedWord>& namedPapers() {
  static const std::vector<AllowedWord> named{
      {"core/kernels/", "mlstm", "the operation has no other name"},
      {"core/kernels/mlstm.h", "xlstm", "cites the paper that defines the operation"},
  };
  return named;
}

}  // namespace vitrine::structure
