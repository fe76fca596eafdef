#include "core/store/exchange/run_copier.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/store/run_store.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"
#include "core/store/tables/run_marks.h"
#include "core/store/types.h"

namespace vitrine::store {

namespace {

constexpr std::array<RunTable, 20> kTables{{
    {"run_config", "run_id"},
    {"run_parameter", "key"},
    {"run_dependency", "kind, name"},
    {"segment", "number"},
    {"metric_summary", "metric_id"},
    {"metric_tail", "metric_id, sequence"},
    {"clock_chunk", "id", true},
    {"metric_chunk", "id", true},
    {"metric_bucket", "metric_id, first_sequence"},
    {"event", "id"},
    {"artifact", "id", true},
    {"checkpoint", "step"},
    {"generated_image", "id", true},
    {"generated_text", "id", true},
    {"note", "run_id"},
    {"tag", "tag"},
    {"curve_note", "metric, step, text"},
    {"image_tag", "step, sha256, tag"},
    {"run_mark", "field"},
    {"edit", "id"},
}};

constexpr std::size_t kPartBytes = 1u << 20;
constexpr int kPartRows = 500;
/// In `meta`, before the id of a run that is being copied; the value says by whom.
constexpr const char* kUnfinished = "unfinished-run-";

/// Rows that come before the run to which they belong: for as long as this lives, and on this
/// connection alone.
class WithoutParents {
 public:
  explicit WithoutParents(Database& database) : database_(database) {
    database.execute("PRAGMA foreign_keys = OFF");
  }
  ~WithoutParents() {
    sqlite3_exec(database_.handle(), "PRAGMA foreign_keys = ON", nullptr, nullptr, nullptr);
  }
  WithoutParents(const WithoutParents&) = delete;
  WithoutParents& operator=(const WithoutParents&) = delete;

 private:
  Database& database_;
};

std::string markOf(std::int64_t run) { return kUnfinished + std::to_string(run); }

/// A few rows at a time, those that name others first; then the mark.
void removeUnfinished(Database& database, std::int64_t run) {
  for (const RunTable& table : std::views::reverse(kTables)) {
    if (!table.isLarge) continue;
    for (bool isLeft = true; isLeft;) {
      isLeft = database.write([&] {
        database.run(std::string("DELETE FROM ") + table.name + " WHERE id IN (SELECT id FROM " +
                         table.name + " WHERE run_id = ? LIMIT ?)",
                     run, kPartRows);
        return sqlite3_changes(database.handle()) > 0;
      });
    }
  }
  database.write([&] { database.run("DELETE FROM meta WHERE key = ?", markOf(run)); });
}

/// A value as it is: type, bytes and bits.
void bindSame(Statement& to, int index, const Statement& from, int column) {
  sqlite3_bind_value(to.handle(), index, sqlite3_column_value(from.handle(), column));
}

}  // namespace

std::span<const RunTable> runTables() { return kTables; }

std::int64_t RunCopier::experiment(std::int64_t id) {
  Statement source = from_.prepare("SELECT title, source, created_at FROM experiment WHERE id = ?");
  if (!source.with(id).step()) {
    throw StoreError("'" + from_.file().string() + "' lacks experiment " + std::to_string(id) +
                     ", to which one of its runs belongs; it is damaged");
  }
  {
    Statement known = to_.prepare("SELECT id FROM experiment WHERE title = ?");
    if (known.with(source.text(0)).step()) return known.integer(0);
  }
  Statement insert =
      to_.prepare("INSERT INTO experiment(title, source, created_at) VALUES (?, ?, ?)");
  for (int i = 0; i < 3; ++i) bindSame(insert, i + 1, source, i);
  insert.run();
  return sqlite3_last_insert_rowid(to_.handle());
}

/// What a task declared of these metrics, where nothing is known of them here.
void RunCopier::learnKinds(const std::vector<std::string>& names) {
  Statement kind = from_.prepare(
      "SELECT pattern, unit, direction, definition, title FROM metric_kind ORDER BY id");
  while (kind.step()) {
    const std::string pattern = kind.text(0);
    const bool isOfRun = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return matchesGlob(pattern, name);
    });
    if (!isOfRun) continue;
    Statement insert = to_.prepare(
        "INSERT OR IGNORE INTO metric_kind(pattern, unit, direction, definition, title) VALUES (?, "
        "?, ?, ?, ?)");
    for (int i = 0; i < 5; ++i) bindSame(insert, i + 1, kind, i);
    insert.run();
  }
}

/// Ids by name, so that they do not depend on what else the source has seen.
void RunCopier::learnMetrics(std::int64_t run) {
  metrics_.clear();
  std::vector<std::string> names;
  from_.each(
      "SELECT id, name FROM metric_name WHERE id IN (SELECT metric_id FROM metric_summary WHERE "
      "run_id = ?1 UNION SELECT metric_id FROM metric_tail WHERE run_id = ?1 UNION SELECT "
      "metric_id "
      "FROM metric_chunk WHERE run_id = ?1) ORDER BY name",
      [&](const Statement& name) {
        names.push_back(name.text(1));
        to_.run("INSERT OR IGNORE INTO metric_name(name) VALUES (?)", name.text(1));
        metrics_[name.integer(0)] =
            to_.integer("SELECT id FROM metric_name WHERE name = ?", name.text(1));
      },
      run);
  learnKinds(names);
}

std::int64_t RunCopier::metric(std::int64_t id) {
  const auto found = metrics_.find(id);
  if (found != metrics_.end()) return found->second;
  throw StoreError("'" + from_.file().string() + "' lacks the name of metric " +
                   std::to_string(id) + "; it is damaged");
}

void RunCopier::copyRows(const RunTable& table, std::int64_t run, Parts parts) {
  const std::string name = table.name;
  const std::vector<std::string> columns = writableColumns(to_, name);
  std::int64_t clock = 0;  // in the source
  Statement source = from_.prepare("SELECT " + columnList(columns) + " FROM " + name +
                                   " WHERE run_id = ? ORDER BY " + table.order);
  Statement insert = to_.prepare("INSERT INTO " + name + "(" + columnList(columns) + ") VALUES (" +
                                 columnList(columns, "?") + ")");
  const std::string oldFolder = runFolderName(oldUuid_), newFolder = runFolderName(newUuid_);
  source.with(run);
  const auto copyOne = [&] {
    std::size_t bytes = 0;  // of what may be large
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& column = columns[i];
      const int from = static_cast<int>(i), to = from + 1;
      if (column == "run_id") {
        insert.bind(to, target_);
      } else if (column == "id") {
        insert.bindNull(to);
        clock = source.integer(from);
      } else if (column == "metric_id") {
        insert.bind(to, metric(source.integer(from)));
      } else if (column == "clock_id") {
        const auto known = clocks_.find(source.integer(from));
        if (known == clocks_.end()) {
          throw StoreError("'" + from_.file().string() + "' has values of a metric without their " +
                           "clock; it is damaged");
        }
        insert.bind(to, known->second);
      } else if (column == "folder" && source.text(from).starts_with(oldFolder)) {
        insert.bind(to, newFolder + source.text(from).substr(oldFolder.size()));
      } else {
        bindSame(insert, to, source, from);
        if (sqlite3_column_type(source.handle(), from) == SQLITE_BLOB)
          bytes += source.blob(from).size();
      }
    }
    insert.run();
    if (name == "clock_chunk") clocks_[clock] = sqlite3_last_insert_rowid(to_.handle());
    sqlite3_reset(insert.handle());
    return bytes;
  };
  if (parts == Parts::One) {
    while (source.step()) copyOne();
    return;
  }
  for (bool isLeft = source.step(); isLeft;) {
    to_.write([&] {
      std::size_t bytes = 0;
      for (int i = 0; isLeft && i < kPartRows && bytes < kPartBytes; ++i) {
        bytes += copyOne();
        isLeft = source.step();
      }
    });
  }
}

void RunCopier::insertRun(std::int64_t id, const Changes& changes) {
  const std::vector<std::string> columns = writableColumns(to_, "run");
  Statement source = from_.prepare("SELECT " + columnList(columns) + " FROM run WHERE id = ?");
  if (!source.with(id).step()) noSuchRun(from_, id);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == "uuid") oldUuid_ = source.text(static_cast<int>(i));
  }
  newUuid_ = changes.uuid.empty() ? oldUuid_ : changes.uuid;
  const std::string oldFolder = runFolderName(oldUuid_);
  Statement insert = to_.prepare("INSERT INTO run(" + columnList(columns) + ") VALUES (" +
                                 columnList(columns, "?") + ")");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& column = columns[i];
    const int from = static_cast<int>(i), to = from + 1;
    if (column == "id" && target_ == 0) {
      insert.bindNull(to);
    } else if (column == "id") {
      insert.bind(to, target_);
    } else if (column == "uuid") {
      insert.bind(to, newUuid_);
    } else if (column == "experiment_id") {
      insert.bind(to, experiment(source.integer(from)));
    } else if (column == "depends_on") {
      if (changes.dependsOn == 0) {
        insert.bindNull(to);
      } else {
        insert.bind(to, changes.dependsOn);
      }
    } else if (column == "change_sequence") {
      insert.bind(to, nextChange(to_));
    } else if (column == "log_file" && source.text(from).starts_with(oldFolder)) {
      insert.bind(to, runFolderName(newUuid_) + source.text(from).substr(oldFolder.size()));
    } else {
      bindSame(insert, to, source, from);
    }
  }
  insert.run();
  target_ = sqlite3_last_insert_rowid(to_.handle());
}

/// An experiment has one baseline: the one that it has stays, and the run that comes is none.
void RunCopier::yieldBaseline() {
  if (!otherBaselines(to_, target_).empty()) writeMark(to_, target_, RunField::Baseline, "");
}

std::int64_t RunCopier::copy(std::int64_t id, const Changes& changes) {
  target_ = changes.id;
  insertRun(id, changes);
  clocks_.clear();
  learnMetrics(id);
  for (const RunTable& table : runTables()) copyRows(table, id, Parts::One);
  yieldBaseline();
  return target_;
}

/// An id that no other run gets, whenever the row of this one is stored.
void RunCopier::reserve() {
  const std::int64_t last =
      to_.integer("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'run'");
  target_ = counted(last, "the newest run") + 1;
  to_.run("UPDATE sqlite_sequence SET seq = ? WHERE name = 'run'", target_);
  if (sqlite3_changes(to_.handle()) == 0)
    to_.run("INSERT INTO sqlite_sequence(name, seq) VALUES ('run', ?)", target_);
  const Worker me = thisWorker();
  const Json by = {
      {"pid", me.pid}, {"start", me.startTime}, {"boot", me.bootId}, {"host", me.host}};
  to_.run("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", markOf(target_), dumpJson(by));
}

void RunCopier::dropUnfinished() noexcept {
  try {
    removeUnfinished(to_, target_);
  } catch (const std::exception&) {  // the next import does it, when this process has ended
  }
}

std::int64_t RunCopier::copyInParts(std::int64_t id, const Changes& changes) {
  clocks_.clear();
  to_.write([&] {
    learnMetrics(id);
    reserve();
  });
  try {
    {
      const WithoutParents without(to_);
      for (const RunTable& table : runTables()) {
        if (table.isLarge) copyRows(table, id, Parts::Many);
      }
    }
    to_.write([&] {
      insertRun(id, changes);
      for (const RunTable& table : runTables()) {
        if (!table.isLarge) copyRows(table, id, Parts::One);
      }
      yieldBaseline();
      to_.run("DELETE FROM meta WHERE key = ?", markOf(target_));
    });
  } catch (...) {
    dropUnfinished();
    throw;
  }
  return target_;
}

std::set<std::int64_t> unfinishedRuns(Database& database) {
  const std::vector<std::int64_t> runs = database.integers(
      "SELECT CAST(substr(key, ?2) AS INTEGER) FROM meta WHERE key GLOB ?1 || '[0-9]*'",
      kUnfinished, static_cast<std::int64_t>(std::string_view(kUnfinished).size()) + 1);
  return {runs.begin(), runs.end()};
}

void sweepUnfinished(Database& database) {
  for (const std::int64_t run : unfinishedRuns(database)) {
    Json by;
    {
      Statement row = database.prepare("SELECT value FROM meta WHERE key = ?");
      if (!row.with(markOf(run)).step()) continue;  // it is finished by now
      by = readJson(row.text(0));
    }
    Worker worker;
    if (by.is_object()) {
      worker = {by.value("pid", std::int64_t{0}), by.value("start", ""), by.value("boot", ""),
                by.value("host", "")};
    }
    if (worker.host == thisWorker().host && isWorkerAlive(worker)) continue;
    removeUnfinished(database, run);
  }
}

}  // namespace vitrine::store
