#include "app/vitrine/run/planned_runs.h"

#include <algorithm>

#include "core/base/log.h"

namespace vitrine::app {

namespace {

bool canContinue(store::RunState state) {
  return state == store::RunState::Interrupted || state == store::RunState::Stopped ||
         state == store::RunState::Paused || state == store::RunState::Queued;
}

/// \param source  UUID of the run that `planned` starts from; "" for none
/// \returns  the best of those that mean the same, 0 when there is none
std::int64_t findSame(store::RunStore& store, const PlannedRun& planned,
                      const std::string& source) {
  std::int64_t found = 0;
  for (const store::RunRow& run : store.runs()) {
    const bool isDone = run.state == store::RunState::Done;
    if (!isDone && (found != 0 || !canContinue(run.state))) continue;
    if (run.seed != planned.seed || run.name != planned.name || run.variant != planned.variant ||
        run.stage != planned.stage || store.config(run.id) != planned.config)
      continue;
    const Json init = store.init(run.id);
    const bool startsAlike =
        planned.init ? init.is_object() && init.value("run", Json()) == source : init.is_null();
    if (!startsAlike) continue;
    found = run.id;
    if (isDone) break;
  }
  return found;
}

}  // namespace

PlacedRuns placeRuns(store::RunStore& store, const Plan& plan, Again again) {
  PlacedRuns placed;
  placed.ids.assign(plan.runs.size(), 0);
  std::vector<int> place(plan.runs.size(), -1);  // among those to be stored
  Plan rest = plan;
  rest.runs.clear();
  const auto uuidOf = [&](int planned) {
    return store.run(placed.ids[static_cast<std::size_t>(planned)]).uuid;
  };
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    PlannedRun run = plan.runs[i];
    const int source = run.init ? run.init->plannedRun : -1;
    const bool isSourceHere = source < 0 || placed.ids[static_cast<std::size_t>(source)] != 0;
    // What needs others in more ways than one is stored again.
    const bool isSimple = run.selectedFrom.empty() && run.auxiliaries.empty();
    if (again == Again::No && isSourceHere && isSimple)
      placed.ids[i] = findSame(store, run,
                               source >= 0 ? uuidOf(source)
                               : run.init  ? run.init->run
                                           : std::string());
    if (placed.ids[i] != 0) {
      if (store.run(placed.ids[i]).state == store::RunState::Done)
        log::info(store::nameOf(placed.ids[i]) + ", " + run.name +
                  ", is trained already; --again trains it again");
      continue;
    }
    place[i] = static_cast<int>(rest.runs.size());
    eachNeeded(run, [&](int& planned, std::string* uuid) {
      if (planned < 0) return;
      const bool isHere = placed.ids[static_cast<std::size_t>(planned)] != 0;
      if (isHere && uuid != nullptr) *uuid = uuidOf(planned);
      planned = isHere ? -1 : place[static_cast<std::size_t>(planned)];
    });
    rest.runs.push_back(std::move(run));
  }
  const std::vector<std::int64_t> added =
      rest.runs.empty() ? std::vector<std::int64_t>() : storePlan(store, rest);
  std::size_t next = 0;
  for (std::int64_t& id : placed.ids) {
    if (id == 0) id = added[next++];
    if (store.run(id).state != store::RunState::Done) placed.missing.push_back(id);
  }
  return placed;
}

}  // namespace vitrine::app
