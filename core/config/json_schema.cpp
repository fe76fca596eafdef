// JSON Schema (draft 2020-12) of an item's table, for editors and other programs.
#include "core/config/schema.h"

namespace vitrine {

namespace {

void addBounds(const Field& field, Json& json) {
  if (field.minimum) json["minimum"] = *field.minimum;
  if (field.maximum) json["maximum"] = *field.maximum;
  if (field.above) json["exclusiveMinimum"] = *field.above;
  if (field.below) json["exclusiveMaximum"] = *field.below;
}

Json tableSchema(const std::vector<Field>& fields);

Json ofType(FieldType type) {
  switch (type) {
    case FieldType::Bool:
      return {{"type", "boolean"}};
    case FieldType::Integer:
      return {{"type", "integer"}};
    case FieldType::Real:
      return {{"type", "number"}};
    default:
      return {{"type", "string"}};
  }
}

Json valueSchema(const Field& field) {
  Json json = Json::object();
  switch (field.type) {
    case FieldType::Bool:
    case FieldType::Text:
      json = ofType(field.type);
      break;
    case FieldType::Integer:
    case FieldType::Real:
      json = ofType(field.type);
      addBounds(field, json);
      break;
    case FieldType::Choice:
      json["enum"] = field.choices;
      break;
    case FieldType::List: {
      Json items = ofType(field.elements.value_or(FieldType::Text));
      addBounds(field, items);
      json["type"] = "array";
      json["items"] = std::move(items);
      break;
    }
    case FieldType::Size: {
      Json side = {{"type", "integer"}};
      addBounds(field, side);
      Json pair = Json::object();
      pair["type"] = "array";
      pair["prefixItems"] = Json::array({side, side});
      pair["minItems"] = 2;
      pair["maxItems"] = 2;
      json["oneOf"] = Json::array({side, pair});
      break;
    }
    case FieldType::Table:
      json = tableSchema(field.fields);
      break;
  }
  return json;
}

Json fieldSchema(const Field& field) {
  Json value = valueSchema(field);
  Json json = Json::object();
  if (!field.title.empty()) json["title"] = field.title;
  json["description"] = field.doc;
  const bool canBeAbsent =
      field.type == FieldType::Table
          ? field.nullable
          : field.nullable || (field.defaultValue.is_null() && !field.required);
  if (canBeAbsent) {
    Json none = Json::object();
    none["enum"] = Json::array({"none", nullptr});
    json["anyOf"] = Json::array({std::move(value), std::move(none)});
  } else {
    json.update(value);
  }
  if (!field.required && field.type != FieldType::Table) json["default"] = field.defaultValue;
  if (!field.unit.empty()) json["x-unit"] = field.unit;
  json["x-affects"] = field.affects == Affects::Model ? "model" : "run";
  return json;
}

Json tableSchema(const std::vector<Field>& fields) {
  Json properties = Json::object(), required = Json::array();
  for (const Field& field : fields) {
    properties[field.name] = fieldSchema(field);
    if (field.required) required.push_back(field.name);
  }
  Json json = Json::object();
  json["type"] = "object";
  json["properties"] = std::move(properties);
  if (!required.empty()) json["required"] = std::move(required);
  json["additionalProperties"] = false;
  return json;
}

}  // namespace

Json jsonSchema(const Schema& schema, const std::string& title) {
  Json json = Json::object();
  json["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  json["title"] = title;
  json.update(tableSchema(schema.fields));
  // Relations between fields are beyond JSON Schema; they travel next to it.
  json["x-rules"] = toJson(schema)["rules"];
  Json presets = Json::array();
  for (const Preset& preset : schema.presets) presets.push_back(preset.name);
  json["x-presets"] = std::move(presets);
  return json;
}

}  // namespace vitrine
