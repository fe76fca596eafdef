// Rows of a run, from one database of our schema into another. Private to core/store.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/store/sqlite/database.h"

namespace vitrine::store {

/// A table whose rows belong to runs, in the order in which tables are copied.
struct RunTable {
  const char* name;
  const char* order;     ///< of the rows of one run: what makes two exports of the same run equal
  bool isLarge = false;  ///< grows with the length of the run; its rows have ids
};
/// Every table with a `run_id` apart from those that only exports have, and `deleted_run`.
[[nodiscard]] VITRINE_STORE_EXPORT std::span<const RunTable> runTables();

/// Copies runs with new ids: 1, 2, 3 ... in an empty target. Metric names are matched by name,
/// clocks and all else by the order of their ids, so that exports of the same content are equal.
class RunCopier {
 public:
  RunCopier(Database& from, Database& to) : from_(from), to_(to) {}

  /// Columns of the row in `run` that differ in the copy.
  struct Changes {
    std::string uuid;            ///< "" keeps it; folders of checkpoints and log follow it
    std::int64_t dependsOn = 0;  ///< id in the target, 0 for none
    std::int64_t id = 0;         ///< in the target, 0 for a new one; only of copy()
  };
  /// Within a transaction of the target: all rows of run `id` of the source. Returns its new id.
  std::int64_t copy(std::int64_t id, const Changes& changes);

  /// The same in transactions of about a megabyte, for a run of any size: no writer waits longer
  /// than for one of them. Not within a transaction. Until the last one the run has no row, so no
  /// reader sees it. sweepUnfinished() removes the rest of a process that ended before.
  std::int64_t copyInParts(std::int64_t id, const Changes& changes);

 private:
  void insertRun(std::int64_t id, const Changes& changes);
  void reserve();
  void dropUnfinished() noexcept;
  std::int64_t experiment(std::int64_t id);
  std::int64_t metric(std::int64_t id);
  void learnKinds(const std::vector<std::string>& names);
  void learnMetrics(std::int64_t run);
  void yieldBaseline();
  enum class Parts { One, Many };
  void copyRows(const RunTable& table, std::int64_t run, Parts parts);

  Database& from_;
  Database& to_;
  std::int64_t target_ = 0;  ///< id of the run being copied; 0: it gets one when it is stored
  std::string oldUuid_, newUuid_;
  std::unordered_map<std::int64_t, std::int64_t> metrics_, clocks_;
};

/// Runs without a row of which rows lie here: they are being copied, or the copying process is
/// gone.
[[nodiscard]] std::set<std::int64_t> unfinishedRuns(Database& database);
/// Removes the rest of those of a process that has ended, in transactions of a few rows.
void sweepUnfinished(Database& database);

}  // namespace vitrine::store
