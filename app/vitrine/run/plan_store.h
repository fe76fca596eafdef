// From a plan to rows.
#pragma once

#include <vector>

#include "core/config/experiment.h"
#include "core/store/run_store.h"

namespace vitrine::app {

/// Stores every run of a sound plan as `queued`, in order. An [init] that names another run of the
/// plan becomes that run's UUID; so do
/// auxiliary networks and the runs of a grid. \returns their ids, in the order of the plan
[[nodiscard]] std::vector<std::int64_t> storePlan(store::RunStore& store, const Plan& plan);

}  // namespace vitrine::app
