#include "app/vitrine/trained_model.h"

#include <torch/nn/module.h>

#include <algorithm>

#include "core/train/checkpoint.h"
#include "core/train/device.h"
#include "core/train/model_setup.h"

namespace vitrine::app {

void setEvaluationMode(Model& model) { model.module().eval(); }

TrainedModel openTrainedModel(RunStore& store, const Engine& engine, const RunRow& run,
                              const std::string& which, const std::string& use) {
  TrainedModel trained;
  trained.checkpoint = chooseCheckpoint(store, run, which, use);
  trained.config = store.config(run.id);
  useThreads(Config(trained.config).maybeInteger("train.threads"));
  InitChoice init;
  init.weights = trained.checkpoint.weights;
  TrainerSetup setup = prepareRun(engine.registry, trained.config, run.seed, init);
  trained.model = std::move(setup.model);
  trained.session = std::move(setup.session);
  const CheckpointState state = readCheckpointState(trained.checkpoint.folder);
  trained.time = state.seconds;
  trained.epoch = static_cast<double>(state.step) /
                  static_cast<double>(std::max<std::int64_t>(1, state.stepsPerEpoch));
  if (auto* scheduled = capabilityOf<Scheduled>(*trained.model)) {
    if (state.isFinished || state.step >= state.totalSteps) {
      scheduled->finish();
    } else {
      scheduled->beforeStep({state.step, state.totalSteps, state.stepsPerEpoch});
    }
  }
  setEvaluationMode(*trained.model);
  return trained;
}

}  // namespace vitrine::app
