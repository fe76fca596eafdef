// Looks into a trained model. Returns artifacts, never widgets. An analysis is a listener or a
// probe.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/config/config.h"
#include "core/data/dataset.h"
#include "core/model/capabilities.h"
#include "core/plugin/results.h"

namespace vitrine {

class Task;
class TaskSession;

/// A batch of an evaluation and what the task made of it, on the CPU.
struct EvaluationBatch {
  const Batch& batch;                                ///< its sampleIds and fields
  const std::map<std::string, at::Tensor>& outputs;  ///< batch first: "logits" [batch, classes]
  /// \throws ConfigError  the evaluation has no such output: names those it has
  [[nodiscard]] VITRINE_ENGINE_EXPORT const at::Tensor& output(const std::string& name) const;
};

/// Hears every batch of an evaluation that runs anyway.
class VITRINE_ENGINE_EXPORT EvaluationListener {
 public:
  virtual ~EvaluationListener();
  virtual void batch(const EvaluationBatch& batch) = 0;
  /// The evaluation is complete.
  virtual void finish(Results& results) = 0;
};

/// The samples of a probe.
struct ProbeSamples {
  std::int64_t count = 1;           ///< of the classes in turn, the same for every run
  std::vector<std::int64_t> ids{};  ///< these instead, in this order, when it is not empty
  std::optional<Split> split{};     ///< absent: the last one that evaluations visit
};

/// A run opened once more next to itself, with other values.
struct ReopenedRun {
  std::shared_ptr<TaskSession> session;  ///< in evaluation mode, on the device of the run
  Json config;                           ///< resolved, with the values
  Json transforms;  ///< of the samples of evaluations, in order, each with all its settings
  std::vector<std::string> resized;  ///< parameters made of others of another size
  std::string resizePositions;       ///< by which rule: "bicubic"
};

/// The inputs of a probe: between optimizer steps, in evaluation mode, without gradient.
struct ProbeContext {
  TaskSession& session;  ///< its model(), networks, and TaskSession::read() for more samples
  Model& model;
  const Batch& batch;       ///< the samples that the analysis asked for, on the model's device
  at::Generator generator;  ///< the probe's own, the same at this step of every run of the seed
  StepPosition position;
  /// Opens the run again with the weights of now. \param changes  keys of a run, nested:
  /// {"model": {"image_size": [56, 56]}}. Empty where there is no configuration to open it from.
  /// \throws ConfigError  values that the run's items refuse
  std::function<ReopenedRun(const Json& changes)> reopen{};
};

class VITRINE_ENGINE_EXPORT Analysis {
 public:
  virtual ~Analysis();
  [[nodiscard]] virtual ItemCard card() const = 0;
  enum class Kind { Listener, Probe };
  [[nodiscard]] virtual Kind kind() const noexcept = 0;

  /// Asked before anything is computed, for values that the task of the run does not know. Here:
  /// nothing is refused.
  /// \throws ConfigError
  virtual void requireStartable(const Config& config, const Task& task) const;

  /// Named outputs that a listener hears; it is taken to the evaluations that have all of them.
  [[nodiscard]] virtual std::vector<std::string> outputs() const;
  /// \pre kind() == Listener
  [[nodiscard]] virtual std::unique_ptr<EvaluationListener> listen(
      const Config& config, const DatasetInfo& dataset) const;

  /// Samples that a probe needs; its batch has these and no others.
  [[nodiscard]] virtual ProbeSamples probeSamples(const Config& config) const;
  struct Findings {
    std::vector<Artifact> artifacts;
    Scores scores;  ///< become metrics "analysis/<id>/<name>"
  };
  /// First half of a probe, on the training thread: copies what it needs to the CPU and returns the
  /// second half. That runs on a background thread and owns nothing of the model.
  /// \pre kind() == Probe
  [[nodiscard]] virtual std::function<Findings()> probe(const Config& config,
                                                        ProbeContext& context) const;
};

}  // namespace vitrine
