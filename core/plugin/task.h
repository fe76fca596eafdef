// Tasks: data, loss and scores of one problem.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/config/config.h"
#include "core/data/dataset.h"
#include "core/data/loader.h"
#include "core/model/capabilities.h"
#include "core/plugin/analysis.h"

namespace vitrine {

class Pipeline;
class Registry;

/// A network of a run. The first of a session is its model and has no name; the tensors of the
/// others are called "<name>.<tensor>" in checkpoints, groups and freezing.
struct Network {
  enum class Role {
    Trained,   ///< by gradients; saved
    Averaged,  ///< after every step e = decay e + (1 - decay) p of the trained network `source`;
               ///< saved
    Frozen,    ///< evaluation mode, no gradients; a checkpoint refers to it by `source` and hash
  };
  std::string name;
  torch::nn::Module* module = nullptr;
  Role role = Role::Trained;
  std::string source{};  ///< Averaged: name of a network with the same parameters; Frozen: its file
  std::string sha256{};  ///< Frozen: of that file
  double decay = 0;      ///< Averaged
};

/// Parameters that share an optimizer setting.
struct ParameterGroup {
  std::string name;                         ///< "decay", "no_decay"
  std::vector<std::string> parameterNames;  ///< as in the model, or "<network>." + name
  std::vector<at::Tensor> parameters;
  double weightDecayScale = 1;
  double learningRateScale = 1;
  Json settings = nullptr;  ///< keys of the optimizer that this group has otherwise, or null
};

/// One summand of a loss. A step's loss is the sum of weight * sum / count over the names. Sum and
/// count are added up by name over the micro-batches of the step.
struct LossPart {
  std::string name;    ///< its curve is train/loss/<name>; "": none besides train/loss
  at::Tensor sum;      ///< 0-d, differentiable: over samples, tokens or patches
  at::Tensor count{};  ///< 0-d: of those, without gradient; undefined: the samples of the batch
  double weight = 1;   ///< the same in every batch
};

/// What a step of training or an evaluation may know and draw from.
struct StepContext {
  StepPosition position;
  /// In training its state is part of the checkpoint; in an evaluation it depends on seed and step
  /// alone. On `device`.
  at::Generator generator;
  at::Device device = at::kCPU;
};

/// Something that is measured now and then.
struct Evaluation {
  std::string id;  ///< its scores are "<id>/<name>": "test", "test/samples"
  Split split = Split::Test;
  std::vector<std::string> outputs{};  ///< named outputs that listeners hear: "logits"
  /// Weights that it is made with: "model", "ema"; an average is looked at where there is one.
  std::vector<std::string> weights = {"model", "ema"};
  /// Its own period; both absent: as [train] evaluate says.
  std::optional<std::int64_t> everySteps{}, everyEpochs{};
  bool isAtEnd = true;
};

struct EvaluationRequest {
  const Evaluation& evaluation;
  StepContext& context;
  std::vector<EvaluationListener*> listeners;
};

/// Data, loss and scores of one problem, opened once per run with its model.
class VITRINE_ENGINE_EXPORT TaskSession {
 public:
  virtual ~TaskSession();
  [[nodiscard]] virtual Model& model() = 0;
  /// The model first. Here: the model alone.
  [[nodiscard]] virtual std::vector<Network> networks();
  [[nodiscard]] virtual const DatasetInfo& dataset() const noexcept = 0;

  [[nodiscard]] virtual std::unique_ptr<BatchStream> trainingStream(std::int64_t firstBatch) = 0;
  /// \param batch  on the context's device
  /// \returns  at least one part; a batch may lack parts that others have
  [[nodiscard]] virtual std::vector<LossPart> loss(StepContext& context, const Batch& batch) = 0;
  /// Of the trained networks. Here: those that decay and those that do not, as the model says and,
  /// in other networks, by shape.
  [[nodiscard]] virtual std::vector<ParameterGroup> parameterGroups();

  /// The evaluations of the model; the last one decides.
  [[nodiscard]] virtual std::vector<Evaluation> evaluations() const = 0;
  /// Evaluation mode, no gradient; listeners hear each batch and finish at the end.
  virtual void evaluate(const EvaluationRequest& request, Results& results) = 0;
  /// The score that decides which checkpoint is best, larger is better: "validation/top1". Of the
  /// test split only where there is no other: what chooses a checkpoint cannot judge it.
  [[nodiscard]] virtual std::string bestBy() const;

  /// Samples as evaluations see them, on the CPU. \throws ConfigError  there is no such sample
  [[nodiscard]] virtual Batch read(Split split, const std::vector<std::int64_t>& ids) = 0;
  /// Ids of `count` samples of a split, of the classes in turn, the same for every run.
  [[nodiscard]] virtual std::vector<std::int64_t> chooseSamples(Split split,
                                                                std::int64_t count) = 0;
  /// What of the task itself moves along the run, or nullptr.
  [[nodiscard]] virtual Scheduled* scheduled();
};

/// A trained model that a run uses and does not train: [aux.NAME].
struct AuxiliaryNetwork {
  std::string name;
  std::shared_ptr<Model> model;  ///< evaluation mode, without gradients
  Json config;                   ///< of the run that made it, or {"model": ...}
  std::string file, sha256;      ///< of its weights
};

/// What a task is opened with.
struct TaskSetup {
  Config task, data;  ///< resolved tables [task] and [data]
  std::shared_ptr<Model> model;
  std::shared_ptr<const Pipeline> pipeline;  ///< the run's samples, as [data] says
  std::vector<AuxiliaryNetwork> auxiliaries;
  const Registry* registry = nullptr;  ///< to build further networks from
  std::uint64_t seed = 0;
  std::int64_t batchSize = 128;
  std::int64_t evaluationBatchSize = 256;
  int loaderWorkers = 1;
  /// Samples of a split that an evaluation reads at most; 0: all.
  std::int64_t evaluationLimit = 0;

  /// \throws ConfigError  there is no [aux.NAME]: names those there are
  [[nodiscard]] VITRINE_ENGINE_EXPORT const AuxiliaryNetwork& auxiliary(
      const std::string& name) const;
};

class VITRINE_ENGINE_EXPORT Task {
 public:
  virtual ~Task();
  [[nodiscard]] virtual ItemCard card() const = 0;
  [[nodiscard]] virtual std::unique_ptr<TaskSession> open(const TaskSetup& setup) const = 0;
  /// Asked before a new run is stored, for values that have no effect or only fail when it ends. A
  /// stored run that is opened again is not asked. Here: nothing is refused.
  /// \param task   resolved table [task]
  /// \param model  of the run, without memory or values
  /// \throws ConfigError
  virtual void requireStartable(const Config& task, Model& model) const;
  /// Names of the scores of its last evaluation, without those of parts such as classes. Here:
  /// none, they are known after the evaluation alone.
  [[nodiscard]] virtual std::vector<std::string> scores() const;
};

}  // namespace vitrine
