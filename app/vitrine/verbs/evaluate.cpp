// vitrine evaluate: the task's scores of a trained run.
#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/trained_model.h"
#include "core/base/log.h"

namespace vitrine::app {

int evaluateVerb(const Arguments& arguments) {
  CommandLine line("evaluate",
                   {"vitrine evaluate 3 model.image_size=56",
                    "vitrine evaluate 3 --split train --checkpoint best --json"},
                   Csv::Offered);
  ModelChoice asked;
  addTrainedRun(line, asked);
  std::vector<std::string> overrides;
  line.app()
      .add_option("overrides", overrides,
                  "other data or another image size: data.test_samples=1000 model.image_size=56")
      ->type_name("KEY=VALUE");
  addModelOptions(line, asked, "train, validation or test");
  line.parse(arguments);
  if (!asked.split.empty()) (void)splitFromString(asked.split);
  if (!asked.precision.empty()) (void)train::precisionFrom(asked.precision);
  store::RunStore store = openStore(line, Missing::Refuse);
  const store::RunRow run = store.run(asked.run);
  Engine engine;
  loadEngine(engine);
  const TrainedModel trained = openTrainedModel(
      store, engine, run, {asked.which, asked.use, asked.device, asked.precision, overrides});
  const Split split = splitOf(trained, asked.split);
  const train::Look& look = trained.run.look;
  log::info("run " + std::to_string(run.id) + " at step " +
            std::to_string(trained.checkpoint.step) + ", split " + toString(split) + ", weights " +
            asked.use + ", precision " + toString(look.precision));
  TaskSession& session = *trained.run.session;
  CollectedResults found;
  evaluate(session, train::evaluationOf(session, split), look, {}, found);
  const Scores& scores = found.scores;
  if (line.wantsJson()) {
    Json values = Json::object();
    for (const auto& [name, value] : scores) values[name] = finite(value);
    print(Json{{"run", run.id},
               {"step", trained.checkpoint.step},
               {"split", toString(split)},
               {"weights", asked.use},
               {"precision", toString(look.precision)},
               {"device", look.device.str()},
               {"overrides", overrides},
               {"scores", values}});
    return 0;
  }
  Table table{{"score", "value"}, {}};
  for (const auto& [name, value] : scores) table.rows.push_back({name, finite(value)});
  print(table, formatOf(line));
  return 0;
}

}  // namespace vitrine::app
