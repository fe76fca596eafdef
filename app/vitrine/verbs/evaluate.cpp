// vitrine evaluate: the task's scores of a trained run.
#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/trained_model.h"
#include "core/base/log.h"
#include "core/base/read_json.h"

namespace vitrine::app {

namespace {

/// The evaluation "<split>/<name>", or that of the split itself.
Evaluation evaluationNamed(const TaskSession& session, Split split, const std::string& name) {
  if (name.empty()) return train::evaluationOf(session, split);
  std::string there;
  const std::string begin = toString(split) + "/";
  for (const Evaluation& each : session.evaluations()) {
    if (each.id == begin + name) return each;
    if (each.id.starts_with(begin))
      there += (there.empty() ? "" : ", ") + each.id.substr(begin.size());
  }
  throw RefusedError("this run measures no '" + name + "' of its " + toString(split) +
                     " split; it measures " + (there.empty() ? "the split alone" : there));
}

/// Tables that the evaluation made besides its scores: of how many images, by which network.
std::vector<Json> tablesOf(const CollectedResults& found) {
  std::vector<Json> tables;
  for (const Artifact& artifact : found.artifacts) {
    if (artifact.kind != artifact_kind::kTable) continue;
    const auto* first = reinterpret_cast<const char*>(artifact.data.data());
    Json table = readJson(std::string_view(first, artifact.data.size()));
    if (!table.is_object()) continue;
    table["name"] = artifact.name;
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace

int evaluateVerb(const Arguments& arguments) {
  CommandLine line("evaluate",
                   {"vitrine evaluate 3 --of samples task.samples.guidance=3 --use ema",
                    "vitrine evaluate 3 --split train --checkpoint best --json"},
                   Csv::Offered);
  ModelChoice asked;
  addTrainedRun(line, asked);
  std::vector<std::string> overrides;
  line.app()
      .add_option("overrides", overrides,
                  "other data, samples or image size: data.test_samples=1000 "
                  "task.samples.count=500 model.image_size=56")
      ->type_name("KEY=VALUE");
  std::string what;
  line.app()
      .add_option("--of", what,
                  "another evaluation of the split: samples (default: the split's own)")
      ->type_name("NAME");
  addModelOptions(line, asked, "train, validation or test");
  line.parse(arguments);
  if (!asked.split.empty()) (void)splitFromString(asked.split);
  if (!asked.precision.empty()) (void)train::precisionFrom(asked.precision);
  store::RunStore store = openStore(line, Missing::Refuse);
  const store::RunRow run = store.run(asked.run);
  Engine engine;
  const TrainedModel trained = openTrainedModel(
      store, engine, run, {asked.which, asked.use, asked.device, asked.precision, overrides});
  const Split split = splitOf(trained, asked.split);
  const train::Look& look = trained.run.look;
  log::info(store::nameOf(run.id) + " at step " +
            std::to_string(trained.checkpoint.step) + ", split " + toString(split) + ", weights " +
            trained.checkpoint.use + ", precision " + toString(look.precision));
  TaskSession& session = *trained.run.session;
  CollectedResults found;
  const Evaluation evaluation = evaluationNamed(session, split, what);
  evaluate(session, evaluation, look, {}, found);
  const std::vector<Json> tables = what.empty() ? std::vector<Json>() : tablesOf(found);
  const Scores& scores = found.scores;
  if (scores.empty() && tables.empty()) {
    throw RefusedError("'" + evaluation.id + "' of " + store::nameOf(run.id) +
                       " gave no score: its settings name nothing that judges it; `vitrine "
                       "describe` has those of its task, such as a judge");
  }
  if (line.wantsJson()) {
    Json values = Json::object();
    for (const auto& [name, value] : scores) values[name] = finite(value);
    print(Json{{"run", run.id},
               {"step", trained.checkpoint.step},
               {"split", toString(split)},
               {"weights", trained.checkpoint.use},
               {"precision", toString(look.precision)},
               {"device", look.device.str()},
               {"overrides", overrides},
               {"evaluation", evaluation.id},
               {"scores", values},
               {"tables", tables}});
    return 0;
  }
  // Such a table has the scores, too.
  for (const Json& each : tables) {
    Table table;
    for (const Json& column : each.at("columns")) table.columns.push_back(column);
    for (const Json& row : each.at("rows")) table.rows.push_back(row.get<std::vector<Json>>());
    print(table, formatOf(line));
  }
  if (!tables.empty()) return 0;
  Table table{{"score", "value"}, {}};
  for (const auto& [name, value] : scores) table.rows.push_back({name, finite(value)});
  print(table, formatOf(line));
  return 0;
}

}  // namespace vitrine::app
