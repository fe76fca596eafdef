// From a resolved configuration to everything a run needs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/model/weights.h"
#include "core/plugin/registry.h"
#include "core/train/checkpoint.h"
#include "core/train/observe.h"
#include "core/train/trainer.h"

namespace vitrine::train {

/// A trained model that a run uses and does not train, with every name turned into a file.
struct AuxChoice {
  std::string name;               ///< of its table: "codec"
  std::filesystem::path weights;  ///< a safetensors file
  std::string use = "model";      ///< which weights of its run they are: "model" or "ema"
  std::string sha256;             ///< of the file
  Json config;             ///< of the run that made it, resolved; of a file alone {"model": {...}}
  std::string run;         ///< UUID of that run; "" where it is not known
  std::int64_t step = -1;  ///< of its checkpoint; -1 of a file alone
  std::shared_ptr<const void> hold;  ///< as InitChoice::hold
};

/// The start of a run, with a file for every name.
struct InitChoice {
  std::filesystem::path
      weights;  ///< a safetensors file, or a checkpoint folder; empty: initialised from the seed
  std::shared_ptr<const void>
      hold;                   ///< kept as long as the file is needed: keeps it from being removed
  std::string use = "model";  ///< of a checkpoint folder: "model" or "ema"
  Json config;  ///< of the run that the weights are of, resolved; null where it is not known
  LoadOptions options;
  std::vector<std::string> freeze;     ///< parameter-name globs that are not trained
  std::vector<AuxChoice> auxiliaries;  ///< in the order of the file
};

/// Part of the data that a run's evaluations read.
enum class Extent {
  Whole,
  DryStep,  ///< one batch of each split: enough to see that it works and fits into memory
};

/// Whether tokens mean the same in a run and in the one whose weights it takes. Not asked where no
/// table of tokens is taken: the model is none of language, or `skip` leaves them out.
/// \param source  configuration of that other run, resolved; null: not known, and not asked
/// \throws ConfigError  another tokenizer, or other words: names both
VITRINE_ENGINE_EXPORT void requireSameTokens(Model& model, const Json& config, const Json& source,
                                             const std::vector<std::string>& skip);

/// Whether the weights that `init` names fit the model and the tokens of that resolved
/// configuration; no value is read.
/// \throws ConfigError, FileError  as loadWeights() and requireSameTokens() refuse them
VITRINE_ENGINE_EXPORT void requireInitFits(const Registry& registry, const Json& config,
                                           const InitChoice& init);

/// Builds model and task, opens the data, loads what the run starts from.
/// \param config  resolved: model.architecture, task.name, data.dataset and the tables next to them
/// \param report  what a load did; may be nullptr
/// \throws NotFoundError  an item that no plugin brings
/// \throws ConfigError, FileError, ShapeError  as the items and the weight file say
/// The checkpoint folder, its prefix, `resumeFrom` and `configHash` are left to the caller.
[[nodiscard]] VITRINE_ENGINE_EXPORT TrainerSetup prepareRun(const Registry& registry,
                                                            const Json& config, std::uint64_t seed,
                                                            const InitChoice& init = {},
                                                            LoadReport* report = nullptr,
                                                            Extent extent = Extent::Whole);

/// A run's model as a checkpoint left it, with the data it was trained on.
struct RestoredRun {
  std::unique_ptr<TaskSession> session;  ///< in evaluation mode, where the run's schedules were
  CheckpointState state;
  Look look;  ///< the run's own: evaluateSplit() with it gives what the run recorded
  Reopen reopen;
};

/// `changed` as the configuration of a run that was trained as `config`: checked again, with the
/// values of the training that stay (core/plugin/trained_values.h).
/// \throws ConfigError  values that the run's items refuse: all of them
[[nodiscard]] VITRINE_ENGINE_EXPORT Json reconfigured(const Registry& registry, const Json& config,
                                                      Json changed);
/// \param weights  model.safetensors or ema.safetensors of a checkpoint folder
/// \param auxiliaries  what its [aux] tables mean now
/// \param device   where it is computed
[[nodiscard]] VITRINE_ENGINE_EXPORT RestoredRun
restoreRun(const Registry& registry, const Json& config, std::uint64_t seed,
           const std::filesystem::path& weights, const std::vector<AuxChoice>& auxiliaries = {},
           at::Device device = at::kCPU);

/// The throughput metric of a task: "system/images_per_second".
[[nodiscard]] VITRINE_ENGINE_EXPORT std::string throughputMetric(const ItemCard& task);

}  // namespace vitrine::train
