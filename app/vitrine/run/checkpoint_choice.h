// Chooses a checkpoint of a run, and verifies it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/files/checkpoint_use.h"
#include "core/store/run_store.h"

namespace vitrine::app {

struct CheckpointChoice {
  std::int64_t step = 0;
  std::filesystem::path folder;
  std::string use;  ///< "model" or "ema", also where "auto" was asked for
  std::filesystem::path weights;               ///< model.safetensors or ema.safetensors within it
  std::shared_ptr<const CheckpointHold> hold;  ///< while it lives the run's trainer leaves it there
};

/// Folder that holds a run's checkpoints and its log.
[[nodiscard]] std::filesystem::path runFolder(const store::RunStore& store,
                                              const store::RunRow& run);

/// \param which  latest | best | a step; "latest" falls back to an older one when the newest is
///         damaged, and says so
/// \param use    model | ema | auto: averaged weights where the checkpoint has them
/// \throws NotFoundError  there is none
/// \throws ConfigError  `which` or `use` is none of these
[[nodiscard]] CheckpointChoice chooseCheckpoint(const store::RunStore& store,
                                                const store::RunRow& run, const std::string& which,
                                                const std::string& use);

}  // namespace vitrine::app
