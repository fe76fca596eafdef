#include "app/vitrine/trained_model.h"

#include <torch/nn/module.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/train/device.h"

namespace vitrine::app {

void setEvaluationMode(Model& model) { model.module().eval(); }

TrainedModel openTrainedModel(RunStore& store, const Engine& engine, const RunRow& run,
                              const std::string& which, const std::string& use) {
  TrainedModel trained;
  trained.checkpoint = chooseCheckpoint(store, run, which, use);
  const Json config = store.config(run.id);
  useThreads(Config(config).maybeInteger("train.threads"));
  trained.run = restoreRun(engine.registry, config, run.seed, trained.checkpoint.weights);
  const CheckpointState& state = trained.run.state;
  trained.time = state.seconds;
  trained.epoch = static_cast<double>(state.step) /
                  static_cast<double>(std::max<std::int64_t>(1, state.stepsPerEpoch));
  return trained;
}

Split splitOf(const TrainedModel& trained, const std::string& name) {
  if (name.empty()) return lastSplit(*trained.run.session);
  const Split split = splitFromString(name);
  const std::vector<Split> visited = trained.run.session->evaluationSplits();
  if (split != Split::Train && std::find(visited.begin(), visited.end(), split) == visited.end()) {
    std::string there = toString(Split::Train);
    for (const Split each : visited) there += ", " + toString(each);
    throw RefusedError("the data of this run have no " + name + " split; take one of " + there);
  }
  return split;
}

}  // namespace vitrine::app
