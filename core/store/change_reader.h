// Reads the changes of a database since the last call: the runs to read again and those that
// are gone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/store/run_reader.h"

namespace vitrine::store {

/// Each call of read() reports what was committed since the call before, by this process or
/// another. A run that changes during a call is reported by the next one as well, never left out.
class VITRINE_STORE_EXPORT ChangeReader {
 public:
  struct Changes {
    bool isNew = false;                 ///< something was committed; true at the first call
    std::vector<RunRow> runs;           ///< new or changed
    std::vector<std::int64_t> deleted;  ///< ids
  };

  /// \param store  at least as long as this object
  /// \param after  the caller knows all changes up to this one; 0: none, so that all runs are
  ///         reported and no deleted ones
  explicit ChangeReader(RunReader& store, std::int64_t after = 0) : store_(&store), seen_(after) {}

  /// Costs two short statements when nothing changed.
  /// \throws Error  the store cannot be read; nothing counts as reported then
  [[nodiscard]] Changes read();
  /// The newest change that was reported.
  [[nodiscard]] std::int64_t seen() const noexcept { return seen_; }

 private:
  RunReader* store_;
  std::int64_t seen_;
  std::int64_t dataVersion_ = -1, newest_ = -1;  ///< of the call before
};

}  // namespace vitrine::store
