#include <algorithm>

#include "app/vitrine/run/engine.h"
#include "app/vitrine/run/planned_runs.h"
#include "core/base/error.h"

namespace vitrine::app {

namespace {

store::NewRun rowOf(const PlannedRun& run) {
  store::NewRun row;
  row.name = run.name;
  row.variant = run.variant;
  row.stage = run.stage;
  row.seed = run.seed;
  row.config = run.config;
  row.selection = run.selection;
  for (const auto& [key, origin] : run.origins)
    row.origins[key] = {{"layer", origin.layer}, {"line", origin.line}};
  return row;
}

}  // namespace

std::vector<std::int64_t> storePlan(store::RunStore& store, const Plan& plan) {
  const std::int64_t experiment = store.experiment(plan.title, plan.sourceText);
  std::vector<std::int64_t> ids;
  std::vector<store::NewRun> waiting;  // the next ones, none of which needs another's UUID
  const auto flush = [&] {
    for (const std::int64_t id : store.addRuns(experiment, waiting)) ids.push_back(id);
    waiting.clear();
  };
  for (const PlannedRun& run : plan.runs) {
    store::NewRun row = rowOf(run);
    const int source = run.init ? run.init->plannedRun : -1;
    int last = -1;
    eachNeeded(run, [&last](int planned, const auto&) { last = std::max(last, planned); });
    if (last >= static_cast<int>(ids.size() + waiting.size())) {
      throw ConfigError("run '" + run.name +
                        "' starts from a run that comes after it in the file; put that one first");
    }
    if (last >= static_cast<int>(ids.size())) flush();
    if (run.dependsOn >= 0) row.dependsOn = ids[static_cast<std::size_t>(run.dependsOn)];
    if (run.init) {
      InitSource init = *run.init;
      if (source >= 0) init.run = store.run(ids[static_cast<std::size_t>(source)]).uuid;
      row.init = initToJson(init);
    }
    const auto uuidOf = [&](int planned) {
      return store.run(ids[static_cast<std::size_t>(planned)]).uuid;
    };
    for (const AuxSource& aux : run.auxiliaries) {
      if (aux.weights.empty())
        row.dependencies.push_back({"aux", aux.name,
                                    aux.plannedRun >= 0 ? uuidOf(aux.plannedRun) : aux.run,
                                    aux.checkpoint});
    }
    for (const int from : run.selectedFrom)
      row.dependencies.push_back(
          {"select", plan.runs[static_cast<std::size_t>(from)].name, uuidOf(from), ""});
    waiting.push_back(std::move(row));
  }
  if (!waiting.empty()) flush();
  return ids;
}

}  // namespace vitrine::app
