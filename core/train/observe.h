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

namespace vitrine {

/// What decides, beside weights and data, which numbers an evaluation gives: the same for a run and
/// for a later evaluation of its checkpoint.
struct Look {
  Precision precision = Precision::Float32;
  at::Device device = at::kCPU;
  std::uint64_t seed = 0;  ///< of the run
  std::int64_t step = 0;   ///< optimizer steps completed
};

/// Evaluation mode, and a generator that depends on seed and step alone: what is drawn depends
/// neither on earlier evaluations nor on where a run was resumed. The caller puts both back.
VITRINE_ENGINE_EXPORT void beginLook(Model& model, TaskSession& session, const Look& look);

/// Scores of one split, without gradients, as `look` says.
[[nodiscard]] VITRINE_ENGINE_EXPORT Scores
evaluateSplit(Model& model, TaskSession& session, Split split, const Look& look,
              const std::vector<EvaluationListener*>& listeners, std::vector<Artifact>& artifacts);

/// Puts a scheduled model where step `completed.step` was taken, which is how the evaluations after
/// that step see it; another model is left alone.
VITRINE_ENGINE_EXPORT void placeAfterStep(Model& model, const Scheduled::Position& completed);

/// The split whose batch probes look at, and whose scores have plain names: the last that
/// evaluations visit.
[[nodiscard]] VITRINE_ENGINE_EXPORT Split lastSplit(const TaskSession& session);

/// Stands between an evaluation and a listener, so that the analysis's scores stay apart from the
/// task's.
class VITRINE_ENGINE_EXPORT NamedListener final : public EvaluationListener {
 public:
  NamedListener(std::string id, std::unique_ptr<EvaluationListener> listener);
  ~NamedListener() override;
  void batch(const std::vector<std::int64_t>& sampleIds, const at::Tensor& logits,
             const at::Tensor& labels) override;
  [[nodiscard]] std::vector<Artifact> finish(Scores& scores) override;
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
    std::string problem;  ///< "" or why there are no findings
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

}  // namespace vitrine
