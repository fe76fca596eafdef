// vitrine describe: items and their schemas, for people, for Studio and for editors.

#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/engine.h"
#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/config/train_schema.h"

namespace vitrine::app {

namespace {

std::string typeText(const Field& field) {
  switch (field.type) {
    case FieldType::Bool:
      return "bool";
    case FieldType::Integer:
      return "integer";
    case FieldType::Real:
      return "real";
    case FieldType::Text:
      return "text";
    case FieldType::Choice:
      return joined(field.choices, " | ");
    case FieldType::List:
      return "list";
    case FieldType::Table:
      return "table";
    case FieldType::Size:
      return "n or [height, width]";
  }
  return "";
}

std::string rangeText(const Field& field) {
  const bool hasLow = field.minimum || field.above;
  const bool hasHigh = field.maximum || field.below;
  if (!hasLow && !hasHigh) return "";
  std::string text;
  if (field.minimum) text += formatReal(*field.minimum) + " <= ";
  if (field.above) text += formatReal(*field.above) + " < ";
  text += "x";
  if (field.maximum) text += " <= " + formatReal(*field.maximum);
  if (field.below) text += " < " + formatReal(*field.below);
  return text;
}

std::string valueText(const Field& field) {
  if (field.required) return "(required)";
  if (field.defaultValue.is_null()) return "none";
  return plainText(field.defaultValue);
}

void addRows(Table& table, const std::vector<Field>& fields, const std::string& prefix) {
  for (const Field& field : fields) {
    const std::string key = prefix + field.name;
    if (field.type == FieldType::Table) {
      addRows(table, field.fields, key + ".");
      continue;
    }
    std::string limits = rangeText(field);
    if (!field.unit.empty()) limits += (limits.empty() ? "" : ", ") + field.unit;
    table.rows.push_back({key, field.title, typeText(field), valueText(field), limits, field.doc});
  }
}

std::string describeSchema(const Schema& schema) {
  Table table{{"key", "title", "type", "default", "limits", "meaning"}, {}};
  addRows(table, schema.fields, "");
  std::string text = table.rows.empty() ? "takes no keys\n" : toText(table);
  if (!schema.rules.empty()) {
    text += "\nrules\n";
    for (const Rule& rule : schema.rules) text += "  " + rule.sentence + "\n";
  }
  if (!schema.presets.empty()) {
    Table presets{{"preset", "meaning"}, {}};
    for (const Preset& preset : schema.presets) presets.rows.push_back({preset.name, preset.doc});
    text += "\n" + toText(presets);
  }
  return text;
}

std::string describeMetrics(const MetricCard& card) {
  if (card.declared.empty()) return "";
  Table table{{"metric", "title", "unit", "better", "meaning"}, {}};
  for (const MetricDeclaration& each : card.declared)
    table.rows.push_back({each.pattern, each.title, each.unit, each.direction, each.definition});
  return "\n" + toText(table);
}

std::string describeCard(const ItemCard& card) {
  std::string text = card.title + " (" + toString(card.kind) + " " + card.id + ", plugin " +
                     card.plugin + ")\n" + card.doc + "\n";
  if (!card.paper.empty()) text += card.paper + "\n";
  if (!card.offers.empty()) text += "offers: " + joined(card.offers) + "\n";
  if (!card.needs.empty()) text += "needs: " + joined(card.needs) + "\n";
  return text + "\n" + describeSchema(card.schema) + describeMetrics(card.metrics);
}

struct CoreSchema {
  const char* name;
  const char* title;
  const Schema& schema;
};

std::vector<CoreSchema> coreSchemas() {
  return {{"train", "[train], the same for every task", trainSchema()},
          {"data", "[data], next to the dataset's own keys", dataSchema()},
          {"observe", "[observe], next to each analysis's own keys", observeSchema()}};
}

/// For editors, which know nothing of the chosen optimizer: the keys of all of them.
Schema editorSchema(const CoreSchema& core, const Catalog& catalog) {
  return &core.schema == &trainSchema() ? trainSchemaWith(catalog, "", "") : core.schema;
}

/// "vit" or "architecture/vit". \throws NotFoundError
const ItemCard& findCard(const Catalog& catalog, const std::string& name) {
  std::vector<std::string> names;
  for (const ItemCard& card : catalog.items) {
    if (card.id == name || toString(card.kind) + "/" + card.id == name) return card;
    names.push_back(card.id);
  }
  for (const CoreSchema& core : coreSchemas()) names.emplace_back(core.name);
  const std::string close = nearest(name, names);
  throw NotFoundError(
      "there is no item '" + shorten(name, 60) + "'" +
      (close.empty() ? "; `vitrine describe` lists them" : "; did you mean '" + close + "'?"));
}

int describeAll(const Engine& engine, const CommandLine& line, bool wantsSchema) {
  const Catalog& catalog = engine.registry.catalog();
  if (wantsSchema) {
    Json all = Json::object();
    for (const ItemCard& card : catalog.items)
      all[toString(card.kind) + "/" + card.id] = jsonSchema(card.schema, card.title);
    for (const CoreSchema& core : coreSchemas())
      all[core.name] = jsonSchema(editorSchema(core, catalog), core.title);
    print(all);
    return 0;
  }
  if (line.wantsJson()) {
    Json refused = Json::array(), plugins = Json::array();
    for (const PluginRefusal& refusal : engine.plugins.refused) {
      refused.push_back({{"code", toString(refusal.code)},
                         {"file", refusal.plugin.file},
                         {"sentence", refusal.error}});
    }
    for (const PluginManifest& plugin : engine.plugins.loaded) {
      plugins.push_back({{"id", plugin.id},
                         {"version", plugin.version},
                         {"file", plugin.file},
                         {"sha256", plugin.sha256}});
    }
    print(Json{{"catalog", toJson(catalog)},
               {"train", toJson(trainSchema())},
               {"data", toJson(dataSchema())},
               {"observe", toJson(observeSchema())},
               {"plugins", plugins},
               {"refused", refused}});
    return 0;
  }
  Table table{{"kind", "item", "title", "paper", "plugin"}, {}};
  for (const ItemCard& card : catalog.items)
    table.rows.push_back({toString(card.kind), card.id, card.title, card.paper, card.plugin});
  for (const CoreSchema& core : coreSchemas())
    table.rows.push_back({"table", core.name, core.title, "", ""});
  print(table, Format::Text);
  return 0;
}

}  // namespace

int describeVerb(const Arguments& arguments) {
  CommandLine line("describe", {"vitrine describe vit", "vitrine describe --json"});
  std::string item;
  bool wantsSchema = false;
  line.app()
      .add_option("item", item,
                  "an architecture, task, dataset, analysis, optimizer or schedule; train, data or "
                  "observe")
      ->type_name("ITEM");
  line.app().add_flag("--schema", wantsSchema, "print JSON Schema, for editors");
  line.parse(arguments);
  Engine engine;
  if (item.empty()) return describeAll(engine, line, wantsSchema);
  for (const CoreSchema& core : coreSchemas()) {
    if (item != core.name) continue;
    if (wantsSchema) {
      print(jsonSchema(editorSchema(core, engine.registry.catalog()), core.title));
    } else if (line.wantsJson()) {
      print(toJson(core.schema));
    } else {
      print(std::string(core.title) + "\n\n" + describeSchema(core.schema));
    }
    return 0;
  }
  const ItemCard& card = findCard(engine.registry.catalog(), item);
  if (wantsSchema) {
    print(jsonSchema(card.schema, card.title));
  } else if (line.wantsJson()) {
    print(toJson(Catalog{{card}}).at("items").at(0));
  } else {
    print(describeCard(card));
  }
  return 0;
}

}  // namespace vitrine::app
