#include "core/config/toml/toml_reader.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "core/base/text.h"
#include "core/config/toml/parse_toml.h"

namespace vitrine {

namespace {

enum class Elements { AsJson, AsNodes };

class Reader {
 public:
  Node table(const toml::table& from, Elements elements, int depth) {
    Node node;
    node.isTable = true;
    node.replaces = from.is_inline();
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
          depth == 0 &&
          (name == "sweep" || name == "select" || name == "variant" || name == "stage" ||
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
      node.value = json(from);
      const toml::array* list = from.as_array();
      if (list && elements == Elements::AsNodes) {
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
  static Json json(const toml::node& from) {
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
        for (const toml::node& item : *from.as_array()) list.push_back(json(item));
        return list;
      }
      case toml::node_type::table: {
        Json object = Json::object();
        for (const auto& [key, item] : *from.as_table())
          object[std::string(key.str())] = json(item);
        return object;
      }
      default:
        return Json(Json::value_t::discarded);
    }
  }
};

}  // namespace

Node readToml(const std::string& text, ProblemList& problems) {
  TomlRefusal refusal;
  if (const auto document = parseToml(text, refusal)) {
    Node read = Reader().table(*document, Elements::AsJson, 0);
    read.replaces = false;
    return read;
  }
  problems.addAt(refusal.line, refusal.column, refusal.code, "", refusal.message);
  Node root;
  root.isTable = true;
  return root;
}

TomlRefusal readTomlValue(const std::string& text, Node& node) {
  node = Node{};
  const auto refused = [](std::string message, Code code = Code::BadSyntax) {
    return TomlRefusal{0, 0, std::move(message), code};
  };
  if (text == "none" || text == "null") {
    node.raw = text;
    return {};
  }
  if (text.empty()) return refused("has no value; 'none' means absent, \"\" an empty text");
  if (text.size() > kLargestText) return refused("the value is larger than 8 MiB", Code::TooLarge);
  if (!isUtf8(text)) return refused("the value is not valid UTF-8");
  if (text.find('\n') != std::string::npos) return refused("the value has more than one line");

  TomlRefusal refusal;
  if (const auto document = parseToml("v = " + text, refusal)) {
    const toml::node* value = document->get("v");
    if (document->size() == 1 && value && !value->is_date() && !value->is_time() &&
        !value->is_date_time()) {
      node = Reader().value(*value, Elements::AsJson, 1);
      node.placeAt(Node{});
      node.raw = text;
      return {};
    }
  } else if (refusal.code != Code::BadSyntax) {
    return refusal;
  }
  // A word, a path or a name is text; something that begins like a text, list or table was meant to
  // be one.
  if (std::string_view("\"'[{").find(text.front()) != std::string_view::npos &&
      !refusal.message.empty())
    return refused("the value is " + refusal.message);
  node.value = text;
  node.raw = text;
  return {};
}

}  // namespace vitrine
