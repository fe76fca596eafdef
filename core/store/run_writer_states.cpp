// States of runs, their workers and their requests: the half of RunWriter that processes agree
// through.
#include <set>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/config/lookup.h"
#include "core/store/maintenance/run_check.h"
#include "core/store/maintenance/thinning.h"
#include "core/store/metrics/metrics.h"
#include "core/store/run_store.h"
#include "core/store/spool/spool.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"
#include "core/store/tables/run_states.h"
#include "core/store/tables/storable.h"

namespace vitrine::store {

void RunWriter::setState(std::int64_t run, RunState to, const std::string& reason) {
  try {
    database_->write([&] { changeState(*database_, run, to, reason); });
  } catch (const UnwritableError& error) {
    const bool ends = !isAlive(to) && to != RunState::Queued;
    if (!ends || !Spool::takeEnding(*database_, run, to, reason)) throw;
    log::warning(std::string(error.what()) + "; that " + nameOf(run) + " is " + toString(to) +
                 " waits in a side file, like its last results");
  }
}

void RunWriter::setReason(std::int64_t run, const std::string& reason) {
  Database& database = *database_;
  database.write([&] {
    static_cast<void>(stateOf(database, run));
    database.run("UPDATE run SET reason = ? WHERE id = ?",
                 cutToFit(reason, database.mostRowBytes()), run);
    touch(database, run);
  });
}

RunState RunWriter::claim(std::int64_t run) {
  return database_->write([&] {
    const RunState state = stateOf(*database_, run);
    if (isAlive(state) || !canChange(state, RunState::Starting))
      throw RefusedError(nameOf(run) + " is " + toString(state) + " and cannot be started");
    changeState(*database_, run, RunState::Starting, "");
    return state;
  });
}

void RunWriter::addToEnvironment(std::int64_t run, std::int64_t segment, const std::string& name,
                                 const Json& value) {
  Database& database = *database_;
  database.write([&] {
    database.run(
        "UPDATE segment SET environment = json_set(environment, '$.' || ?3, json(?4)) WHERE "
        "run_id = ?1 AND number = ?2",
        run, segment, name, dumpJson(value));
  });
}

std::int64_t RunWriter::openSegment(std::int64_t run, std::int64_t firstStep, const Worker& worker,
                                    const Json& environment) {
  Database& database = *database_;
  if (firstStep < 0)
    throw StoreError(nameOf(run) + " cannot continue at step " + std::to_string(firstStep));
  return database.write([&] {
    const RunRow row = readRun(database, run);
    const bool isMine = row.worker.pid == worker.pid && row.worker.startTime == worker.startTime;
    // What is asked of a run while it is starting is for the worker that comes now. What was asked
    // of a worker that has ended went with it.
    const std::string request =
        isAlive(row.state) && !hasSegment(database, row) ? requestOf(database, run) : "";
    // The launcher's claim is handed over; that of a worker only when it is gone.
    if (isAlive(row.state) && row.state != RunState::Starting) {
      if (!isMine && isWorkerAlive(row.worker)) {
        throw RefusedError(nameOf(run) + " is being worked on by process " +
                           std::to_string(row.worker.pid) + "; stop that one first");
      }
      changeState(database, run, RunState::Interrupted, "another segment was opened");
    }
    const std::int64_t previous =
        counted(lastSegment(database, run), "the newest segment of " + nameOf(run));
    changeState(database, run, RunState::Running, "");
    if (!request.empty()) database.run("UPDATE run SET request = ? WHERE id = ?", request, run);
    if (previous > 0) {
      database.run(
          "UPDATE segment SET last_step = ?2 WHERE run_id = ?1 AND coalesce(last_step, ?2) >= "
          "?2",
          run, firstStep);
      packMetrics(database, run, kWorthPacking);
    }
    database.run(
        "INSERT INTO segment(run_id, number, first_step, resumed_from, started_at, worker_pid, "
        "worker_start, "
        "worker_boot, worker_host, environment) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        run, previous + 1, firstStep, previous, utcNow(), worker.pid, worker.startTime,
        worker.bootId, worker.host, dumpJson(environment));
    if (previous > 0) {
      markRemovedCheckpoints(database, run);
      rebuildSummaries(database, run);
      countThinnedOut(database, run);
    }
    database.run(
        "UPDATE run SET worker_pid = ?2, worker_start = ?3, worker_boot = ?4, worker_host = "
        "?5, "
        "heartbeat_at = ?6, device = ?7, commit_hash = ?8, step = ?9, latest_checkpoint = CASE "
        "WHEN "
        "latest_checkpoint > ?9 THEN nullif(?9, 0) ELSE latest_checkpoint END, best_checkpoint "
        "= CASE WHEN "
        "best_checkpoint > ?9 THEN (SELECT max(c.step) FROM checkpoint c WHERE c.run_id = ?1 "
        "AND "
        "c.is_best = 1 AND c.removed_at = '' AND c.step <= ?9) ELSE best_checkpoint END WHERE "
        "id = ?1",
        run, worker.pid, worker.startTime, worker.bootId, worker.host, utcNow(),
        textAt(environment, "device"), textAt(environment, "commit"), firstStep);
    return previous + 1;
  });
}

void RunWriter::setRequest(std::int64_t run, const std::string& request) {
  static const std::set<std::string> kRequests{"", "checkpoint", "pause", "stop"};
  if (kRequests.count(request) == 0)
    throw StoreError("'" + request + "' cannot be asked of a run; use checkpoint, pause or stop");
  const auto write = [&] {
    const RunState state = stateOf(*database_, run);
    if (!request.empty() && !isAlive(state)) {
      throw RefusedError(nameOf(run) + " is " + toString(state) +
                         "; only a run in progress can be asked to " + request);
    }
    database_->run("UPDATE run SET request = ? WHERE id = ?", request, run);
    touch(*database_, run);
  };
  try {
    database_->write(write);
  } catch (const UnwritableError&) {
    // A request is forgotten with the end of its run anyway, and that can wait in a side file.
    if (!request.empty()) throw;
  }
}

void RunWriter::forgetCheckpointRequest(std::int64_t run) {
  database_->write([&] {
    database_->run("UPDATE run SET request = '' WHERE id = ? AND request = 'checkpoint'", run);
  });
}

void RunWriter::setWorker(std::int64_t run, const Worker& worker) {
  database_->write([&] {
    database_->run(
        "UPDATE run SET worker_pid = ?2, worker_start = ?3, worker_boot = ?4, worker_host = ?5 "
        "WHERE id = ?1",
        run, worker.pid, worker.startTime, worker.bootId, worker.host);
    touch(*database_, run);
  });
}

void RunWriter::setLogFile(std::int64_t run, const std::string& relativePath) {
  database_->write([&] {
    database_->run("UPDATE run SET log_file = ? WHERE id = ?", relativePath, run);
    touch(*database_, run);
  });
}

std::vector<std::int64_t> RunWriter::reapLostRuns() {
  Spool::storeAll(*database_);  // may say how a run ended whose process has ended
  const Worker here = thisWorker();
  const auto isLost = [&](const RunRow& row) {
    // A process of another machine cannot be looked for; its owner will say.
    return isAlive(row.state) && (row.worker.host == here.host || row.worker.pid == 0) &&
           !isWorkerAlive(row.worker);
  };
  std::vector<std::int64_t> lost;
  for (const RunRow& row : readRunsAlive(*database_)) {
    if (isLost(row)) lost.push_back(row.id);
  }
  std::vector<std::int64_t> reaped;
  if (lost.empty()) return reaped;
  database_->write([&] {
    for (const std::int64_t id : lost) {
      const RunRow row = readRun(*database_, id);  // it may have ended properly meanwhile
      if (!isLost(row)) continue;
      if (!hasSegment(*database_, row) && requestOf(*database_, id) == "stop") {
        changeState(*database_, id, RunState::Stopped, "stopped on request before its first step");
        reaped.push_back(id);
        continue;
      }
      std::string reason;
      if (row.worker.pid == 0) {
        reason = "no process ever started the run";
      } else if (row.worker.bootId != here.bootId) {
        reason = "the machine was restarted while the run was in progress";
      } else {
        reason = "its process " + std::to_string(row.worker.pid) +
                 " ended without a report: killed, perhaps out of memory, or crashed";
      }
      const std::string line = lastLogLine(filesFolder(database_->file()), row.logFile);
      if (!line.empty()) reason += "; the last line of its log: " + line;
      changeState(*database_, id, RunState::Interrupted, reason);
      reaped.push_back(id);
    }
  });
  return reaped;
}

}  // namespace vitrine::store
