#include "core/config/run_resolver.h"

#include <algorithm>
#include <iterator>

#include "core/base/text.h"
#include "core/config/reads_images.h"
#include "core/config/train_schema.h"

namespace vitrine {

namespace {

bool isNone(const Node& node) {
  return !node.isTable && (node.value.is_null() || node.value == "none");
}

std::string nameOf(const ItemCard& card) { return itemName(card.kind, card.id); }

/// What a text means: as written, or as typed on the command line ("5" for 5).
std::string textOf(const Node& node) {
  if (node.isTable) return "";
  return node.value.is_string() ? node.value.get<std::string>() : node.raw;
}

}  // namespace

std::string itemName(ItemKind kind, const std::string& id) { return toString(kind) + "/" + id; }

const std::vector<std::string>& sectionNames() {
  static const std::vector<std::string> names = {"model",   "task", "data", "train",
                                                 "observe", "aux",  "init"};
  return names;
}

const ItemCard* RunResolver::item(ItemKind kind, const Node* section,
                                  const std::string& sectionName, const char* keyName, Json& values,
                                  Resolver& resolver) {
  const std::string key = sectionName + "." + keyName;
  const std::vector<std::string> ids = catalog_.ids(kind);
  const std::string kindName = toString(kind);
  const Node* given = section && section->isTable ? section->find(keyName) : nullptr;
  if (!given) {
    problems_.add(section, kAtKey, Code::Missing, key,
                  "must be given: " + kindName + "s here are " + listed(ids));
    return nullptr;
  }
  const std::string id = textOf(*given);
  if (id.empty()) {
    problems_.add(given, kAtValue, Code::WrongType, key,
                  "must be the name of one of the " + kindName + "s " + listed(ids));
    return nullptr;
  }
  values[keyName] = id;
  resolver.origin(key, given);
  const ItemCard* found = catalog_.find(kind, id);
  if (!found) {
    problems_.add(
        given, kAtValue, Code::UnknownItem, key,
        "there is no " + kindName + " '" + shorten(id, 60) + "'; there are " + listed(ids),
        nearest(id, ids), itemName(kind, shorten(id, 80)));
  }
  return found;
}

void RunResolver::model(const Node& tree, LayerNames& layers, Json& config, Origins& origins) {
  architecture_ = modelTable(tree.find("model"), "model", layers, config["model"], origins);
}

const ItemCard* RunResolver::modelTable(const Node* section, const std::string& name,
                                        LayerNames& layers, Json& values, Origins& origins) {
  Resolver resolver(problems_, layers, &origins);
  values = Json::object();
  const ItemCard* architecture =
      item(ItemKind::Architecture, section, name, "architecture", values, resolver);
  if (!architecture) return nullptr;

  const Schema& schema = architecture->schema;
  const Node* given = section->find("preset");
  Node withPreset;
  if (given && !isNone(*given)) {
    const std::string wanted = textOf(*given);
    const Preset* preset = schema.preset(wanted);
    if (preset) {
      layers[static_cast<std::size_t>(Source::Preset)] = "preset " + wanted;
      values["preset"] = wanted;
      resolver.origin(name + ".preset", given);
      withPreset = nodeFrom(preset->values, Source::Preset);
      withPreset.placeAt(*given);
      Node own = *section;
      own.replaces = false;
      lay(withPreset, {}, own);
      section = &withPreset;
    } else {
      std::vector<std::string> names;
      for (const Preset& each : schema.presets) names.push_back(each.name);
      problems_.add(given, kAtValue, Code::UnknownName, name + ".preset",
                    wanted.empty()
                        ? "must be the name of a preset: " + listed(names)
                        : "there is no preset '" + shorten(wanted, 60) + "' of architecture '" +
                              architecture->id + "'; there are " + listed(names),
                    nearest(wanted, names));
    }
  }
  resolver.table({{&schema}, {"architecture", "preset"}, nameOf(*architecture)}, section,
                 name + ".", values);
  return architecture;
}

void RunResolver::capabilities(const ItemCard& asker, const Node* where, const std::string& key) {
  for (const std::string& need : asker.needs) {
    const auto has = [&need](const ItemCard* giver) {
      return giver != nullptr && contains(giver->offers, need);
    };
    if (has(architecture_) || has(dataset_) || (task_ != &asker && has(task_))) continue;
    if (std::any_of(transforms_.begin(), transforms_.end(), has)) continue;
    // Which of the three is asked follows from which of them offers such a thing at all.
    const auto isOffered = [&](ItemKind kind) {
      return std::any_of(catalog_.items.begin(), catalog_.items.end(), [&](const ItemCard& card) {
        return card.kind == kind && contains(card.offers, need);
      });
    };
    const bool isOfTask = task_ != &asker && isOffered(ItemKind::Task);
    const bool isOfData = isOffered(ItemKind::Dataset) || isOffered(ItemKind::Transform);
    // An architecture asks for samples, not for itself.
    const bool isOfModel =
        architecture_ != &asker && (isOffered(ItemKind::Architecture) || (!isOfTask && !isOfData));
    const ItemCard* giver = isOfModel ? architecture_ : isOfTask ? task_ : dataset_;
    if (giver == nullptr) continue;  // without its giver there is a problem already
    const char* what = isOfModel ? "a model" : isOfTask ? "a task" : "samples";
    problems_.add(where, kAtKey, Code::MissingCapability, key,
                  toString(asker.kind) + " '" + asker.id + "' needs " + what + " with " +
                      capabilityText(need) + "; " + toString(giver->kind) + " '" + giver->id +
                      "' offers " + capabilitiesText(giver->offers),
                  "", nameOf(asker));
  }
}

void RunResolver::attentionOnImages(const ItemCard& analysis, const Node* where,
                                    const std::string& key) {
  if (architecture_ == nullptr || task_ == nullptr) return;
  if (!lacksImages(analysis, *architecture_, task_)) return;
  problems_.add(where, kAtKey, Code::MissingCapability, key,
                "analysis '" + analysis.id +
                    "' looks at the attention of an image, and architecture '" +
                    architecture_->id + "' does not classify or encode images",
                "", nameOf(analysis));
}

void RunResolver::data(const Node* section, Resolver& resolver, Json& config) {
  Json values = Json::object();
  transforms_.clear();
  dataset_ = item(ItemKind::Dataset, section, "data", "dataset", values, resolver);
  if (dataset_) {
    resolver.table({{&dataset_->schema, &dataSchema()}, {"dataset", "pipeline"}, nameOf(*dataset_)},
                   section, "data.", values);
    for (const std::string split : {"train", "test"}) {
      const std::string count = split + "_samples", share = split + "_share";
      if (values[count].is_null() || values[share].is_null()) continue;
      problems_.add(section->find(share), kAtKey, Code::Conflict, "data." + share,
                    "data." + count + " sets the number already; keep one of them");
    }
    const Node* given = section->find("pipeline");
    if (given && !isNone(*given)) pipeline(*given, resolver, values);
    const bool isSaidTwice = values.contains("pipeline") && values["pipeline"].contains("train") &&
                             values["augment"] != dataSchema().defaults()["augment"];
    if (const Node* augment = section->find("augment"); augment && isSaidTwice) {
      problems_.add(augment, kAtKey, Code::Conflict, "data.augment",
                    "is not used, for data.pipeline.train lists what is done to training samples; "
                    "keep one of them");
    }
  }
  config["data"] = std::move(values);
}

void RunResolver::pipeline(const Node& given, Resolver& resolver, Json& data) {
  static const std::vector<std::string> phases = {"train", "evaluate"};
  if (!given.isTable) {
    problems_.add(&given, kAtValue, Code::WrongType, "data.pipeline",
                  "must be a table with lists of transforms: train, evaluate");
    return;
  }
  Json lists = Json::object();
  for (const auto& [phase, list] : given.children) {
    const std::string key = "data.pipeline." + shorten(phase, 80);
    if (!contains(phases, phase)) {
      problems_.add(&list, kAtKey, Code::UnknownKey, key,
                    "there is no such key here; there are " + listed(phases),
                    nearest(phase, phases));
      continue;
    }
    if (isNone(list)) continue;
    lists[phase] = transforms(list, key);
    resolver.origin(key, &list);
  }
  if (!lists.empty()) data["pipeline"] = std::move(lists);
}

Json RunResolver::transforms(const Node& list, const std::string& key) {
  Json resolved = Json::array();
  if (list.isTable || !list.value.is_array()) {
    problems_.add(&list, kAtValue, Code::WrongType, key,
                  "must be a list of transforms: [{ name = \"flip\" }, ...]");
    return resolved;
  }
  std::vector<std::string> fields = dataset_->offers;
  const std::vector<std::string> ids = catalog_.ids(ItemKind::Transform);
  std::string batched;  // the first transform that changes batches
  for (const Json& element : list.value) {
    const std::string place = key + "[" + std::to_string(resolved.size()) + "]";
    const bool isNamed =
        element.is_object() && element.contains("name") && element["name"].is_string();
    if (!isNamed) {
      problems_.add(&list, kAtValue, Code::WrongType, place,
                    "must be a table with the name of a transform: " + listed(ids));
      return resolved;
    }
    const auto id = element["name"].get<std::string>();
    const ItemCard* card = catalog_.find(ItemKind::Transform, id);
    if (!card) {
      problems_.add(&list, kAtValue, Code::UnknownItem, place,
                    "there is no transform '" + shorten(id, 60) + "'; there are " + listed(ids),
                    nearest(id, ids), itemName(ItemKind::Transform, shorten(id, 80)));
      return resolved;
    }
    for (const std::string& need : card->needs) {
      if (contains(fields, need)) continue;
      problems_.add(&list, kAtValue, Code::MissingCapability, place,
                    "transform '" + id + "' needs samples with '" + need + "'; here they have " +
                        listed(fields),
                    "", nameOf(*card));
    }
    // What changes batches offers "batch" next to the fields that it fills.
    const bool isOnBatches = contains(card->offers, "batch");
    if (isOnBatches && batched.empty()) batched = id;
    if (!isOnBatches && !batched.empty()) {
      problems_.add(&list, kAtValue, Code::WrongOrder, place,
                    "transform '" + id + "' changes samples and must come before '" + batched +
                        "', which changes batches",
                    "", nameOf(*card));
    }
    std::copy_if(card->offers.begin(), card->offers.end(), std::back_inserter(fields),
                 [](const std::string& offer) { return offer != "batch"; });
    transforms_.push_back(card);
    Node node = nodeFrom(element, list.source);
    node.placeAt(list);
    Json values = {{"name", id}};
    // The list has one origin, its elements have none.
    const LayerNames none;
    Resolver(problems_, none, nullptr)
        .table({{&card->schema}, {"name"}, nameOf(*card)}, &node, place + ".", values);
    resolved.push_back(std::move(values));
  }
  return resolved;
}

void RunResolver::observe(const Node* section, Resolver& resolver, Json& config) {
  config["observe"] = Json::object();
  if (!section || isNone(*section)) return;
  if (!section->isTable) {
    problems_.add(section, kAtValue, Code::WrongType, "observe", "must be a table of analyses");
    return;
  }
  for (const auto& [id, child] : section->children) {
    const std::string key = "observe." + shorten(id, 80);
    const ItemCard* analysis = catalog_.find(ItemKind::Analysis, id);
    if (!analysis) {
      const std::vector<std::string> ids = catalog_.ids(ItemKind::Analysis);
      problems_.add(&child, kAtKey, Code::UnknownItem, key,
                    "there is no analysis '" + shorten(id, 60) + "'; there are " + listed(ids),
                    nearest(id, ids), itemName(ItemKind::Analysis, shorten(id, 80)));
      continue;
    }
    const bool isOn = child.isTable || child.value == true;
    if (isNone(child) || child.value == false) continue;
    if (!isOn) {
      problems_.add(&child, kAtValue, Code::WrongType, key,
                    "must be a table of settings, true for the defaults or false for none");
      continue;
    }
    capabilities(*analysis, &child, key);
    attentionOnImages(*analysis, &child, key);
    Json values = Json::object();
    resolver.table({{&observeSchema(), &analysis->schema}, {}, nameOf(*analysis)},
                   child.isTable ? &child : nullptr, key + ".", values);
    config["observe"][id] = std::move(values);
  }
}

void RunResolver::refuseKeysOfOthers(Node& table, const std::string& prefix, ItemKind kind,
                                     const std::string& id, const std::vector<Field>& legal) {
  const auto isOf = [](const std::vector<Field>& fields, const std::string& name) {
    return std::any_of(fields.begin(), fields.end(),
                       [&](const Field& field) { return field.name == name; });
  };
  std::erase_if(table.children, [&](const auto& child) {
    const std::string& name = child.first;
    if (isOf(legal, name)) return false;
    std::vector<std::string> owners;
    for (const ItemCard& card : catalog_.items) {
      if (card.kind == kind && isOf(card.schema.fields, name)) owners.push_back(card.id);
    }
    if (owners.empty()) return false;
    std::vector<std::string> names;
    for (const Field& field : legal) names.push_back(field.name);
    problems_.add(&child.second, kAtKey, Code::UnknownKey, prefix + name,
                  "is a key of " + toString(kind) + " " + listed(owners) + "; '" + id + "' has " +
                      listed(names),
                  nearest(name, names));
    return true;
  });
}

void RunResolver::train(const Node* section, Resolver& resolver, Json& values) {
  const auto chosen = [&](const std::string& table) {
    const Node* name = section && section->isTable ? section->findPath(table + ".name") : nullptr;
    return name ? textOf(*name)
                : trainSchema().find(table + ".name")->defaultValue.get<std::string>();
  };
  const std::string optimizer = chosen("optimizer"), schedule = chosen("schedule");
  const auto [known, isNew] = trainSchemas_.try_emplace({optimizer, schedule});
  if (isNew) known->second = trainSchemaWith(catalog_, optimizer, schedule);
  const Schema& schema = known->second;
  if (!section) {
    resolver.table({{&schema}, {}}, nullptr, "train.", values);
    return;
  }
  Node own = *section;
  for (auto& [name, child] : own.children) {
    const bool isOptimizer = name == "optimizer";
    if (!child.isTable || (!isOptimizer && name != "schedule")) continue;
    refuseKeysOfOthers(child, "train." + name + ".",
                       isOptimizer ? ItemKind::Optimizer : ItemKind::Schedule,
                       isOptimizer ? optimizer : schedule, schema.find(name)->fields);
  }
  resolver.table({{&schema}, {"groups"}}, &own, "train.", values);
  const Node* groups = own.find("groups");
  if (!groups || isNone(*groups)) return;
  if (!groups->isTable) {
    problems_.add(groups, kAtValue, Code::WrongType, "train.groups",
                  "must be a table of groups: groups.head = { match = [\"head.*\"] }");
    return;
  }
  for (const auto& [name, child] : groups->children)
    group(name, child, optimizer, resolver, values["groups"][name]);
}

void RunResolver::group(const std::string& name, const Node& node, const std::string& optimizer,
                        Resolver& resolver, Json& values) {
  const std::string prefix = "train.groups." + shorten(name, 80) + ".";
  values = Json::object();
  if (!node.isTable) {
    problems_.add(&node, kAtValue, Code::WrongType, "train.groups." + shorten(name, 80),
                  "must be a table: { match = [\"head.*\"] }");
    return;
  }
  resolver.table({{&parameterGroupSchema()}, {"optimizer"}}, &node, prefix, values);
  const Node* settings = node.find("optimizer");
  const ItemCard* item = catalog_.find(ItemKind::Optimizer, optimizer);
  if (!settings || !item) return;
  if (!settings->isTable) {
    problems_.add(settings, kAtValue, Code::WrongType, prefix + "optimizer",
                  "must be a table of the optimizer's keys");
    return;
  }
  // Only the given keys: everything else is as the optimizer's own table has it.
  Schema taken;
  TableSpec spec{{&taken}, {}};
  for (const Field& field : item->schema.fields) {
    if (settings->find(field.name)) taken.fields.push_back(field);
    spec.ownKeys.push_back(field.name);
  }
  values["optimizer"] = Json::object();
  resolver.table(spec, settings, prefix + "optimizer.", values["optimizer"]);
}

void RunResolver::resolve(const Node& tree, LayerNames& layers, PlannedRun& run) {
  Json& config = run.config;
  config = Json::object();
  Resolver resolver(problems_, layers, &run.origins);
  const auto section = [&tree](const char* name) { return tree.find(name); };

  model(tree, layers, config, run.origins);

  Json task = Json::object(), train = Json::object();
  task_ = item(ItemKind::Task, section("task"), "task", "name", task, resolver);
  if (task_)
    resolver.table({{&task_->schema}, {"name"}, nameOf(*task_)}, section("task"), "task.", task);
  config["task"] = std::move(task);

  data(section("data"), resolver, config);

  this->train(section("train"), resolver, train);
  config["train"] = std::move(train);
  run.seed = config["train"]["seed"].get<std::uint64_t>();

  if (task_) {
    const Node* taskSection = section("task");
    capabilities(*task_, taskSection ? taskSection->find("name") : nullptr, "task.name");
  }
  if (architecture_) {
    const Node* modelSection = section("model");
    capabilities(*architecture_, modelSection ? modelSection->find("architecture") : nullptr,
                 "model.architecture");
  }
  observe(section("observe"), resolver, config);
  auxiliaries(section("aux"), layers, run);
  init(section("init"), resolver, run);
}

void RunResolver::init(const Node* init, Resolver& resolver, PlannedRun& run) {
  if (!init || isNone(*init)) return;
  Node own = *init;
  normalizeCheckpoint(own);
  Json values = Json::object();
  resolver.table({{&initSchema()}, {"rename"}}, &own, "init.", values);
  const Node* rename = own.find("rename");
  values["rename"] = rename ? readRename(*rename, problems_) : Json::array();
  resolver.origin("init.rename", rename);

  const bool hasWeights = values["weights"].is_string(), hasRun = values["run"].is_string();
  const auto isMisread = [&](const char* key) {
    const Node* given = own.find(key);
    return given && !isNone(*given) && !values[key].is_string();
  };
  if (hasWeights == hasRun && !isMisread("weights") && !isMisread("run")) {
    problems_.add(init, kAtKey, hasRun ? Code::Conflict : Code::Missing, "init",
                  hasRun ? "names both weights and a run; keep one"
                         : "needs weights (a file) or run to start from");
  }
  checkCheckpoint(own, values, "init.", problems_);
  run.init = initSourceFrom(values);
  run.config["init"] = std::move(values);
}

}  // namespace vitrine
