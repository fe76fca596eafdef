// Trains one stored run in this process: connects store and trainer.
#pragma once

#include <optional>
#include <string>

#include "app/vitrine/run/engine.h"
#include "core/base/error.h"
#include "core/store/run_store.h"
#include "core/train/model_setup.h"
#include "core/train/trainer.h"

namespace vitrine::app {

/// A run after the work of this process on it.
struct TrainedRun {
  store::RunRow run;  ///< as it is stored now
  store::RunState state = store::RunState::Done;
  std::string reason;  ///< one sentence for everything but Done
  std::int64_t step = 0;
  double seconds = 0;  ///< of running time over all segments
  Scores scores;       ///< of the last evaluation
  ExitCode code = ExitCode::Done;
};

/// Trains a run from its newest whole checkpoint, or from its beginning, to its end or to a
/// request. Rows, checkpoints and log are written as it goes; what goes wrong becomes the run's
/// state, reason and `code`.
/// \param asked  its row when the work was asked for: a stop after that moment is obeyed
/// \param start  what it starts from, where that is known and verified
/// \throws RefusedError  it is done, another process works on it, or the run that it starts from is
/// not finished
[[nodiscard]] TrainedRun workRun(store::RunStore& store, const Engine& engine,
                                 const store::RunRow& asked,
                                 std::optional<train::InitChoice> start = {});

/// For the result of `train`, `run` and `resume`.
[[nodiscard]] Json toJson(const TrainedRun& trained);

}  // namespace vitrine::app
