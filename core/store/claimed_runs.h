// The runs that a claim is judged by.
#pragma once

#include <vector>

#include "core/config/papers/claims.h"
#include "core/store/comparison.h"
#include "core/store/metrics/metric_format.h"

namespace vitrine::store {

/// The verdict on `claim` by the finished runs among `rows` that have the experiment's title and
/// were made as its file says. The two sides are compared seed by seed, under equal conditions:
/// they may differ in what their variants set. Of several conditions, as of a sweep, those with the
/// most seeds count; of several runs of a seed the newest.
[[nodiscard]] VITRINE_STORE_EXPORT Judgement judgeClaim(const QueryFunction& query,
                                                        const std::vector<RunRow>& rows,
                                                        const Claim& claim,
                                                        const ClaimedExperiment& experiment);

/// The format of measured values: as values of the metric, differences of fractions in points;
/// steps and seconds as plain numbers.
[[nodiscard]] VITRINE_STORE_EXPORT MetricFormat claimFormat(const Claim& claim,
                                                            const MetricKinds& kinds);

}  // namespace vitrine::store
