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
  std::int64_t id = 0;
  std::string split = "test", which = "latest", use = "model";
  line.app().add_option("run", id, "the run")->required()->type_name("RUN");
  line.app()
      .add_option("--split", split, "train, validation or test")
      ->capture_default_str()
      ->type_name("SPLIT");
  line.app()
      .add_option("--checkpoint", which, "latest, best or a step")
      ->capture_default_str()
      ->type_name("WHICH");
  line.app()
      .add_option("--use", use, "model, or ema for the averaged weights")
      ->capture_default_str()
      ->type_name("WEIGHTS");
  line.parse(arguments);
  const Split chosen = splitFromString(split);
  RunStore store = openStore(line, Missing::Refuse);
  const RunRow run = store.run(id);
  Engine engine;
  loadEngine(engine);
  const TrainedModel trained = openTrainedModel(store, engine, run, which, use);
  log::info("run " + std::to_string(id) + " at step " + std::to_string(trained.checkpoint.step) +
            ", split " + split);
  const c10::NoGradGuard noGradient;
  std::vector<Artifact> artifacts;
  const Scores scores = trained.session->evaluate(*trained.model, chosen, {}, artifacts);
  if (line.wantsJson()) {
    Json values = Json::object();
    for (const auto& [name, value] : scores) values[name] = finite(value);
    print(Json{{"run", id},
               {"step", trained.checkpoint.step},
               {"split", split},
               {"weights", use},
               {"scores", values}});
    return 0;
  }
  Table table{{"score", "value"}, {}};
  for (const auto& [name, value] : scores) table.rows.push_back({name, finite(value)});
  print(table, formatOf(line));
  return 0;
}

}  // namespace vitrine::app
