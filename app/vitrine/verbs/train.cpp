// vitrine train: every run of an experiment, in the foreground.
#include <utility>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/run/judged_plan.h"
#include "app/vitrine/run/planned_runs.h"
#include "app/vitrine/run/preflight.h"
#include "app/vitrine/run/train_runs.h"

namespace vitrine::app {

int trainVerb(const Arguments& arguments) {
  CommandLine line(
      "train",
      {"vitrine train experiments/vit/quick.toml",
       "vitrine train experiments/illama/quick.toml train.epochs=2 train.seed=1 --db lab.sqlite"});
  ExperimentChoice asked;
  addExperiment(line, asked);
  line.parse(arguments);

  Engine engine;
  // No run is stored of an experiment that `check` refuses, or that could not begin.
  const JudgedPlan judged = judgeFile(engine, asked.file, asked.overrides);
  requireDataAndDevice(judged);
  store::RunStore store = openStore(line, Missing::Create);
  std::optional<train::InitChoice> first = requireWeights(store, engine, judged);
  const std::vector<TrainedRun> trained =
      trainAll(store, engine, storePlan(store, judged.plan), std::move(first));
  printTrained(trained, line.wantsJson());
  return exitCodeOf(trained);
}

}  // namespace vitrine::app
