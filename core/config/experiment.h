// An experiment file and the runs it means.
//
// Precedence, later wins: schema default, `model.preset`, file, variant, stage, sweep, seed,
// command line. A dotted key merges, a whole table replaces. Runs are variants x sweep axes in file
// order x seeds, the last fastest, without those that an [[exclude]] names. With [[stage]] entries
// each is a chain of stages. With [select] each becomes a grid of runs on a part of the training
// set. Runs on all of it with the best values follow.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/config/config.h"
#include "core/config/toml/override.h"
#include "core/config/toml/problem.h"

namespace vitrine {

/// "task/classification"
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string itemName(ItemKind kind, const std::string& id);

/// Origin of a resolved value.
struct Origin {
  /// "default", "preset mlp/small", "file", "variant + soft mask", "stage fine-tune", "sweep",
  /// "select", "command line"
  std::string layer;
  int line = 0;  ///< in the file, 0 where there is none
};

/// The start of a run.
struct InitSource {
  std::string weights;  ///< a safetensors file, or ""
  std::string run;      ///< a run's UUID, or ""
  int plannedRun = -1;  ///< index into Plan::runs: an earlier stage or a variant of the same file
  std::string checkpoint = "latest";  ///< "best" | "latest" | a step
  std::string use = "model";          ///< "ema" | "model"
  std::vector<std::string>
      skip;  ///< parameter-name globs that keep their own initialisation: "head.*"
  std::vector<std::string> freeze;  ///< parameter-name globs that are not trained
  std::vector<std::pair<std::string, std::string>> rename;
  std::string resizePositions = "bicubic";  ///< bicubic | bicubic_antialias | linear_corners | none
  bool strict = true;                       ///< every parameter must be found, apart from `skip`
};

/// A trained model that a run uses and does not train.
struct AuxSource {
  std::string name;     ///< of its table: "codec"
  std::string weights;  ///< a checkpoint folder or a safetensors file, or ""
  std::string run;      ///< a run's UUID, or ""
  int plannedRun = -1;  ///< index into Plan::runs: an earlier stage or a variant of the same file
  std::string checkpoint = "latest";  ///< "best" | "latest" | a step
  std::string use = "model";          ///< "ema" | "model"
};

/// Purpose of a run of a file with [select].
enum class RunPart {
  Plain,  ///< the file has no [select]
  Grid,   ///< leaves a part of the training set out and is scored on it
  Refit,  ///< takes the values of the best of the grid, learns from all of the training set
};

/// The swept keys with the values that one run has, in the order of the axes.
using SweepPoint = std::vector<std::pair<std::string, Json>>;

/// One run of an experiment, ready to be stored and trained.
struct VITRINE_FOUNDATION_EXPORT PlannedRun {
  std::string name;  ///< distinct within the experiment: "+ soft mask, learning_rate 0.001, seed 1"
  std::string variant;  ///< "" when the file has none
  std::string stage;    ///< "" when the file has none
  std::uint64_t seed = 0;
  Json config;  ///< resolved: model, task, data, train, observe, aux, init (where given)
  std::vector<std::pair<std::string, Origin>> origins;  ///< per leaf key of `config`, in its order
  std::optional<InitSource> init;
  std::vector<AuxSource> auxiliaries;  ///< in the order of the file
  int dependsOn = -1;                  ///< index into Plan::runs, or -1
  RunPart part = RunPart::Plain;
  /// Of a refit what its values are chosen from (core/config/selection.h), else null. Until then
  /// `config` has those of the first candidate.
  Json selection;
  std::vector<int> selectedFrom;  ///< of a refit: the runs with the scores, in Plan::runs
  SweepPoint point;               ///< as the file says the values
};

/// A run, or a chain of stages, that an [[exclude]] leaves out.
struct VITRINE_FOUNDATION_EXPORT ExcludedRun {
  std::string name;  ///< as it would have had it, without a stage
  std::string variant;
  SweepPoint point;
  std::size_t place = 0;  ///< runs of the plan that come before it
};

struct VITRINE_FOUNDATION_EXPORT Plan {
  std::string title;
  std::string sourceText;  ///< the file as it was read
  std::vector<PlannedRun> runs;
  std::vector<ExcludedRun> excluded;  ///< in their order
  std::size_t total = 0;          ///< runs the file means: more than `runs` where limits said so
  std::vector<Problem> problems;  ///< empty means go
};

/// Extent of a plan: a form reads the first runs only, and cancels the plan of an old text.
struct PlanLimits {
  std::size_t mostRuns = std::numeric_limits<std::size_t>::max();
  const std::atomic<bool>* isStale = nullptr;  ///< true: stop; the result is incomplete
};

/// Parses, checks and expands an experiment. Never throws for what the text says: see
/// Plan::problems. \param fileName  for messages
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Plan
planExperiment(const std::string& text, const std::string& fileName, const Catalog& catalog,
               const std::vector<Override>& overrides = {}, const PlanLimits& limits = {});
/// \throws FileError  the file cannot be read or is larger than 8 MiB
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Plan
planExperimentFile(const std::filesystem::path& file, const Catalog& catalog,
                   const std::vector<Override>& overrides = {});

/// The `[model]` section alone, from overrides such as model.architecture=ID: what `infer` needs.
/// \param model  receives architecture, preset where given, and every field of the architecture
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<Problem> planModel(
    const Catalog& catalog, const std::vector<Override>& overrides, Json& model);

/// Checks the values of one item against its schema; keys in problems are prefixed ("model." +
/// key). Fills in defaults and resolves sizes: `values` becomes complete.
/// \param overrides  laid over `values`
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<Problem> resolveItem(
    const Schema& schema, const std::string& prefix, Json& values,
    const std::vector<Override>& overrides = {});

/// TOML of a resolved configuration; reading it back gives the same configuration.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string toToml(const Json& config);

}  // namespace vitrine
