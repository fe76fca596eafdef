// The start of a stored run: files of its source and of its auxiliary networks, and the values that
// its grid decided.
#pragma once

#include <optional>
#include <vector>

#include "core/config/experiment.h"
#include "core/store/run_store.h"
#include "core/train/model_setup.h"

namespace vitrine::app {

/// [init] and [aux] of the run, with every UUID turned into a file that stays while it is held.
/// \param isResumed  its checkpoint has every weight of its own, also where it is only looked at;
/// the auxiliary networks and frozen parameters count then
/// \param start  its [init] where that is known and verified
/// \throws RefusedError  a run that it needs is not done, or an auxiliary network has changed since
///         the run began \throws NotFoundError, FileError, ConfigError a run or file is missing
[[nodiscard]] train::InitChoice initChoiceOf(store::RunStore& store, const store::RunRow& run,
                                             bool isResumed,
                                             std::optional<train::InitChoice> start = {});

/// The same of the [init] of a run that is not stored yet, without its auxiliary networks.
/// \param init  names a run of the database or weights \param why  "run 'wide' starts from"
[[nodiscard]] train::InitChoice initChoiceOf(store::RunStore& store, const InitSource& init,
                                             const std::string& why);

/// The same of one that names weights, or without the weights of its run. No database is needed.
[[nodiscard]] train::InitChoice initChoiceOf(const InitSource& init, const std::string& why);

/// {NAME: {run, step, file, use, sha256}}: what the environment of a segment says of them.
[[nodiscard]] Json auxJson(const std::vector<train::AuxChoice>& auxiliaries);

/// Gives a refit that has none yet the values of the best candidate of its grid, and says why in an
/// event "selected". Nothing for other runs. \throws NotFoundError, Error  no candidate has a score
void completeSelection(store::RunStore& store, const store::RunRow& run);

}  // namespace vitrine::app
