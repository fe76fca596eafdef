// vitrine evaluate: the task's scores of a trained run.
#include "app/vitrine/open_store.h"
#include "app/vitrine/output.h"
#include "app/vitrine/trained_model.h"
#include "core/base/log.h"

namespace vitrine::app {

int runEvaluate(const Arguments& arguments) {
  CommandLine line(
      "evaluate",
      {"vitrine evaluate 3", "vitrine evaluate 3 --split train --checkpoint best --json"},
      Csv::Offered);
  ModelChoice asked;
  addTrainedRun(line, asked);
  addModelOptions(line, asked, "train, validation or test");
  std::string precision;
  line.app()
      .add_option("--precision", precision, "fp32 or bf16 (default: as the run was trained)")
      ->type_name("PRECISION");
  line.parse(arguments);
  if (!asked.split.empty()) (void)splitFromString(asked.split);
  if (!precision.empty()) (void)precisionFrom(precision);
  RunStore store = openStore(line, Missing::Refuse);
  const RunRow run = store.run(asked.run);
  Engine engine;
  loadEngine(engine);
  const TrainedModel trained = openTrainedModel(store, engine, run, asked.which, asked.use);
  const Split split = splitOf(trained, asked.split);
  Look look = trained.run.look;
  if (!precision.empty()) look.precision = precisionFrom(precision);
  log::info("run " + std::to_string(run.id) + " at step " +
            std::to_string(trained.checkpoint.step) + ", split " + toString(split) + ", weights " +
            asked.use + ", precision " + toString(look.precision));
  std::vector<Artifact> artifacts;
  const Scores scores =
      evaluateSplit(*trained.run.model, *trained.run.session, split, look, {}, artifacts);
  if (line.wantsJson()) {
    Json values = Json::object();
    for (const auto& [name, value] : scores) values[name] = finite(value);
    print(Json{{"run", run.id},
               {"step", trained.checkpoint.step},
               {"split", toString(split)},
               {"weights", asked.use},
               {"precision", toString(look.precision)},
               {"scores", values}});
    return 0;
  }
  Table table{{"score", "value"}, {}};
  for (const auto& [name, value] : scores) table.rows.push_back({name, finite(value)});
  print(table, formatOf(line));
  return 0;
}

}  // namespace vitrine::app
