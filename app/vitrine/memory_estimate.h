// How much memory a run will take, told before it starts.
#pragma once

#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/model/model.h"

namespace vitrine::app {

struct MemoryPart {
  std::string name;  ///< "activations"
  std::string doc;
  double bytes = 0;
};

/// What the estimate is made from.
struct MemoryInput {
  double parameters = 0;  ///< of the model and the task's head
  std::vector<BlockCost> blocks;
  double imageValues = 0;   ///< channels * height * width of a batch's image
  double datasetBytes = 0;  ///< of all splits, as they are kept
  Config train;             ///< trainSchema()
};

/// Peak above a process that has only loaded its plugins, on the CPU. Parts add up to the peak.
[[nodiscard]] std::vector<MemoryPart> estimateMemory(const MemoryInput& input);

}  // namespace vitrine::app
