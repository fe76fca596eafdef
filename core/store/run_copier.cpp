#include "core/store/run_copier.h"

#include <array>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/run_changes.h"

namespace vitrine {

namespace {

constexpr std::array<RunTable, 15> kTables{{
    {"run_config", "run_id"},
    {"run_parameter", "key"},
    {"segment", "number"},
    {"metric_summary", "metric_id"},
    {"metric_tail", "metric_id, sequence"},
    {"clock_chunk", "id"},
    {"metric_chunk", "id"},
    {"metric_bucket", "metric_id, first_sequence"},
    {"event", "id"},
    {"artifact", "id"},
    {"checkpoint", "step"},
    {"generated_image", "id"},
    {"note", "run_id"},
    {"tag", "tag"},
    {"edit", "id"},
}};

/// Columns that can be written: generated ones cannot.
std::vector<std::string> columnsOf(Database& database, const std::string& table) {
  Statement row = database.prepare("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0");
  row.with(table);
  std::vector<std::string> names;
  while (row.step()) names.push_back(row.text(0));
  return names;
}

std::string listOf(const std::vector<std::string>& names, const char* item = nullptr) {
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "" : ", ") + (item != nullptr ? item : '"' + name + '"');
  }
  return list;
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

/// Ids by name, so that they do not depend on what else the source has seen.
void RunCopier::learnMetrics(std::int64_t run) {
  Statement name = from_.prepare(
      "SELECT id, name FROM metric_name WHERE id IN (SELECT metric_id FROM metric_summary WHERE "
      "run_id = ?1 UNION SELECT metric_id FROM metric_tail WHERE run_id = ?1 UNION SELECT "
      "metric_id "
      "FROM metric_chunk WHERE run_id = ?1) ORDER BY name");
  name.with(run);
  metrics_.clear();
  while (name.step()) {
    to_.prepare("INSERT OR IGNORE INTO metric_name(name) VALUES (?)").with(name.text(1)).run();
    Statement known = to_.prepare("SELECT id FROM metric_name WHERE name = ?");
    if (known.with(name.text(1)).step()) metrics_[name.integer(0)] = known.integer(0);
  }
}

std::int64_t RunCopier::metric(std::int64_t id) {
  const auto found = metrics_.find(id);
  if (found != metrics_.end()) return found->second;
  throw StoreError("'" + from_.file().string() + "' lacks the name of metric " +
                   std::to_string(id) + "; it is damaged");
}

void RunCopier::copyRows(const RunTable& table, std::int64_t run) {
  const std::string name = table.name;
  const std::vector<std::string> columns = columnsOf(to_, name);
  std::int64_t clock = 0;  // in the source
  Statement source = from_.prepare("SELECT " + listOf(columns) + " FROM " + name +
                                   " WHERE run_id = ? ORDER BY " + table.order);
  Statement insert = to_.prepare("INSERT INTO " + name + "(" + listOf(columns) + ") VALUES (" +
                                 listOf(columns, "?") + ")");
  const std::string oldFolder = "run-" + oldUuid_, newFolder = "run-" + newUuid_;
  source.with(run);
  while (source.step()) {
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
      }
    }
    insert.run();
    if (name == "clock_chunk") clocks_[clock] = sqlite3_last_insert_rowid(to_.handle());
    sqlite3_reset(insert.handle());
  }
}

std::int64_t RunCopier::copy(std::int64_t id, const Changes& changes) {
  const std::vector<std::string> columns = columnsOf(to_, "run");
  {
    Statement source = from_.prepare("SELECT " + listOf(columns) + " FROM run WHERE id = ?");
    if (!source.with(id).step()) noSuchRun(from_, id);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == "uuid") oldUuid_ = source.text(static_cast<int>(i));
    }
    newUuid_ = changes.uuid.empty() ? oldUuid_ : changes.uuid;
    const std::string oldFolder = "run-" + oldUuid_;
    Statement insert = to_.prepare("INSERT INTO run(" + listOf(columns) + ") VALUES (" +
                                   listOf(columns, "?") + ")");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& column = columns[i];
      const int from = static_cast<int>(i), to = from + 1;
      if (column == "id") {
        insert.bindNull(to);
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
        insert.bind(to, "run-" + newUuid_ + source.text(from).substr(oldFolder.size()));
      } else {
        bindSame(insert, to, source, from);
      }
    }
    insert.run();
  }
  target_ = sqlite3_last_insert_rowid(to_.handle());
  clocks_.clear();
  learnMetrics(id);
  for (const RunTable& table : runTables()) copyRows(table, id);
  return target_;
}

}  // namespace vitrine
