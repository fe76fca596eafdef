// The choice that [select] makes: which values a refit takes from the grid before it.
//
// A selection is JSON, kept with the refit's row:
//   metric      "validation/top1": the last value of a run of the grid is its score
//   direction   "higher" or "lower" is better
//   candidates  [{values, runs, set, unset}], in the order of the grid:
//               values  {key: value} as the file has them
//               runs    names of the runs with the scores; several where the grid has seeds
//               set     {key: value}, resolved: what the refit takes over
//               unset   [key]: what the first candidate's configuration has and this one has not
//   chosen      place among the candidates, or null while it is not known
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/config/schema.h"
#include "core/foundation_export.h"

namespace vitrine {

/// The schema of `[select]` apart from `grid`: the score that decides, and the runs that follow.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const Schema& selectSchema();

/// `before` with the leaves in which it differs from `after`, as `set` and `unset`.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Json candidateChanges(const Json& before,
                                                              const Json& after);

/// A refit's planned configuration with the values of candidate `index`.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Json withCandidate(Json config, const Json& selection,
                                                           std::size_t index);

/// Score of each candidate, the mean over its runs; nothing where a run has no score or NaN. \param
/// scores by name of the run
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<std::optional<double>> candidateScores(
    const Json& selection, const std::map<std::string, double>& scores);

/// The best; of equal ones the first. Nothing when no candidate has a score.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::optional<std::size_t> bestCandidate(
    const Json& selection, const std::vector<std::optional<double>>& scores);

/// "train.optimizer.learning_rate 0.001, model.depth 4"
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string candidateText(const Json& candidate);

}  // namespace vitrine
