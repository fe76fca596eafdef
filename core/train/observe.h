// Analyses during training: listeners inside an evaluation, the second halves of probes on a thread
// of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/engine_export.h"
#include "core/plugin/registry.h"

namespace vitrine {

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
