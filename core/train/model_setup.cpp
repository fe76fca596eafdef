#include "core/train/model_setup.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/Device.h>
#include <torch/nn/module.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model/build_device.h"
#include "core/model/capabilities.h"
#include "core/plugin/pipeline.h"
#include "core/text/token_rows.h"
#include "core/train/modules.h"
#include "core/train/reopen.h"

namespace vitrine::train {

namespace fs = std::filesystem;

namespace {

/// The weights of trained networks next to the model, which a run's own file holds under their
/// names.
void loadNetworks(TaskSession& session, const fs::path& file, const LoadOptions& options,
                  LoadReport& report) {
  std::map<std::string, at::Tensor> tensors;
  const at::NoGradGuard noGrad;
  for (const Network& network : session.networks()) {
    if (network.name.empty() || network.role == Network::Role::Frozen) continue;
    if (tensors.empty()) tensors = readTensors(file);
    for (auto& [name, tensor] : moduleTensors(*network.module, nameIn(network, ""))) {
      bool isSkipped = false;
      for (const std::string& glob : options.skip) isSkipped = isSkipped || matchesGlob(glob, name);
      const auto found = tensors.find(name);
      std::erase(report.unused, name);
      if (isSkipped || found == tensors.end()) {
        (isSkipped ? report.skipped : report.missing).push_back(name);
        continue;
      }
      if (found->second.sizes() != tensor.sizes()) {
        throw ConfigError("init.weights: '" + name + "' of " + file.string() +
                          " has another shape here; skip it with init.skip = [\"" + network.name +
                          ".*\"]");
      }
      tensor.detach().copy_(found->second);
      report.loaded.push_back(name);
    }
  }
}

/// A refusal then says what the file looks made for.
LoadOptions withFamilies(const Registry& registry, LoadOptions options) {
  options.family = [&registry](const std::vector<std::string>& names) {
    return registry.weightFamily(names);
  };
  return options;
}

AuxiliaryNetwork openAuxiliary(const Registry& registry, const AuxChoice& choice) {
  const Config model = Config(choice.config).table("model");
  AuxiliaryNetwork network{choice.name, nullptr, choice.config, choice.weights.string(),
                           choice.sha256};
  network.model = registry.architecture(model.text("architecture")).build(model, 0);
  try {
    (void)loadWeights(*network.model, choice.weights, withFamilies(registry, {}));
  } catch (const Error& error) {
    throw ConfigError("aux." + choice.name + ": " + error.what());
  }
  if (auto* scheduled = capabilityOf<Scheduled>(*network.model)) scheduled->finish();
  network.model->module().eval();
  for (const at::Tensor& parameter : network.model->module().parameters())
    parameter.set_requires_grad(false);
  return network;
}

/// Whether a table with a row for each token of the vocabulary is not skipped.
bool takesTokens(Model& model, const std::vector<std::string>& skip) {
  const auto* language = capabilityOf<LanguageModel>(model);
  if (language == nullptr) return false;
  const auto tensors = namedTensors(model);
  return std::any_of(tensors.begin(), tensors.end(), [&](const auto& named) {
    const auto& [name, tensor] = named;
    const bool isTable = tensor.dim() == 2 && tensor.size(0) == language->vocabularySize();
    return isTable && std::none_of(skip.begin(), skip.end(), [&name = name](const auto& glob) {
             return matchesGlob(glob, name);
           });
  });
}

fs::path weightFileOf(const InitChoice& init) {
  if (!fs::is_directory(init.weights)) return init.weights;
  return init.weights / (init.use == "ema" ? "ema.safetensors" : "model.safetensors");
}

}  // namespace

void requireSameTokens(Model& model, const Json& config, const Json& source,
                       const std::vector<std::string>& skip) {
  if (!source.is_object() || !takesTokens(model, skip)) return;
  const std::string change =
      text::tokenizerChange(Config(config).at("data.pipeline"), Config(source).at("data.pipeline"));
  if (!change.empty()) throw ConfigError(change);
}

void requireInitFits(const Registry& registry, const Json& config, const InitChoice& init) {
  const ScopedBuildDevice meta{c10::Device(c10::DeviceType::Meta)};
  const Config model = Config(config).table("model");
  const std::shared_ptr<Model> built =
      registry.architecture(model.text("architecture")).build(model, 0);
  (void)loadWeights(*built, weightFileOf(init), withFamilies(registry, init.options));
  requireSameTokens(*built, config, init.config, init.options.skip);
}

TrainerSetup prepareRun(const Registry& registry, const Json& config, std::uint64_t seed,
                        const InitChoice& init, LoadReport* report, Extent extent) {
  const Config all(config);
  const Config modelConfig = all.table("model");
  const Config taskConfig = all.table("task");
  const Config dataConfig = all.table("data");

  TrainerSetup setup;
  setup.config = config;
  setup.train = all.table("train");
  setup.seed = seed;
  setup.freeze = init.freeze;

  // Names first: a misspelt item is reported before anything large is built or read.
  const Architecture& architecture = registry.architecture(modelConfig.text("architecture"));
  const Task& task = registry.task(taskConfig.text("name"));
  (void)registry.dataset(dataConfig.text("dataset"));
  setup.optimizer = &registry.optimizer(setup.train.text("optimizer.name"));
  setup.schedule = &registry.schedule(setup.train.text("schedule.name"));
  const Config observeConfig = all.table("observe");
  for (const auto& [id, table] : observeConfig.json().items())
    setup.observed.push_back({&registry.analysis(id), id, Config(table)});

  TaskSetup opened{
      .task = taskConfig, .data = dataConfig, .model = architecture.build(modelConfig, seed)};
  for (const AuxChoice& choice : init.auxiliaries)
    opened.auxiliaries.push_back(openAuxiliary(registry, choice));
  opened.registry = &registry;
  opened.seed = seed;
  opened.batchSize = setup.train.integer("batch_size");
  opened.evaluationBatchSize = setup.train.integer("evaluation_batch_size");
  if (extent == Extent::DryStep) opened.evaluationLimit = opened.evaluationBatchSize;
  opened.loaderWorkers = static_cast<int>(setup.train.integer("loader_workers"));
  opened.pipeline = makePipeline(registry, all, registry.openData(dataConfig), seed);
  if (opened.pipeline) setup.evaluateTransforms = opened.pipeline->plan().at("evaluate");
  setup.session = task.open(opened);
  setup.throughput = throughputMetric(task.card());
  setup.reopen = reopenOf(registry, config, init.auxiliaries);

  if (!init.weights.empty()) {
    const fs::path file = weightFileOf(init);
    LoadReport loaded =
        loadWeights(setup.session->model(), file, withFamilies(registry, init.options));
    requireSameTokens(setup.session->model(), config, init.config, init.options.skip);
    loadNetworks(*setup.session, file, init.options, loaded);
    setup.weightOrigins = loaded.origins;
    if (report != nullptr) *report = std::move(loaded);
  }
  return setup;
}

std::string throughputMetric(const ItemCard& task) {
  return "system/" + task.metrics.unit + "_per_second";
}

RestoredRun restoreRun(const Registry& registry, const Json& config, std::uint64_t seed,
                       const fs::path& weights, const std::vector<AuxChoice>& auxiliaries,
                       at::Device device) {
  TrainerSetup setup =
      prepareRun(registry, config, seed, {.weights = weights, .auxiliaries = auxiliaries});
  RestoredRun run{std::move(setup.session), readCheckpointState(weights.parent_path()), {}, {}};
  moveModules(*run.session, device);
  for (const auto& [name, scheduled] : scheduledOf(*run.session)) {
    if (run.state.scheduledState.contains(name))
      scheduled->restoreScheduled(run.state.scheduledState[name]);
    if (run.state.isFinished) scheduled->finish();
  }
  if (!run.state.isFinished)
    placeAfterStep(*run.session, {run.state.step, run.state.totalSteps, run.state.stepsPerEpoch});
  run.look = {precisionFrom(setup.train.text("precision")), device, seed, run.state.step};
  run.reopen = std::move(setup.reopen);
  (void)beginLook(*run.session, run.look);
  return run;
}

}  // namespace vitrine::train
