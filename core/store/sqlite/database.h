// A connection to SQLite and its statements. Private to core/store: other rooms use RunStore.
#pragma once

#include <sqlite3.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/store/sqlite/writer_lock.h"
#include "core/store/types.h"
#include "core/store_export.h"

namespace vitrine::store {

class Database;

/// A value breaks a constraint of its table.
class VITRINE_STORE_EXPORT ConstraintError : public StoreError {
 public:
  /// \param extendedCode  of SQLite: SQLITE_CONSTRAINT_CHECK, SQLITE_CONSTRAINT_UNIQUE, ...
  /// \param detail        SQLite's text, which names the constraint; to be shown, not parsed
  ConstraintError(const std::string& message, int extendedCode, std::string detail);
  ~ConstraintError() override;
  [[nodiscard]] int extendedCode() const noexcept { return extendedCode_; }
  [[nodiscard]] const std::string& detail() const noexcept { return detail_; }

 private:
  int extendedCode_;
  std::string detail_;
};

/// A prepared statement on loan from its connection's cache; reset when it goes.
class VITRINE_STORE_EXPORT Statement {
 public:
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Parameters, from 1.
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, double value);           ///< NaN becomes NULL
  Statement& bind(int index, std::string_view text);  ///< bytes as they are
  Statement& bindBlob(
      int index,
      std::span<const std::byte> bytes);  ///< not copied: must live until the statement ran
  Statement& bindNull(int index);
  Statement& bind(int index, int value) { return bind(index, static_cast<std::int64_t>(value)); }
  Statement& bind(int index, const char* text) { return bind(index, std::string_view(text)); }
  Statement& bind(int index, const std::string& text) {
    return bind(index, std::string_view(text));
  }
  template <typename... Values>
  Statement& with(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
    return *this;
  }

  [[nodiscard]] bool step();  ///< true while there is a row
  void run();                 ///< to the end

  // Columns, from 0.
  [[nodiscard]] bool isNull(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;  ///< NULL is NaN
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::span<const std::byte> blob(int column) const;  ///< until the next step
  [[nodiscard]] sqlite3_stmt* handle() const noexcept { return statement_; }

 private:
  friend class Database;
  Statement(Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}
  void check(int code, const char* doing) const;
  void checkMemory(int column) const;

  Database* database_;
  sqlite3_stmt* statement_;
};

class VITRINE_STORE_EXPORT Database {
 public:
  enum class Access {
    Create,
    Write,
    Read,
    Foreign,  ///< a finished file from outside: as it lies there, no lock, no log, no views
    Scratch,  ///< a new file, private until it is finished and renamed
  };
  /// When the write-ahead log is emptied, and when a warning says that it cannot be.
  struct LogPolicy {
    std::uint64_t emptyAt = 64u << 20;   ///< bytes
    std::uint64_t alarmAt = 256u << 20;  ///< bytes
  };

  /// Opens with the settings of reliability.md ("Settings per connection"). Says nothing about
  /// whose file it is. \param named  the file in messages, "": `file`; a Scratch may get its name
  /// only when it is finished
  /// \throws NotFoundError  there is none and Access is not Create or Scratch
  /// \throws RefusedError  it lies on a network file system
  Database(const std::filesystem::path& file, Access access,
           const std::filesystem::path& named = {});
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }
  [[nodiscard]] bool isReadOnly() const noexcept {
    return access_ == Access::Read || access_ == Access::Foreign;
  }
  [[nodiscard]] bool isScratch() const noexcept { return access_ == Access::Scratch; }
  [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }
  /// Bytes of the largest row that may be stored: SQLite holds it, and an import takes it again.
  [[nodiscard]] std::uint64_t mostRowBytes() const noexcept;

  [[nodiscard]] Statement prepare(std::string_view sql);
  /// Calls `use` with each row of one statement with these parameters, in their order.
  template <typename Use, typename... Values>
  void each(std::string_view sql, const Use& use, const Values&... values) {
    Statement row = bound(sql, values...);
    while (row.step()) use(std::as_const(row));
  }
  /// Result of `make` for each row.
  template <typename Make, typename... Values>
  [[nodiscard]] auto rows(std::string_view sql, const Make& make, const Values&... values) {
    std::vector<std::decay_t<std::invoke_result_t<const Make&, const Statement&>>> made;
    each(
        sql, [&](const Statement& row) { made.push_back(make(row)); }, values...);
    return made;
  }
  /// The first column of each row.
  template <typename... Values>
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view sql, const Values&... values) {
    return rows(
        sql, [](const Statement& row) { return row.integer(0); }, values...);
  }
  template <typename... Values>
  [[nodiscard]] std::vector<std::string> texts(std::string_view sql, const Values&... values) {
    return rows(
        sql, [](const Statement& row) { return row.text(0); }, values...);
  }
  /// The first column of the first row; 0 or "" where there is no row.
  template <typename... Values>
  [[nodiscard]] std::int64_t integer(std::string_view sql, const Values&... values) {
    Statement row = bound(sql, values...);
    return row.step() ? row.integer(0) : 0;
  }
  template <typename... Values>
  [[nodiscard]] std::string text(std::string_view sql, const Values&... values) {
    Statement row = bound(sql, values...);
    return row.step() ? row.text(0) : std::string();
  }
  /// Whether there is a row.
  template <typename... Values>
  [[nodiscard]] bool any(std::string_view sql, const Values&... values) {
    return bound(sql, values...).step();
  }
  /// Runs one statement with these parameters to its end.
  template <typename... Values>
  void run(std::string_view sql, const Values&... values) {
    prepare(sql).with(values...).run();
  }
  void execute(const char* sql);  ///< any number of statements without parameters

  /// Runs `body` in BEGIN IMMEDIATE ... COMMIT under the writer lock; rolls back when it throws.
  /// Nests.
  template <typename Body>
  auto write(Body&& body);
  /// Runs `body` on one snapshot.
  template <typename Body>
  auto read(Body&& body);

  /// Ids of metric names seen by this connection.
  std::unordered_map<std::string, std::int64_t> metricIds;

  /// \throws StoreError  the file was renamed, removed or replaced since it was opened: what is
  /// written now would be lost with it
  /// \throws UnwritableError  the same of its log
  void checkPlace();
  /// Another program deleted or replaced the log since it was opened: what this connection writes
  /// or reads is not what others see.
  [[nodiscard]] bool isLogGone() const noexcept;
  /// The error text for that, with the remedy.
  [[nodiscard]] std::string logSentence() const;

  /// Time that writing waits for another process without progress; twelve times as long for one
  /// that writes.
  void setPatience(std::chrono::milliseconds patience);

  /// Turns the write-ahead log on, under the writer lock. Without the lock, SQLite would report
  /// "busy" to all but one of several processes that open a new file at once. Returns the journal
  /// mode that is on then. Not within a transaction.
  [[nodiscard]] std::string useLog();

  /// VACUUM and an empty log, under the writer lock. Not within a transaction.
  void vacuum();

  LogPolicy logPolicy;

  /// Throws the sentence for an SQLite result code; ConstraintError for a constraint. I/O errors
  /// and damage poison the connection: it writes no more.
  [[noreturn]] void fail(int code, const std::string& doing);

 private:
  template <typename... Values>
  [[nodiscard]] Statement bound(std::string_view sql, const Values&... values) {
    Statement row = prepare(sql);
    if constexpr (sizeof...(values) > 0) row.with(values...);
    return row;
  }
  /// Other processes may use the file at the same time.
  [[nodiscard]] bool isShared() const noexcept {
    return access_ != Access::Foreign && access_ != Access::Scratch;
  }
  void open();
  void configure();
  void lock();
  void begin();
  void commit();
  void rollback() noexcept;
  void unlock() noexcept;
  void limitLog();
  void rememberLog();

  /// Device and inode of `-wal` and of `-shm`, which are not used again while SQLite has them open.
  using LogFiles = std::array<std::uint64_t, 4>;
  [[nodiscard]] std::optional<LogFiles> logFiles() const noexcept;

  std::filesystem::path file_, named_;
  Access access_;
  std::unique_ptr<WriterLock> writerLock_;
  sqlite3* handle_ = nullptr;
  std::unordered_map<std::string, sqlite3_stmt*> cache_;
  std::optional<LogFiles> log_;  ///< as they were opened
  std::chrono::milliseconds patience_{5000};
  int depth_ = 0;
  bool hasWritten_ = false;
  bool isLogAlarmed_ = false;
  std::string poison_;  ///< the first error that ended writing
};

template <typename Body>
auto Database::write(Body&& body) {
  if (depth_ > 0) return body();
  begin();
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      commit();
    } else {
      auto result = body();
      commit();
      return result;
    }
  } catch (...) {
    rollback();
    throw;
  }
}

template <typename Body>
auto Database::read(Body&& body) {
  if (depth_ > 0) return body();
  execute("BEGIN");
  ++depth_;
  struct End {
    Database& database;
    ~End() {
      --database.depth_;
      sqlite3_exec(database.handle_, "COMMIT", nullptr, nullptr, nullptr);
    }
  } end{*this};
  return body();
}

}  // namespace vitrine::store
