#include "app/vitrine/run/run_start.h"

#include <algorithm>
#include <map>

#include "app/vitrine/run/checkpoint_choice.h"
#include "app/vitrine/run/engine.h"
#include "app/vitrine/run/weights_model.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/config/selection.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/safetensors_set.h"
#include "core/train/checkpoint.h"

namespace vitrine::app {

namespace fs = std::filesystem;

namespace {

/// A checkpoint of the run with that UUID. \param why  "run 3 starts from"
CheckpointChoice checkpointOfOther(store::RunStore& store, const std::string& why,
                                   const std::string& uuid, const std::string& checkpoint,
                                   const std::string& use, store::RunRow& source) {
  const auto found = store.runByUuid(uuid);
  if (!found) throw NotFoundError(why + " run " + uuid + ", which this database does not have");
  source = *found;
  const bool isNewestAsked = checkpoint == "latest" || checkpoint == "best";
  if (source.state != store::RunState::Done && isNewestAsked) {
    throw RefusedError(why + " " + nameOf(source) + ", which is " + toString(source.state) +
                       "; finish that one first, or name a step as its checkpoint");
  }
  try {
    return chooseCheckpoint(store, source, checkpoint, use);
  } catch (const FileError& error) {
    throw FileError(why + " " + nameOf(source) + ", but " + error.what());
  }
}

/// \param key  of the choice between the weights: "init.use"
void requireFolderForAverage(const std::string& why, const std::string& key,
                             const fs::path& weights, const std::string& use) {
  if (use != "ema" || fs::is_directory(weights)) return;
  throw ConfigError(why + " " + weights.string() + ", which is one file, and " + key +
                    " = \"ema\" chooses a file of a checkpoint folder; name the folder, or leave " +
                    key + " away");
}

/// A file or folder that the configuration names itself.
train::AuxChoice auxFromFile(const std::string& why, const Json& values) {
  train::AuxChoice choice{.weights = values.at("weights").get<std::string>(),
                          .use = values.at("use").get<std::string>()};
  if (!fs::exists(choice.weights))
    throw NotFoundError(why + " '" + choice.weights.string() + "', which does not exist");
  if (fs::is_directory(choice.weights)) {
    const fs::path folder = choice.weights;
    choice.hold = std::make_shared<CheckpointHold>(folder);
    if (const std::string problem = verifyCheckpointFolder(folder); !problem.empty())
      throw FileError(why + " '" + folder.string() +
                      "', which is not a whole checkpoint: " + problem + "; choose another one");
    const train::CheckpointState state = train::readCheckpointState(folder);
    choice.step = state.step;
    choice.config = state.config;
    choice.weights /= choice.use == "ema" ? "ema.safetensors" : "model.safetensors";
    if (!fs::exists(choice.weights))
      throw NotFoundError(why + " '" + choice.weights.string() + "', which does not exist");
  } else {
    requireFolderForAverage(why, "use", choice.weights, choice.use);
  }
  if (values.at("model").is_object()) choice.config = Json{{"model", values.at("model")}};
  if (!choice.config.is_object()) {
    throw ConfigError(why + " '" + choice.weights.string() +
                      "', which does not name its model; write model = { architecture = ... } next "
                      "to it");
  }
  return choice;
}

/// A run that continues must meet the networks that it began with.
void requireSameAuxiliaries(store::RunStore& store, const store::RunRow& run,
                            const std::vector<train::AuxChoice>& auxiliaries) {
  const Json before = store.environment(run.id);
  if (!before.is_object() || !before.contains("aux")) return;
  for (const train::AuxChoice& each : auxiliaries) {
    const Json known = before.at("aux").value(each.name, Json());
    if (!known.is_object() || known.value("sha256", each.sha256) == each.sha256) continue;
    throw RefusedError(nameOf(run) + " began with another auxiliary network '" + each.name +
                       "' than " + each.weights.string() + " is now (SHA-256 " +
                       known.at("sha256").get<std::string>().substr(0, 12) + "..., now " +
                       each.sha256.substr(0, 12) +
                       "...); restore that file or train the experiment again");
  }
}

/// The runs that a refit is chosen from.
struct Grid {
  std::map<std::string, double> scores;  ///< by name of the run; of those that have one
  std::map<std::string, Json> runs;      ///< what the event says of each
};

Grid gridOf(store::RunStore& store, const store::RunRow& run, const std::string& metric) {
  Grid grid;
  for (const store::RunDependency& each : store.dependencies(run.id)) {
    if (each.kind != "select") continue;
    const auto from = store.runByUuid(each.uuid);
    if (!from)
      throw NotFoundError(nameOf(run) + " is chosen from run " + each.uuid + " ('" + each.name +
                          "'), which this database does not have");
    Json& about = grid.runs[each.name];
    about = {{"run", from->uuid},
             {"name", each.name},
             {"state", toString(from->state)},
             {"score", nullptr}};
    if (from->state != store::RunState::Done) continue;  // a failed one has no score
    for (const store::MetricSummary& summary : store.summaries(from->id)) {
      if (summary.name != metric) continue;
      grid.scores[each.name] = summary.last;
      about["score"] = summary.last;
    }
  }
  return grid;
}

EventRecord selectedEvent(const Json& selection, const Grid& grid,
                          const std::vector<std::optional<double>>& means, std::size_t best) {
  Json table = Json::array();
  for (std::size_t i = 0; i < means.size(); ++i) {
    const Json& candidate = selection.at("candidates").at(i);
    Json row = {{"values", candidate.at("values")},
                {"score", means[i] ? Json(*means[i]) : Json(nullptr)},
                {"runs", Json::array()}};
    for (const Json& name : candidate.at("runs"))
      row["runs"].push_back(grid.runs.at(name.get<std::string>()));
    table.push_back(std::move(row));
  }
  const auto metric = selection.at("metric").get<std::string>();
  const Json& winner = selection.at("candidates").at(best);
  return {.kind = "selected",
          .text = candidateText(winner) + " is the best of " + std::to_string(means.size()) +
                  " by " + metric + " (" + formatReal(*means[best], 4) + ")",
          .data = {{"metric", metric},
                   {"direction", selection.at("direction")},
                   {"chosen", winner.at("values")},
                   {"candidates", std::move(table)}}};
}

std::vector<train::AuxChoice> auxChoicesOf(store::RunStore& store, const store::RunRow& run) {
  std::vector<train::AuxChoice> choices;
  const Json config = store.config(run.id);
  if (!config.contains("aux")) return choices;
  const std::vector<store::RunDependency> dependencies = store.dependencies(run.id);
  for (const auto& [name, values] : config.at("aux").items()) {
    const std::string why = nameOf(run) + " uses as '" + name + "'";
    if (values.at("weights").is_string()) {
      choices.push_back(auxFromFile(why, values));
    } else {
      const auto found = std::find_if(dependencies.begin(), dependencies.end(),
                                      [&](const store::RunDependency& each) {
                                        return each.kind == "aux" && each.name == name;
                                      });
      if (found == dependencies.end())
        throw StoreError(nameOf(run) + " does not say which run its auxiliary network '" + name +
                         "' is of; the database is damaged: restore a backup");
      train::AuxChoice choice{.use = values.at("use").get<std::string>()};
      store::RunRow source;
      const CheckpointChoice from =
          checkpointOfOther(store, why, found->uuid, found->checkpoint, choice.use, source);
      choice.weights = from.weights;
      choice.hold = from.hold;
      choice.step = from.step;
      choice.run = source.uuid;
      choice.config = store.config(source.id);
      choices.push_back(std::move(choice));
    }
    choices.back().name = name;
    choices.back().sha256 = sha256OfWeights(weightFiles(choices.back().weights));
  }
  return choices;
}

}  // namespace

train::InitChoice initChoiceOf(const InitSource& init, const std::string& why) {
  train::InitChoice choice;
  choice.freeze = init.freeze;
  choice.options.skip = init.skip;
  choice.options.rename = init.rename;
  choice.options.resizePositions = init.resizePositions;
  choice.options.strict = init.strict;
  choice.weights = init.weights;
  choice.use = init.use;
  if (init.run.empty()) requireFolderForAverage(why, "init.use", choice.weights, init.use);
  return choice;
}

train::InitChoice initChoiceOf(store::RunStore& store, const InitSource& init,
                               const std::string& why) {
  train::InitChoice choice = initChoiceOf(init, why);
  if (init.run.empty()) return choice;
  store::RunRow source;
  const CheckpointChoice from =
      checkpointOfOther(store, why, init.run, init.checkpoint, init.use, source);
  choice.weights = from.weights;
  choice.hold = from.hold;
  choice.config = store.config(source.id);
  return choice;
}

train::InitChoice initChoiceOf(store::RunStore& store, const store::RunRow& run, bool isResumed,
                               std::optional<train::InitChoice> start) {
  std::vector<train::AuxChoice> auxiliaries = auxChoicesOf(store, run);
  if (isResumed) requireSameAuxiliaries(store, run, auxiliaries);
  const Json json = store.init(run.id);
  train::InitChoice choice;
  if (json.is_object()) {
    const InitSource init = initFromJson(json);
    // A checkpoint has every weight; the source may be gone by now.
    if (!isResumed)
      choice = start ? *std::move(start) : initChoiceOf(store, init, nameOf(run) + " starts from");
    choice.freeze = init.freeze;
  }
  choice.auxiliaries = std::move(auxiliaries);
  return choice;
}

Json auxJson(const std::vector<train::AuxChoice>& auxiliaries) {
  Json json = Json::object();
  for (const train::AuxChoice& each : auxiliaries) {
    json[each.name] = {{"run", each.run.empty() ? Json(nullptr) : Json(each.run)},
                       {"step", each.step < 0 ? Json(nullptr) : Json(each.step)},
                       {"file", each.weights.string()},
                       {"use", each.use},
                       {"sha256", each.sha256}};
  }
  return json;
}

void completeSelection(store::RunStore& store, const store::RunRow& run) {
  Json selection = store.selection(run.id);
  if (!selection.is_object() || !selection.at("chosen").is_null()) return;
  const Grid grid = gridOf(store, run, selection.at("metric").get<std::string>());
  const std::vector<std::optional<double>> means = candidateScores(selection, grid.scores);
  const std::optional<std::size_t> best = bestCandidate(selection, means);
  if (!best) {
    throw NotFoundError("none of the " + std::to_string(grid.runs.size()) +
                        " runs of the grid of " + nameOf(run) + " has a score '" +
                        selection.at("metric").get<std::string>() +
                        "'; see `vitrine show` of one of them for the scores that there are");
  }
  Json origins = store.origins(run.id);
  for (const auto& entry : selection.at("candidates").at(*best).at("set").items())
    origins[entry.key()] = {{"layer", "select"}, {"line", 0}};
  const EventRecord event = selectedEvent(selection, grid, means, *best);
  const Json config = withCandidate(store.config(run.id), selection, *best);
  selection["chosen"] = *best;
  store.completeConfig(run.id, config, origins, selection, event);
  log::info(nameOf(run) + ": " + event.text);
}

}  // namespace vitrine::app
