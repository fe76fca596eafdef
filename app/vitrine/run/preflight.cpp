#include "app/vitrine/run/preflight.h"

#include <c10/core/Device.h>

#include <new>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/jobs/devices.h"
#include "core/jobs/work.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "core/run/null_sink.h"
#include "core/run/run_control.h"
#include "core/train/memory.h"
#include "core/train/model_setup.h"

namespace vitrine::app {

namespace {

/// Remembers of a dry step only what went wrong.
class ProblemSink final : public NullSink {
 public:
  void event(const EventRecord& record) override {
    if (record.kind == "non_finite") problem = record.text;
  }
  std::string problem;
};

/// The same run, one step long; nothing is observed.
Json oneStepOf(const Json& config) {
  Json one = config;
  Json& train = one["train"];
  train["steps"] = 1;
  train["checkpoint"]["every_steps"] = nullptr;
  train["checkpoint"]["every_epochs"] = nullptr;
  train["evaluate"]["every_steps"] = nullptr;
  train["evaluate"]["every_epochs"] = nullptr;
  train["schedule"]["warmup_epochs"] = 0.0;
  train["schedule"]["warmup_steps"] = 0;
  one["observe"] = Json::object();
  return one;
}

}  // namespace

Needs preflight(const Engine& engine, const PlannedRun& run, const std::filesystem::path& database,
                DryStep dryStep) {
  const Config values(run.config);
  std::int64_t parameters = 0;
  std::vector<BlockCost> blocks;
  {
    // No memory and no initial values: what does not fit is found before it is tried.
    const ScopedBuildDevice meta{c10::Device(c10::DeviceType::Meta)};
    const Json& model = run.config.at("model");
    const auto built = engine.registry.architecture(model.at("architecture").get<std::string>())
                           .build(Config(model), run.seed);
    parameters = parameterCount(*built);
    blocks = built->cost();
  }
  const Config data = values.table("data");
  // The dry step opens the data again: only one copy is in memory at a time.
  const train::MemoryInput input =
      train::memoryInputOf(values, parameters, std::move(blocks),
                           engine.registry.optimizer(values.text("train.optimizer.name")),
                           engine.registry.dataset(data.text("dataset")).open(data).get());
  Needs needs;
  needs.memoryBytes =
      static_cast<std::int64_t>(estimateMemory(input).peakBytes) + engine.residentBytes;
  needs.diskBytes = static_cast<std::int64_t>(estimateDisk(input));

  const std::string device = values.text("train.device");
  jobs::SystemDevices source;
  store::QueueOptions options;
  options.neededMemoryBytes = needs.memoryBytes;
  options.neededDiskBytes = needs.diskBytes;
  std::string why;
  for (jobs::Device& each : source.devices()) {
    if (!fits(device, each)) continue;
    each.freeBytes = each.totalBytes;  // others may be done when its turn comes
    why = whyNoRoom(options, each, database);
    if (why.empty()) break;
  }
  if (!why.empty()) throw RefusedError("run '" + run.name + "' " + why);
  // Auxiliary networks may not be trained yet, and without them there is no step.
  if (dryStep == DryStep::Skip || !run.auxiliaries.empty()) return needs;
  // The weights that it starts from may not exist yet; the step is one of fresh weights.
  try {
    train::TrainerSetup setup = prepareRun(engine.registry, oneStepOf(run.config), run.seed, {},
                                           nullptr, train::Extent::DryStep);
    ProblemSink sink;
    RunControl control;
    const train::TrainerResult result = train::Trainer(std::move(setup), sink, control).run();
    if (result.outcome == train::Outcome::Failed)
      throw RefusedError("one step of run '" + run.name + "' failed: " + result.reason);
  } catch (const std::bad_alloc&) {
    throw RefusedError(
        "one step of run '" + run.name + "' needs more memory than this machine has" + ", about " +
        formatBytes(static_cast<double>(needs.memoryBytes)) + "; take a smaller model or batch");
  }
  return needs;
}

}  // namespace vitrine::app
