// RunReader::query: one statement of the user's own, on a connection that cannot write.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/run_facts.h"
#include "core/store/run_reader.h"
#include "core/store/sqlite/query_functions.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

constexpr const char* kDoesMore =
    "this statement does more than read, so nothing was changed; give SELECT, WITH, EXPLAIN or an "
    "informative PRAGMA";

constexpr int kLongestStatement = 1'000'000;  // bytes
constexpr int kLongestValue = 64 << 20;       // bytes, of a column or of what a function makes
constexpr auto kLook = std::chrono::milliseconds(20);

/// Interrupts the statements of a connection when they have to end. Not a progress handler: between
/// two calls of one lie thousands of operations, and each may be a function of a long text.
class QueryWatch {
 public:
  QueryWatch(sqlite3* handle, const RunReader::QueryLimits& limits)
      : handle_(handle),
        isStopped_(limits.isStopped),
        deadline_(std::chrono::steady_clock::now() + limits.time),
        thread_([this] { watch(); }) {}
  ~QueryWatch() {
    {
      const std::lock_guard lock(mutex_);
      isOver_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  QueryWatch(const QueryWatch&) = delete;
  QueryWatch& operator=(const QueryWatch&) = delete;

  [[nodiscard]] bool wasStopped() const { return isStopped_ != nullptr && isStopped_->load(); }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!isOver_) {
      const auto now = std::chrono::steady_clock::now();
      // Again and again: an interrupt before the first step is lost.
      if (wasStopped() || now >= deadline_) sqlite3_interrupt(handle_);
      const auto next = now + kLook;
      const bool mayBeStopped = isStopped_ != nullptr || now >= deadline_;
      changed_.wait_until(lock, mayBeStopped ? next : std::max(deadline_, next));
    }
  }

  sqlite3* handle_;
  const std::atomic<bool>* isStopped_;
  std::chrono::steady_clock::time_point deadline_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool isOver_ = false;
  std::thread thread_;
};

/// Pragmas that only read; those with an argument name a table or an index.
bool isHarmlessPragma(std::string_view name, bool hasArgument) {
  static const std::set<std::string_view> kAboutOne{
      "table_info", "table_xinfo", "index_list", "index_info", "index_xinfo", "foreign_key_list"};
  static const std::set<std::string_view> kAboutAll{
      "table_list",    "user_version",    "application_id", "schema_version",
      "page_count",    "page_size",       "data_version",   "freelist_count",
      "journal_mode",  "compile_options", "database_list",  "encoding",
      "function_list", "integrity_check", "quick_check",    "foreign_key_check"};
  return hasArgument ? kAboutOne.count(name) != 0 : kAboutAll.count(name) != 0;
}

int allowReading(void*, int action, const char* first, const char* second, const char*,
                 const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION: {
      const std::string_view name = second != nullptr ? second : "";
      return name == "load_extension" || name == "fts3_tokenizer" ? SQLITE_DENY : SQLITE_OK;
    }
    case SQLITE_PRAGMA:
      return isHarmlessPragma(first != nullptr ? first : "", second != nullptr) ? SQLITE_OK
                                                                                : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

bool isOnlySpace(std::string_view sql) {
  while (!sql.empty()) {
    if (sql.starts_with("--")) {
      const auto end = sql.find('\n');
      sql.remove_prefix(end == std::string_view::npos ? sql.size() : end);
    } else if (sql.starts_with("/*")) {
      const auto end = sql.find("*/", 2);
      sql.remove_prefix(end == std::string_view::npos ? sql.size() : end + 2);
    } else if (std::string_view(" \t\r\n\f;").find(sql.front()) != std::string_view::npos) {
      sql.remove_prefix(1);
    } else {
      return false;
    }
  }
  return true;
}

Json cell(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
      const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      return cleanUtf8({bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))});
    }
    case SQLITE_BLOB: {
      Json value = Json::object();
      value["bytes"] = sqlite3_column_bytes(statement, column);
      return value;
    }
    default:
      return nullptr;
  }
}

/// Where `name` is a whole word of `sql`.
std::optional<std::size_t> placeOfWord(std::string_view sql, std::string_view name) {
  const auto isPart = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = sql.find(name); !name.empty() && at != std::string_view::npos;
       at = sql.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool isBegin = at == 0 || !isPart(sql[at - 1]);
    if (isBegin && (end == sql.size() || !isPart(sql[end]))) return at;
  }
  return std::nullopt;
}

/// The name that ends a message of SQLite, without that of its table or database.
std::string_view nameIn(std::string_view message) {
  const std::size_t colon = message.rfind(": ");
  if (colon == std::string_view::npos) return {};
  return message.substr(std::max(colon + 2, message.rfind('.') + 1));
}

/// "; did you mean 'metrics'?" of a message about a name that is not there, where one is like it.
std::string suggestion(RunReader& store, const std::string& sql, std::string_view message) {
  const bool isTable = message.starts_with("no such table: ");
  if (!isTable && !message.starts_with("no such column: ")) return "";
  const std::string lowered = lowerCase(sql);
  std::vector<std::string> names;
  for (const StoredTable& table : storedTables(store, RunReader::QueryLimits())) {
    if (isTable) {
      names.push_back(table.name);
    } else if (placeOfWord(lowered, lowerCase(table.name))) {
      for (const StoredTable::Column& column : table.columns) names.push_back(column.name);
    }
  }
  const std::string close = nearest(nameIn(message), names);
  return close.empty() ? "" : "; did you mean '" + close + "'?";
}

/// Byte of `sql` that the refusal to prepare it is about. SQLite returns an offset, but not of a
/// missing table, whose name ends its message, and not of a statement that ends too early.
std::optional<std::size_t> placeOfError(sqlite3* handle, std::string_view sql) {
  const int offset = sqlite3_error_offset(handle);
  if (offset >= 0) return static_cast<std::size_t>(offset);
  const std::string_view message = sqlite3_errmsg(handle);
  if (message == "incomplete input") return sql.size();
  return placeOfWord(sql, nameIn(message));
}

struct Finalizer {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

}  // namespace

SqlError::SqlError(const std::string& message, std::optional<std::size_t> where)
    : StoreError(message), place(where) {}
SqlError::~SqlError() = default;

RunReader::Table RunReader::query(const std::string& sql, const QueryLimits& limits) {
  // A connection of its own: opened for reading, and with an authorizer that knows nothing but
  // reading.
  Database database(file(), Database::Access::Read);
  openSchema(database);
  // SQLite 3.40 counts its JSON functions among those that a view of an untrusted schema may not
  // use. Here every object of the schema was just compared with ours, and the authorizer below
  // stands in any case.
  database.execute("PRAGMA trusted_schema = ON");
  sqlite3* handle = database.handle();
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, kLongestStatement);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValue);
  const BoundedFunctions functions(handle);
  sqlite3_set_authorizer(handle, allowReading, nullptr);

  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int prepared =
      sqlite3_prepare_v2(handle, sql.c_str(), static_cast<int>(sql.size()), &raw, &rest);
  const std::unique_ptr<sqlite3_stmt, Finalizer> statement(raw);
  if (prepared == SQLITE_AUTH || (prepared & 0xff) == SQLITE_READONLY)
    throw RefusedError(std::string(kDoesMore) + " (" + cleanUtf8(sqlite3_errmsg(handle)) + ")");
  if (prepared != SQLITE_OK) {
    const std::string message = sqlite3_errmsg(handle);
    throw SqlError("SQL error: " + shown(message) + suggestion(*this, sql, message),
                   placeOfError(handle, sql));
  }
  if (raw == nullptr)
    throw StoreError("there is no SQL statement; give one, for example SELECT * FROM runs");
  if (!isOnlySpace(rest))
    throw RefusedError("there is more than one SQL statement; give one at a time");
  if (sqlite3_stmt_readonly(raw) == 0) throw RefusedError(kDoesMore);

  const QueryWatch watch(handle, limits);
  // One that is short would end before the watch has looked.
  if (watch.wasStopped()) throw StoreError("the query was stopped");
  Table table;
  const int columns = sqlite3_column_count(raw);
  for (int i = 0; i < columns; ++i) table.columns.push_back(cleanUtf8(sqlite3_column_name(raw, i)));
  for (;;) {
    const int code = sqlite3_step(raw);
    if (code == SQLITE_DONE) break;
    if ((code & 0xff) == SQLITE_INTERRUPT) {
      if (watch.wasStopped()) throw StoreError("the query was stopped");
      throw StoreError("the query was stopped after " +
                       formatReal(std::chrono::duration<double>(limits.time).count()) +
                       " s; narrow it with WHERE run_id = ... or LIMIT");
    }
    if ((code & 0xff) == SQLITE_TOOBIG) {
      throw StoreError("a value is larger than " + formatBytes(kLongestValue) +
                       ", which a query does not take; leave its column out, or ask for "
                       "length(...) of it");
    }
    if (const int kind = code & 0xff; kind == SQLITE_CORRUPT || kind == SQLITE_IOERR)
      database.fail(code, "reading");
    if (code != SQLITE_ROW) throw StoreError("SQL error: " + shown(sqlite3_errmsg(handle)));
    if (table.rows.size() == limits.rows) {
      table.isCut = true;
      break;
    }
    std::vector<Json> row;
    row.reserve(static_cast<std::size_t>(columns));
    for (int i = 0; i < columns; ++i) row.push_back(cell(raw, i));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace vitrine::store
