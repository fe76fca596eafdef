#include "app/vitrine/run/trained_model.h"

#include <torch/nn/module.h>

#include <algorithm>

#include "app/vitrine/run/run_start.h"
#include "core/base/error.h"
#include "core/train/device.h"

namespace vitrine::app {

void setEvaluationMode(Model& model) { model.module().eval(); }

namespace {

/// `config` with other data or another image size, checked as an experiment is.
Json overridden(const Registry& registry, Json config, const std::vector<std::string>& overrides) {
  if (overrides.empty()) return config;
  const std::vector<Override> parsed = parseOverrides(overrides);
  for (const auto& [key, value] : parsed) {
    const bool isOfData = key.starts_with("data.") && !key.starts_with("data.pipeline");
    // Drawings for an evaluation do not belong to the training.
    const bool isOfDrawing = key.starts_with("task.samples.") || key.starts_with("task.drawings.");
    if (!isOfData && !isOfDrawing && key != "model.image_size")
      throw ConfigError(
          "a trained run takes other keys of [data], except data.pipeline, of [task.samples] and "
          "[task.drawings], and another model.image_size, not '" +
          key + "'");
  }
  Json changed = config;
  layOverrides(changed, parsed);
  return train::reconfigured(registry, config, std::move(changed));
}

}  // namespace

TrainedModel openTrainedModel(store::RunStore& store, const Engine& engine,
                              const store::RunRow& run, const Opening& opening) {
  const at::Device device = train::resolveDevice(opening.device);
  TrainedModel trained{.checkpoint = chooseCheckpoint(store, run, opening.which, opening.use)};
  const Json config = overridden(engine.registry, store.config(run.id), opening.overrides);
  train::useThreads(Config(config).maybeInteger("train.threads"));
  trained.run = train::restoreRun(engine.registry, config, run.seed, trained.checkpoint.weights,
                                  initChoiceOf(store, run, /*isResumed=*/true).auxiliaries, device);
  if (!opening.precision.empty())
    trained.run.look.precision = train::precisionFrom(opening.precision);
  trained.config = config;
  const train::CheckpointState& state = trained.run.state;
  trained.time = state.seconds;
  trained.epoch = static_cast<double>(state.step) /
                  static_cast<double>(std::max<std::int64_t>(1, state.stepsPerEpoch));
  return trained;
}

Split splitOf(const TrainedModel& trained, const std::string& name) {
  if (name.empty()) return train::lastSplit(*trained.run.session);
  const Split split = splitFromString(name);
  const std::vector<Evaluation> all = trained.run.session->evaluations();
  const bool isVisited = std::any_of(
      all.begin(), all.end(), [split](const Evaluation& each) { return each.split == split; });
  if (split != Split::Train && !isVisited) {
    std::string there = toString(Split::Train);
    for (const Evaluation& each : all) there += ", " + toString(each.split);
    throw RefusedError("the data of this run have no " + name + " split; take one of " + there);
  }
  return split;
}

}  // namespace vitrine::app
