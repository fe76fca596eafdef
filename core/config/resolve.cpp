#include "core/config/resolve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/text.h"
#include "core/config/toml/toml_reader.h"

namespace vitrine {

namespace {

std::string shown(const Json& value) {
  if (value.is_null()) return "none";
  if (value.is_discarded()) return "a date or time";
  if (value.is_object()) return "a table";
  if (value.is_number_float()) return formatReal(value.get<double>());
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    return "'" + shorten(text, 60) + "'";
  }
  if (value.is_array()) {
    std::string text = "[";
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i == 8) return text + ", ...]";
      text += (i ? ", " : "") + shown(value[i]);
    }
    return text + "]";
  }
  return value.dump();
}

std::string withUnit(std::string text, const Field& field) {
  return field.unit.empty() ? text : text + " " + field.unit;
}

/// "" when `value` lies in the field's range.
std::string outOfRange(const Field& field, double value) {
  const bool isInside =
      (!field.minimum || value >= *field.minimum) && (!field.maximum || value <= *field.maximum) &&
      (!field.above || value > *field.above) && (!field.below || value < *field.below);
  if (isInside) return "";
  std::string low, high;
  if (field.minimum) low = formatReal(*field.minimum) + " or more";
  if (field.above) low = "more than " + formatReal(*field.above);
  if (field.maximum) high = formatReal(*field.maximum) + " or less";
  if (field.below) high = "less than " + formatReal(*field.below);
  std::string range = low + (low.empty() || high.empty() ? "" : " and ") + high;
  if (field.minimum && field.maximum && !field.above && !field.below)
    range = formatReal(*field.minimum) + " to " + formatReal(*field.maximum);
  return formatReal(value) + " is out of range; use " + withUnit(range, field);
}

bool isInteger(const Json& value) {
  return value.is_number_integer() &&
         !(value.is_number_unsigned() &&
           value.get<std::uint64_t>() >
               static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

Checked wrong(const std::string& wanted, const Json& value) {
  return {nullptr, "must be " + wanted + ", not " + shown(value)};
}

/// A list where one value belongs is mostly meant as a sweep.
Checked wrongOne(const std::string& wanted, const Json& value) {
  Checked checked = wrong(wanted, value);
  if (value.is_array()) checked.message += "; values to try belong in [sweep]";
  return checked;
}

Checked within(const Field& field, Json value, double number) {
  return {std::move(value), outOfRange(field, number), "", Code::OutOfRange};
}

Checked checkNumber(const Field& field, FieldType type, const Json& value) {
  if (type == FieldType::Integer) {
    if (!isInteger(value)) return wrongOne("an integer", value);
    return within(field, value.get<std::int64_t>(), value.get<double>());
  }
  if (!value.is_number()) return wrongOne("a number", value);
  const double number = value.get<double>();
  if (!std::isfinite(number)) return wrong("a finite number", value);
  return within(field, number, number);
}

Checked checkSize(const Field& field, const Json& value) {
  if (isInteger(value)) return within(field, Json::array({value, value}), value.get<double>());
  if (!value.is_array() || value.size() != 2 || !isInteger(value[0]) || !isInteger(value[1]))
    return wrong("a size: an integer or [height, width]", value);
  Checked checked = within(field, value, value[0].get<double>());
  return checked.message.empty() ? within(field, value, value[1].get<double>()) : checked;
}

/// "0,W-1" of [0, "W-1"]: a choice that is made of several values.
std::string chosenFrom(const Json& list) {
  std::string text;
  for (const Json& item : list) {
    const bool isWord = item.is_string();
    if (!isWord && !item.is_number_integer()) return "";
    text += (text.empty() ? "" : ",") + (isWord ? item.get<std::string>() : item.dump());
  }
  return text;
}

Checked checkText(const Field& field, const Json& value) {
  if (field.type == FieldType::Choice && value.is_array()) {
    const std::string word = chosenFrom(value);
    if (field.offers(word)) return {word};
  }
  if (!value.is_string())
    return wrongOne(field.type == FieldType::Choice ? "one of " + listed(field.choices) : "text",
                    value);
  const auto& text = value.get_ref<const std::string&>();
  if (text.find('\0') != std::string::npos) return {nullptr, "must not contain a zero character"};
  if (field.type != FieldType::Choice || field.offers(text)) return {value};
  return {nullptr, shown(value) + " is none of " + listed(field.choices),
          nearest(text, field.choices), Code::UnknownChoice};
}

Checked checkList(const Field& field, const Json& value) {
  if (!value.is_array()) return wrong("a list", value);
  const FieldType type = field.elements.value_or(FieldType::Text);
  Json list = Json::array();
  for (const Json& item : value) {
    Checked checked;
    if (type == FieldType::Integer || type == FieldType::Real) {
      checked = checkNumber(field, type, item);
    } else if (type == FieldType::Bool) {
      checked = item.is_boolean() ? Checked{item} : wrongOne("true or false", item);
    } else {
      checked = item.is_string() ? Checked{item} : wrongOne("text", item);
    }
    if (!checked.message.empty()) {
      checked.message = "element " + std::to_string(list.size()) + ": " + checked.message;
      return checked;
    }
    list.push_back(std::move(checked.value));
  }
  return {list};
}

/// Keys elsewhere in the item whose last part looks like `word`.
std::string elsewhere(const std::string& word, const TableSpec& spec) {
  std::vector<std::string> keys, last;
  for (const Schema* schema : spec.schemas) {
    for (std::string& key : schema->keys()) {
      last.push_back(key.substr(key.rfind('.') + 1));
      keys.push_back(std::move(key));
    }
  }
  const std::string close = nearest(word, last);
  if (close.empty()) return "";
  return keys[static_cast<std::size_t>(std::find(last.begin(), last.end(), close) - last.begin())];
}

}  // namespace

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i == 12) return text + ", ...";
    text += (i ? ", " : "") + words[i];
  }
  return text.empty() ? "nothing" : text;
}

Checked checkLeaf(const Field& field, const Node& node) {
  const Json given = node.isTable ? Json::object() : node.value;
  for (const Json& refused : field.refusedValues) {
    const bool isRefused = given == refused || (refused.is_null() && given == "none");
    if (isRefused) return {nullptr, field.refusal, "", Code::RefusedValue};
  }
  // The word means the choice where one is called none, and absence elsewhere.
  const bool saysNone = given == "none" || (given.is_null() && node.raw == "none");
  if (saysNone && field.offers("none")) return {"none"};
  const bool canBeAbsent = field.nullable || (field.defaultValue.is_null() && !field.required);
  if (given.is_null() || saysNone) {
    if (canBeAbsent) return {nullptr};
    if (given.is_null() && node.raw.empty()) return {nullptr, "must have a value, not null"};
  }
  // Of a number that may be absent false is none, and true the default where there is one.
  const bool isNumber = field.type == FieldType::Integer || field.type == FieldType::Real;
  if (isNumber && canBeAbsent && given == false) return {nullptr};
  if (isNumber && canBeAbsent && given == true && field.defaultValue.is_number())
    return {field.defaultValue};
  switch (field.type) {
    case FieldType::Bool:
      return given.is_boolean() ? Checked{given} : wrongOne("true or false", given);
    case FieldType::Integer:
    case FieldType::Real:
      return checkNumber(field, field.type, given);
    case FieldType::Size:
      return checkSize(field, given);
    case FieldType::List:
      return checkList(field, given);
    // 5 or true on the command line is a text where a text is asked for.
    case FieldType::Text:
    case FieldType::Choice: {
      const bool isList = field.type == FieldType::Choice && given.is_array();
      const bool isGiven = given.is_string() || isList || node.raw.empty();
      return checkText(field, isGiven ? given : Json(node.raw));
    }
    case FieldType::Table:
      break;
  }
  return wrongOne("a table", given);
}

void Resolver::origin(const std::string& key, const Node* node) {
  if (!origins_) return;
  const Source source = node ? node->source : Source::Default;
  const bool hasLine = source != Source::Default && source != Source::CommandLine;
  origins_->emplace_back(
      key, Origin{layers_[static_cast<std::size_t>(source)], hasLine ? node->line : 0});
}

void Resolver::refuse(const Node* where, At at, Code code, const std::string& key,
                      const std::string& message, const std::string& nearest) {
  problems_.add(where, at, code, key, message, nearest, item_);
}

void Resolver::table(const TableSpec& spec, const Node* node, const std::string& prefix,
                     Json& values) {
  root_ = prefix;
  item_ = spec.item;
  invalid_.clear();
  if (node && !node->isTable) {
    refuse(node, kAtValue, Code::WrongType, prefix.substr(0, prefix.size() - 1), "must be a table");
    node = nullptr;
  }
  std::vector<const Field*> all;
  for (const Schema* schema : spec.schemas) {
    for (const Field& field : schema->fields) {
      const bool isTaken = std::any_of(
          all.begin(), all.end(), [&](const Field* other) { return other->name == field.name; });
      if (!isTaken) all.push_back(&field);
    }
  }
  fields(all, spec, node, prefix, values);

  for (const Schema* schema : spec.schemas) {
    for (const Rule& rule : schema->rules) {
      const Verdict verdict = judge(rule, spec.schemas, values);
      if (verdict.message.empty()) continue;
      const Node* where = node;
      bool isComparable = true;
      const Node* strongest = nullptr;
      for (const std::string& key : verdict.keys) {
        isComparable = isComparable && !invalid_.contains(prefix + key);
        const Node* given = node ? node->findPath(key) : nullptr;
        if (given && (!strongest || given->source > strongest->source)) strongest = given;
      }
      if (strongest) where = strongest;
      if (isComparable)
        refuse(where, kAtValue, Code::BrokenRule, prefix + verdict.key, verdict.message);
    }
  }
}

void Resolver::fields(const std::vector<const Field*>& fields, const TableSpec& spec,
                      const Node* node, const std::string& prefix, Json& values) {
  for (const Field* field : fields) {
    const std::string key = prefix + field->name;
    const Node* given = node ? node->find(field->name) : nullptr;
    if (!given && field->required) {
      refuse(node, kAtKey, Code::Missing, key, "must be given: " + field->doc);
      invalid_.insert(key);
    }
    values[field->name] = this->field(*field, spec, given, key);
  }
  if (node) unknownKeys(fields, spec, *node, prefix);
}

Json Resolver::field(const Field& field, const TableSpec& spec, const Node* node,
                     const std::string& key) {
  if (field.type != FieldType::Table) {
    Json value = field.defaultValue;
    if (field.type == FieldType::Size && value.is_number()) value = Json::array({value, value});
    if (node) {
      Checked checked = checkLeaf(field, *node);
      if (checked.message.empty()) {
        value = std::move(checked.value);
      } else {
        refuse(node, kAtValue, checked.code, key, checked.message, checked.nearest);
        invalid_.insert(key);
      }
    }
    origin(key, node);
    return value;
  }

  const bool isNone = node && !node->isTable && (node->value.is_null() || node->value == "none");
  if (field.nullable && (isNone || !node)) {
    origin(key, node);
    return nullptr;
  }
  if (node && !node->isTable) {
    refuse(node, kAtValue, Code::WrongType, key, wrongOne("a table", node->value).message);
    invalid_.insert(key);
    node = nullptr;
  }
  std::vector<const Field*> inner;
  for (const Field& each : field.fields) inner.push_back(&each);
  Json table = Json::object();
  fields(inner, spec, node, key + ".", table);
  return table;
}

void Resolver::unknownKeys(const std::vector<const Field*>& fields, const TableSpec& spec,
                           const Node& node, const std::string& prefix) {
  const bool isTop = prefix == root_;
  std::vector<std::string> legal;
  for (const auto& [name, child] : node.children) {
    const bool isField = std::any_of(fields.begin(), fields.end(),
                                     [&](const Field* field) { return field->name == name; });
    const bool isOwn =
        isTop && std::find(spec.ownKeys.begin(), spec.ownKeys.end(), name) != spec.ownKeys.end();
    if (isField || isOwn) continue;
    if (legal.empty()) {
      if (isTop) legal = spec.ownKeys;
      for (const Field* field : fields) legal.push_back(field->name);
    }
    std::string close = nearest(name, legal);
    if (close.empty()) {
      close = elsewhere(name, spec);
      if (!close.empty()) close = root_ + close;
    }
    const std::string message = close.empty()
                                    ? "there is no such key here; there are " + listed(legal)
                                    : "there is no such key";
    refuse(&child, kAtKey, Code::UnknownKey, prefix + shorten(name, 80), message, close);
    if (problems_.isFull()) return;
  }
}

std::vector<Problem> resolveItem(const Schema& schema, const std::string& prefix, Json& values,
                                 const std::vector<Override>& overrides) {
  ProblemList problems("");
  const LayerNames layers;
  Resolver resolver(problems, layers, nullptr);
  Node node = nodeFrom(values, Source::File);
  for (const Override& each : overrides) {
    std::vector<std::string> path;
    Node value;
    if (readOverride(each, problems, path, value)) lay(node, path, value);
  }
  Json resolved = Json::object();
  const std::string dotted = prefix.empty() || prefix.ends_with('.') ? prefix : prefix + ".";
  resolver.table({{&schema}, {}}, &node, dotted, resolved);
  values = std::move(resolved);
  return problems.take();
}

}  // namespace vitrine
