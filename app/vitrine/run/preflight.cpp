#include "app/vitrine/run/preflight.h"

#include <map>
#include <optional>
#include <set>

#include "app/vitrine/run/run_start.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/jobs/devices.h"
#include "core/jobs/work.h"
#include "core/run/null_sink.h"
#include "core/run/run_control.h"
#include "core/train/device.h"
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

Needs needsOf(const Engine& engine, const PlannedRun& run, const RunCost& cost,
              const std::filesystem::path& database) {
  Needs needs;
  needs.memoryBytes = static_cast<std::int64_t>(cost.memory.peakBytes) + engine.residentBytes;
  needs.diskBytes = static_cast<std::int64_t>(cost.diskBytes);
  const std::string device = Config(run.config).text("train.device");
  jobs::SystemDevices source;
  store::QueueOptions options{.neededMemoryBytes = needs.memoryBytes,
                              .neededDiskBytes = needs.diskBytes};
  std::string why;
  for (jobs::Device& each : source.devices()) {
    if (!fits(device, each)) continue;
    each.freeBytes = each.totalBytes;  // others may be done when its turn comes
    why = whyNoRoom(options, each, database);
    if (why.empty()) break;
  }
  if (!why.empty()) throw RefusedError("run '" + run.name + "' " + why);
  return needs;
}

/// The weights that it starts from may not exist yet; the step is one of fresh weights.
void tryOneStep(const Engine& engine, const PlannedRun& run, const Needs& needs) {
  try {
    train::TrainerSetup setup = prepareRun(engine.registry, oneStepOf(run.config), run.seed, {},
                                           nullptr, train::Extent::DryStep);
    ProblemSink sink;
    RunControl control;
    const train::TrainerResult result = train::Trainer(std::move(setup), sink, control).run();
    if (result.outcome == train::Outcome::Failed)
      throw RefusedError("one step of run '" + run.name + "' failed: " + result.reason);
  } catch (const std::exception& error) {
    if (!train::isShortOfMemory(error)) throw;
    throw RefusedError("one step of run '" + run.name +
                       "' needs more memory than this machine has" + ", about " +
                       formatBytes(needs.memoryBytes) + "; take a smaller model or batch");
  }
}

}  // namespace

void requireDataAndDevice(const JudgedPlan& judged) {
  for (const auto& cost : judged.costs) {
    if (cost == nullptr) continue;
    if (!cost->dataProblem.empty()) throw FileError(cost->dataProblem);
    if (!cost->deviceProblem.empty()) throw RefusedError(cost->deviceProblem);
  }
}

std::optional<train::InitChoice> requireWeights(store::RunStore& store, const Engine& engine,
                                                const JudgedPlan& judged) {
  std::optional<train::InitChoice> first;
  std::set<std::string> known;
  for (const PlannedRun& run : judged.plan.runs) {
    if (!run.init || run.init->run.empty()) continue;
    // The data, too: their tokens must be those of the weights.
    const Json kind{run.config.at("model"), run.config.at("data"), initToJson(*run.init)};
    if (!known.insert(kind.dump()).second) continue;
    const train::InitChoice init =
        initChoiceOf(store, *run.init, "run '" + run.name + "' starts from");
    train::requireInitFits(engine.registry, run.config, init);
    if (&run == &judged.plan.runs.front()) first = init;
  }
  return first;
}

std::vector<Needs> preflight(const Engine& engine, const JudgedPlan& judged,
                             const std::filesystem::path& database, DryStep dryStep) {
  std::map<std::string, Needs> known;  // by kind
  std::vector<Needs> all;
  for (std::size_t i = 0; i < judged.plan.runs.size(); ++i) {
    const PlannedRun& run = judged.plan.runs[i];
    const auto [needs, isNew] = known.try_emplace(kindOf(run));
    if (isNew) {
      needs->second = needsOf(engine, run, *judged.costs[i], database);
      // Auxiliary networks may not be trained yet, and without them there is no step.
      if (dryStep == DryStep::Do && run.auxiliaries.empty()) {
        tryOneStep(engine, run, needs->second);
      } else if (!judged.costs[i]->dataProblem.empty()) {
        throw FileError(judged.costs[i]->dataProblem);
      }
    }
    all.push_back(needs->second);
  }
  return all;
}

}  // namespace vitrine::app
