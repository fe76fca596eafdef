// A run's model as a checkpoint left it, with the data it was trained on: for `analyse` and
// `evaluate`.
#pragma once

#include <memory>

#include "app/vitrine/checkpoint_choice.h"
#include "app/vitrine/engine.h"
#include "core/train/trainer.h"

namespace vitrine::app {

struct TrainedModel {
  CheckpointChoice checkpoint;
  Json config;
  double epoch = 0;              ///< at the checkpoint: its step over the steps of an epoch
  double time = 0;               ///< seconds of running time up to the checkpoint
  std::shared_ptr<Model> model;  ///< in evaluation mode, on the CPU
  std::unique_ptr<TaskSession> session;
};

/// \param which, use  see chooseCheckpoint
[[nodiscard]] TrainedModel openTrainedModel(RunStore& store, const Engine& engine,
                                            const RunRow& run, const std::string& which,
                                            const std::string& use);

/// Evaluation mode, no dropout.
void setEvaluationMode(Model& model);

}  // namespace vitrine::app
