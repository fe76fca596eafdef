#include "app/vitrine/run/engine.h"

#include <iostream>
#include <iterator>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/plugin/missing_items.h"
#include "core/train/block_cache.h"
#include "core/train/device.h"
#include "core/train/training_items.h"

namespace vitrine::app {

Engine::Engine(Refused refused) {
  train::reuseLargeBlocks();
  train::addTrainingItems(registry);
  plugins = loadPlugins(registry, pluginFolders());
  residentBytes = train::processMemory().residentBytes;
  if (refused == Refused::Silent) return;
  for (const PluginRefusal& refusal : plugins.refused) {
    // The user disabled the plugin and knows it.
    if (refusal.code != RefusalCode::Disabled) log::warning(refusal.error);
  }
}

namespace {

/// An item that is not there since its plugin is disabled: the problem says so.
Plan explained(Plan plan) {
  for (Problem& problem : plan.problems) {
    if (problem.code != ProblemCode::UnknownItem) continue;
    const std::string sentence = missingItemSentence(problem.item);
    if (sentence.empty()) continue;
    problem.code = ProblemCode::DisabledItem;
    problem.message = sentence;
    problem.nearest.clear();
  }
  return plan;
}

}  // namespace

Plan planFile(const std::string& file, const Catalog& catalog,
              const std::vector<std::string>& overrides) {
  const std::vector<Override> parsed = parseOverrides(overrides);
  if (file == "-") {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    return explained(planExperiment(text, "standard input", catalog, parsed));
  }
  if (!std::filesystem::exists(file))
    throw NotFoundError("there is no experiment file '" + file +
                        "'; name one, or - for standard input");
  return explained(planExperimentFile(file, catalog, parsed));
}

void requireValid(const std::vector<Problem>& problems) {
  if (problems.empty()) return;
  for (const Problem& problem : problems) log::error(problem.sentence());
  throw ConfigError(std::to_string(problems.size()) +
                    (problems.size() == 1 ? " problem" : " problems") +
                    " in the configuration; nothing was run");
}

Json resolveOrThrow(const Schema& schema, const std::string& prefix, Json values,
                    const std::vector<Override>& overrides) {
  requireValid(resolveItem(schema, prefix, values, overrides));
  return values;
}

Json initToJson(const InitSource& init) {
  Json json = Json::object();
  json["weights"] = init.weights;
  json["run"] = init.run;
  json["checkpoint"] = init.checkpoint;
  json["use"] = init.use;
  json["skip"] = init.skip;
  json["freeze"] = init.freeze;
  json["rename"] = init.rename;
  json["resize_positions"] = init.resizePositions;
  json["strict"] = init.strict;
  return json;
}

InitSource initFromJson(const Json& json) {
  try {
    return {.weights = json.at("weights").get<std::string>(),
            .run = json.at("run").get<std::string>(),
            .checkpoint = json.at("checkpoint").get<std::string>(),
            .use = json.at("use").get<std::string>(),
            .skip = json.at("skip").get<std::vector<std::string>>(),
            .freeze = json.at("freeze").get<std::vector<std::string>>(),
            .rename = json.at("rename").get<std::vector<std::pair<std::string, std::string>>>(),
            .resizePositions = json.at("resize_positions").get<std::string>(),
            .strict = json.at("strict").get<bool>()};
  } catch (const Json::exception& error) {
    throw ConfigError(std::string("the run's [init] is not one this program wrote: ") +
                      error.what());
  }
}

}  // namespace vitrine::app
