// Working on several stored runs one after the other; `train` and `demo` do.
#pragma once

#include <vector>

#include "app/vitrine/run/run_worker.h"

namespace vitrine::app {

/// Works on `ids` in order. A failed run does not stop the others, apart from those that start from
/// it; a signal does. \returns the runs that were worked on
/// \param first  what the first of them starts from, where that is known and verified
[[nodiscard]] std::vector<TrainedRun> trainAll(store::RunStore& store, const Engine& engine,
                                               const std::vector<std::int64_t>& ids,
                                               std::optional<train::InitChoice> first = {});

/// The worst of their codes: interrupted before failed before done.
[[nodiscard]] int exitCodeOf(const std::vector<TrainedRun>& trained);
/// Table or JSON of what came out; where a run failed, the JSON is an error with "runs". Scores of
/// single classes are in the JSON alone.
void printTrained(const std::vector<TrainedRun>& trained, bool asJson);

}  // namespace vitrine::app
