#include "core/store/queue_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/tables/dependencies.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"

namespace vitrine::store {

namespace {

constexpr std::array<std::pair<QueueMode, const char*>, 3> kModes{{
    {QueueMode::Running, "running"},
    {QueueMode::AfterCurrent, "after_current"},
    {QueueMode::Paused, "paused"},
}};

/// Places beyond that are damage; there is always one before and one behind.
constexpr std::int64_t kMostPlaces = std::int64_t{1} << 62;

QueueRow rowOf(const Statement& row) {
  QueueRow entry;
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
  entry.held = row.text(15);
  entry.configured = row.text(16);
  if (!row.isNull(17)) {
    entry.blocker =
        RunReader::Blocker{row.integer(17), runStateFromString(row.text(18)), row.integer(21) != 0};
  }
  entry.hasNewCheckpoint = row.integer(19) != 0;
  entry.secondsSinceEnd = row.real(20);
  return entry;
}

/// `change`, an UPDATE of one row, which readers hear of.
template <typename... Values>
void update(Database& database, std::int64_t run, const char* change, const Values&... values) {
  database.write([&] {
    database.run(change, values..., run);
    touch(database, run);
  });
}

}  // namespace

std::string toString(QueueMode mode) {
  for (const auto& [value, name] : kModes) {
    if (value == mode) return name;
  }
  return "?";
}

QueueTable::QueueTable(RunStore& store) : database_(store.connection()) {}

void QueueTable::transaction(const std::function<void()>& body) { database_.write(body); }

std::vector<QueueRow> QueueTable::rows() {
  return database_.rows(
      std::string(
          "SELECT q.run_id, r.uuid, r.name, e.title, r.state, q.priority, q.device, "
          "q.time_limit_seconds, q.grace_seconds, q.memory_limit_bytes, q.needed_memory_bytes, "
          "q.needed_disk_bytes, q.enqueued_at, q.attempts, q.used_seconds, q.held, p.value, d.id, "
          "d.state, coalesce(r.latest_checkpoint, -1) > q.claimed_checkpoint, "
          "(julianday('now') - julianday(r.finished_at)) * 86400, d.id IS r.depends_on "
          "FROM queue_entry q JOIN run r ON r.id = q.run_id JOIN experiment e ON e.id = "
          "r.experiment_id LEFT JOIN run d ON d.id = ") +
          kBlockingRun +
          " LEFT JOIN run_parameter p ON p.run_id = r.id AND "
          "p.key = 'train.device' ORDER BY q.priority DESC, q.position",
      rowOf);
}

bool QueueTable::contains(std::int64_t run) {
  static_cast<void>(stateOf(database_, run));  // says that there is no such run
  return database_.any("SELECT 1 FROM queue_entry WHERE run_id = ?", run);
}

std::vector<std::int64_t> QueueTable::inProgress() {
  return database_.integers(
      "SELECT q.run_id FROM queue_entry q JOIN run r ON r.id = q.run_id WHERE r.state IN "
      "('starting', 'running', 'pausing', 'stopping') ORDER BY 1");
}

std::int64_t QueueTable::firstPosition() {
  return std::max(-kMostPlaces,
                  database_.integer("SELECT coalesce(min(position), 1) FROM queue_entry"));
}

std::int64_t QueueTable::lastPosition() {
  return std::min(kMostPlaces,
                  database_.integer("SELECT coalesce(max(position), 0) FROM queue_entry"));
}

std::int64_t QueueTable::highestPriority() {
  return database_.integer("SELECT coalesce(max(priority), 0) FROM queue_entry");
}

void QueueTable::put(std::int64_t run, const QueueOptions& options, std::int64_t position) {
  database_.write([&] {
    database_.run(
        "INSERT INTO queue_entry(run_id, priority, position, device, time_limit_seconds, "
        "grace_seconds, memory_limit_bytes, needed_memory_bytes, needed_disk_bytes, "
        "enqueued_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(run_id) DO UPDATE SET "
        "priority = excluded.priority, position = excluded.position, attempts = 0, held = ''",
        run, options.priority, position, options.device, options.timeLimitSeconds,
        options.graceSeconds, options.memoryLimitBytes, options.neededMemoryBytes,
        options.neededDiskBytes, utcNow());
    touch(database_, run);
  });
}

bool QueueTable::remove(std::int64_t run) {
  return database_.write([&] {
    database_.run("DELETE FROM queue_entry WHERE run_id = ?", run);
    const bool wasThere = sqlite3_changes(database_.handle()) > 0;
    if (wasThere) touch(database_, run);
    return wasThere;
  });
}

void QueueTable::setPriority(std::int64_t run, std::int64_t priority) {
  update(database_, run, "UPDATE queue_entry SET priority = ? WHERE run_id = ?", priority);
}

void QueueTable::setPosition(std::int64_t run, std::int64_t position) {
  database_.write([&] {
    database_.run("UPDATE queue_entry SET position = ? WHERE run_id = ?", position, run);
  });
}

void QueueTable::setTimeLimit(std::int64_t run, double seconds) {
  update(database_, run, "UPDATE queue_entry SET time_limit_seconds = ? WHERE run_id = ?", seconds);
}

void QueueTable::setDevice(std::int64_t run, const std::string& device) {
  update(database_, run, "UPDATE queue_entry SET device = ?, held = '' WHERE run_id = ?", device);
}

void QueueTable::setHeld(std::int64_t run, const std::string& why) {
  update(database_, run, "UPDATE queue_entry SET held = ? WHERE run_id = ?", why);
}

void QueueTable::addUsedSeconds(std::int64_t run, double seconds) {
  update(database_, run, "UPDATE queue_entry SET used_seconds = used_seconds + ? WHERE run_id = ?",
         seconds);
}

void QueueTable::countStart(std::int64_t run) {
  database_.write([&] {
    database_.run(
        "UPDATE queue_entry SET attempts = CASE WHEN attempts > 0 AND (SELECT "
        "coalesce(latest_checkpoint, -1) FROM run WHERE id = run_id) > claimed_checkpoint THEN "
        "1 ELSE attempts + 1 END WHERE run_id = ?",
        run);
    database_.run(
        "UPDATE queue_entry SET claimed_checkpoint = (SELECT coalesce(latest_checkpoint, -1) "
        "FROM run WHERE id = run_id) WHERE run_id = ?",
        run);
  });
}

QueueMode QueueTable::mode() {
  const std::string text = database_.text("SELECT mode FROM queue_state");
  for (const auto& [value, name] : kModes) {
    if (text == name) return value;
  }
  throw StoreError("the queue is '" + shown(text) + "'; the database is damaged: restore a backup");
}

void QueueTable::setMode(QueueMode mode) {
  database_.write([&] {
    database_.run("UPDATE queue_state SET mode = ?, changed_at = ?", toString(mode), utcNow());
  });
}

}  // namespace vitrine::store
