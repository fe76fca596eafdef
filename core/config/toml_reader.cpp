#include "core/config/toml_reader.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "core/base/text.h"

namespace vitrine {

namespace {

constexpr std::int64_t kMostValues = 1'000'000;
constexpr std::size_t kMostKeys = 1000;  // of one table

/// Where and why a text is refused before it is parsed.
struct Refusal {
  int line = 0, column = 0;
  std::string message;
};

/// A look at the text that keeps the parser's recursion and memory within bounds: it frees nested
/// tables recursively, and a dotted key of a million parts nests a million tables.
class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) {}

  Refusal run() {
    for (; at_ < text_.size(); ++at_) {
      step(text_[at_]);
      if (dots_ >= kDeepestTable || depth_ > kDeepestTable) {
        return here("tables and lists are nested deeper than " + std::to_string(kDeepestTable));
      }
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
    const std::string_view rest = text_.substr(at_);
    const bool isLong = rest.size() >= 3 && rest[1] == quote && rest[2] == quote;
    at_ += isLong ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        newLine();
        if (!isLong) return;
      }
      if (c == '\\' && quote == '"' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') {
        ++at_;
      } else if (c == quote && !isLong) {
        return;
      } else if (c == quote && text_.substr(at_, 3) == std::string(3, quote)) {
        at_ += 2;
        return;
      }
    }
  }

  [[nodiscard]] Refusal here(std::string message) const {
    return {line_, static_cast<int>(at_ - lineStart_) + 1, std::move(message)};
  }

  std::string_view text_;
  std::size_t at_ = 0, lineStart_ = 0;
  int line_ = 1, dots_ = 0, depth_ = 0;
  std::int64_t values_ = 0;
};

enum class Elements { AsJson, AsNodes };

class Reader {
 public:
  /// Where and why reading stopped, if it did.
  const toml::node* refused = nullptr;
  std::string message;

  Node table(const toml::table& from, Elements elements, int depth) {
    Node node;
    node.isTable = true;
    node.replaces = from.is_inline();
    if (depth > kDeepestTable) {
      refuse(from, "tables and lists are nested deeper than " + std::to_string(kDeepestTable));
    } else if (from.size() > kMostKeys) {
      refuse(from, "this table has " + formatCount(static_cast<long long>(from.size())) +
                       " keys, more than " + formatCount(kMostKeys));
    }
    if (refused) return node;
    struct Entry {
      const toml::key* key;
      const toml::node* value;
    };
    std::vector<Entry> entries;
    entries.reserve(from.size());
    for (const auto& [key, value] : from) entries.push_back({&key, &value});
    // toml++ sorts by name; what comes first in the text comes first here.
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      const auto place = [](const Entry& entry) {
        const toml::source_position& at = entry.key->source().begin;
        return std::tuple(at.line, at.column);
      };
      return place(a) < place(b);
    });
    for (const Entry& entry : entries) {
      const std::string name(entry.key->str());
      const bool isListed =
          depth == 0 && (name == "sweep" || name == "variant" || name == "stage" ||
                         name == "exclude" || name == "claim" || name == "result");
      Node child = value(*entry.value, isListed ? Elements::AsNodes : elements, depth + 1);
      child.keyLine = static_cast<int>(entry.key->source().begin.line);
      child.keyColumn = static_cast<int>(entry.key->source().begin.column);
      node.children.emplace_back(name, std::move(child));
    }
    return node;
  }

  Node value(const toml::node& from, Elements elements, int depth) {
    Node node;
    if (const toml::table* inner = from.as_table()) {
      node = table(*inner, elements, depth);
    } else {
      node.value = json(from, depth);
      const toml::array* list = from.as_array();
      if (list && elements == Elements::AsNodes && !refused) {
        for (const toml::node& item : *list) {
          Node& child = node.items.emplace_back(value(item, elements, depth + 1));
          child.keyLine = child.line;
          child.keyColumn = child.column;
        }
      }
    }
    node.line = static_cast<int>(from.source().begin.line);
    node.column = static_cast<int>(from.source().begin.column);
    return node;
  }

 private:
  void refuse(const toml::node& where, std::string why) {
    if (refused) return;
    refused = &where;
    message = std::move(why);
  }

  Json json(const toml::node& from, int depth) {
    if (depth > kDeepestTable)
      refuse(from, "tables and lists are nested deeper than " + std::to_string(kDeepestTable));
    if (refused) return nullptr;
    switch (from.type()) {
      case toml::node_type::string:
        return **from.as_string();
      case toml::node_type::integer:
        return **from.as_integer();
      case toml::node_type::floating_point:
        return **from.as_floating_point();
      case toml::node_type::boolean:
        return **from.as_boolean();
      case toml::node_type::array: {
        Json list = Json::array();
        for (const toml::node& item : *from.as_array()) list.push_back(json(item, depth + 1));
        return list;
      }
      case toml::node_type::table: {
        Json object = Json::object();
        for (const auto& [key, item] : *from.as_table())
          object[std::string(key.str())] = json(item, depth + 1);
        return object;
      }
      default:
        return Json(Json::value_t::discarded);
    }
  }
};

std::string lowered(std::string_view description) {
  std::string text(description);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

Node readToml(const std::string& text, ProblemList& problems) {
  Node root;
  root.isTable = true;
  if (text.size() > kLargestText) {
    problems.addAt(0, 0, "", "the text is larger than 8 MiB");
    return root;
  }
  if (Refusal refusal = Scan(text).run(); !refusal.message.empty()) {
    problems.addAt(refusal.line, refusal.column, "", refusal.message);
    return root;
  }
  try {
    const toml::table document = toml::parse(std::string_view(text));
    Reader reader;
    Node read = reader.table(document, Elements::AsJson, 0);
    if (reader.refused) {
      const toml::source_position& at = reader.refused->source().begin;
      problems.addAt(static_cast<int>(at.line), static_cast<int>(at.column), "", reader.message);
      return root;
    }
    read.replaces = false;
    return read;
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    problems.addAt(static_cast<int>(at.line), static_cast<int>(at.column), "",
                   "not valid TOML: " + cleanUtf8(lowered(error.description())));
  }
  return root;
}

std::string readTomlValue(const std::string& text, Node& node) {
  node = Node{};
  if (text == "none" || text == "null") {
    node.raw = text;
    return "";
  }
  if (text.empty()) return "has no value; 'none' means absent, \"\" an empty text";
  if (text.size() > kLargestText) return "the value is larger than 8 MiB";
  if (!isUtf8(text)) return "the value is not valid UTF-8";
  if (text.find('\n') != std::string::npos) return "the value has more than one line";
  if (Refusal refusal = Scan(text).run(); !refusal.message.empty()) return refusal.message;

  std::string message;
  try {
    const toml::table document = toml::parse("v = " + text);
    const toml::node* value = document.get("v");
    if (document.size() == 1 && value && !value->is_date() && !value->is_time() &&
        !value->is_date_time()) {
      Reader reader;
      node = reader.value(*value, Elements::AsJson, 1);
      if (reader.refused) return reader.message;
      node.placeAt(Node{});
      node.raw = text;
      return "";
    }
  } catch (const toml::parse_error& error) {
    message = "the value is not valid TOML: " + lowered(error.description());
  }
  // A word, a path or a name is text; something that begins like a text, list or table was meant to
  // be one.
  if (std::string_view("\"'[{").find(text.front()) != std::string_view::npos) return message;
  node.value = text;
  node.raw = text;
  return "";
}

}  // namespace vitrine
