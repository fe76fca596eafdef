// The runs of a plan in a database.
#pragma once

#include <vector>

#include "core/config/experiment.h"
#include "core/store/run_store.h"

namespace vitrine::app {

/// Calls `act` with the place in its plan and the UUID of each run that `run` needs. The place is
/// negative where that is none of the plan, the UUID nullptr where `run` has none.
template <class Run, class Act>
void eachNeeded(Run& run, const Act& act) {
  if (run.init) act(run.init->plannedRun, &run.init->run);
  for (auto& aux : run.auxiliaries) act(aux.plannedRun, &aux.run);
  for (auto& from : run.selectedFrom) act(from, nullptr);
  act(run.dependsOn, nullptr);
}

/// Stores every run of a sound plan as `queued`, in order. An [init] that names another run of the
/// plan becomes that run's UUID; so do auxiliary networks and the runs of a grid.
/// \returns  their ids, in the order of the plan
[[nodiscard]] std::vector<std::int64_t> storePlan(store::RunStore& store, const Plan& plan);

enum class Again { No, Yes };

struct PlacedRuns {
  std::vector<std::int64_t> ids;      ///< in the order of the plan
  std::vector<std::int64_t> missing;  ///< of these: not done yet
};

/// A stored run with the same meaning that is done, or can continue, stands for a planned one. The
/// others are stored as `queued`, and start from the runs that stand for their sources.
/// \param again  Yes: nothing that is there counts
[[nodiscard]] PlacedRuns placeRuns(store::RunStore& store, const Plan& plan, Again again);

}  // namespace vitrine::app
