// Steps that every change of a run has in common, within a transaction. Private to core/store.
#pragma once

#include <cstdint>
#include <string>

#include "core/run/event_sink.h"
#include "core/store/sqlite/database.h"
#include "core/store/types.h"

namespace vitrine::store {

/// The next number of the counter that orders all changes of runs.
[[nodiscard]] std::int64_t nextChange(Database& database);
/// Makes readers see that `run` changed.
void touch(Database& database, std::int64_t run);

/// \throws NotFoundError  always
[[noreturn]] void noSuchRun(const Database& database, std::int64_t run);
/// \throws NotFoundError
[[nodiscard]] RunState stateOf(Database& database, std::int64_t run);

/// \throws RefusedError  `run` is in progress, or another one waits for it
void refuseDeletion(Database& database, const RunRow& run);
/// Removes its rows and notifies readers.
void deleteRows(Database& database, const RunRow& run);

/// \param at  when it happened; "" is now
void addEvent(Database& database, std::int64_t run, std::int64_t segment, const EventRecord& event,
              const std::string& at = "");
/// `value`, which the file counts up from here.
/// \throws StoreError  that names `what` when it is negative or so high that nothing counts to it
[[nodiscard]] std::int64_t counted(std::int64_t value, const std::string& what);
/// Number of the newest segment, 0 where there is none.
[[nodiscard]] std::int64_t lastSegment(Database& database, std::int64_t run);

}  // namespace vitrine::store
