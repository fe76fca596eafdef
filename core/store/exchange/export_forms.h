// The forms of `vitrine export`, each in a file of its own. Private to core/store.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "core/store/exchange/exchange.h"
#include "core/store/sqlite/database.h"
#include "core/store/types.h"

namespace vitrine::store {

/// Input of all forms. `runs` ascend and exist.
struct ExportTask {
  Database& database;
  std::span<const RunRow> runs;
  std::filesystem::path target;  ///< temporary; made by the form
  std::filesystem::path file;    ///< the name that it gets
  ExportedCheckpoints checkpoints;
  const ExchangeProgress& progress;
  ExportReport& report;

  /// Reports progress of the run at `index`.
  void tell(std::size_t index) const;
};

void exportSqlite(const ExportTask& task);
void exportCsv(const ExportTask& task);
void exportJsonLines(const ExportTask& task);
void exportTensorBoard(const ExportTask& task);

/// Files are stored in pieces of this many bytes.
inline constexpr std::int64_t kExportedPart = 16 << 20;

/// Seconds since 1970 of an ISO 8601 UTC time as rows have it; 0 when it is none.
[[nodiscard]] double secondsOfUtc(const std::string& text);

}  // namespace vitrine::store
