// A plan with what its runs cost and what only their items can judge: what `check` prints and
// `enqueue` stores.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/vitrine/run/engine.h"
#include "core/train/memory.h"

namespace vitrine::app {

struct RunCost {
  std::int64_t parameters = 0;
  double flops = 0, macs = 0, activationBytes = 0;  ///< forward, of one sample
  std::vector<BlockCost> blocks;                    ///< not of a plan that was read
  train::MemoryEstimate memory;
  double diskBytes = 0;       ///< of the checkpoints that it keeps
  std::string dataProblem;    ///< why its data cannot be opened here; "" where they can
  std::string deviceProblem;  ///< why its device cannot be had here; not of a plan that was read
};

struct JudgedPlan {
  Plan plan;
  std::vector<std::string> warnings;  ///< sentences, among them each data- and deviceProblem
  /// Per run; null where a problem hides it. Runs that differ in seed or rate alone share one.
  std::vector<std::shared_ptr<const RunCost>> costs;
  /// Of its runs. While they are held, no run opens them again.
  std::vector<std::shared_ptr<const Dataset>> data;
};

/// Runs that cost the same have the same: their configuration without seed, rate and what watches.
[[nodiscard]] std::string kindOf(const PlannedRun& run);

/// Opens data, model, task, device and the weights of [init] of each kind of run as the run would,
/// without memory or initial values. What they refuse becomes a problem of the plan. Data and a GPU
/// that are not here become warnings. A plan with problems stays as it is.
[[nodiscard]] JudgedPlan judgePlan(const Registry& registry, Plan plan);

/// Plans and judges an experiment file; "-" reads standard input.
/// \throws ConfigError  it has problems: says every one first
[[nodiscard]] JudgedPlan judgeFile(const Engine& engine, const std::string& file,
                                   const std::vector<std::string>& overrides);

/// toJson(Plan) with `made_by`, `warnings`, the `totals` of each run, and `totals`, `memory` and
/// `blocks` of the first.
[[nodiscard]] Json toJson(const JudgedPlan& judged, const LoadedPlugins& plugins);

/// A plan that `check --json` printed.
/// \param file  "-": standard input
/// \throws RefusedError  made by another version or with other plugins
/// \throws ConfigError  it is not a whole plan, or has problems
/// \throws NotFoundError, FileError  the file
[[nodiscard]] JudgedPlan readJudgedPlan(const std::string& file, const Engine& engine);

}  // namespace vitrine::app
