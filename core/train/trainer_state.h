// The inside of Trainer, shared by its source files.
#pragma once

#include <ATen/core/grad_mode.h>

#include <chrono>
#include <deque>
#include <limits>
#include <optional>

#include "core/live/frame.h"
#include "core/train/checkpoint.h"
#include "core/train/device.h"
#include "core/train/divergence.h"
#include "core/train/modules.h"
#include "core/train/observe.h"
#include "core/train/schedule.h"
#include "core/train/step.h"
#include "core/train/trainer.h"

namespace vitrine::train {

/// Puts back mode and generator of the training, so that looking at a model changes nothing of it.
class Looking {
 public:
  Looking(TaskSession& session, const at::Generator& training)
      : session_(session), training_(training) {}
  ~Looking() {
    session_.model().setGenerator(training_);
    setMode(session_, Mode::Train);
  }
  Looking(const Looking&) = delete;
  Looking& operator=(const Looking&) = delete;

 private:
  TaskSession& session_;
  at::Generator training_;
  at::NoGradGuard noGrad_;
};

struct Trainer::State {
  State(TrainerSetup setup, EventSink& sink, RunControl& control);

  // Arguments.
  TrainerSetup setup;
  EventSink& sink;
  RunControl& control;
  TaskSession& session;
  Model& model;

  // Where and how long.
  at::Device device;
  Precision precision;
  int threads = 1;
  std::int64_t accumulate = 1, recordEvery = 1;
  std::int64_t batchesPerEpoch = 1, samplesPerEpoch = 1;
  std::int64_t stepsPerEpoch = 1, totalSteps = 1, startStep = 0;
  Schedule schedule;

  // What moves.
  std::unique_ptr<BatchStream> stream;
  std::unique_ptr<TrainStep> trainStep;
  std::vector<std::pair<std::string, Scheduled*>> scheduled;
  at::Generator generator;
  std::int64_t step = 0;  ///< optimizer steps completed
  std::int64_t batchesConsumed = 0, samplesSeen = 0;
  std::int64_t evaluatedStep = -1, probedStep = -1, skippedProbes = 0;
  std::int64_t bestStep = -1, savedStep = -1;
  std::int64_t skippedSteps = 0;  ///< of `step`: those that changed nothing
  std::int64_t rollbacks = 0;
  double bestScore = 0;
  bool isFinished = false;
  bool isSaveOverdue = false;            ///< one was due while another was under way
  double waitedForSaves = 0;             ///< seconds, in this process
  std::string evaluatedWeights = "all";  ///< train.evaluate.weights
  bool isBestUnknown = false;  ///< no evaluation gives the score that checkpoint.best_by names
  std::vector<std::pair<std::string, double>> scheduledValues;  ///< of the last step
  Scores lastScores;

  // Read back late.
  struct Sent {
    std::int64_t step = 0;
    double epoch = 0, time = 0, learningRate = 0;
    std::int64_t images = 0;  ///< trained on since the start of this segment
    double trainSeconds = 0;  ///< spent in steps since the start of this segment
    std::vector<std::string> partNames;
    std::vector<std::pair<std::string, double>> scheduled;
    std::int64_t batchesConsumed = 0;
    SpikeLimits limits;
  };
  struct Failure {
    std::int64_t step = 0;  ///< the step that diverged, counted as if it had completed
    double loss = 0, gradientNorm = 0;
    std::int64_t batchesConsumed = 0;
    SpikeLimits limits;
    std::int64_t skippedInRow = 0;  ///< more than zero: too many, this one included
  };
  DivergenceOptions divergence;
  DivergenceWatch watch;
  LateReader reader;
  std::deque<Sent> sent;
  std::optional<Failure> failure;
  double lastLoss = std::numeric_limits<double>::quiet_NaN();  ///< of the last step read back
  double imagesPerSecond = 0;
  std::int64_t recordedImages = 0;
  double recordedSeconds = 0;
  struct StepIds {
    std::int64_t step = 0;
    std::vector<std::int64_t> samples;
  };
  std::deque<StepIds> recentIds;  ///< of the last 16 steps

  // Clocks.
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now(), lastProgress{};
  double secondsBefore = 0, trainSeconds = 0;
  std::int64_t images = 0;

  // Observation and checkpoints.
  std::vector<Evaluation> evaluations;  ///< all that the session has
  std::vector<const Observed*> listeners, probes;
  std::vector<std::optional<Batch>> probeBatches;  ///< next to `probes`
  std::unique_ptr<ProbeThread> probeThread;
  std::unique_ptr<CheckpointWriter> writer;

  // Windows that watch.
  struct Watch;
  std::shared_ptr<Watch> watched;  ///< null: it cannot be watched
  live::StepTime stepTime;         ///< of the step at hand

  [[nodiscard]] double seconds() const;
  [[nodiscard]] double epoch() const;
  void event(const std::string& kind, const std::string& text, Json data = Json::object());

  // trainer.cpp
  TrainerResult run();
  void oneStep();
  [[nodiscard]] Batch nextBatch();
  [[nodiscard]] StepPosition position() const { return {step, totalSteps, stepsPerEpoch}; }
  /// Moves everything that is scheduled to the coming step, and reports what happened there.
  void beforeStep();
  void readBack(LateReader::Take which);
  void record(const Sent& at, const StepReadings& readings);
  void boundary();
  /// After a resume: what the uninterrupted run did after the checkpoint's step, with the model as
  /// it was in that step.
  void observeAsOwed();
  void progress();
  [[nodiscard]] std::optional<TrainerResult> serveRequest();
  [[nodiscard]] TrainerResult endWith(Outcome outcome, std::string reason);

  // trainer_divergence.cpp
  void heard(const Sent& at, const StepReadings& readings);
  [[nodiscard]] std::vector<std::int64_t> samplesOf(std::int64_t ofStep) const;
  [[nodiscard]] TrainerResult diverged();
  [[nodiscard]] TrainerResult rollBack(const std::string& cause, const Json& facts);

  // trainer_observe.cpp
  void prepareObservation();
  [[nodiscard]] bool isEvaluationDue() const;
  [[nodiscard]] bool isListenerDue(const Observed& observed) const;
  [[nodiscard]] bool isProbeDue(const Observed& observed) const;
  [[nodiscard]] bool areProbesDue() const;
  [[nodiscard]] Look look() const;
  void evaluate();
  /// Name of the score that decides which checkpoint is the best.
  [[nodiscard]] std::string bestBy() const;
  /// \param isWhole  every evaluation was made at this step
  void findBest(bool isWhole);
  /// Of several evaluations that a listener hears, its scores in the last one have the plain names.
  [[nodiscard]] bool isPlain(const std::string& listener, const Evaluation& evaluation) const;
  void deliver(CollectedResults& found, const Evaluation& evaluation, const std::string& weights);
  [[nodiscard]] bool isDueNow(const Evaluation& evaluation) const;
  void evaluateWith(const std::string& weights, const std::vector<Evaluation>& due,
                    MetricRecord& record, Json& scores);
  void probe();
  void deliverFindings();

  // trainer_live.cpp
  void prepareWatch();
  /// After each step: shows a frame where a window watches and the price of frames allows it.
  /// \param stepEnd  when the step itself was done
  void show(Clock::time_point stepEnd);
  [[nodiscard]] live::Frame frameOfNow() const;

  // trainer_checkpoint.cpp
  /// \throws RefusedError  the configuration of `from` is not this run's
  void requireSameConfiguration(const CheckpointState& from) const;
  /// \throws RefusedError  a frozen network is not the one that the checkpoint was trained with
  void requireSameFrozen(const CheckpointState& from) const;
  void prepareCheckpoints();
  void resume();
  [[nodiscard]] bool isCheckpointDue() const;
  /// \returns  whether a save may begin: one is under way at a time
  [[nodiscard]] bool makeRoomForSave();
  [[nodiscard]] CheckpointSnapshot snapshot();
  enum class Wait { No, Yes };
  void save(Wait wait);
  void deliverSaves();
};

/// True at the multiples of an interval given in steps or epochs under `key` ("checkpoint",
/// "evaluate").
[[nodiscard]] bool isDue(const Config& config, const std::string& table, std::int64_t step,
                         std::int64_t stepsPerEpoch);

}  // namespace vitrine::train
