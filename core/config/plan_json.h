// A plan as JSON: what `vitrine check --json` prints, and `vitrine enqueue --plan` stores as it is.
#pragma once

#include "core/config/experiment.h"

namespace vitrine {

/// {plan: 1, title, source, problems, runs: [{name, variant, stage, seed, depends_on, init_from,
/// aux_from, part, selection, selected_from, config, origins}], left_out}. What names another run
/// of the plan is its place among `runs`.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Json toJson(const Plan& plan);

/// The runs of toJson(), ready to be stored: every configuration is checked against the schemas of
/// `catalog`, and every place against the runs before. Excluded runs are not read.
/// \throws ConfigError  it is not a plan, has problems, or says what no planner would: names the
/// run
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Plan planFromJson(const Json& json, const Catalog& catalog);

}  // namespace vitrine
