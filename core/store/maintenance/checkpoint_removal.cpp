#include "core/store/maintenance/checkpoint_removal.h"

#include <system_error>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/maintenance/run_check.h"
#include "core/store/run_store.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/dependencies.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"

namespace vitrine::store {

namespace fs = std::filesystem;

namespace {

struct StoredCheckpoint {
  std::int64_t step = 0, bytes = 0;
  std::string folder;  ///< relative to the folder of all files
};

/// Why the checkpoints of a run stay; "" where they may go.
std::string whyKept(Database& database, const RunRow& run) {
  if (isAlive(run.state) || run.state == RunState::Paused)
    return "it is " + toString(run.state) + "; wait for its end or stop it";
  if (database.any("SELECT 1 FROM queue_entry WHERE run_id = ?", run.id))
    return "it waits in the queue";
  // Frozen weights are read from the run that they come from, also when all is done.
  if (const std::int64_t frozen = frozenUser(database, run); frozen != 0)
    return nameOf(frozen) + " needs them";
  Statement user = database.prepare(
      "SELECT r.id FROM run_config c JOIN run r ON r.id = c.run_id WHERE r.state <> 'done' AND "
      "json_valid(c.init) AND json_extract(c.init, '$.run') = ?1 UNION SELECT run_id FROM "
      "run_dependency WHERE kind = 'aux' AND uuid = ?1 ORDER BY 1");
  if (user.with(run.uuid).step()) return nameOf(user.integer(0)) + " needs them";
  return {};
}

std::vector<StoredCheckpoint> removable(Database& database, const RunRow& run,
                                        KeptCheckpoints kept) {
  const std::int64_t best = run.bestCheckpoint >= 0 ? run.bestCheckpoint : run.latestCheckpoint;
  const std::string folder = runFolderName(run.uuid);
  std::vector<StoredCheckpoint> found;
  database.each(
      "SELECT step, bytes, folder FROM checkpoint WHERE run_id = ? AND removed_at = '' ORDER BY "
      "step",
      [&](const Statement& row) {
        StoredCheckpoint one{row.integer(0), row.integer(1), row.text(2)};
        const bool isKept = kept == KeptCheckpoints::Best && one.step == best;
        if (!isKept && isPlainPath(one.folder, folder)) found.push_back(std::move(one));
      },
      run.id);
  return found;
}

/// Within a snapshot or a transaction.
PrunedRun lookAt(Database& database, std::int64_t run, KeptCheckpoints kept,
                 std::vector<StoredCheckpoint>& gone) {
  const RunRow row = readRun(database, run);
  PrunedRun result{run, row.name, 0, 0, whyKept(database, row)};
  gone.clear();
  if (!result.refusal.empty()) return result;
  gone = removable(database, row, kept);
  for (const StoredCheckpoint& one : gone) {
    ++result.checkpoints;
    result.bytes += one.bytes;
  }
  return result;
}

/// Within a transaction.
void removeRows(Database& database, const PrunedRun& pruned,
                const std::vector<StoredCheckpoint>& gone) {
  const std::string now = utcNow();
  for (const StoredCheckpoint& one : gone) {
    database.run("UPDATE checkpoint SET removed_at = ? WHERE run_id = ? AND step = ?", now,
                 pruned.run, one.step);
  }
  database.run(
      "UPDATE run SET latest_checkpoint = (SELECT max(c.step) FROM checkpoint c WHERE c.run_id = "
      "?1 AND c.removed_at = ''), best_checkpoint = CASE WHEN EXISTS (SELECT 1 FROM checkpoint c "
      "WHERE c.run_id = ?1 AND c.removed_at = '' AND c.step = best_checkpoint) THEN "
      "best_checkpoint END WHERE id = ?1",
      pruned.run);
  EventRecord event{readRun(database, pruned.run).step, "checkpoints_removed",
                    std::to_string(pruned.checkpoints) +
                        (pruned.checkpoints == 1 ? " checkpoint, " : " checkpoints, ") +
                        formatBytes(pruned.bytes) + ", removed",
                    Json::object()};
  event.data["checkpoints"] = pruned.checkpoints;
  event.data["bytes"] = pruned.bytes;
  addEvent(database, pruned.run, lastSegment(database, pruned.run), event);
  touch(database, pruned.run);
}

}  // namespace

std::vector<PrunedRun> planPruning(const fs::path& file, std::span<const std::int64_t> runs,
                                   KeptCheckpoints kept) {
  Database database(file, Database::Access::Read);
  openSchema(database);
  std::vector<PrunedRun> plan;
  std::vector<StoredCheckpoint> gone;
  for (const std::int64_t run : runs)
    plan.push_back(database.read([&] { return lookAt(database, run, kept, gone); }));
  return plan;
}

std::vector<PrunedRun> pruneCheckpoints(const fs::path& file, std::span<const std::int64_t> runs,
                                        KeptCheckpoints kept) {
  Database database(file, Database::Access::Write);
  openSchema(database);
  for (const std::int64_t run : runs) static_cast<void>(readRun(database, run));  // all or none
  std::vector<PrunedRun> report;
  for (const std::int64_t run : runs) {
    std::vector<StoredCheckpoint> gone;
    report.push_back(database.write([&] {
      PrunedRun pruned = lookAt(database, run, kept, gone);
      if (!gone.empty()) removeRows(database, pruned, gone);
      return pruned;
    }));
    // A folder without a row is only space; a row without a folder would be asked for.
    for (const StoredCheckpoint& one : gone) {
      const fs::path folder = filesFolder(file) / one.folder;
      std::error_code error;
      fs::remove_all(folder, error);
      if (error) throw FileError("'" + folder.string() + "' cannot be removed: " + error.message());
    }
  }
  return report;
}

}  // namespace vitrine::store
