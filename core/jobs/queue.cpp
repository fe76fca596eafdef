#include "core/jobs/queue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/sqlite/database.h"
#include "core/store/tables/dependencies.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"

namespace vitrine {

namespace {

constexpr std::array<std::pair<QueueMode, const char*>, 3> kModes{{
    {QueueMode::Running, "running"},
    {QueueMode::AfterCurrent, "after_current"},
    {QueueMode::Paused, "paused"},
}};

constexpr const char* kAlive = "('starting', 'running', 'pausing', 'stopping')";

/// Why a run that depends on one in that state waits.
std::string waitsFor(std::int64_t run, const std::string& state, bool isStart) {
  std::string text = (isStart ? "starts from " : "needs ") + nameOf(run) + ", which is " + state;
  const RunState now = runStateFromString(state);
  if (now == RunState::Failed || now == RunState::Stopped || now == RunState::Interrupted)
    text += "; it can start when that one is done: `vitrine retry " + std::to_string(run) + "`";
  return text;
}

}  // namespace

std::string toString(QueueMode mode) {
  for (const auto& [value, name] : kModes) {
    if (value == mode) return name;
  }
  return "?";
}

/// Places beyond that are damage; there is always one before and one behind.
static constexpr std::int64_t kMostPlaces = std::int64_t{1} << 62;

JobQueue::JobQueue(RunStore& store) : JobQueue(store, Policy()) {}
JobQueue::JobQueue(RunStore& store, Policy policy) : store_(store), policy_(std::move(policy)) {}

void JobQueue::enqueue(std::span<const std::int64_t> runs, const QueueOptions& options,
                       QueueEnd end) {
  Database& database = *store_.database_;
  database.write([&] {
    const std::int64_t first =
        std::max(-kMostPlaces, database.integer("SELECT coalesce(min(position), 1) FROM "
                                                "queue_entry"));
    const std::int64_t last =
        std::min(kMostPlaces, database.integer("SELECT coalesce(max(position), 0) FROM "
                                               "queue_entry"));
    std::int64_t position =
        end == QueueEnd::Back ? last + 1 : first - static_cast<std::int64_t>(runs.size());
    std::int64_t priority = options.priority;
    if (end == QueueEnd::Front) {
      priority = std::max(priority,
                          database.integer("SELECT coalesce(max(priority), 0) FROM queue_entry"));
    }
    for (const std::int64_t run : runs) {
      const RunState state = stateOf(database, run);
      if (state == RunState::Done || isAlive(state)) {
        throw RefusedError(nameOf(run) + " is " + toString(state) +
                           (state == RunState::Done
                                ? "; enqueue the experiment again for another run"
                                : " and need not be put into the queue"));
      }
      if (state != RunState::Queued) store_.setState(run, RunState::Queued);
      database
          .prepare(
              "INSERT INTO queue_entry(run_id, priority, position, device, time_limit_seconds, "
              "grace_seconds, memory_limit_bytes, needed_memory_bytes, needed_disk_bytes, "
              "enqueued_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(run_id) DO UPDATE "
              "SET "
              "priority = excluded.priority, position = excluded.position, attempts = 0, held = ''")
          .with(run, priority, position++, options.device, options.timeLimitSeconds,
                options.graceSeconds, options.memoryLimitBytes, options.neededMemoryBytes,
                options.neededDiskBytes, utcNow())
          .run();
      touch(database, run);
    }
  });
}

bool JobQueue::mayRetry(const QueueEntry& entry, bool hasNewCheckpoint) const noexcept {
  return hasNewCheckpoint || entry.attempts <= policy_.retries;
}

std::vector<QueueEntry> JobQueue::readEntries() {
  Statement row = store_.database_->prepare(
      std::string(
          "SELECT q.run_id, r.uuid, r.name, e.title, r.state, q.priority, q.device, "
          "q.time_limit_seconds, q.grace_seconds, q.memory_limit_bytes, q.needed_memory_bytes, "
          "q.needed_disk_bytes, q.enqueued_at, q.attempts, q.used_seconds, q.held, p.value, d.id, "
          "d.state, coalesce(r.latest_checkpoint, -1) > q.claimed_checkpoint, "
          "(julianday('now') - julianday(r.finished_at)) * 86400, d.id IS r.depends_on "
          "FROM queue_entry q JOIN run r ON r.id = q.run_id JOIN experiment e ON e.id = "
          "r.experiment_id "
          "LEFT JOIN run d ON d.id = ") +
      kBlockingRun +
      " LEFT JOIN run_parameter p ON p.run_id = r.id AND "
      "p.key = 'train.device' ORDER BY q.priority DESC, q.position");
  std::vector<QueueEntry> entries;
  while (row.step()) {
    QueueEntry entry;
    entry.run = row.integer(0);
    entry.uuid = row.text(1);
    entry.name = row.text(2);
    entry.experiment = row.text(3);
    entry.state = runStateFromString(row.text(4));
    entry.options.priority = row.integer(5);
    entry.options.device = row.text(6);
    entry.options.timeLimitSeconds = row.real(7);
    entry.options.graceSeconds = row.real(8);
    entry.options.memoryLimitBytes = row.integer(9);
    entry.options.neededMemoryBytes = row.integer(10);
    entry.options.neededDiskBytes = row.integer(11);
    entry.enqueuedAt = row.text(12);
    entry.attempts = row.integer(13);
    entry.usedSeconds = row.real(14);
    entry.waits = row.text(15);
    entry.configured = row.text(16);
    const bool isFirst = entry.attempts == 0;
    const bool hasNewCheckpoint = isFirst || row.integer(19) != 0;
    const bool wantsStart = entry.state == RunState::Queued || entry.state == RunState::Paused ||
                            entry.state == RunState::Interrupted;
    if (!row.isNull(17)) {
      entry.waits = waitsFor(row.integer(17), row.text(18), row.integer(21) != 0);
    } else if (entry.state == RunState::Interrupted && !hasNewCheckpoint &&
               !policy_.pauses.empty()) {
      const auto pause =
          std::min<std::size_t>(static_cast<std::size_t>(entry.attempts), policy_.pauses.size()) -
          1;
      const double since = row.real(20);
      entry.isReady =
          mayRetry(entry, hasNewCheckpoint) && !(since < policy_.pauses[pause] && since >= 0);
      if (!entry.isReady) entry.waits = "was interrupted and is started again in a moment";
    } else {
      entry.isReady = wantsStart;
    }
    if (isAlive(entry.state)) entry.waits.clear();
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<QueueEntry> JobQueue::list() { return readEntries(); }

std::optional<QueueEntry> JobQueue::find(std::int64_t run) {
  for (QueueEntry& entry : readEntries()) {
    if (entry.run == run) return std::move(entry);
  }
  return std::nullopt;
}

bool JobQueue::remove(std::int64_t run) {
  Database& database = *store_.database_;
  return database.write([&] {
    database.prepare("DELETE FROM queue_entry WHERE run_id = ?").with(run).run();
    const bool wasThere = sqlite3_changes(database.handle()) > 0;
    if (wasThere) touch(database, run);
    return wasThere;
  });
}

void JobQueue::requireEntry(std::int64_t run) {
  Database& database = *store_.database_;
  static_cast<void>(stateOf(database, run));
  Statement row = database.prepare("SELECT 1 FROM queue_entry WHERE run_id = ?");
  if (!row.with(run).step())
    throw NotFoundError(nameOf(run) + " is not in the queue; `vitrine queue` lists what is");
}

void JobQueue::setPriority(std::int64_t run, std::int64_t priority) {
  Database& database = *store_.database_;
  database.write([&] {
    requireEntry(run);
    database.prepare("UPDATE queue_entry SET priority = ? WHERE run_id = ?")
        .with(priority, run)
        .run();
    touch(database, run);
  });
}

void JobQueue::moveToFront(std::int64_t run) {
  Database& database = *store_.database_;
  database.write([&] {
    requireEntry(run);
    database
        .prepare(
            "UPDATE queue_entry SET priority = (SELECT max(priority) FROM queue_entry), "
            "position = (SELECT min(position) FROM queue_entry) - 1 WHERE run_id = ?")
        .with(run)
        .run();
    touch(database, run);
  });
}

void JobQueue::place(std::int64_t run, std::int64_t other, bool isBefore) {
  Database& database = *store_.database_;
  database.write([&] {
    requireEntry(run);
    requireEntry(other);
    if (run == other) return;
    // Numbered anew, with room for one at the right place.
    const std::vector<QueueEntry> entries = readEntries();
    std::int64_t position = 0;
    const auto put = [&](std::int64_t id) {
      database.prepare("UPDATE queue_entry SET position = ? WHERE run_id = ?")
          .with(++position, id)
          .run();
    };
    for (const QueueEntry& entry : entries) {
      if (entry.run == run) continue;
      if (entry.run == other) {
        database.prepare("UPDATE queue_entry SET priority = ? WHERE run_id = ?")
            .with(entry.options.priority, run)
            .run();
        put(isBefore ? run : other);
        put(isBefore ? other : run);
      } else {
        put(entry.run);
      }
    }
    touch(database, run);
  });
}

void JobQueue::moveBefore(std::int64_t run, std::int64_t other) { place(run, other, true); }
void JobQueue::moveAfter(std::int64_t run, std::int64_t other) { place(run, other, false); }

void JobQueue::requireAtRest(std::int64_t run) {
  requireEntry(run);
  const RunState state = stateOf(*store_.database_, run);
  if (isAlive(state)) {
    throw RefusedError(nameOf(run) + " is " + toString(state) +
                       "; pause it first, what it was started with holds until it ends");
  }
}

void JobQueue::setTimeLimit(std::int64_t run, double seconds) {
  Database& database = *store_.database_;
  database.write([&] {
    requireAtRest(run);
    database.prepare("UPDATE queue_entry SET time_limit_seconds = ? WHERE run_id = ?")
        .with(seconds, run)
        .run();
    touch(database, run);
  });
}

void JobQueue::setDevice(std::int64_t run, const std::string& device) {
  Database& database = *store_.database_;
  database.write([&] {
    requireAtRest(run);
    const std::string configured = find(run)->configured;
    if (!agree(configured, device)) {
      throw RefusedError(nameOf(run) + " has train.device = " + configured +
                         " and cannot be put on " + device);
    }
    database.prepare("UPDATE queue_entry SET device = ?, held = '' WHERE run_id = ?")
        .with(device, run)
        .run();
    touch(database, run);
  });
}

QueueMode JobQueue::mode() {
  Statement row = store_.database_->prepare("SELECT mode FROM queue_state");
  const std::string text = row.step() ? row.text(0) : "";
  for (const auto& [value, name] : kModes) {
    if (text == name) return value;
  }
  throw StoreError("the queue is '" + shown(text) + "'; the database is damaged: restore a backup");
}

void JobQueue::setMode(QueueMode mode) {
  Database& database = *store_.database_;
  database.write([&] {
    if (mode == QueueMode::AfterCurrent && inProgress().empty()) mode = QueueMode::Paused;
    database.prepare("UPDATE queue_state SET mode = ?, changed_at = ?")
        .with(toString(mode), utcNow())
        .run();
  });
}

std::vector<std::int64_t> JobQueue::inProgress() {
  Statement row = store_.database_->prepare(
      std::string(
          "SELECT q.run_id FROM queue_entry q JOIN run r ON r.id = q.run_id WHERE r.state IN ") +
      kAlive + " ORDER BY 1");
  std::vector<std::int64_t> runs;
  while (row.step()) runs.push_back(row.integer(0));
  return runs;
}

std::optional<QueueEntry> JobQueue::next(
    const Device& device, const std::function<std::string(const QueueEntry&)>& hold) {
  Database& database = *store_.database_;
  // Most of the time there is nothing to do, and looking needs no turn at the gate.
  const auto isWanted = [&](const QueueEntry& entry) {
    const std::string& wanted =
        entry.options.device.empty() ? entry.configured : entry.options.device;
    return entry.isReady && fits(wanted, device);
  };
  {
    const std::vector<QueueEntry> entries = readEntries();
    if (mode() != QueueMode::Running || std::none_of(entries.begin(), entries.end(), isWanted))
      return std::nullopt;
  }
  return database.write([&]() -> std::optional<QueueEntry> {
    if (mode() != QueueMode::Running) return std::nullopt;
    for (QueueEntry& entry : readEntries()) {
      if (!isWanted(entry)) continue;
      const std::string held = hold ? hold(entry) : "";
      if (held != entry.waits) {
        database.prepare("UPDATE queue_entry SET held = ? WHERE run_id = ?")
            .with(held, entry.run)
            .run();
        touch(database, entry.run);
      }
      if (!held.empty()) continue;
      store_.claim(entry.run);
      database
          .prepare(
              "UPDATE queue_entry SET attempts = CASE WHEN attempts > 0 AND (SELECT "
              "coalesce(latest_checkpoint, -1) FROM run WHERE id = run_id) > claimed_checkpoint "
              "THEN "
              "1 ELSE attempts + 1 END WHERE run_id = ?")
          .with(entry.run)
          .run();
      database
          .prepare(
              "UPDATE queue_entry SET claimed_checkpoint = (SELECT coalesce(latest_checkpoint, -1) "
              "FROM run WHERE id = run_id) WHERE run_id = ?")
          .with(entry.run)
          .run();
      return std::move(entry);
    }
    return std::nullopt;
  });
}

bool JobQueue::adopt(std::int64_t run) {
  return store_.database_->write([&] {
    const RunState state = stateOf(*store_.database_, run);
    if (state == RunState::Starting || state == RunState::Stopping) {
      store_.setWorker(run, thisWorker());
      return true;
    }
    // Whoever claimed it was gone before this process could say that it is there.
    if (state != RunState::Interrupted) return false;
    store_.claim(run);
    return true;
  });
}

void JobQueue::handOver(std::int64_t run, const Worker& keeper) {
  const Worker here = thisWorker();
  store_.database_->write([&] {
    const RunRow row = readRun(*store_.database_, run);
    const bool isMine = row.worker.pid == here.pid && row.worker.startTime == here.startTime;
    if (isAlive(row.state) && isMine) store_.setWorker(run, keeper);
  });
}

void JobQueue::ended(std::int64_t run, const RunEnding& ending) {
  Database& database = *store_.database_;
  database.write([&] {
    const RunRow row = readRun(database, run);
    const bool wasAsked = store_.request(run) == "stop";
    if (isAlive(row.state)) {
      const RunState to = wasAsked && canChange(row.state, RunState::Stopped)
                              ? RunState::Stopped
                              : RunState::Interrupted;
      const bool isLegal = canChange(row.state, to);
      store_.setState(run, isLegal ? to : RunState::Interrupted, ending.reason);
    } else if (!ending.reason.empty() && row.state != RunState::Done) {
      // Somebody else noticed first, and knows less.
      database.prepare("UPDATE run SET reason = ? WHERE id = ?").with(ending.reason, run).run();
    }
    if (!ending.data.empty()) {
      addEvent(database, run, lastSegment(database, run),
               {row.step, "process_ended", ending.reason, ending.data});
    }
    database.prepare("UPDATE queue_entry SET used_seconds = used_seconds + ? WHERE run_id = ?")
        .with(ending.seconds, run)
        .run();
    const RunState now = stateOf(database, run);
    const bool stays = ending.mayGoOn && (now == RunState::Interrupted || now == RunState::Paused ||
                                          now == RunState::Queued);
    if (!stays) database.prepare("DELETE FROM queue_entry WHERE run_id = ?").with(run).run();
    touch(database, run);
  });
  tidy();
}

void JobQueue::note(std::int64_t run, const std::string& kind, const std::string& text) {
  Database& database = *store_.database_;
  database.write([&] {
    const RunRow row = readRun(database, run);
    addEvent(database, run, lastSegment(database, run), {row.step, kind, text, Json::object()});
    touch(database, run);
  });
}

void JobQueue::tidy() {
  Database& database = *store_.database_;
  const auto over = [&] {
    std::vector<std::int64_t> runs;
    for (const QueueEntry& entry : readEntries()) {
      if (entry.state == RunState::Done || entry.state == RunState::Failed ||
          entry.state == RunState::Stopped)
        runs.push_back(entry.run);
    }
    return runs;
  };
  const auto isPausedNow = [&] {
    return mode() == QueueMode::AfterCurrent && inProgress().empty();
  };
  if (over().empty() && !isPausedNow()) return;
  database.write([&] {
    for (const std::int64_t run : over()) remove(run);
    if (isPausedNow()) setMode(QueueMode::Paused);
  });
}

void JobQueue::giveUp() {
  Database& database = *store_.database_;
  const auto lost = [&] {
    std::vector<QueueEntry> entries = readEntries();
    std::erase_if(entries, [&](const QueueEntry& entry) {
      return entry.state != RunState::Interrupted || entry.isReady ||
             entry.attempts <= policy_.retries;
    });
    return entries;
  };
  if (lost().empty()) return;
  database.write([&] {
    for (const QueueEntry& entry : lost()) {
      database.prepare("UPDATE run SET reason = reason || ? WHERE id = ?")
          .with("; the queue gave up after " + std::to_string(entry.attempts) +
                    " starts without a new checkpoint",
                entry.run)
          .run();
      remove(entry.run);
    }
  });
}

}  // namespace vitrine
