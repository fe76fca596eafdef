// The runs of a plan that a database has already, and those that it lacks.
#pragma once

#include <vector>

#include "core/config/experiment.h"
#include "core/store/run_store.h"

namespace vitrine::app {

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
