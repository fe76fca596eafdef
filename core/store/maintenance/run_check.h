// Checks of the rows of a run beyond those of SQLite. Private to core/store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/store/sqlite/database.h"

namespace vitrine::store {

/// Sentences about damage in run `id`; empty when there is none. It checks that
///
/// - points lie in segments of the run;
/// - chunks and clocks agree in count and length, and decode;
/// - minima, maxima and summaries are those of the points;
/// - texts that should be JSON are.
[[nodiscard]] std::vector<std::string> runProblems(Database& database, std::int64_t id);

/// Checkpoints of the run whose folders below `files` are not there, and paths that lead elsewhere.
/// A trainer removes older ones before it changes the row. In a run that has not ended, those
/// before an existing one may therefore be missing.
[[nodiscard]] std::vector<std::string> fileProblems(Database& database, std::int64_t id,
                                                    const std::filesystem::path& files);

/// Within a transaction, before a run continues: rows of checkpoints that its last process removed
/// without living to say so.
void markRemovedCheckpoints(Database& database, std::int64_t run);

/// Whether `path` stays below `folder` when joined to it: relative, "/" between plain names, no "."
/// or "..", nothing a shell or terminal could stumble over.
[[nodiscard]] bool isPlainPath(const std::string& path, const std::string& folder);

}  // namespace vitrine::store
