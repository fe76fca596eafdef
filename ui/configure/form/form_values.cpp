// The value of a field that is not set: the schema's default, the preset's value, or that of the
// table it follows.
#include "core/config/lookup.h"
#include "core/config/train_schema.h"
#include "ui/configure/form/experiment_form.h"

namespace vitrine::ui {

namespace {

Json defaultsOf(const std::vector<Field>& fields) {
  Schema schema{.fields = fields};
  return schema.defaults();
}

}  // namespace

Json ExperimentForm::defaults() const {
  Json values = Json::object();
  if (catalog_ == nullptr) return values;
  const auto named = [&](const char* table, const char* key, ItemKind kind) {
    const ItemCard* card = chosen(kind);
    values[table] = Json::object({{key, document_.text(std::string(table) + "." + key)}});
    if (card != nullptr) mergeInto(values[table], card->schema.defaults());
  };
  named("model", "architecture", ItemKind::Architecture);
  named("task", "name", ItemKind::Task);
  named("data", "dataset", ItemKind::Dataset);
  Json common = dataSchema().defaults();
  mergeInto(common, values["data"]);
  values["data"] = common;
  values["train"] = trainingSchema().defaults();
  for (const std::string& name : document_.namesBelow("train.groups"))
    values["train"]["groups"][name] = parameterGroupSchema().defaults();
  if (document_.find("init") != nullptr) values["init"] = initSchema().defaults();
  for (const std::string& name : document_.namesBelow("aux")) {
    values["aux"][name] = auxSchema().defaults();
    values["aux"][name]["model"] = modelBase("aux." + name + ".model", false);
  }
  values["observe"] = Json::object();
  if (const Json* observed = document_.find("observe");
      observed != nullptr && observed->is_object()) {
    for (const auto& entry : observed->items()) {
      if (const ItemCard* card = catalog_->find(ItemKind::Analysis, entry.key()); card != nullptr)
        values["observe"][entry.key()] = defaultsOf(fieldsOfAnalysis(*card));
    }
  }
  return values;
}

Json ExperimentForm::modelBase(const std::string& table, bool hasPreset) const {
  const std::string id = document_.text(table + ".architecture");
  if (id.empty()) return nullptr;
  Json values = {{"architecture", id}};
  const ItemCard* card = catalog_->find(ItemKind::Architecture, id);
  if (card == nullptr) return values;
  mergeInto(values, card->schema.defaults());
  const Preset* preset = card->schema.preset(document_.text(table + ".preset"));
  if (hasPreset && preset != nullptr) mergeInto(values, preset->values);
  return values;
}

Json ExperimentForm::withPreset() const {
  Json values = defaults();
  const ItemCard* card = catalog_ == nullptr ? nullptr : chosen(ItemKind::Architecture);
  const Preset* preset =
      card == nullptr ? nullptr : card->schema.preset(document_.text("model.preset"));
  if (preset != nullptr) mergeInto(values["model"], preset->values);
  for (const std::string& name : document_.namesBelow("aux"))
    values["aux"][name]["model"] = modelBase("aux." + name + ".model", true);
  return values;
}

Json ExperimentForm::merged() const {
  Json values = withPreset();
  mergeInto(values, document_.tables);
  values.erase("select");  // about runs, not of one
  return values;
}

Json ExperimentForm::base(const std::string& key) const {
  const Json* value = valueAt(base_, key);
  return value == nullptr ? Json() : *value;
}

}  // namespace vitrine::ui
