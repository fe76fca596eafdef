// What plugins add: stateless factories of architectures, tasks, datasets and analyses. No Qt.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/artifact/event_sink.h"
#include "core/config/catalog.h"
#include "core/config/config.h"
#include "core/data/dataset.h"
#include "core/data/loader.h"
#include "core/model/model.h"

namespace vitrine {

/// A model family from one paper.
class VITRINE_ENGINE_EXPORT Architecture {
 public:
  virtual ~Architecture();
  [[nodiscard]] virtual ItemCard card() const = 0;
  /// Builds and initialises from the `init` stream of `seed`: weight by weight as the paper's fact
  /// sheet says. \throws ConfigError  what the schema's rules cannot say
  [[nodiscard]] virtual std::shared_ptr<Model> build(const Config& config,
                                                     std::uint64_t seed) const = 0;
};

class VITRINE_ENGINE_EXPORT DatasetSource {
 public:
  virtual ~DatasetSource();
  [[nodiscard]] virtual ItemCard card() const = 0;
  /// \throws FileError  the files are not there: says where they were looked for and which package
  /// brings them
  [[nodiscard]] virtual std::shared_ptr<const Dataset> open(const Config& config) const = 0;
};

/// Parameters that share an optimizer setting.
struct ParameterGroup {
  std::string name;                         ///< "decay", "no_decay"
  std::vector<std::string> parameterNames;  ///< as in the model (or "task." + name in the head)
  std::vector<at::Tensor> parameters;
  double weightDecayScale = 1;
  double learningRateScale = 1;
};

/// One summand of a loss. A step's loss is the sum of weight * sum / count over the names, with sum
/// and count added up by name over the micro-batches of the step.
struct LossPart {
  std::string name;    ///< its curve is train/loss/<name>; "": none beside train/loss
  at::Tensor sum;      ///< 0-d, differentiable: over samples, tokens or patches
  at::Tensor count{};  ///< 0-d: of those, without gradient; undefined: the samples of the batch
  double weight = 1;   ///< the same in every batch
};

/// Which images of a split a probe looks at.
struct ProbeImages {
  std::int64_t count = 1;         ///< of the classes in turn, the same for every run
  std::vector<std::int64_t> ids;  ///< these instead, in this order, when it is not empty
};

using Scores = std::vector<std::pair<std::string, double>>;  ///< {"top1", 0.861}

/// Hears every batch of an evaluation that runs anyway.
class VITRINE_ENGINE_EXPORT EvaluationListener {
 public:
  virtual ~EvaluationListener();
  /// logits [batch, classes], labels [batch] int64, on the CPU.
  virtual void batch(const std::vector<std::int64_t>& sampleIds, const at::Tensor& logits,
                     const at::Tensor& labels) = 0;
  /// The evaluation is complete. Artifacts' step and meta.split are filled in by the caller.
  [[nodiscard]] virtual std::vector<Artifact> finish(Scores& scores) = 0;
};

/// Data, loss and scores of one problem, opened once per run.
class VITRINE_ENGINE_EXPORT TaskSession {
 public:
  virtual ~TaskSession();
  [[nodiscard]] virtual const IoSpec& io() const noexcept = 0;
  [[nodiscard]] virtual std::unique_ptr<BatchStream> trainingStream(std::int64_t firstBatch) = 0;
  /// \param batch  on the model's device
  /// \returns  at least one part; a batch may lack parts that others have
  [[nodiscard]] virtual std::vector<LossPart> loss(Model& model, const Batch& batch) = 0;
  [[nodiscard]] virtual std::vector<ParameterGroup> parameterGroups(
      Model& model);  ///< decay and no_decay by rule
  /// Scores of a split, model in evaluation mode; also accumulates into `artifacts` what listeners
  /// hand back.
  [[nodiscard]] virtual Scores evaluate(Model& model, Split split,
                                        const std::vector<EvaluationListener*>& listeners,
                                        std::vector<Artifact>& artifacts) = 0;
  /// Splits that evaluation visits: those that have samples.
  [[nodiscard]] virtual std::vector<Split> evaluationSplits() const = 0;
  /// A fixed batch of the last split that evaluation visits, for probes. \throws ConfigError  it
  /// has no such image
  [[nodiscard]] virtual Batch probeBatch(const ProbeImages& images) = 0;
  [[nodiscard]] virtual const DatasetInfo& dataset() const noexcept = 0;
  /// Trained with the model, saved under `task.`; nullptr when there is none.
  [[nodiscard]] virtual torch::nn::Module* head();
  /// Helpers in evaluation mode, never optimised.
  [[nodiscard]] virtual std::vector<torch::nn::Module*> frozen();
  [[nodiscard]] virtual bool isStatic() const noexcept;  ///< shapes repeat from batch to batch
  /// The score that decides which checkpoint is best, larger is better: "validation/top1". Of the
  /// test split only where there is no other: what chooses a checkpoint cannot judge it.
  [[nodiscard]] virtual std::string bestBy() const;
};

/// What a task is opened with.
struct TaskContext {
  std::uint64_t seed = 0;
  std::int64_t batchSize = 128;
  std::int64_t evaluationBatchSize = 256;
  int loaderWorkers = 1;
  std::array<std::int64_t, 2> imageSize{0, 0};  ///< the model's
  std::int64_t evaluationLimit =
      0;  ///< samples of a split that an evaluation reads at most; 0: all
};

class VITRINE_ENGINE_EXPORT Task {
 public:
  virtual ~Task();
  [[nodiscard]] virtual ItemCard card() const = 0;
  [[nodiscard]] virtual std::unique_ptr<TaskSession> open(const Config& task, const Config& data,
                                                          std::shared_ptr<const Dataset> dataset,
                                                          const TaskContext& context) const = 0;
};

/// Looks into a trained model. Returns artifacts, never widgets. An analysis is a listener or a
/// probe.
class VITRINE_ENGINE_EXPORT Analysis {
 public:
  virtual ~Analysis();
  [[nodiscard]] virtual ItemCard card() const = 0;
  enum class Kind { Listener, Probe };
  [[nodiscard]] virtual Kind kind() const noexcept = 0;
  /// \pre kind() == Listener
  [[nodiscard]] virtual std::unique_ptr<EvaluationListener> listen(
      const Config& config, const DatasetInfo& dataset) const;
  /// Images a probe wants; its batch holds these and no others.
  [[nodiscard]] virtual ProbeImages probeImages(const Config& config) const;
  /// First half of a probe, on the training thread, model in evaluation mode, no gradient: copies
  /// what it needs to the CPU and returns the second half, which runs on a background thread and
  /// owns nothing of the model. \pre kind() == Probe
  struct Findings {
    std::vector<Artifact> artifacts;
    Scores scores;  ///< become metrics "analysis/<id>/<name>"
  };
  [[nodiscard]] virtual std::function<Findings()> probe(const Config& config, Model& model,
                                                        const Batch& batch) const;
};

/// One map per kind; an id is taken once.
class VITRINE_ENGINE_EXPORT Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// \throws PluginError  the id is taken: names both plugins
  void add(std::unique_ptr<Architecture> item);
  void add(std::unique_ptr<Task> item);
  void add(std::unique_ptr<DatasetSource> item);
  void add(std::unique_ptr<Analysis> item);

  /// Takes over everything `other` holds, or nothing: how the loader keeps half a plugin out.
  /// \throws PluginError  an id of `other` is taken here: names both plugins; `other` is left as it
  /// was
  void absorb(Registry& other);

  /// \throws NotFoundError  names the kind, the id and the nearest one there is
  [[nodiscard]] const Architecture& architecture(const std::string& id) const;
  [[nodiscard]] const Task& task(const std::string& id) const;
  [[nodiscard]] const DatasetSource& dataset(const std::string& id) const;
  [[nodiscard]] const Analysis& analysis(const std::string& id) const;

  /// Everything added, as data, in the order of adding.
  [[nodiscard]] const Catalog& catalog() const noexcept { return catalog_; }
  /// Who adds next; the loader sets it before each plugin.
  void setPlugin(std::string id) { plugin_ = std::move(id); }

 private:
  void note(ItemCard card);
  void refuseTaken(const ItemCard& card, const std::string& plugin) const;
  std::map<std::string, std::unique_ptr<Architecture>> architectures_;
  std::map<std::string, std::unique_ptr<Task>> tasks_;
  std::map<std::string, std::unique_ptr<DatasetSource>> datasets_;
  std::map<std::string, std::unique_ptr<Analysis>> analyses_;
  Catalog catalog_;
  std::string plugin_;
};

/// Root object of a plugin file (core/plugin/plugin.h gives it to Qt).
class VITRINE_ENGINE_EXPORT Plugin {
 public:
  virtual ~Plugin();
  /// Called once, by the loader. \throws PluginError  an id is taken
  virtual void registerInto(Registry& registry) = 0;
};

}  // namespace vitrine
