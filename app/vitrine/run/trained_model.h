// A run as one of its checkpoints left it: for `analyse`, `evaluate` and `sample`.
#pragma once

#include "app/vitrine/run/checkpoint_choice.h"
#include "app/vitrine/run/engine.h"
#include "core/train/model_setup.h"

namespace vitrine::app {

struct TrainedModel {
  CheckpointChoice checkpoint;
  train::RestoredRun run;
  Json config;       ///< of the run, resolved, with the overrides
  double epoch = 0;  ///< at the checkpoint: its step over the steps of an epoch
  double time = 0;   ///< seconds of running time up to the checkpoint
};

/// The part of a run that is opened, with device and precision.
struct Opening {
  std::string which = "latest", use = "model";  ///< see chooseCheckpoint
  std::string device = "cpu";                   ///< auto | cpu | cuda | cuda:N
  std::string precision;                        ///< "": as the run was trained
  std::vector<std::string> overrides;           ///< "data.test_samples=100", "model.image_size=56"
};

/// \throws ConfigError  an override of another key than those of [data] and model.image_size
[[nodiscard]] TrainedModel openTrainedModel(store::RunStore& store, const Engine& engine,
                                            const store::RunRow& run, const Opening& opening);

/// Evaluation mode, no dropout.
void setEvaluationMode(Model& model);

/// The split that `name` means; "": the one that evaluations end with.
/// \throws RefusedError  the data set has no images of it
[[nodiscard]] Split splitOf(const TrainedModel& trained, const std::string& name);

}  // namespace vitrine::app
