#include "core/config/train_schema.h"

#include <algorithm>

namespace vitrine {

namespace {

ItemCard optimizerCard(std::string id, std::string title, std::string paper, std::string doc,
                       std::vector<Field> fields) {
  return {.kind = ItemKind::Optimizer,
          .id = std::move(id),
          .title = std::move(title),
          .paper = std::move(paper),
          .doc = std::move(doc),
          .schema = {.fields = runOnly(std::move(fields))}};
}

std::vector<Field> momentFields() {
  return {
      realField("beta1", 0.9, "decay of the first moment").titled("Beta1").atLeast(0).lessThan(1),
      realField("beta2", 0.999, "decay of the second moment")
          .titled("Beta2")
          .atLeast(0)
          .lessThan(1),
      realField("eps", 1e-8, "added to the root of the second moment")
          .titled("Epsilon")
          .moreThan(0)};
}

Field momentumField() {
  return realField("momentum", 0.9, "decay of the momentum")
      .titled("Momentum")
      .atLeast(0)
      .lessThan(1);
}

std::vector<Field> lambFields() {
  std::vector<Field> fields = momentFields();
  fields.push_back(flagField("bias_correction", true, "divides the moments by 1 - beta^step")
                       .titled("Bias correction"));
  fields.push_back(
      flagField("always_adapt", false, "parameters without decay are scaled by their norm, too")
          .titled("Trust ratio without decay"));
  fields.push_back(flagField("trust_clip", false, "an update is never scaled up")
                       .titled("Trust ratio at most 1"));
  fields.push_back(
      flagField("decoupled_decay", false, "decay shrinks the weight before the update is scaled")
          .titled("Decoupled decay"));
  return fields;
}

ItemCard scheduleCard(std::string id, std::string title, std::string doc,
                      std::vector<Field> fields = {}) {
  ItemCard card =
      optimizerCard(std::move(id), std::move(title), "", std::move(doc), std::move(fields));
  card.kind = ItemKind::Schedule;
  return card;
}

Field minimumField() {
  return realField("minimum", 0.0, "learning rate at the end")
      .titled("Final learning rate")
      .atLeast(0);
}

/// Fields of `own` into `table`: in the place of a common one of the name, or after the last.
void addFields(Field& table, const std::vector<Field>& own) {
  for (const Field& field : own) {
    const auto taken = std::find_if(table.fields.begin(), table.fields.end(),
                                    [&](const Field& each) { return each.name == field.name; });
    if (taken == table.fields.end()) {
      table.fields.push_back(field);
    } else {
      *taken = field;
    }
  }
}

/// The rules of an item speak of its own keys.
void addRules(Schema& schema, const std::string& table, const Schema& own) {
  for (Rule rule : own.rules) {
    for (Json& argument : rule.arguments) {
      if (argument.is_string() && own.find(argument.get<std::string>()) != nullptr)
        argument = table + "." + argument.get<std::string>();
    }
    schema.rules.push_back(std::move(rule));
  }
}

void choose(Schema& schema, const std::string& table, const Catalog& catalog, ItemKind kind,
            const std::string& id) {
  const auto found = std::find_if(schema.fields.begin(), schema.fields.end(),
                                  [&](const Field& field) { return field.name == table; });
  const ItemCard* chosen = catalog.find(kind, id);
  for (const ItemCard& card : catalog.items) {
    if (card.kind != kind) continue;
    Field& name = found->fields.front();
    name.type = FieldType::Choice;
    name.choices.push_back(card.id);
    name.choiceDocs.push_back(card.doc);
    if (chosen == nullptr || chosen == &card) addFields(*found, card.schema.fields);
  }
  if (chosen != nullptr) addRules(schema, table, chosen->schema);
}

Schema makeGroupSchema() {
  Schema schema;
  schema.fields = {
      listField("match", FieldType::Text, nullptr, "names of its parameters: \"head.*\"")
          .titled("Parameters"),
      realField("learning_rate_scale", 1.0, "times the learning rate")
          .titled("Learning rate scale")
          .atLeast(0),
      realField("weight_decay_scale", 1.0, "times the weight decay; biases and norms have none")
          .titled("Weight decay scale")
          .atLeast(0),
      flagField("freeze", false, "its parameters are not trained").titled("Frozen"),
  };
  schema.fields[0].required = true;
  for (Field& field : schema.fields) field.runOnly();
  return schema;
}

}  // namespace

std::vector<ItemCard> trainingCards() {
  return {
      optimizerCard("adamw", "AdamW", "Loshchilov and Hutter 2019, arXiv:1711.05101",
                    "Adam, decay decoupled", momentFields()),
      optimizerCard(
          "sgd", "SGD", "", "momentum, decay decoupled",
          {momentumField(), flagField("nesterov", false, "looks one step of momentum ahead")
                                .titled("Nesterov momentum")}),
      optimizerCard("lamb", "LAMB", "You et al. 2020, arXiv:1904.00962",
                    "Adam, each parameter's update scaled by its norm", lambFields()),
      optimizerCard(
          "lars", "LARS", "You et al. 2017, arXiv:1708.03888",
          "momentum, each parameter's update scaled by its norm",
          {momentumField(), realField("trust_coefficient", 0.001, "ratio of update to weight")
                                .titled("Trust coefficient")
                                .moreThan(0)}),
      scheduleCard("constant", "Constant", "the peak learning rate"),
      scheduleCard("linear", "Linear", "a straight line to the final rate", {minimumField()}),
      scheduleCard("cosine", "Cosine", "half a cosine to the final rate", {minimumField()}),
      scheduleCard("poly", "Polynomial", "a power of the remaining share",
                   {minimumField(),
                    realField("power", 0.9, "of (1 - progress)").titled("Power").moreThan(0)}),
      scheduleCard("step", "Steps", "a factor at each milestone",
                   {listField("milestones", FieldType::Integer, nullptr,
                              "steps at which the rate is multiplied by `gamma`")
                        .titled("Milestones")
                        .atLeast(1)
                        .withUnit("steps")
                        .orNone(),
                    realField("gamma", 0.1, "factor at each milestone")
                        .titled("Factor at a milestone")
                        .moreThan(0)}),
  };
}

Schema trainSchemaWith(const Catalog& catalog, const std::string& optimizer,
                       const std::string& schedule) {
  Schema schema = trainSchema();
  choose(schema, "optimizer", catalog, ItemKind::Optimizer, optimizer);
  choose(schema, "schedule", catalog, ItemKind::Schedule, schedule);
  return schema;
}

Json withOwnTrainKeys(Json config) {
  if (!config.is_object() || !config.contains("train")) return config;
  const std::vector<ItemCard> cards = trainingCards();
  for (const ItemKind kind : {ItemKind::Optimizer, ItemKind::Schedule}) {
    const std::string name = toString(kind);  // of the table as well
    Json& train = config["train"];
    if (!train.is_object() || !train.contains(name) || !train[name].is_object()) continue;
    Json& table = train[name];
    const Json chosen = table.value("name", Json());
    const auto own = std::find_if(cards.begin(), cards.end(), [&](const ItemCard& card) {
      return card.kind == kind && chosen == card.id;
    });
    if (own == cards.end()) continue;
    for (const ItemCard& card : cards) {
      if (card.kind != kind) continue;
      for (const Field& field : card.schema.fields) {
        if (own->schema.find(field.name) == nullptr) table.erase(field.name);
      }
    }
  }
  return config;
}

const Schema& parameterGroupSchema() {
  static const Schema schema = makeGroupSchema();
  return schema;
}

}  // namespace vitrine
