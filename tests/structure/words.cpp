#include "tests/structure/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "tests/structure/includes.h"

namespace vitrine::structure {

namespace fs = std::filesystem;

namespace {

/// Written small: the text is compared in lower case.
const std::set<std::string_view> kPeople{"somebody", "nobody",  "everybody", "everyone",
                                         "whoever",  "someone", "anybody",   "anew"};

/// Whole identifiers that a term of resources/docs/vocabulary.md replaced.
const std::set<std::string_view> kReplaced{
    "Attendant",    "ComingRuns", "Gate",     "Keeper", "QueueAttendant", "Readers",
    "ScaleKeeper",  "WorkedRun",  "carryOut", "giveUp", "leaveOut",       "putBack",
    "requireSound", "seams",      "settle",   "tidy",   "tile_product",
};

/// The same within any identifier.
constexpr std::array<std::string_view, 5> kReplacedParts{"PutBack", "SettleMs", "attendQueue",
                                                         "put_back", "sayOnce"};

/// Verbs in the past, which do not name a type.
const std::set<std::string_view> kNoTypes{"Asked", "Kept", "Told", "Wanted"};

bool isWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// A signal or slot that is named after a wish: "tokenAsked", "startWanted"; "isAsked" is a flag.
bool isWish(std::string_view word) {
  if (!word.ends_with("Asked") && !word.ends_with("Wanted")) return false;
  if (std::islower(static_cast<unsigned char>(word.front())) == 0) return false;
  constexpr std::array kFlags{"is", "was", "has", "are"};
  const bool isConstant = word.front() == 'k' && std::isupper(static_cast<unsigned char>(word[1]));
  return !isConstant && std::none_of(kFlags.begin(), kFlags.end(),
                                     [&](const char* flag) { return word.starts_with(flag); });
}

bool isNumbered(std::string_view word, std::string_view letters) {
  return word.size() > letters.size() && word.starts_with(letters) &&
         std::all_of(word.begin() + static_cast<std::ptrdiff_t>(letters.size()), word.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool isCode(std::string_view word) {
  return word == "DESIGN" || isNumbered(word, "DB") || isNumbered(word, "TR") ||
         isNumbered(word, "CK");
}

bool isRead(const fs::path& file) {
  static const std::set<std::string> kEndings{".h",  ".cpp",  ".cu",    ".cuh", ".md", ".py",
                                              ".sh", ".toml", ".cmake", ".def", ".in", ".sql"};
  const std::string name = file.filename().string();
  return kEndings.contains(file.extension().string()) || name == "CMakeLists.txt" ||
         name == "vitrine";
}

}  // namespace

std::string lower(std::string_view word) {
  std::string small(word);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

std::vector<FoundWord> forbiddenWords(const std::string& file, std::string_view text) {
  std::vector<FoundWord> found;
  std::string before, last;
  bool isAfterIsNo = false;
  int line = 1, lineOfNo = 1;
  for (std::size_t at = 0; at < text.size();) {
    if (!isWordByte(text[at])) {
      if (text[at] == '\n') ++line;
      const bool isApart = std::string_view(" \t\n/#*").find(text[at]) == std::string_view::npos;
      if (isApart) {
        if (isAfterIsNo) found.push_back({file, lineOfNo, "is no"});
        isAfterIsNo = false;
        before = last = "";
      }
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && isWordByte(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    at = end;
    const std::string small = lower(word);
    if (isAfterIsNo && small != "longer") found.push_back({file, lineOfNo, "is no"});
    isAfterIsNo = last == "is" && small == "no" && before != "there";
    if (isAfterIsNo) lineOfNo = line;
    const bool isGoingOn = small == "on" && (last == "go" || last == "goes" || last == "going");
    if (isGoingOn) found.push_back({file, line, "go on"});
    if (kPeople.contains(small)) found.push_back({file, line, small});
    const bool isType = (last == "struct" || last == "class") && kNoTypes.contains(word);
    const bool hasReplaced = std::any_of(
        kReplacedParts.begin(), kReplacedParts.end(),
        [word](std::string_view part) { return word.find(part) != std::string_view::npos; });
    if (kReplaced.contains(word) || hasReplaced || isType || isWish(word) || isCode(word))
      found.push_back({file, line, std::string(word)});
    before = std::exchange(last, small);
  }
  if (isAfterIsNo) found.push_back({file, lineOfNo, "is no"});
  return found;
}

std::vector<FoundWord> forbiddenWords(const fs::path& root) {
  std::vector<FoundWord> found;
  const auto read = [&](const fs::path& path) {
    const std::string file = path.lexically_relative(root).generic_string();
    if (!isRead(path) || file.starts_with("tests/structure/words")) return;  // they name the words
    for (FoundWord& one : forbiddenWords(file, contentOf(path))) found.push_back(std::move(one));
  };
  for (const char* folder : {"app", "core", "experiments", "plugins", "resources", "tests", "ui"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file()) read(entry.path());
    }
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    if (entry.is_regular_file()) read(entry.path());
  }
  return found;
}

std::vector<std::string> violations(const std::vector<FoundWord>& found,
                                    const std::vector<AllowedWord>& allowed,
                                    const std::string& fault, const std::string& table) {
  std::vector<std::string> sentences;
  std::vector<bool> isUsed(allowed.size(), false);
  for (const FoundWord& one : found) {
    bool isAllowed = false;
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      if (lower(allowed[i].word) != lower(one.word) || !one.file.starts_with(allowed[i].file))
        continue;
      isAllowed = isUsed[i] = true;
    }
    if (!isAllowed)
      sentences.push_back(one.file + ":" + std::to_string(one.line) + ": '" + one.word +
                          "': " + fault);
  }
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (!isUsed[i]) {
      sentences.push_back("'" + allowed[i].word + "' is not in " + allowed[i].file +
                          " any more: remove it from tests/structure/" + table + ".");
    }
  }
  return sentences;
}

}  // namespace vitrine::structure
