// Rules for keeping checkpoints: those in use, those a rule keeps, and those that a run needs.
// Knows no torch.
//
// A reader of a checkpoint holds a shared lock on its folder, which ends with the process. The
// remover takes the lock alone, and leaves the folder for the next time where that fails.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/files/checkpoint_folder.h"
#include "core/files/posix_file.h"
#include "core/foundation_export.h"

namespace vitrine {

/// While it lives no process removes the checkpoint. Hold first, then verify.
class VITRINE_FOUNDATION_EXPORT CheckpointHold {
 public:
  /// Waits while the folder is being removed. \throws FileError  it is not there
  explicit CheckpointHold(const std::filesystem::path& folder);

 private:
  files::Descriptor folder_;
};

struct HeldCheckpoint {
  CheckpointFolder checkpoint;
  std::shared_ptr<const CheckpointHold> hold;
};
/// The newest that verifies, held, while its run may be writing and removing others.
/// \param report  as for newestCheckpoint
VITRINE_FOUNDATION_EXPORT std::optional<HeldCheckpoint> holdNewestCheckpoint(
    const std::filesystem::path& parent,
    const std::function<void(const std::string&)>& report = {});

/// One process at a time writes and removes the checkpoints of a run.
class VITRINE_FOUNDATION_EXPORT CheckpointWriterLock {
 public:
  /// \param parent  the run's folder; made when missing
  /// \throws RefusedError  another one writes there
  /// \throws FileError  the folder cannot be made
  explicit CheckpointWriterLock(const std::filesystem::path& parent);

 private:
  files::Descriptor parent_;
};

struct CheckpointRetention {
  std::int64_t newest = 2;        ///< how many of the newest stay, `now` included
  std::int64_t everySteps = 0;    ///< steps divisible by it stay; 0: none for that reason
  std::set<std::int64_t> needed;  ///< steps that stay for any other reason: the best, where a run
                                  ///< continues from, where another run starts
};

/// Removes what the rule does not keep. Checkpoints after `now` belong to a branch that was left,
/// and go; what a process holds stays. \param now  step of the newest checkpoint of this branch
/// \returns    names of the removed folders, newest first
VITRINE_FOUNDATION_EXPORT std::vector<std::string> pruneCheckpoints(
    const std::filesystem::path& parent, std::int64_t now, const CheckpointRetention& retention);

/// \returns  false where a process holds it, or it is not there
VITRINE_FOUNDATION_EXPORT bool removeCheckpoint(const std::filesystem::path& folder);

}  // namespace vitrine
