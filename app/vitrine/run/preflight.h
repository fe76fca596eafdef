// Checks before runs are accepted: memory, disk, data, and one step of each kind.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "app/vitrine/run/judged_plan.h"
#include "core/store/run_store.h"
#include "core/train/model_setup.h"

namespace vitrine::app {

struct Needs {
  std::int64_t memoryBytes = 0;  ///< of a process that trains the run, at its peak; an estimate
  std::int64_t diskBytes = 0;    ///< of the checkpoints it keeps; an estimate
};

/// What training would meet before its first step, for all runs that start now.
/// \throws FileError  the data cannot be read \throws RefusedError  the device cannot be had
void requireDataAndDevice(const JudgedPlan& judged);
/// \throws ConfigError, FileError, NotFoundError, RefusedError  the weights of another run that a
/// run starts from are not there, or do not fit its model or its tokens. Those of a run of the plan
/// are not there yet, and weights of a file are judged with the plan
/// \returns  what the first run starts from, verified and held, where that is another run
[[nodiscard]] std::optional<train::InitChoice> requireWeights(store::RunStore& store,
                                                              const Engine& engine,
                                                              const JudgedPlan& judged);

enum class DryStep { Do, Skip };

/// Trains one step of each kind of run and evaluates one batch of each split, which leaves nothing
/// behind. \returns  the needs of each run
/// \throws RefusedError  a run does not fit into this machine, or the step fails: says so with the
/// numbers \throws FileError  the data cannot be read
[[nodiscard]] std::vector<Needs> preflight(const Engine& engine, const JudgedPlan& judged,
                                           const std::filesystem::path& database, DryStep dryStep);

}  // namespace vitrine::app
