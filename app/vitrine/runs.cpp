// vitrine runs: the list.
#include <cmath>
#include <map>

#include "app/vitrine/open_store.h"
#include "app/vitrine/output.h"

namespace vitrine::app {

int runRuns(const Arguments& arguments) {
  CommandLine line("runs", {"vitrine runs", "vitrine runs --experiment roadmap --state done --csv"},
                   Csv::Offered);
  std::string experiment, state;
  line.app()
      .add_option("--experiment", experiment, "only those whose experiment's title contains TEXT")
      ->type_name("TEXT");
  line.app().add_option("--state", state, "only those in that state")->type_name("STATE");
  line.parse(arguments);
  if (!state.empty()) (void)runStateFromString(state);

  RunStore store = openStore(line, Missing::Create);
  reapBeforeShowing(store);
  std::map<std::int64_t, double> top1, loss;
  for (const auto& [id, value] : store.lastValues("test/top1")) top1[id] = value;
  for (const auto& [id, value] : store.lastValues("train/loss")) loss[id] = value;
  const auto valueOf = [](const std::map<std::int64_t, double>& values, std::int64_t id) -> Json {
    const auto found = values.find(id);
    return found == values.end() ? Json(nullptr) : finite(found->second);
  };

  Table table;
  table.columns = {"id",    "experiment", "name", "state",  "step",
                   "total", "loss",       "top1", "device", "created"};
  for (const RunRow& run : store.runs()) {
    if (run.experiment.find(experiment) == std::string::npos) continue;
    if (!state.empty() && toString(run.state) != state) continue;
    table.rows.push_back({run.id, run.experiment, run.name, toString(run.state), run.step,
                          run.totalSteps > 0 ? Json(run.totalSteps) : Json(nullptr),
                          valueOf(loss, run.id), valueOf(top1, run.id), run.device, run.createdAt});
  }
  if (table.rows.empty() && formatOf(line) == Format::Text) {
    print(std::string("no runs yet: `vitrine train FILE` makes some\n"));
  } else {
    print(table, formatOf(line));
  }
  return 0;
}

}  // namespace vitrine::app
