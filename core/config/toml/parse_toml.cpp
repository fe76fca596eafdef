#include "core/config/toml/parse_toml.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

#include "core/base/text.h"
#include "core/config/toml/toml_reader.h"

namespace vitrine {

namespace {

constexpr std::int64_t kMostValues = 1'000'000;
constexpr std::size_t kMostKeys = 1000;  // of one table

std::string tooDeep() {
  return "tables and lists are nested deeper than " + std::to_string(kDeepestTable);
}

/// A look at the text that keeps the parser's recursion and memory within bounds. The parser frees
/// nested tables recursively, and a dotted key of a million parts nests a million tables. Strings
/// and comments end here where they end for the parser.
class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) {}

  TomlRefusal run() {
    for (; at_ < text_.size(); ++at_) {
      step(text_[at_]);
      if (dots_ >= kDeepestTable || depth_ > kDeepestTable) return here(tooDeep());
      if (values_ > kMostValues)
        return here("there are more than " + formatCount(kMostValues) + " values");
    }
    return {};
  }

 private:
  void step(char c) {
    switch (c) {
      case '\n':
        newLine();
        break;
      case '#':
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
        break;
      case '"':
      case '\'':
        skipString(c);
        break;
      case '[':
      case '{':
        dots_ = 0;
        ++depth_;
        ++values_;
        break;
      case ']':
      case '}':
        dots_ = 0;
        depth_ = std::max(depth_ - 1, 0);
        break;
      case '=':
      case ',':
        dots_ = 0;
        ++values_;
        break;
      case '.':
        ++dots_;
        ++values_;  // each part of a dotted key may be a table of its own
        break;
      default:
        break;
    }
  }

  void newLine() {
    dots_ = 0;
    ++line_;
    lineStart_ = at_ + 1;
  }

  void skipString(char quote) {
    const bool isLong = text_.substr(at_).starts_with(std::string(3, quote));
    at_ += isLong ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        newLine();
        if (!isLong) return;
      } else if (c == '\\' && quote == '"') {
        if (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
      } else if (c == quote) {
        if (!isLong) return;
        // The last three of up to five quotes end it; those before belong to the text.
        const std::size_t quotes =
            std::min(text_.find_first_not_of(quote, at_), text_.size()) - at_;
        at_ += std::min<std::size_t>(quotes, 5) - 1;
        if (quotes >= 3) return;
      }
    }
  }

  [[nodiscard]] TomlRefusal here(std::string message) const {
    return {line_, static_cast<int>(at_ - lineStart_) + 1, std::move(message)};
  }

  std::string_view text_;
  std::size_t at_ = 0, lineStart_ = 0;
  int line_ = 1, dots_ = 0, depth_ = 0;
  std::int64_t values_ = 0;
};

TomlRefusal refusalAt(const toml::source_position& at, std::string message) {
  return {static_cast<int>(at.line), static_cast<int>(at.column), std::move(message)};
}

/// What the scan of the text cannot see. Headers and keys add up, and a quoted key with dots
/// ("model.mask") stands for as many tables where the planner takes it apart.
TomlRefusal beyondBounds(const toml::node& node, int depth) {
  const toml::table* table = node.as_table();
  if (depth > kDeepestTable) return refusalAt(node.source().begin, tooDeep());
  if (table != nullptr && table->size() > kMostKeys) {
    return refusalAt(node.source().begin, "this table has " + formatCount(table->size()) +
                                              " keys, more than " + formatCount(kMostKeys));
  }
  if (table != nullptr) {
    for (const auto& [key, value] : *table) {
      const auto parts = 1 + std::count(key.str().begin(), key.str().end(), '.');
      const int below =
          depth + static_cast<int>(std::min<std::ptrdiff_t>(parts, kDeepestTable + 1));
      if (TomlRefusal found = beyondBounds(value, below); !found.message.empty()) return found;
    }
  } else if (const toml::array* list = node.as_array()) {
    for (const toml::node& item : *list) {
      if (TomlRefusal found = beyondBounds(item, depth + 1); !found.message.empty()) return found;
    }
  }
  return {};
}

std::string lowered(std::string_view description) {
  std::string text(description);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

/// Whether a place, with its column in code points, is behind the last character of its line.
bool isEndOfLine(std::string_view text, const toml::source_position& at) {
  std::size_t begin = 0;
  for (toml::source_index line = 1; line < at.line; ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return true;
    begin = end + 1;
  }
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto characters = std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  });
  return static_cast<std::ptrdiff_t>(at.column) > characters;
}

/// The parser's description; of something that was not closed, the sentence that says so.
std::string syntaxProblem(std::string_view text, const toml::parse_error& error) {
  const std::string description = lowered(error.description());
  if (isEndOfLine(text, error.source().begin)) {
    const auto isIn = [&](const char* what) {
      return description.find(std::string("parsing ") + what) != std::string::npos;
    };
    if (isIn("string") || isIn("literal string")) return "this string is not closed";
    if (isIn("array")) return "this list is not closed";
    if (isIn("inline table")) return "this table is not closed on its line";
    if (isIn("table header")) return "this table header is not closed";
    if (isIn("key-value pair: expected value") || isIn("key-value pair: encountered end"))
      return "a value is missing";
  }
  return cleanUtf8(description);
}

}  // namespace

std::optional<toml::table> parseToml(std::string_view text, TomlRefusal& refusal) {
  refusal = {};
  if (text.size() > kLargestText) {
    refusal.message = "the text is larger than 8 MiB";
    return std::nullopt;
  }
  refusal = Scan(text).run();
  if (!refusal.message.empty()) return std::nullopt;
  try {
    toml::table document = toml::parse(text);
    refusal = beyondBounds(document, 0);
    if (!refusal.message.empty()) return std::nullopt;
    return document;
  } catch (const toml::parse_error& error) {
    refusal = refusalAt(error.source().begin, "not valid TOML: " + syntaxProblem(text, error));
    refusal.code = ProblemCode::BadSyntax;
  }
  return std::nullopt;
}

}  // namespace vitrine
