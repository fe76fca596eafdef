// Changes of the state that a run is in. Private to core/store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/store/sqlite/database.h"
#include "core/store/types.h"

namespace vitrine::store {

/// Fewer points of a metric stay in the tail when a segment ends.
inline constexpr std::size_t kWorthPacking = 16;

/// Within a transaction: the one place where a run's state is written.
/// \throws StoreError  the transition is not legal; names both states
void changeState(Database& database, std::int64_t run, RunState to, const std::string& reason);

/// Within a transaction: the state in which the process of `segment` left the run and could not
/// store.
void storeEnding(Database& database, std::int64_t run, std::int64_t segment, RunState to,
                 const std::string& reason);

/// "", "checkpoint", "pause" or "stop". \throws NotFoundError
[[nodiscard]] std::string requestOf(Database& database, std::int64_t run);

/// The worker in the row has opened a segment: it is more than a claim.
[[nodiscard]] bool hasSegment(Database& database, const RunRow& run);

}  // namespace vitrine::store
