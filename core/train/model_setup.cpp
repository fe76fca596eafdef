#include "core/train/model_setup.h"

#include <ATen/core/grad_mode.h>
#include <torch/nn/module.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine {

namespace fs = std::filesystem;

namespace {

/// The weights of the task's head that a run's own file may hold under "task.".
void loadHead(TaskSession& session, const fs::path& file, const LoadOptions& options,
              LoadReport& report) {
  torch::nn::Module* const head = session.head();
  if (head == nullptr) return;
  const auto tensors = readTensors(file);
  const at::NoGradGuard noGrad;
  std::vector<std::pair<std::string, at::Tensor>> own;
  for (const auto& item : head->named_parameters()) own.emplace_back(item.key(), item.value());
  for (const auto& item : head->named_buffers()) own.emplace_back(item.key(), item.value());
  for (auto& [key, tensor] : own) {
    const std::string name = "task." + key;
    bool isSkipped = false;
    for (const std::string& glob : options.skip) isSkipped = isSkipped || matchesGlob(glob, name);
    const auto found = tensors.find(name);
    if (isSkipped || found == tensors.end()) {
      (isSkipped ? report.skipped : report.missing).push_back(name);
      continue;
    }
    if (found->second.sizes() != tensor.sizes()) {
      throw ConfigError(
          "init.weights: '" + name + "' of " + file.string() +
          " has another shape than the task's head; skip it with init.skip = [\"task.*\"]");
    }
    tensor.copy_(found->second);
    report.loaded.push_back(name);
  }
}

}  // namespace

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

  // Names first: a misspelt item is told before anything large is built or read.
  const Architecture& architecture = registry.architecture(modelConfig.text("architecture"));
  const Task& task = registry.task(taskConfig.text("name"));
  const DatasetSource& source = registry.dataset(dataConfig.text("dataset"));
  const Config observeConfig = all.table("observe");
  for (const auto& [id, table] : observeConfig.json().items()) {
    setup.observed.push_back({&registry.analysis(id), id, Config(table)});
  }

  setup.model = architecture.build(modelConfig, seed);
  TaskContext context;
  context.seed = seed;
  context.batchSize = setup.train.integer("batch_size");
  context.evaluationBatchSize = setup.train.integer("evaluation_batch_size");
  if (extent == Extent::DryStep) context.evaluationLimit = context.evaluationBatchSize;
  context.loaderWorkers = static_cast<int>(setup.train.integer("loader_workers"));
  if (modelConfig.has("image_size")) context.imageSize = modelConfig.size("image_size");
  setup.session = task.open(taskConfig, dataConfig, source.open(dataConfig), context);

  if (!init.weights.empty()) {
    fs::path file = init.weights;
    if (fs::is_directory(file)) file /= init.use == "ema" ? "ema.safetensors" : "model.safetensors";
    LoadReport loaded = loadWeights(*setup.model, file, init.options);
    loadHead(*setup.session, file, init.options, loaded);
    if (report != nullptr) *report = std::move(loaded);
  }
  return setup;
}

RestoredRun restoreRun(const Registry& registry, const Json& config, std::uint64_t seed,
                       const fs::path& weights) {
  InitChoice init;
  init.weights = weights;
  TrainerSetup setup = prepareRun(registry, config, seed, init);
  RestoredRun run{std::move(setup.model),
                  std::move(setup.session),
                  readCheckpointState(weights.parent_path()),
                  {}};
  if (auto* scheduled = capabilityOf<Scheduled>(*run.model); scheduled && run.state.isFinished) {
    scheduled->finish();
  } else {
    placeAfterStep(*run.model, {run.state.step, run.state.totalSteps, run.state.stepsPerEpoch});
  }
  run.look = {precisionFrom(setup.train.text("precision")), at::kCPU, seed, run.state.step};
  beginLook(*run.model, *run.session, run.look);
  return run;
}

}  // namespace vitrine
