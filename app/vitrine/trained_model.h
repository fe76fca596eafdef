// A run as one of its checkpoints left it: for `analyse` and `evaluate`.
#pragma once

#include <memory>

#include "app/vitrine/checkpoint_choice.h"
#include "app/vitrine/engine.h"
#include "core/train/model_setup.h"

namespace vitrine::app {

struct TrainedModel {
  CheckpointChoice checkpoint;
  RestoredRun run;
  double epoch = 0;  ///< at the checkpoint: its step over the steps of an epoch
  double time = 0;   ///< seconds of running time up to the checkpoint
};

/// \param which, use  see chooseCheckpoint
[[nodiscard]] TrainedModel openTrainedModel(RunStore& store, const Engine& engine,
                                            const RunRow& run, const std::string& which,
                                            const std::string& use);

/// Evaluation mode, no dropout.
void setEvaluationMode(Model& model);

/// The split that `name` means; "": the one that evaluations end with.
/// \throws RefusedError  the data set has no images of it
[[nodiscard]] Split splitOf(const TrainedModel& trained, const std::string& name);

}  // namespace vitrine::app
