// `[aux.NAME]`: trained models that a run uses and does not train.
#include <algorithm>

#include "core/base/text.h"
#include "core/config/lookup.h"
#include "core/config/run_resolver.h"

namespace vitrine {

namespace {

constexpr std::size_t kLongestName = 40;

Schema makeAuxSchema() {
  Schema schema;
  schema.fields = {
      textField("run", nullptr,
                "the run that trained it: its UUID, variant:NAME, stage:NAME or previous")
          .titled("Run")
          .orNone(),
      textField("weights", nullptr, "a checkpoint folder, or a safetensors file with a `model`")
          .titled("Weights file")
          .orNone(),
      textField("checkpoint", "latest", "checkpoint of the run: best, latest or a step")
          .titled("Checkpoint"),
      choiceField("use", "model", {"model", "ema"}, "raw or averaged weights")
          .titled("Weights of the run"),
  };
  for (Field& field : schema.fields) field.runOnly();
  return schema;
}

/// Names stand in metrics, recipes and checkpoints.
bool isIdentifier(const std::string& name) {
  const auto isLetter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= kLongestName && isLetter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return isLetter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace

const Schema& auxSchema() {
  static const Schema schema = makeAuxSchema();
  return schema;
}

void RunResolver::auxiliaries(const Node* section, const LayerNames& layers, PlannedRun& run) {
  if (!section) return;
  if (!section->isTable) {
    if (!section->value.is_null() && section->value != "none")
      problems_.add(section, kAtValue, Code::WrongType, "aux",
                    "must be tables [aux.NAME], one for each model");
    return;
  }
  for (const auto& [name, child] : section->children) {
    const std::string key = "aux." + shorten(name, 80);
    if (!child.isTable && (child.value.is_null() || child.value == "none")) continue;
    if (!isIdentifier(name)) {
      problems_.add(&child, kAtKey, Code::BadName, key,
                    "is not a name: use small letters, digits and _, a letter first, at most " +
                        std::to_string(kLongestName));
    } else if (!child.isTable) {
      problems_.add(&child, kAtValue, Code::WrongType, key,
                    "must be a table: { run = \"UUID\" } or { weights = \"FILE\", ... }");
    } else {
      auxiliary(name, child, layers, run);
    }
  }
}

void RunResolver::auxiliary(const std::string& name, const Node& node, const LayerNames& layers,
                            PlannedRun& run) {
  const std::string key = "aux." + name;
  Node own = node;
  normalizeCheckpoint(own);
  Json values = Json::object();
  Resolver resolver(problems_, layers, &run.origins);
  resolver.table({{&auxSchema()}, {"model"}}, &own, key + ".", values);
  AuxSource source;
  source.name = name;
  source.run = textAt(values, "run");
  source.weights = textAt(values, "weights");
  source.checkpoint = textAt(values, "checkpoint");
  source.use = textAt(values, "use");
  if (source.run.empty() == source.weights.empty()) {
    problems_.add(&node, kAtKey, source.run.empty() ? Code::Missing : Code::Conflict, key,
                  source.run.empty() ? "needs a run or weights (a file) to take the model from"
                                     : "names both a run and weights; keep one");
  }
  checkCheckpoint(own, values, key + ".", problems_);

  const Node* model = own.find("model");
  if (model && !model->isTable && (model->value.is_null() || model->value == "none"))
    model = nullptr;
  values["model"] = nullptr;
  if (!model) resolver.origin(key + ".model", nullptr);
  if (model && !source.run.empty()) {
    problems_.add(model, kAtKey, Code::Conflict, key + ".model",
                  "is not allowed here: the run has its model; remove it");
  } else if (model) {
    LayerNames names = layers;  // its preset is another one than that of [model]
    modelTable(model, key + ".model", names, values["model"], run.origins);
  } else if (source.weights.ends_with(".safetensors")) {
    problems_.add(&node, kAtKey, Code::Missing, key + ".model",
                  "must be given: a safetensors file does not name its model; write model = { "
                  "architecture = ... }, or name a checkpoint folder");
  }
  run.auxiliaries.push_back(std::move(source));
  run.config["aux"][name] = std::move(values);
}

}  // namespace vitrine
