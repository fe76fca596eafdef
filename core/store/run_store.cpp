#include "core/store/run_store.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/store/metrics.h"
#include "core/store/rows.h"
#include "core/store/schema.h"

namespace vitrine {

namespace {

/// Fewer points of a metric stay in the tail when a segment ends.
constexpr std::size_t kWorthPacking = 16;

std::int64_t nextChange(Database& database) {
  Statement row = database.prepare(
      "UPDATE counter SET value = value + 1 WHERE name = 'change' RETURNING value");
  const bool found = row.step();
  const std::int64_t change = found ? row.integer(0) : 0;
  row.run();
  return change;
}

void touch(Database& database, std::int64_t run) {
  database.prepare("UPDATE run SET change_sequence = ? WHERE id = ?")
      .with(nextChange(database), run)
      .run();
}

std::string nameOf(std::int64_t run) { return "run " + std::to_string(run); }

[[noreturn]] void noSuchRun(const Database& database, std::int64_t run) {
  throw NotFoundError("there is no " + nameOf(run) + " in '" + database.file().string() +
                      "'; `vitrine runs` lists them");
}

RunState stateOf(Database& database, std::int64_t run) {
  Statement row = database.prepare("SELECT state FROM run WHERE id = ?");
  if (!row.with(run).step()) noSuchRun(database, run);
  return runStateFromString(row.text(0));
}

void bindSeed(Statement& row, int index, std::uint64_t seed) {
  if (seed <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    row.bind(index, static_cast<std::int64_t>(seed));
  } else {
    row.bind(index, std::to_string(seed));
  }
}

void bindParameter(Statement& row, int index, const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      row.bindNull(index);
      break;
    case Json::value_t::boolean:
      row.bind(index, value.get<bool>() ? 1 : 0);
      break;
    case Json::value_t::number_integer:
      row.bind(index, value.get<std::int64_t>());
      break;
    case Json::value_t::number_unsigned:
      bindSeed(row, index, value.get<std::uint64_t>());
      break;
    case Json::value_t::number_float:
      row.bind(index, value.get<double>());
      break;
    case Json::value_t::string:
      row.bind(index, value.get_ref<const std::string&>());
      break;
    default:
      row.bind(index, dumpJson(value));
  }
}

void addEvent(Database& database, std::int64_t run, std::int64_t segment,
              const EventRecord& event) {
  database
      .prepare(
          "INSERT INTO event(run_id, segment, step, at, kind, text, data) VALUES (?, ?, ?, ?, ?, "
          "?, ?)")
      .with(run, segment, event.step, utcNow(), event.kind, event.text, dumpJson(event.data))
      .run();
}

/// Number of the newest segment, 0 where there is none.
std::int64_t lastSegment(Database& database, std::int64_t run) {
  Statement row = database.prepare("SELECT coalesce(max(number), 0) FROM segment WHERE run_id = ?");
  return row.with(run).step() ? row.integer(0) : 0;
}

/// Within a transaction: the one place where a run's state is written.
void changeState(Database& database, std::int64_t run, RunState to, const std::string& reason) {
  const RunState from = stateOf(database, run);
  if (!canChange(from, to)) {
    throw StoreError(nameOf(run) + " is " + toString(from) + " and cannot become " + toString(to));
  }
  const bool ends = !isAlive(to) && to != RunState::Queued;
  Statement row = database.prepare(
      "UPDATE run SET state = ?2, reason = ?3, change_sequence = ?4, "
      "request = CASE WHEN ?5 THEN '' ELSE request END, "
      "finished_at = CASE WHEN ?6 THEN ?7 ELSE '' END, "
      "started_at = CASE WHEN ?2 = 'running' AND started_at = '' THEN ?7 ELSE started_at END "
      "WHERE id = ?1");
  row.with(run, toString(to), reason, nextChange(database), isAlive(to) ? 0 : 1, ends ? 1 : 0,
           utcNow());
  row.run();
  if (to == RunState::Starting) {
    // The claim, until a segment is opened or the launcher knows its child: a lost one can be told.
    const Worker worker = thisWorker();
    database
        .prepare(
            "UPDATE run SET worker_pid = ?2, worker_start = ?3, worker_boot = ?4, worker_host = ?5 "
            "WHERE id = ?1")
        .with(run, worker.pid, worker.startTime, worker.bootId, worker.host)
        .run();
  }
  if (from != to) {
    std::int64_t step = 0;
    {
      Statement at = database.prepare("SELECT step FROM run WHERE id = ?");
      if (at.with(run).step()) step = at.integer(0);
    }
    EventRecord event{step, "state", reason, Json::object()};
    event.data["from"] = toString(from);
    event.data["to"] = toString(to);
    addEvent(database, run, lastSegment(database, run), event);
  }
  if (ends) packMetrics(database, run, kWorthPacking);
}

void addParameters(Database& database, std::int64_t run, const Json& config) {
  Statement row =
      database.prepare("INSERT OR REPLACE INTO run_parameter(run_id, key, value) VALUES (?, ?, ?)");
  for (const auto& [key, value] : flatten(config)) {
    row.bind(1, run).bind(2, key);
    bindParameter(row, 3, value);
    row.run();
    sqlite3_reset(row.handle());
  }
}

std::int64_t storeArtifact(Database& database, std::int64_t run, std::int64_t segment,
                           const Artifact& artifact) {
  Statement row = database.prepare(
      "INSERT INTO artifact(run_id, segment, step, created_at, analysis, name, kind, meta, data) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  row.with(run, segment, artifact.step, utcNow(), artifact.analysis, artifact.name, artifact.kind,
           dumpJson(artifact.meta));
  row.bindBlob(9, artifact.data);
  row.run();
  return sqlite3_last_insert_rowid(database.handle());
}

void storeCheckpoint(Database& database, std::int64_t run, std::int64_t segment,
                     const CheckpointRecord& checkpoint) {
  database
      .prepare(
          "INSERT OR REPLACE INTO checkpoint(run_id, step, segment, folder, bytes, seconds, "
          "created_at, is_best) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      .with(run, checkpoint.step, segment, checkpoint.folder, checkpoint.bytes, checkpoint.seconds,
            utcNow(), checkpoint.isBest ? 1 : 0)
      .run();
  for (const std::string& folder : checkpoint.removed) {
    database
        .prepare(
            "UPDATE checkpoint SET removed_at = ? WHERE run_id = ? AND folder = ? AND step <> ?")
        .with(utcNow(), run, folder, checkpoint.step)
        .run();
  }
  if (checkpoint.isBest) {
    database.prepare("UPDATE run SET best_checkpoint = ? WHERE id = ?")
        .with(checkpoint.step, run)
        .run();
  }
  database.prepare("UPDATE run SET latest_checkpoint = ? WHERE id = ?")
      .with(checkpoint.step, run)
      .run();
}

void storeProgress(Database& database, std::int64_t run, const ProgressRecord& progress) {
  database
      .prepare(
          "UPDATE run SET step = ?2, total_steps = ?3, epoch = ?4, total_epochs = ?5, loss = ?6, "
          "images_per_second = ?7, memory_bytes = ?8, remaining_seconds = ?9 WHERE id = ?1")
      .with(run, progress.step, progress.totalSteps, progress.epoch, progress.totalEpochs,
            progress.loss, progress.imagesPerSecond, progress.memoryBytes,
            progress.remainingSeconds)
      .run();
}

}  // namespace

RunStore::RunStore(const std::filesystem::path& file, OpenMode mode) {
  const auto access = mode == OpenMode::ReadWriteCreate ? Database::Access::Create
                      : mode == OpenMode::ReadWrite     ? Database::Access::Write
                                                        : Database::Access::Read;
  database_ = std::make_unique<Database>(file, access);
  openSchema(*database_);
}
RunStore::~RunStore() = default;
RunStore::RunStore(RunStore&&) noexcept = default;

const std::filesystem::path& RunStore::file() const noexcept { return database_->file(); }

std::int64_t RunStore::experiment(const std::string& title, const std::string& sourceText) {
  return database_->write([&] {
    Statement row = database_->prepare(
        "INSERT INTO experiment(title, source, created_at) VALUES (?, ?, ?) "
        "ON CONFLICT(title) DO UPDATE SET source = excluded.source RETURNING id");
    const bool found = row.with(title, sourceText, utcNow()).step();
    const std::int64_t id = found ? row.integer(0) : 0;
    row.run();
    return id;
  });
}

std::vector<std::int64_t> RunStore::addRuns(std::int64_t experimentId,
                                            const std::vector<NewRun>& runs) {
  Database& database = *database_;
  return database.write([&] {
    std::vector<std::int64_t> ids;
    for (const NewRun& run : runs) {
      std::int64_t dependsOn = run.dependsOn;
      if (dependsOn < 0) {
        const auto index = static_cast<std::size_t>(-(dependsOn + 1));
        if (index >= ids.size()) {
          throw StoreError("the new run '" + run.name + "' depends on number " +
                           std::to_string(index) + " of its list, which does not come before it");
        }
        dependsOn = ids[index];
      }
      {
        Statement row = database.prepare(
            "INSERT INTO run(uuid, experiment_id, variant, stage, name, seed, depends_on, state, "
            "created_at, "
            "change_sequence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        row.with(newUuid(), experimentId, run.variant, run.stage, run.name);
        bindSeed(row, 6, run.seed);
        if (dependsOn == 0) {
          row.bindNull(7);
        } else {
          row.bind(7, dependsOn);
        }
        row.bind(8, toString(run.state)).bind(9, utcNow()).bind(10, nextChange(database));
        row.run();
      }
      const std::int64_t id = sqlite3_last_insert_rowid(database.handle());
      database.prepare("INSERT INTO run_config(run_id, config, origins, init) VALUES (?, ?, ?, ?)")
          .with(id, dumpJson(run.config), dumpJson(run.origins), dumpJson(run.init))
          .run();
      addParameters(database, id, run.config);
      ids.push_back(id);
    }
    return ids;
  });
}

void RunStore::setState(std::int64_t run, RunState to, const std::string& reason) {
  database_->write([&] { changeState(*database_, run, to, reason); });
}

void RunStore::claim(std::int64_t run) {
  database_->write([&] {
    const RunState state = stateOf(*database_, run);
    if (isAlive(state) || !canChange(state, RunState::Starting)) {
      throw RefusedError(nameOf(run) + " is " + toString(state) + " and cannot be started");
    }
    changeState(*database_, run, RunState::Starting, "");
  });
}

std::int64_t RunStore::openSegment(std::int64_t run, std::int64_t firstStep, const Worker& worker,
                                   const Json& environment) {
  Database& database = *database_;
  if (firstStep < 0) {
    throw StoreError(nameOf(run) + " cannot go on at step " + std::to_string(firstStep));
  }
  return database.write([&] {
    const RunRow row = readRun(database, run);
    const bool isMine = row.worker.pid == worker.pid && row.worker.startTime == worker.startTime;
    // The launcher's claim is handed over; that of a worker only when it is gone.
    if (isAlive(row.state) && row.state != RunState::Starting) {
      if (!isMine && isWorkerAlive(row.worker)) {
        throw RefusedError(nameOf(run) + " is being worked on by process " +
                           std::to_string(row.worker.pid) + "; stop that one first");
      }
      changeState(database, run, RunState::Interrupted, "another segment was opened");
    }
    const std::int64_t previous = lastSegment(database, run);
    changeState(database, run, RunState::Running, "");
    if (previous > 0) {
      database
          .prepare(
              "UPDATE segment SET last_step = ?2 WHERE run_id = ?1 AND coalesce(last_step, ?2) >= "
              "?2")
          .with(run, firstStep)
          .run();
      packMetrics(database, run, kWorthPacking);
    }
    database
        .prepare(
            "INSERT INTO segment(run_id, number, first_step, resumed_from, started_at, worker_pid, "
            "worker_start, "
            "worker_boot, worker_host, environment) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .with(run, previous + 1, firstStep, previous, utcNow(), worker.pid, worker.startTime,
              worker.bootId, worker.host, dumpJson(environment))
        .run();
    if (previous > 0) rebuildSummaries(database, run);
    const auto text = [&](const char* key) {
      const auto found = environment.is_object() ? environment.find(key) : environment.end();
      return found != environment.end() && found->is_string() ? found->get<std::string>()
                                                              : std::string();
    };
    database
        .prepare(
            "UPDATE run SET worker_pid = ?2, worker_start = ?3, worker_boot = ?4, worker_host = "
            "?5, "
            "heartbeat_at = ?6, device = ?7, commit_hash = ?8, step = ?9, latest_checkpoint = CASE "
            "WHEN "
            "latest_checkpoint > ?9 THEN nullif(?9, 0) ELSE latest_checkpoint END, best_checkpoint "
            "= CASE WHEN "
            "best_checkpoint > ?9 THEN NULL ELSE best_checkpoint END WHERE id = ?1")
        .with(run, worker.pid, worker.startTime, worker.bootId, worker.host, utcNow(),
              text("device"), text("commit"), firstStep)
        .run();
    return previous + 1;
  });
}

void RunStore::setRequest(std::int64_t run, const std::string& request) {
  static const std::set<std::string> kRequests{"", "checkpoint", "pause", "stop"};
  if (kRequests.count(request) == 0) {
    throw StoreError("'" + request + "' cannot be asked of a run; use checkpoint, pause or stop");
  }
  database_->write([&] {
    const RunState state = stateOf(*database_, run);
    if (!request.empty() && !isAlive(state)) {
      throw RefusedError(nameOf(run) + " is " + toString(state) +
                         "; only a run in progress can be asked to " + request);
    }
    database_->prepare("UPDATE run SET request = ? WHERE id = ?").with(request, run).run();
    touch(*database_, run);
  });
}

std::string RunStore::request(std::int64_t run) {
  Statement row = database_->prepare("SELECT request FROM run WHERE id = ?");
  if (!row.with(run).step()) noSuchRun(*database_, run);
  return row.text(0);
}

void RunStore::setWorker(std::int64_t run, const Worker& worker) {
  database_->write([&] {
    database_
        ->prepare(
            "UPDATE run SET worker_pid = ?2, worker_start = ?3, worker_boot = ?4, worker_host = ?5 "
            "WHERE id = ?1")
        .with(run, worker.pid, worker.startTime, worker.bootId, worker.host)
        .run();
    touch(*database_, run);
  });
}

void RunStore::setLogFile(std::int64_t run, const std::string& relativePath) {
  database_->write([&] {
    database_->prepare("UPDATE run SET log_file = ? WHERE id = ?").with(relativePath, run).run();
    touch(*database_, run);
  });
}

void RunStore::deleteRun(std::int64_t run) {
  Database& database = *database_;
  std::string uuid;
  database.write([&] {
    const RunRow row = readRun(database, run);
    uuid = row.uuid;
    if (isAlive(row.state)) {
      throw RefusedError(nameOf(run) + " is " + toString(row.state) +
                         "; stop it before deleting it");
    }
    {
      Statement other = database.prepare(
          "SELECT id FROM run WHERE depends_on = ? AND state IN ('queued', 'starting') LIMIT 1");
      if (other.with(run).step()) {
        throw RefusedError(nameOf(run) + " is what " + nameOf(other.integer(0)) +
                           " will start from; delete that one first");
      }
    }
    database.prepare("UPDATE run SET depends_on = NULL WHERE depends_on = ?").with(run).run();
    // Values refer to clocks: they go first.
    database.prepare("DELETE FROM metric_chunk WHERE run_id = ?").with(run).run();
    database.prepare("DELETE FROM run WHERE id = ?").with(run).run();
    database
        .prepare(
            "INSERT INTO deleted_run(run_id, uuid, deleted_at, change_sequence) VALUES (?, ?, ?, "
            "?)")
        .with(run, uuid, utcNow(), nextChange(database))
        .run();
  });
  const auto folder = filesFolder(file()) / ("run-" + uuid);
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (error) {
    throw StoreError(nameOf(run) + " is deleted, but not its folder '" + folder.string() +
                     "': " + error.message());
  }
}

void RunStore::setNote(std::int64_t run, const std::string& text) {
  database_->write([&] {
    static_cast<void>(stateOf(*database_, run));
    database_->prepare("INSERT OR REPLACE INTO note(run_id, text, changed_at) VALUES (?, ?, ?)")
        .with(run, text, utcNow())
        .run();
    touch(*database_, run);
  });
}

void RunStore::setTags(std::int64_t run, const std::vector<std::string>& tags) {
  database_->write([&] {
    static_cast<void>(stateOf(*database_, run));
    database_->prepare("DELETE FROM tag WHERE run_id = ?").with(run).run();
    for (const std::string& tag : tags) {
      database_->prepare("INSERT OR IGNORE INTO tag(run_id, tag) VALUES (?, ?)")
          .with(run, tag)
          .run();
    }
    touch(*database_, run);
  });
}

void RunStore::append(std::int64_t run, std::int64_t segment, const Batch& batch) {
  Database& database = *database_;
  database.write([&] {
    static_cast<void>(shownSteps(database, run, segment));
    appendMetrics(database, run, segment, batch.metrics);
    for (const EventRecord& event : batch.events) addEvent(database, run, segment, event);
    for (const Artifact& artifact : batch.artifacts)
      storeArtifact(database, run, segment, artifact);
    for (const CheckpointRecord& checkpoint : batch.checkpoints) {
      storeCheckpoint(database, run, segment, checkpoint);
    }
    if (batch.progress) storeProgress(database, run, *batch.progress);
    database.prepare("UPDATE run SET heartbeat_at = ?, change_sequence = ? WHERE id = ?")
        .with(utcNow(), nextChange(database), run)
        .run();
  });
}

std::int64_t RunStore::addArtifact(std::int64_t run, const Artifact& artifact) {
  return database_->write([&] {
    static_cast<void>(stateOf(*database_, run));
    const std::int64_t id = storeArtifact(*database_, run, 0, artifact);
    touch(*database_, run);
    return id;
  });
}

std::vector<std::int64_t> RunStore::reapLostRuns() {
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
      std::string reason;
      if (row.worker.pid == 0) {
        reason = "no process ever took the run up";
      } else if (row.worker.bootId != here.bootId) {
        reason = "the machine was restarted while the run was in progress";
      } else {
        reason = "its process " + std::to_string(row.worker.pid) +
                 " is gone without a word: killed, perhaps for want of memory, or crashed";
      }
      const std::string line = lastLogLine(filesFolder(file()), row.logFile);
      if (!line.empty()) reason += "; the last line of its log: " + line;
      changeState(*database_, id, RunState::Interrupted, reason);
      reaped.push_back(id);
    }
  });
  return reaped;
}

}  // namespace vitrine
