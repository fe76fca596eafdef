// What is looked at before a run is accepted: data, memory, disk, and one step of it.
#pragma once

#include <filesystem>
#include <string>

#include "app/vitrine/run/engine.h"

namespace vitrine::app {

struct Needs {
  std::int64_t memoryBytes = 0;  ///< of a process that trains the run, at its peak; an estimate
  std::int64_t diskBytes = 0;    ///< of the checkpoints it keeps; an estimate
};

enum class DryStep { Do, Skip };

/// Opens the data of one planned run, builds its model, estimates, trains one step and evaluates
/// one batch of each split, which leaves nothing behind. \throws RefusedError  it does not fit into
/// this machine, or the step fails: says so with the numbers \throws FileError  the data cannot be
/// read
[[nodiscard]] Needs preflight(const Engine& engine, const PlannedRun& run,
                              const std::filesystem::path& database, DryStep dryStep);

}  // namespace vitrine::app
