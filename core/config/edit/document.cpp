// Reads experiment files with toml++, keeping the order in which things were written, and writes
// them again.
#include "core/config/edit/document.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "core/base/text.h"
#include "core/config/edit/toml_lists.h"
#include "core/config/lookup.h"
#include "core/config/toml/override.h"
#include "core/config/toml/parse_toml.h"
#include "core/config/toml/to_toml.h"

namespace vitrine {

namespace {

constexpr std::array<std::string_view, 8> kTables{"model",   "task", "data", "train",
                                                  "observe", "init", "aux",  "select"};

/// toml++ sorts keys; their places in the text give the order back.
std::vector<std::pair<std::string, const toml::node*>> inOrder(const toml::table& table) {
  std::vector<std::tuple<toml::source_position, std::string, const toml::node*>> entries;
  for (const auto& [key, value] : table)
    entries.emplace_back(key.source().begin, std::string(key.str()), &value);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    const toml::source_position& left = std::get<0>(a);
    const toml::source_position& right = std::get<0>(b);
    return left.line != right.line ? left.line < right.line : left.column < right.column;
  });
  std::vector<std::pair<std::string, const toml::node*>> ordered;
  for (const auto& [place, key, value] : entries) ordered.emplace_back(key, value);
  return ordered;
}

Json fromToml(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Json result = Json::object();
    for (const auto& [key, value] : inOrder(*table)) result[key] = fromToml(*value);
    return result;
  }
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const toml::node& entry : *array) list.push_back(fromToml(entry));
    return list;
  }
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return number->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  std::ostringstream written;  // dates and times: no key takes one, the planner says so
  node.visit([&](const auto& concrete) { written << concrete; });
  return written.str();
}

/// `set` of a variant or stage as dotted keys. A table in braces replaces, and is a value; any
/// other table merges, and is taken apart.
void readSet(const toml::table& set, const std::string& prefix, Json& given) {
  for (const auto& [name, value] : inOrder(set)) {
    const std::string key = prefix.empty() ? name : prefix + "." + name;
    const toml::table* table = value->as_table();
    if (table != nullptr && !table->is_inline() && !table->empty()) {
      readSet(*table, key, given);
    } else {
      given[key] = fromToml(*value);
    }
  }
}

/// A list of variants, stages or other tables.
Json entriesFrom(const toml::array& list) {
  Json entries = Json::array();
  for (const toml::node& node : list) {
    Json& entry = entries.emplace_back(fromToml(node));
    const toml::table* table = node.as_table();
    const toml::table* set = table == nullptr ? nullptr : table->get_as<toml::table>("set");
    if (set == nullptr) continue;
    entry["set"] = Json::object();
    readSet(*set, "", entry["set"]);
  }
  return entries;
}

/// `key = value` lines of a table; its tables as dotted keys, so that they merge into a preset's.
/// Tables that the user named are left to writeNamed().
void writeKeys(std::string& text, const Json& table, const std::string& shown,
               const std::string& path) {
  for (const auto& [key, value] : table.items()) {
    const std::string name = shown.empty() ? tomlKey(key) : shown + "." + tomlKey(key);
    const std::string full = path + "." + key;
    if (value.is_object() && isNamedTable(split(full, '.'))) continue;
    if (value.is_object() && !value.empty()) {
      writeKeys(text, value, name, full);
    } else {
      text += name + " = " + tomlLines(value) + "\n";
    }
  }
}

/// A section for each table below `path` that the user named.
void writeNamed(std::string& text, const Json& table, const std::string& path) {
  for (const auto& [key, value] : table.items()) {
    const std::string full = path + "." + key;
    if (!value.is_object()) continue;
    if (!isNamedTable(split(full, '.'))) {
      writeNamed(text, value, full);
      continue;
    }
    text += "\n[" + path + "." + tomlKey(key) + "]\n";
    writeKeys(text, value, "", full);
  }
}

bool isListOfTables(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(),
                     [](const Json& entry) { return entry.is_object(); });
}

/// An [[exclude]] as dotted keys; a swept table is a value.
void readExclude(const Json& table, const std::string& prefix, const Document& document,
                 Document::Exclude& exclude) {
  for (const auto& [name, value] : table.items()) {
    const std::string key = prefix.empty() ? name : prefix + "." + name;
    if (value.is_object() && !value.empty() && document.axis(key) == nullptr) {
      readExclude(value, key, document, exclude);
    } else {
      exclude.emplace_back(key, value);
    }
  }
}

void writeRest(std::string& text, const Json& rest) {
  for (const auto& [key, value] : rest.items()) {
    if (isListOfTables(value)) {
      for (const Json& entry : value) {
        text += "\n[[" + tomlKey(key) + "]]\n";
        for (const auto& [name, one] : entry.items())
          text += tomlKey(name) + " = " + tomlValue(one) + "\n";
      }
    } else if (value.is_object()) {
      text += "\n[" + tomlKey(key) + "]\n";
      for (const auto& [name, one] : value.items())
        text += tomlKey(name) + " = " + tomlValue(one) + "\n";
    }
  }
}

}  // namespace

const Json* Document::find(const std::string& dottedKey) const {
  return valueAt(tables, dottedKey);
}

std::string Document::text(const std::string& dottedKey) const {
  return textAt(tables, dottedKey);
}

void Document::set(const std::string& dottedKey, Json value) {
  Json* node = &tables;
  for (const std::string& part : split(dottedKey, '.')) {
    if (!node->is_object()) *node = Json::object();
    node = &(*node)[part];
  }
  *node = std::move(value);
}

void Document::erase(const std::string& dottedKey) {
  const std::vector<std::string> parts = split(dottedKey, '.');
  std::vector<Json*> nodes{&tables};
  for (const std::string& part : parts) {
    if (!nodes.back()->is_object() || !nodes.back()->contains(part)) return;
    nodes.push_back(&(*nodes.back())[part]);
  }
  for (std::size_t i = parts.size(); i > 0; --i) {
    nodes[i - 1]->erase(parts[i - 1]);
    // An analysis that is switched on stays on without keys of its own.
    const TomlPath table(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(i) - 1);
    const bool isKept = (table.size() == 2 && parts[0] == "observe") || isNamedTable(table) ||
                        table == TomlPath{"select"};
    if (!nodes[i - 1]->empty() || isKept) break;
  }
}

std::vector<std::string> Document::namesBelow(const std::string& dottedKey) const {
  std::vector<std::string> names;
  const Json* table = find(dottedKey);
  if (table == nullptr || !table->is_object()) return names;
  for (const auto& [name, value] : table->items()) {
    if (value.is_object() && name.find('.') == std::string::npos) names.push_back(name);
  }
  return names;
}

void Document::rename(const std::string& place, const std::string& from, const std::string& to) {
  const Json* table = find(place);
  if (table == nullptr || !table->contains(from) || table->contains(to)) return;
  Json renamed = Json::object();
  for (const auto& [name, value] : table->items()) renamed[name == from ? to : name] = value;
  set(place, std::move(renamed));
  const std::string before = place + "." + from, after = place + "." + to;
  const auto follow = [&](std::string& key) {
    if (key == before || key.starts_with(before + ".")) key = after + key.substr(before.size());
  };
  for (Axis& axis : sweep) follow(axis.key);
  for (Variant& variant : variants) {
    for (auto& given : variant.set) follow(given.first);
  }
  for (Exclude& exclude : excludes) {
    for (auto& given : exclude) follow(given.first);
  }
  const auto followed = [&follow](const Json& given) {
    Json result = Json::object();
    for (const auto& [key, value] : given.items()) {
      std::string name = key;
      follow(name);
      result[name] = value;
    }
    return result;
  };
  if (const Json* grid = find("select.grid"); grid != nullptr && grid->is_object())
    set("select.grid", followed(*grid));
  const auto stages = rest.find("stage");
  if (stages == rest.end() || !stages->is_array()) return;
  for (Json& stage : *stages) {
    if (stage.is_object() && stage.contains("set") && stage["set"].is_object())
      stage["set"] = followed(stage["set"]);
  }
}

const Document::Axis* Document::axis(const std::string& key) const {
  const auto found =
      std::find_if(sweep.begin(), sweep.end(), [&](const Axis& one) { return one.key == key; });
  return found == sweep.end() ? nullptr : &*found;
}

bool isExcludedBy(const Document::Exclude& exclude, const std::string& variant,
                  const SweepPoint& point) {
  return std::all_of(exclude.begin(), exclude.end(), [&](const auto& given) {
    if (given.first == "variant") return given.second == variant;
    return std::any_of(point.begin(), point.end(), [&given](const auto& one) {
      return one.first == given.first && one.second == given.second;
    });
  });
}

Document::Exclude excludeOf(const Document& document, const std::string& variant,
                            const SweepPoint& point) {
  Document::Exclude exclude;
  if (document.variants.size() > 1) exclude.emplace_back("variant", variant);
  for (const auto& [key, value] : point) {
    const Document::Axis* axis = document.axis(key);
    if (axis != nullptr && axis->values.size() > 1) exclude.emplace_back(key, value);
  }
  return exclude;
}

void include(Document& document, const std::vector<ExcludedRun>& excluded, std::size_t place) {
  const auto means = [&](const Document::Exclude& exclude, std::size_t run) {
    return isExcludedBy(exclude, excluded[run].variant, excluded[run].point);
  };
  std::vector<Document::Exclude> kept;
  std::vector<std::size_t> others;  // that are removed with it
  for (const Document::Exclude& exclude : document.excludes) {
    if (!means(exclude, place)) {
      kept.push_back(exclude);
      continue;
    }
    for (std::size_t i = 0; i < excluded.size(); ++i) {
      if (i != place && means(exclude, i)) others.push_back(i);
    }
  }
  for (const std::size_t other : others) {
    const bool isStillOut = std::any_of(kept.begin(), kept.end(),
                                        [&](const auto& exclude) { return means(exclude, other); });
    if (!isStillOut)
      kept.push_back(excludeOf(document, excluded[other].variant, excluded[other].point));
  }
  document.excludes = std::move(kept);
}

std::optional<Document> parseDocument(const std::string& text, Problem& problem) {
  TomlRefusal refusal;
  const auto root = parseToml(text, refusal);
  if (!root) {
    problem = {};
    problem.line = refusal.line;
    problem.column = refusal.column;
    problem.message = refusal.message;
    return std::nullopt;
  }
  Document document;
  Json excludes = Json::array();
  // A known key of another type (init = "none", or a mistake) is not kept: the file says it once.
  for (const auto& [key, node] : inOrder(*root)) {
    if (key == "title") {
      if (node->is_string()) document.title = node->as_string()->get();
    } else if (std::find(kTables.begin(), kTables.end(), key) != kTables.end()) {
      if (node->is_table()) document.tables[key] = fromToml(*node);
    } else if (key == "sweep") {
      // Axes may be written as "train.seed" or as nested tables; both mean the dotted key.
      for (const auto& [name, values] : flatten(fromToml(*node))) {
        Document::Axis axis{name, {}};
        if (values.is_array()) {
          axis.values.assign(values.begin(), values.end());
        } else {
          axis.values.push_back(values);
        }
        document.sweep.push_back(std::move(axis));
      }
    } else if (key == "variant") {
      if (!node->is_array_of_tables()) continue;
      for (const Json& entry : entriesFrom(*node->as_array())) {
        Document::Variant variant;
        if (entry.contains("name") && entry["name"].is_string())
          variant.name = entry["name"].get<std::string>();
        if (entry.contains("set") && entry["set"].is_object()) {
          for (const auto& [name, value] : entry["set"].items())
            variant.set.emplace_back(name, value);
        }
        document.variants.push_back(std::move(variant));
      }
    } else if (key == "exclude") {
      if (node->is_array_of_tables()) excludes = fromToml(*node);
    } else if (key == "stage" && node->is_array()) {
      document.rest[key] = entriesFrom(*node->as_array());
    } else {
      document.rest[key] = fromToml(*node);
    }
  }
  for (const Json& entry : excludes)
    readExclude(entry, "", document, document.excludes.emplace_back());
  return document;
}

std::string toText(const Document& document) {
  std::string text;
  if (!document.title.empty()) text += "title = " + tomlString(document.title) + "\n";
  for (const auto& [key, value] : document.rest.items()) {
    if (!value.is_object() && !isListOfTables(value))
      text += tomlKey(key) + " = " + tomlValue(value) + "\n";
  }
  for (const std::string_view name : kTables) {
    const auto found = document.tables.find(std::string(name));
    if (found == document.tables.end() || !found->is_object()) continue;
    std::string lines;
    writeKeys(lines, *found, "", std::string(name));
    if (!lines.empty() || found->empty()) text += "\n[" + std::string(name) + "]\n" + lines;
    writeNamed(text, *found, std::string(name));
  }
  if (!document.sweep.empty()) {
    text += "\n[sweep]\n";
    for (const Document::Axis& axis : document.sweep)
      text += tomlString(axis.key) + " = " + tomlValue(Json(axis.values)) + "\n";
  }
  for (const Document::Variant& variant : document.variants) {
    text += "\n[[variant]]\nname = " + tomlString(variant.name) + "\n";
    if (variant.set.empty()) continue;
    text += "set = " + tomlTable(variant.set) + "\n";
  }
  for (const Document::Exclude& exclude : document.excludes) {
    text += "\n[[exclude]]\n";
    for (const auto& [key, value] : exclude) text += tomlKey(key) + " = " + tomlValue(value) + "\n";
  }
  writeRest(text, document.rest);
  return text.rfind('\n', 0) == 0 ? text.substr(1) : text;
}

namespace {

/// Ids of the items of one kind, those that ask for nothing before their first run first.
std::vector<const ItemCard*> easiestFirst(const Catalog& catalog, ItemKind kind) {
  std::vector<const ItemCard*> cards;
  for (const ItemCard& item : catalog.items) {
    if (item.kind == kind) cards.push_back(&item);
  }
  std::stable_partition(cards.begin(), cards.end(), [](const ItemCard* card) {
    return std::none_of(card->schema.fields.begin(), card->schema.fields.end(),
                        [](const Field& field) { return field.required; });
  });
  return cards;
}

/// The architecture of a first experiment: one that classifies images, where there is one.
const ItemCard* firstArchitecture(const Catalog& catalog) {
  const std::vector<const ItemCard*> cards = easiestFirst(catalog, ItemKind::Architecture);
  const auto usual = std::find_if(cards.begin(), cards.end(), [](const ItemCard* card) {
    return offersEvery(card->offers, {"image_classifier"}) &&
           card->schema.preset(card->id + "/demo") != nullptr;
  });
  if (usual != cards.end()) return *usual;
  return cards.empty() ? nullptr : cards.front();
}

}  // namespace

Document freshDocument(const Catalog& catalog, const std::string& architecture) {
  Document document;
  document.title = "New experiment";
  const ItemCard* model = architecture.empty() ? firstArchitecture(catalog)
                                               : catalog.find(ItemKind::Architecture, architecture);
  document.set("model.architecture", model != nullptr ? model->id : architecture);
  if (model != nullptr && model->schema.preset(model->id + "/demo") != nullptr)
    document.set("model.preset", model->id + "/demo");
  const std::vector<const ItemCard*> tasks = easiestFirst(catalog, ItemKind::Task),
                                     datasets = easiestFirst(catalog, ItemKind::Dataset);
  const auto idOf = [](const std::vector<const ItemCard*>& cards) {
    return cards.empty() ? std::string() : cards.front()->id;
  };
  std::string task = idOf(tasks), dataset = idOf(datasets);
  const auto fits = [&](const ItemCard& wanted, const ItemCard& data) {
    return std::all_of(wanted.needs.begin(), wanted.needs.end(), [&](const std::string& need) {
      return (model != nullptr && offersEvery(model->offers, {need})) ||
             offersEvery(data.offers, {need});
    });
  };
  for (const ItemCard* wanted : tasks) {
    const auto data = std::find_if(datasets.begin(), datasets.end(),
                                   [&](const ItemCard* card) { return fits(*wanted, *card); });
    if (data == datasets.end()) continue;
    task = wanted->id;
    dataset = (*data)->id;
    break;
  }
  document.set("task.name", task);
  document.set("data.dataset", dataset);
  return document;
}

Json parseValue(const std::string& text) {
  TomlRefusal ignored;  // a bare word: taken as text
  const auto table = parseToml("value = " + text + "\n", ignored);
  if (table && table->size() == 1) return fromToml(*table->get("value"));
  return text;
}

std::vector<std::pair<std::string, Json>> parseOverrides(const std::string& lines,
                                                         std::vector<std::string>& bad) {
  std::vector<std::pair<std::string, Json>> overrides;
  for (const std::string& line : split(lines, '\n')) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    if (const auto override = splitOverride(line)) {
      overrides.emplace_back(override->key, parseValue(override->value));
    } else {
      bad.push_back(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
    }
  }
  return overrides;
}

std::string overridesText(const std::vector<std::pair<std::string, Json>>& overrides) {
  std::string text;
  for (const auto& [key, value] : overrides)
    text += (text.empty() ? "" : "\n") + key + " = " + tomlValue(value);
  return text;
}

void mergeInto(Json& base, const Json& over) {
  if (!base.is_object() || !over.is_object()) {
    base = over;
    return;
  }
  for (const auto& [key, value] : over.items()) {
    if (value.is_object() && base.contains(key) && base[key].is_object()) {
      mergeInto(base[key], value);
    } else {
      base[key] = value;
    }
  }
}

}  // namespace vitrine
