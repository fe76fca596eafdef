// The content of a checkpoint, and the thread that writes it while training continues.
//
//     step-000000500/
//       model.safetensors      parameters and buffers; the task's head under "task.". Frozen
//                              parameters of the model that came unchanged from another file are
//                              named there, with that file and its SHA-256 (core/model/weights.h)
//       ema.safetensors        the same with averaged weights, when there is an average
//       optimizer.safetensors  "<parameter>/exp_avg", "<parameter>/exp_avg_sq",
//       "<parameter>/momentum" state.json             CheckpointState manifest.json          size
//       and SHA-256 of each (core/files/checkpoint_folder.h)
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/engine_export.h"
#include "core/model/weights.h"
#include "core/run/event_sink.h"
#include "core/train/device.h"

namespace vitrine::train {

struct CheckpointState {
  std::int64_t step = 0;  ///< optimizer steps completed
  std::int64_t totalSteps = 0, stepsPerEpoch = 0;
  std::int64_t batchesConsumed = 0;  ///< over all epochs: where the data stream continues
  std::int64_t samplesSeen = 0;
  double seconds = 0;               ///< of running time over all segments
  std::int64_t updates = 0;         ///< the optimizer's count
  std::int64_t evaluatedStep = -1;  ///< of the last evaluation; an interrupted run may owe one
  std::int64_t probedStep = -1;     ///< of the last due probes
  std::int64_t skippedProbes = 0;
  std::int64_t bestStep = -1;
  double bestScore = 0;        ///< of the score that decides, at bestStep
  std::int64_t rollbacks = 0;  ///< on the way here (core/train/divergence.h)
  Json divergence;             ///< DivergenceWatch::state()
  std::string generator;       ///< state of the trainer's generator, bytes
  std::vector<std::pair<std::string, double>>
      scheduled;                         ///< Scheduled::scheduledValues() of the last step
  Json scheduledState = Json::object();  ///< Scheduled::scheduledState() by scheduledOf()'s names
  struct FrozenNetwork {
    std::string name, file, sha256;  ///< of the weights that it was made from
  };
  std::vector<FrozenNetwork> frozen;  ///< networks that the checkpoint refers to and does not hold
  ComputeEnvironment environment;
  std::string precision, configHash;
  Json config;              ///< resolved; null where it is not known
  bool isFinished = false;  ///< the run had come to its end
};
[[nodiscard]] VITRINE_ENGINE_EXPORT Json toJson(const CheckpointState& state);
/// \throws FileError  something is missing or of another type
[[nodiscard]] VITRINE_ENGINE_EXPORT CheckpointState checkpointStateFromJson(const Json& json);

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Private copies on the CPU.
struct CheckpointSnapshot {
  CheckpointState state;
  NamedTensors model, ema, optimizer;       ///< `ema` is empty when there is no average
  std::set<std::string> trained;            ///< parameters that must be finite
  std::vector<WeightReference> references;  ///< of `model` and `ema` alike: what they do not hold
  bool isBest = false;
};

struct LoadedCheckpoint {
  CheckpointState state;
  std::map<std::string, at::Tensor> model, ema, optimizer;  ///< with what they refer to
  std::map<std::string, WeightOrigin> referred;             ///< of `model`: where those are
};
/// \throws FileError
/// \throws NotFoundError, RefusedError  a file that it refers to is gone, or another one by now
[[nodiscard]] VITRINE_ENGINE_EXPORT LoadedCheckpoint
readCheckpoint(const std::filesystem::path& folder);
/// state.json alone. \throws FileError
[[nodiscard]] VITRINE_ENGINE_EXPORT CheckpointState
readCheckpointState(const std::filesystem::path& folder);

/// Result of one save: a record, or an error.
struct SaveResult {
  CheckpointRecord record;
  std::string error;
};

struct RetentionOptions {
  std::int64_t keep = 2;  ///< newest ones
  bool keepBest = true;
  std::filesystem::path resumedFrom{};  ///< stays until a newer one verifies; may be empty
  std::int64_t keepEvery = 0;           ///< steps divisible by it stay; 0: none for that reason
  std::int64_t bestStep = -1;           ///< of the best one that is on the disk already
  /// Steps that other runs start from. Called on the writing thread; when it throws, nothing
  /// is removed this time.
  std::function<std::set<std::int64_t>()> needed{};
};

/// Writes on a thread of its own, one at a time. No other process writes into the folder meanwhile.
class VITRINE_ENGINE_EXPORT CheckpointWriter {
 public:
  /// \param folder  the run's; made when missing
  /// \param prefix  what CheckpointRecord::folder begins with
  /// \param beforeNaming  called on the writing thread when all files are written, before the
  ///         folder gets the name by which a resume finds it. Records up to its step must be
  ///         durable by then: those steps are never done again
  /// \throws RefusedError  another trainer writes into the folder
  CheckpointWriter(std::filesystem::path folder, std::string prefix, RetentionOptions retention,
                   std::function<void()> beforeNaming = {});
  ~CheckpointWriter();  ///< waits
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Waits for the save before this one.
  void save(CheckpointSnapshot snapshot);
  void wait();
  /// \returns  whether no save is under way any more
  [[nodiscard]] bool waitFor(std::chrono::nanoseconds limit);
  /// Saves that ended since the last call, oldest first.
  [[nodiscard]] std::vector<SaveResult> results();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitrine::train
