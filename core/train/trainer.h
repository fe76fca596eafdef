// One run: the loop over optimizer steps. Knows neither SQLite nor Qt, and never waits for the
// disk.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/model/weights.h"
#include "core/plugin/registry.h"
#include "core/run/event_sink.h"
#include "core/run/run_control.h"
#include "core/train/live_look.h"

namespace vitrine::train {

/// An analysis that is observed during the run, with its resolved table under [observe].
struct Observed {
  const Analysis* analysis = nullptr;
  std::string id;
  Config config;  ///< observeSchema() + the analysis's own keys
};

/// State of a run that is opened again while it trains.
struct Moment {
  at::Device device = at::kCPU;
  std::uint64_t seed = 0;
  StepPosition position;
  bool isFinished = false;  ///< the schedules are at their end
};
/// Opens the run of `live` again with `changes`; see ProbeContext::reopen.
using Reopen =
    std::function<ReopenedRun(TaskSession& live, const Moment& moment, const Json& changes)>;

struct TrainerSetup {
  std::unique_ptr<TaskSession> session;      ///< its networks initialised, or loaded by `init`
  Config train;                              ///< trainSchema()
  const OptimizerItem* optimizer = nullptr;  ///< that train.optimizer.name is
  const ScheduleItem* schedule = nullptr;    ///< that train.schedule.name is
  std::vector<Observed> observed;
  std::vector<std::string> freeze;  ///< parameter-name globs that are not trained
  /// Files that hold tensors of the model unchanged, by name. Checkpoints refer to the frozen ones
  /// among them.
  std::map<std::string, WeightOrigin> weightOrigins;
  std::filesystem::path checkpointFolder;  ///< `<name>.files/run-<uuid>`; empty: no checkpoints
  std::string checkpointPrefix;      ///< what CheckpointRecord::folder begins with: "run-<uuid>"
  std::filesystem::path resumeFrom;  ///< a verified checkpoint folder, or empty
  std::uint64_t seed = 0;
  /// Checkpoints that were found damaged on the way to `resumeFrom`: one sentence each.
  std::vector<std::string> damaged;
  /// Checkpoint steps that other runs start from; see RetentionOptions::needed.
  std::function<std::set<std::int64_t>()> neededSteps;
  /// Time that the run may wait for its own saves, next to a twentieth of its running time. A save
  /// that would wait longer is made later.
  std::chrono::duration<double> saveWait = std::chrono::seconds(5);
  /// Called once, after the first step on the CPU: which way each kind of call went (takenPaths()).
  std::function<void(const std::vector<std::pair<std::string, std::string>>&)> onTakenPaths;
  std::string throughput = "system/images_per_second";  ///< name of that metric
  /// First keys of the recipes of images and texts of evaluations: {"run": uuid}.
  Json origin = Json::object();
  Reopen reopen{};  ///< empty where the run was not made from a configuration
  Json evaluateTransforms = Json::array();  ///< of the samples of evaluations, in order
  std::string liveRun;     ///< UUID that windows which watch ask for; empty: it cannot be watched
  LiveImages liveImages{}; ///< what such a window is shown of a run that makes images
  Json config;             ///< resolved, whole: kept with checkpoints; null where there is none
  std::string configHash;  ///< SHA-256 of it; a checkpoint of another one is refused
};

enum class Outcome {
  Done,
  Failed,
  Interrupted,
  Paused,
  Stopped,
  RolledBack,  ///< it diverged, and continues from `resumeFrom` in a new segment: a new Trainer
               ///< does it
};

struct TrainerResult {
  Outcome outcome = Outcome::Done;
  std::string reason;                  ///< one sentence for everything but Done
  std::int64_t step = 0;               ///< optimizer steps completed
  double seconds = 0;                  ///< of running time over all segments
  Scores scores;                       ///< of the last evaluation: {"test/top1", 0.87}
  std::filesystem::path resumeFrom{};  ///< of RolledBack: a verified checkpoint folder; empty: the
                                       ///< run begins again, with other batches
};

class VITRINE_ENGINE_EXPORT Trainer {
 public:
  /// \throws ConfigError  lengths, device or precision that cannot be had here
  /// \throws RefusedError  the checkpoint was written under another configuration: names what
  /// differs
  Trainer(TrainerSetup setup, EventSink& sink, RunControl& control);
  ~Trainer();
  /// Trains to the end, or to a request, or to where it diverges. Throws only for programmer's
  /// mistakes and lost data.
  [[nodiscard]] TrainerResult run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitrine::train
