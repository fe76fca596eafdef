#include "core/config/schema.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine {

namespace {

constexpr std::array<std::pair<FieldType, const char*>, 8> kTypeNames = {{
    {FieldType::Bool, "bool"},
    {FieldType::Integer, "integer"},
    {FieldType::Real, "real"},
    {FieldType::Text, "text"},
    {FieldType::Choice, "choice"},
    {FieldType::List, "list"},
    {FieldType::Table, "table"},
    {FieldType::Size, "size"},
}};

constexpr std::array<std::pair<Rule::Kind, const char*>, 6> kRuleNames = {{
    {Rule::Kind::Divides, "divides"},
    {Rule::Kind::MultipleOf, "multiple_of"},
    {Rule::Kind::Equal, "equal"},
    {Rule::Kind::AtMost, "at_most"},
    {Rule::Kind::Requires, "requires"},
    {Rule::Kind::OneOf, "one_of"},
}};

template <class Names, class Value>
const char* nameOf(const Names& names, Value value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "";
}

template <class Names>
auto valueOf(const Names& names, const std::string& text, const char* what) {
  for (const auto& [value, name] : names) {
    if (text == name) return value;
  }
  throw ConfigError("'" + text + "' is not a known " + what +
                    " of a schema; it was written by another version");
}

Field makeField(std::string name, FieldType type, Json value, std::string doc) {
  return {.name = std::move(name),
          .type = type,
          .defaultValue = std::move(value),
          .doc = std::move(doc)};
}

/// 1 for a real field means 1.0, so that a default looks the same however it was written.
Json asReals(Json value) {
  if (value.is_number_integer()) return value.get<double>();
  if (value.is_array()) {
    for (Json& item : value) item = asReals(std::move(item));
  }
  return value;
}

Json defaultsOf(const std::vector<Field>& fields);

Json defaultOf(const Field& field) {
  switch (field.type) {
    case FieldType::Table:
      return field.nullable ? Json() : defaultsOf(field.fields);
    case FieldType::Size:
      if (field.defaultValue.is_number())
        return Json::array({field.defaultValue, field.defaultValue});
      return field.defaultValue;
    default:
      return field.defaultValue;
  }
}

Json defaultsOf(const std::vector<Field>& fields) {
  Json values = Json::object();
  for (const Field& field : fields) values[field.name] = defaultOf(field);
  return values;
}

void collectKeys(const std::vector<Field>& fields, const std::string& prefix,
                 std::vector<std::string>& keys) {
  for (const Field& field : fields) {
    if (field.type == FieldType::Table) {
      collectKeys(field.fields, prefix + field.name + ".", keys);
    } else {
      keys.push_back(prefix + field.name);
    }
  }
}

Json fieldToJson(const Field& field) {
  Json json = Json::object();
  json["name"] = field.name;
  if (!field.title.empty()) json["title"] = field.title;
  json["type"] = nameOf(kTypeNames, field.type);
  json["default"] = field.defaultValue;
  if (field.required) json["required"] = true;
  if (field.nullable) json["nullable"] = true;
  if (field.minimum) json["minimum"] = *field.minimum;
  if (field.maximum) json["maximum"] = *field.maximum;
  if (field.above) json["above"] = *field.above;
  if (field.below) json["below"] = *field.below;
  if (!field.choices.empty()) json["choices"] = field.choices;
  if (!field.choiceDocs.empty()) json["choice_docs"] = field.choiceDocs;
  if (field.elements) json["elements"] = nameOf(kTypeNames, *field.elements);
  if (!field.fields.empty()) {
    Json fields = Json::array();
    for (const Field& inner : field.fields) fields.push_back(fieldToJson(inner));
    json["fields"] = std::move(fields);
  }
  if (!field.unit.empty()) json["unit"] = field.unit;
  json["doc"] = field.doc;
  json["affects"] = field.affects == Affects::Model ? "model" : "run";
  if (!field.refusedValues.empty()) {
    json["refused"] = field.refusedValues;
    json["refusal"] = field.refusal;
  }
  return json;
}

constexpr int kDeepest = 32;

Field fieldFromJson(const Json& json, int depth) {
  if (depth > kDeepest) throw ConfigError("a schema nests tables deeper than 32");
  Field field;
  field.name = json.at("name").get<std::string>();
  field.title = json.value("title", std::string());
  field.type = valueOf(kTypeNames, json.at("type").get<std::string>(), "field type");
  field.defaultValue = json.at("default");
  field.required = json.value("required", false);
  field.nullable = json.value("nullable", false);
  const auto bound = [&json](const char* key) -> std::optional<double> {
    const auto found = json.find(key);
    return found == json.end() ? std::nullopt : std::optional(found->get<double>());
  };
  field.minimum = bound("minimum");
  field.maximum = bound("maximum");
  field.above = bound("above");
  field.below = bound("below");
  field.choices = json.value("choices", std::vector<std::string>{});
  field.choiceDocs = json.value("choice_docs", std::vector<std::string>{});
  if (json.contains("elements"))
    field.elements = valueOf(kTypeNames, json.at("elements").get<std::string>(), "field type");
  if (json.contains("fields")) {
    for (const Json& inner : json.at("fields"))
      field.fields.push_back(fieldFromJson(inner, depth + 1));
  }
  field.unit = json.value("unit", std::string());
  field.doc = json.at("doc").get<std::string>();
  field.affects = json.at("affects").get<std::string>() == "model" ? Affects::Model : Affects::Run;
  if (json.contains("refused")) {
    for (const Json& value : json.at("refused")) field.refusedValues.push_back(value);
    field.refusal = json.at("refusal").get<std::string>();
  }
  return field;
}

}  // namespace

Field& Field::range(double low, double high) {
  minimum = low;
  maximum = high;
  return *this;
}
Field& Field::atLeast(double low) {
  minimum = low;
  return *this;
}
Field& Field::moreThan(double low) {
  above = low;
  return *this;
}
Field& Field::lessThan(double high) {
  below = high;
  return *this;
}
Field& Field::withUnit(std::string text) {
  unit = std::move(text);
  return *this;
}
Field& Field::titled(std::string text) {
  title = std::move(text);
  return *this;
}
Field& Field::orNone() {
  nullable = true;
  return *this;
}
Field& Field::runOnly() {
  affects = Affects::Run;
  for (Field& field : fields) field.runOnly();
  return *this;
}
Field& Field::withChoiceDocs(std::vector<std::string> docs) {
  choiceDocs = std::move(docs);
  return *this;
}
Field& Field::refuse(std::vector<Json> values, std::string sentence) {
  refusedValues = std::move(values);
  refusal = std::move(sentence);
  return *this;
}

bool Field::offers(const std::string& word) const {
  return type == FieldType::Choice &&
         std::find(choices.begin(), choices.end(), word) != choices.end();
}

Field flagField(std::string name, bool value, std::string doc) {
  return makeField(std::move(name), FieldType::Bool, value, std::move(doc));
}
Field integerField(std::string name, Json value, std::string doc) {
  return makeField(std::move(name), FieldType::Integer, std::move(value), std::move(doc));
}
Field realField(std::string name, Json value, std::string doc) {
  return makeField(std::move(name), FieldType::Real, asReals(std::move(value)), std::move(doc));
}
Field textField(std::string name, Json value, std::string doc) {
  return makeField(std::move(name), FieldType::Text, std::move(value), std::move(doc));
}
Field folderField(std::string doc) {
  Field folder = textField("folder", nullptr, std::move(doc)).titled("Folder").runOnly();
  folder.required = true;
  return folder;
}
Field choiceField(std::string name, Json value, std::vector<std::string> choices, std::string doc) {
  Field field = makeField(std::move(name), FieldType::Choice, std::move(value), std::move(doc));
  field.choices = std::move(choices);
  return field;
}
Field sizeField(std::string name, Json value, std::string doc) {
  return makeField(std::move(name), FieldType::Size, std::move(value), std::move(doc));
}
Field listField(std::string name, FieldType elements, Json value, std::string doc) {
  if (elements == FieldType::Real) value = asReals(std::move(value));
  Field field = makeField(std::move(name), FieldType::List, std::move(value), std::move(doc));
  field.elements = elements;
  return field;
}
Field tableField(std::string name, std::vector<Field> fields, std::string doc) {
  Field field = makeField(std::move(name), FieldType::Table, nullptr, std::move(doc));
  field.fields = std::move(fields);
  return field;
}

std::vector<Field> runOnly(std::vector<Field> fields) {
  for (Field& field : fields) field.runOnly();
  return fields;
}

const Field* Schema::find(const std::string& dottedKey) const {
  const std::vector<Field>* level = &fields;
  std::string_view left = dottedKey;
  for (;;) {
    const std::size_t dot = left.find('.');
    const std::string_view name = left.substr(0, dot);
    const Field* found = nullptr;
    for (const Field& field : *level) {
      if (field.name == name) found = &field;
    }
    if (!found || dot == std::string_view::npos) return found;
    level = &found->fields;
    left.remove_prefix(dot + 1);
  }
}

std::vector<std::string> Schema::keys() const {
  std::vector<std::string> keys;
  collectKeys(fields, "", keys);
  return keys;
}

Json Schema::defaults() const { return defaultsOf(fields); }

const Preset* Schema::preset(const std::string& name) const {
  for (const Preset& preset : presets) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

Json toJson(const Schema& schema) {
  Json json = {{"version", 1},
               {"fields", Json::array()},
               {"rules", Json::array()},
               {"presets", Json::array()}};
  for (const Field& field : schema.fields) json["fields"].push_back(fieldToJson(field));
  for (const Rule& rule : schema.rules) {
    Json entry = Json::object();
    entry["kind"] = nameOf(kRuleNames, rule.kind);
    entry["arguments"] = rule.arguments;
    entry["sentence"] = rule.sentence;
    json["rules"].push_back(std::move(entry));
  }
  for (const Preset& preset : schema.presets) {
    Json entry = Json::object();
    entry["name"] = preset.name;
    entry["doc"] = preset.doc;
    entry["values"] = preset.values;
    json["presets"].push_back(std::move(entry));
  }
  return json;
}

Schema schemaFromJson(const Json& json) {
  try {
    if (json.at("version").get<int>() != 1) {
      throw ConfigError("a schema has version " + json.at("version").dump() +
                        ", this program reads version 1");
    }
    Schema schema;
    for (const Json& field : json.at("fields")) schema.fields.push_back(fieldFromJson(field, 0));
    for (const Json& entry : json.at("rules")) {
      Rule rule{.kind = valueOf(kRuleNames, entry.at("kind").get<std::string>(), "rule")};
      for (const Json& argument : entry.at("arguments")) rule.arguments.push_back(argument);
      rule.sentence = entry.at("sentence").get<std::string>();
      schema.rules.push_back(std::move(rule));
    }
    for (const Json& entry : json.at("presets")) {
      schema.presets.push_back({entry.at("name").get<std::string>(),
                                entry.at("doc").get<std::string>(), entry.at("values")});
    }
    return schema;
  } catch (const Json::exception& error) {
    throw ConfigError(std::string("this is not a schema written by Vitrine: ") + error.what());
  }
}

}  // namespace vitrine
