// vitrine evaluate: the task's scores of a trained run.
#include <c10/core/GradMode.h>

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
  line.parse(arguments);
  const Split split = splitFromString(asked.split);
  RunStore store = openStore(line, Missing::Refuse);
  const RunRow run = store.run(asked.run);
  Engine engine;
  loadEngine(engine);
  const TrainedModel trained = openTrainedModel(store, engine, run, asked.which, asked.use);
  log::info("run " + std::to_string(run.id) + " at step " +
            std::to_string(trained.checkpoint.step) + ", split " + asked.split);
  const c10::NoGradGuard noGradient;
  std::vector<Artifact> artifacts;
  const Scores scores = trained.session->evaluate(*trained.model, split, {}, artifacts);
  if (line.wantsJson()) {
    Json values = Json::object();
    for (const auto& [name, value] : scores) values[name] = finite(value);
    print(Json{{"run", run.id},
               {"step", trained.checkpoint.step},
               {"split", asked.split},
               {"weights", asked.use},
               {"scores", values}});
    return 0;
  }
  Table table{{"score", "value"}, {}};
  for (const auto& [name, value] : scores) table.rows.push_back({name, finite(value)});
  print(table, formatOf(line));
  return 0;
}

}  // namespace vitrine::app
