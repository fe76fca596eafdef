// Opens the database of a verb, or reports that there is none.
#pragma once

#include "app/vitrine/cli/command_line.h"
#include "core/base/error.h"
#include "core/store/run_store.h"

namespace vitrine::app {

/// Action when --db names a file that does not exist. The user's own database is made at first use
/// by any verb.
enum class Missing { Create, Refuse };

[[nodiscard]] std::filesystem::path databaseOf(const CommandLine& line);
/// \throws NotFoundError  --db names no file and `missing` is Refuse
[[nodiscard]] store::RunStore openStore(const CommandLine& line, Missing missing);
/// For reading alone.
[[nodiscard]] store::RunStore openStoreForReading(const CommandLine& line);

/// Reaps lost runs before they are shown. Where that cannot be written down, because the disk is
/// full, it is a warning: the stored rows can still be read.
void reapBeforeShowing(store::RunStore& store);
/// Opens and reaps. A database that cannot be written, in a read-only folder, is read as it is.
[[nodiscard]] store::RunStore openStoreToShow(const CommandLine& line, Missing missing);

/// Exit code of a verb that worked on a run, by the final state of the run.
[[nodiscard]] ExitCode exitCodeOf(store::RunState state) noexcept;

}  // namespace vitrine::app
