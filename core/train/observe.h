// Analyses during training: listeners inside an evaluation, the second halves of probes on a thread
// of their own.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/engine_export.h"
#include "core/plugin/registry.h"
#include "core/train/device.h"

namespace vitrine::train {

/// Conditions of the numbers of an evaluation, next to weights and data. They are the same for a
/// run and for a later evaluation of its checkpoint.
struct Look {
  Precision precision = Precision::Float32;
  at::Device device = at::kCPU;
  std::uint64_t seed = 0;  ///< of the run
  std::int64_t step = 0;   ///< optimizer steps completed
};

/// Evaluation mode, and generators that depend on seed and step alone. What is drawn depends
/// neither on earlier evaluations nor on where a run was resumed. The caller puts mode and the
/// model's generator back. \returns  what the session draws from
VITRINE_ENGINE_EXPORT StepContext beginLook(TaskSession& session, const Look& look);

/// One evaluation, without gradients, as `look` says.
VITRINE_ENGINE_EXPORT void evaluate(TaskSession& session, const Evaluation& evaluation,
                                    const Look& look,
                                    const std::vector<EvaluationListener*>& listeners,
                                    Results& results);

/// Sets the scheduled values to those of step `completed.step`, as evaluations after that step use
/// them. A run without schedules does not change.
VITRINE_ENGINE_EXPORT void placeAfterStep(TaskSession& session, const StepPosition& completed);

/// Parts of a run that change along its steps, by the name of their state in checkpoints.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::pair<std::string, Scheduled*>> scheduledOf(
    TaskSession& session);

/// The split of probes, and whose scores have plain names: that of the last evaluation.
[[nodiscard]] VITRINE_ENGINE_EXPORT Split lastSplit(const TaskSession& session);

/// The evaluation of a split by its own name, or the last one made for `split` where none is.
[[nodiscard]] VITRINE_ENGINE_EXPORT Evaluation evaluationOf(const TaskSession& session,
                                                            Split split);

/// The inputs of a probe, on the CPU.
[[nodiscard]] VITRINE_ENGINE_EXPORT Batch probeBatch(TaskSession& session,
                                                     const ProbeSamples& wanted);

/// Whether an evaluation has all outputs that a listener hears.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool isHeardBy(const Evaluation& evaluation,
                                                   const Analysis& analysis);

/// Stands between an evaluation and a listener, so that the analysis's scores stay apart from the
/// task's.
class VITRINE_ENGINE_EXPORT NamedListener final : public EvaluationListener {
 public:
  NamedListener(std::string id, std::unique_ptr<EvaluationListener> listener);
  ~NamedListener() override;
  void batch(const EvaluationBatch& batch) override;
  void finish(Results& results) override;
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const Scores& scores() const noexcept { return scores_; }

 private:
  std::string id_;
  std::unique_ptr<EvaluationListener> listener_;
  Scores scores_;
};

/// All probes of one moment.
struct ProbeJob {
  std::int64_t step = 0;
  double epoch = 0, time = 0;
  struct Part {
    std::string id, weights;
    std::function<Analysis::Findings()> work;
  };
  std::vector<Part> parts;
};

struct ProbeResult {
  std::int64_t step = 0;
  double epoch = 0, time = 0;
  struct Part {
    std::string id, weights;
    Analysis::Findings findings;
    std::string error;  ///< "" or why there are no findings
  };
  std::vector<Part> parts;
};

/// One background thread with a queue of one: one job at work, one waiting.
class VITRINE_ENGINE_EXPORT ProbeThread {
 public:
  ProbeThread();
  ~ProbeThread();  ///< finishes the job at work, drops the one that waits
  ProbeThread(const ProbeThread&) = delete;
  ProbeThread& operator=(const ProbeThread&) = delete;

  /// A job would have to wait.
  [[nodiscard]] bool isFull() const;
  /// Waits while full.
  void push(ProbeJob job);
  /// Waits until nothing is at work.
  void wait();
  /// Jobs that ended since the last call, oldest first.
  [[nodiscard]] std::vector<ProbeResult> results();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitrine::train
