#include "core/store/tables/run_states.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/metrics/metrics.h"
#include "core/store/tables/run_changes.h"
#include "core/store/tables/storable.h"

namespace vitrine::store {

void changeState(Database& database, std::int64_t run, RunState to, const std::string& reason) {
  const RunState from = stateOf(database, run);
  if (!canChange(from, to))
    throw StoreError(nameOf(run) + " is " + toString(from) + " and cannot become " + toString(to));
  const bool ends = !isAlive(to) && to != RunState::Queued;
  Statement row = database.prepare(
      "UPDATE run SET state = ?2, reason = ?3, change_sequence = ?4, "
      "request = CASE WHEN ?5 THEN '' ELSE request END, "
      "finished_at = CASE WHEN ?6 THEN ?7 ELSE '' END, "
      "started_at = CASE WHEN ?2 = 'running' AND started_at = '' THEN ?7 ELSE started_at END "
      "WHERE id = ?1");
  row.with(run, toString(to), cutToFit(reason, database.mostRowBytes()), nextChange(database),
           isAlive(to) ? 0 : 1, ends ? 1 : 0, utcNow());
  row.run();
  if (to == RunState::Starting) {
    // The claim, until a segment is opened or the launcher knows its child: a lost one can be
    // recognised.
    const Worker worker = thisWorker();
    database.run(
        "UPDATE run SET worker_pid = ?2, worker_start = ?3, worker_boot = ?4, worker_host = ?5 "
        "WHERE id = ?1",
        run, worker.pid, worker.startTime, worker.bootId, worker.host);
  }
  if (from != to) {
    const std::int64_t step = database.integer("SELECT step FROM run WHERE id = ?", run);
    EventRecord event{step, "state", reason, Json::object()};
    event.data["from"] = toString(from);
    event.data["to"] = toString(to);
    addEvent(database, run, lastSegment(database, run), event);
  }
  if (ends) packMetrics(database, run, kWorthPacking);
}

std::string requestOf(Database& database, std::int64_t run) {
  Statement row = database.prepare("SELECT request FROM run WHERE id = ?");
  if (!row.with(run).step()) noSuchRun(database, run);
  return row.text(0);
}

bool hasSegment(Database& database, const RunRow& run) {
  return database.any(
      "SELECT 1 FROM segment WHERE run_id = ? AND worker_pid = ? AND worker_start = ? AND "
      "worker_boot = ? LIMIT 1",
      run.id, run.worker.pid, run.worker.startTime, run.worker.bootId);
}

void storeEnding(Database& database, std::int64_t run, std::int64_t segment, RunState to,
                 const std::string& reason) {
  RunState state = stateOf(database, run);
  if (lastSegment(database, run) != segment) return;  // it continued meanwhile
  if (state == RunState::Interrupted) {
    // Another process noticed that its process has ended; what the process said is more.
    changeState(database, run, RunState::Running, "");
    state = RunState::Running;
  }
  // A stop that was asked for after the pause counts more.
  if (state == RunState::Stopping && to == RunState::Paused) to = RunState::Stopped;
  if (canChange(state, to)) changeState(database, run, to, reason);
}

}  // namespace vitrine::store
