// Times stretches of a training run with everything recorded, or with nothing recorded: store,
// listeners and probes on against off, with the same schedule of evaluations (--store on|off). Or
// its steps with a checkpoint after every tenth, written while they continue, against without
// (--saves on|off): from the end of the first step to the end of the last.
//
// Reads one line per turn from stdin; each turn is one run of the demo's ViT over 6,400 images with
// two evaluations, answered by its milliseconds.
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/experiment.h"
#include "core/run/null_sink.h"
#include "core/store/run_store.h"
#include "core/store/spool/store_sink.h"
#include "core/train/model_setup.h"
#include "core/train/training_items.h"
#include "plugins/analyses/analyses.h"
#include "plugins/datasets/idx/idx_dataset.h"
#include "plugins/tasks/classification/classification.h"
#include "plugins/vit/vit.h"
#include "tests/bench/turns.h"

using namespace vitrine;

namespace {

class StepTimes final : public NullSink {
 public:
  using Clock = std::chrono::steady_clock;
  void metrics(const MetricRecord& record) override {
    if (record.step == lastStep_) return;
    lastStep_ = record.step;
    last_ = Clock::now();
    if (!hasFirst_) first_ = last_;
    hasFirst_ = true;
  }
  /// Between the first and the last record of a step.
  [[nodiscard]] double milliseconds() const {
    return std::chrono::duration<double, std::milli>(last_ - first_).count();
  }

 private:
  std::int64_t lastStep_ = -1;
  bool hasFirst_ = false;
  Clock::time_point first_, last_;
};

constexpr const char* kExperiment = R"(
title = "bench"
[model]
architecture = "vit"
preset = "vit/demo"
[task]
name = "classification"
[data]
dataset = "fashion_mnist"
train_samples = 6400
test_samples = 2000
[train]
epochs = 2
checkpoint = { every_epochs = "none" }
)";
constexpr const char* kObserved = R"(
[observe]
attention_rank = { every_steps = 25, images = 4 }
calibration = { every_epochs = 1 }
)";

}  // namespace

int main(int count, char** words) {
  bench::becomeComputeProcess(words);
  std::map<std::string, std::string> options = bench::readOptions(count, words);
  const bool isOn = options["--store"] == "on", measuresSaves = options.count("--saves") != 0;
  const bool savesOften = options["--saves"] == "on";

  Registry registry;
  train::addTrainingItems(registry);
  registry.add(std::make_unique<vit::VitArchitecture>());
  registry.add(std::make_unique<idx::FashionMnistSource>());
  registry.add(std::make_unique<classification::ClassificationTask>());
  registry.add(analyses::makeAttentionRank());
  registry.add(analyses::makeCalibration());
  std::vector<Override> overrides{{"train.threads", options["--threads"]}};
  if (savesOften) overrides.push_back({"train.checkpoint.every_steps", "10"});
  if (measuresSaves) {
    overrides.push_back({"train.checkpoint.best", "false"});
    overrides.push_back({"train.evaluate.every_epochs", "none"});
  }
  const Plan plan = planExperiment(std::string(kExperiment) + (isOn ? kObserved : ""), "bench",
                                   registry.catalog(), overrides);
  for (const Problem& problem : plan.problems) std::cerr << problem.sentence() << "\n";
  if (!plan.problems.empty()) return 2;
  const PlannedRun& planned = plan.runs.front();

  const auto folder = std::filesystem::temp_directory_path() / ("vitrine-bench-" + newUuid());
  std::filesystem::create_directories(folder);
  const auto database = folder / "bench.sqlite";
  const auto once = [&] {
    RunControl control;
    train::TrainerSetup setup = train::prepareRun(registry, planned.config, planned.seed);
    if (!isOn) {
      StepTimes sink;
      if (savesOften) setup.checkpointFolder = folder / "checkpoints";
      train::Trainer trainer(std::move(setup), sink, control);
      if (measuresSaves) {
        (void)trainer.run();
        std::filesystem::remove_all(folder / "checkpoints");
        return sink.milliseconds();
      }
      return bench::timed([&] { (void)trainer.run(); });
    }
    store::RunStore store(database);
    store::NewRun run{.name = newUuid(), .config = planned.config};
    const std::int64_t id = store.addRuns(store.experiment("bench", ""), {run}).front();
    const std::int64_t segment = store.openSegment(id, 0, store::thisWorker(), Json::object());
    store::StoreSink sink(database, id, segment, control);
    train::Trainer trainer(std::move(setup), sink, control);
    const double milliseconds = bench::timed([&] {
      (void)trainer.run();
      sink.flush();
    });
    store.setState(id, store::RunState::Done);
    return milliseconds;
  };
  bench::takeTurns(1, once);
  std::filesystem::remove_all(folder);
  return 0;
}
