// Estimates the memory and disk space of a run on the CPU before it starts.
#pragma once

#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/data/dataset.h"
#include "core/engine_export.h"
#include "core/model/model.h"
#include "core/plugin/optimizer.h"

namespace vitrine::train {

struct MemoryPart {
  std::string name;  ///< "activations"
  std::string doc;   ///< one line
  double bytes = 0;
};

/// Input of the estimate; reading it does not need the model's memory.
struct MemoryInput {
  double parameters = 0;          ///< of the model and the task's head
  double trainedParameters = -1;  ///< without frozen ones; -1: all
  std::vector<BlockCost> blocks;  ///< Model::cost()
  double imageValues = 0;         ///< channels * height * width of a batch's image
  double classes = 0;             ///< that an evaluation tells apart
  double datasetBytes = 0;        ///< of all splits, as they are kept
  double stepsPerEpoch = 0;       ///< 0: not known
  double optimizerTensors = 2;    ///< of a parameter's size, kept for each trained parameter
  Config train;                   ///< trainSchema()
};
/// Of one run.
/// \param config   resolved, all sections
/// \param optimizer  that train.optimizer.name is
/// \param dataset  null where the data cannot be opened here: what depends on it counts nothing
[[nodiscard]] VITRINE_ENGINE_EXPORT MemoryInput memoryInputOf(const Config& config,
                                                              std::int64_t parameters,
                                                              std::vector<BlockCost> blocks,
                                                              const OptimizerItem& optimizer,
                                                              const Dataset* dataset);

struct MemoryEstimate {
  std::vector<MemoryPart> parts;  ///< add up to `peakBytes`
  double peakBytes = 0;  ///< above the resident size of a process that has only loaded its plugins
};

[[nodiscard]] VITRINE_ENGINE_EXPORT MemoryEstimate estimateMemory(const MemoryInput& input);

/// The most checkpoints that lie on the disk at once: what `[train.checkpoint]` keeps, and the one
/// that is being written. Up to `keep` + 1 too many, where the newest and the best are kept for
/// another reason as well.
/// \param stepsPerEpoch  0: not known; then those of `keep_every` do not count
[[nodiscard]] VITRINE_ENGINE_EXPORT double mostCheckpoints(const Config& train,
                                                           double stepsPerEpoch);
/// Bytes of these. What other runs start from stays as well and is not counted.
[[nodiscard]] VITRINE_ENGINE_EXPORT double estimateDisk(const MemoryInput& input);

}  // namespace vitrine::train
