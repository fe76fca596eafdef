#include "core/store/tables/run_changes.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/tables/dependencies.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/storable.h"

namespace vitrine::store {

std::int64_t nextChange(Database& database) {
  Statement row = database.prepare(
      "UPDATE counter SET value = value + 1 WHERE name = 'change' RETURNING value");
  const bool found = row.step();
  const std::int64_t change = found ? row.integer(0) : 0;
  row.run();
  return change;
}

void touch(Database& database, std::int64_t run) {
  database.run("UPDATE run SET change_sequence = ? WHERE id = ?", nextChange(database), run);
}

void noSuchRun(const Database& database, std::int64_t run) {
  throw NotFoundError("there is no " + nameOf(run) + " in '" + database.file().string() +
                      "'; `vitrine runs` lists them");
}

RunState stateOf(Database& database, std::int64_t run) {
  Statement row = database.prepare("SELECT state FROM run WHERE id = ?");
  if (!row.with(run).step()) noSuchRun(database, run);
  return runStateFromString(row.text(0));
}

std::int64_t counted(std::int64_t value, const std::string& what) {
  if (value >= 0 && value <= std::int64_t{1} << 62) return value;
  throw StoreError(what + " has the number " + std::to_string(value) +
                   ", which nothing counts to; the database is damaged: restore a backup");
}

void refuseDeletion(Database& database, const RunRow& run) {
  if (isAlive(run.state)) {
    throw RefusedError(nameOf(run.id) + " is " + toString(run.state) +
                       "; stop it before deleting it");
  }
  const std::string why = whyNeeded(database, run);
  if (!why.empty()) throw RefusedError(nameOf(run.id) + " " + why);
}

void deleteRows(Database& database, const RunRow& run) {
  database.run("UPDATE run SET depends_on = NULL WHERE depends_on = ?", run.id);
  // Values refer to clocks: they go first.
  database.run("DELETE FROM metric_chunk WHERE run_id = ?", run.id);
  database.run("DELETE FROM run WHERE id = ?", run.id);
  database.run(
      "INSERT INTO deleted_run(run_id, uuid, deleted_at, change_sequence) VALUES (?, ?, ?, ?)",
      run.id, run.uuid, utcNow(), nextChange(database));
}

void addEvent(Database& database, std::int64_t run, std::int64_t segment, const EventRecord& event,
              const std::string& at) {
  const std::uint64_t limit = database.mostRowBytes();
  std::string data = dumpJson(event.data);
  if (data.size() > limit / 4) data = dumpJson(Json{{"left_out_bytes", data.size()}});
  database.run(
      "INSERT INTO event(run_id, segment, step, at, kind, text, data) VALUES (?, ?, ?, ?, ?, "
      "?, ?)",
      run, segment, event.step, at.empty() ? utcNow() : at, event.kind, cutToFit(event.text, limit),
      data);
}

std::int64_t lastSegment(Database& database, std::int64_t run) {
  return database.integer("SELECT coalesce(max(number), 0) FROM segment WHERE run_id = ?", run);
}

}  // namespace vitrine::store
