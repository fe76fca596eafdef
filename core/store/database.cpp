#include "core/store/database.h"

#include <sys/vfs.h>

#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/store/check_mark.h"

namespace vitrine {

namespace {

constexpr int kBusyMilliseconds = 5000;

/// Why WAL cannot work where `folder` is, or "".
std::string networkFileSystem(const std::filesystem::path& folder) {
  struct statfs status {};
  if (::statfs(folder.c_str(), &status) != 0) return "";
  switch (static_cast<unsigned>(status.f_type)) {
    case 0x6969:
      return "NFS";
    case 0xFE534D42:
      return "SMB";
    case 0xFF534D42:
      return "CIFS";
    case 0x01021997:
      return "9P";
    case 0x65735546:
      return "FUSE";
    case 0x00C36400:
      return "Ceph";
    case 0x0BD00BD0:
      return "Lustre";
    default:
      return "";
  }
}

std::string quoted(const std::string& text) {
  std::string result(1, '\'');
  result += text;
  result += '\'';
  return result;
}

std::filesystem::path folderOf(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

}  // namespace

// --- statements ----------------------------------------------------------------------------------

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Statement::check(int code, const char* doing) const {
  if (code != SQLITE_OK) database_->fail(code, doing);
}

Statement& Statement::bind(int index, std::int64_t value) {
  check(sqlite3_bind_int64(statement_, index, value), "binding a number");
  return *this;
}

Statement& Statement::bind(int index, double value) {
  check(sqlite3_bind_double(statement_, index, value), "binding a number");
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  check(sqlite3_bind_text64(statement_, index, text.empty() ? "" : text.data(), text.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8),
        "binding text");
  return *this;
}

Statement& Statement::bindBlob(int index, std::span<const std::byte> bytes) {
  check(bytes.empty()
            ? sqlite3_bind_zeroblob(statement_, index, 0)
            : sqlite3_bind_blob64(statement_, index, bytes.data(), bytes.size(), SQLITE_STATIC),
        "binding bytes");
  return *this;
}

Statement& Statement::bindNull(int index) {
  check(sqlite3_bind_null(statement_, index), "binding nothing");
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    const std::string sql = sqlite3_sql(statement_);
    database_->fail(code, quoted(sql.substr(0, sql.find('\n'))));
  }
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

bool Statement::isNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const {
  return isNull(column) ? std::nan("") : sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::span<const std::byte> Statement::blob(int column) const {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

// --- connection ----------------------------------------------------------------------------------

Database::Database(const std::filesystem::path& file, Access access)
    : file_(file), access_(access) {
  std::error_code error;
  const bool exists = std::filesystem::exists(file_, error);
  if (!exists && access != Access::Create) {
    throw NotFoundError("there is no database '" + file_.string() +
                        "'; `vitrine train` or `vitrine runs` makes one");
  }
  if (std::filesystem::is_directory(file_, error)) {
    throw StoreError("'" + file_.string() + "' is a folder, not a Vitrine database");
  }
  if (access == Access::Create && file_.has_parent_path()) {
    std::filesystem::create_directories(file_.parent_path(), error);
    if (error) {
      throw StoreError("cannot make the folder '" + file_.parent_path().string() +
                       "' for the database: " + error.message());
    }
  }
  if (const std::string system = networkFileSystem(folderOf(file_)); !system.empty()) {
    throw RefusedError(
        "'" + file_.string() + "' lies on a network file system (" + system +
        "), where several processes cannot share a database; keep it on a local disk");
  }
  if (access != Access::Read) gate_ = std::make_unique<Gate>(file_);

  int flags = SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (access) {
    case Access::Create:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      break;
    case Access::Write:
      flags |= SQLITE_OPEN_READWRITE;
      break;
    case Access::Read:
      flags |= SQLITE_OPEN_READONLY;
      break;
  }
  const int code = sqlite3_open_v2(file_.c_str(), &handle_, flags, nullptr);
  try {
    if (code != SQLITE_OK) fail(code, "opening");
    sqlite3_busy_timeout(handle_, kBusyMilliseconds);
    int ignored = 0;
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, &ignored);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, &ignored);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, &ignored);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, &ignored);
    sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
    // journal_mode belongs to the file and is set when it is made.
    execute(
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
        "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY");
    if (access == Access::Read) {
      execute("PRAGMA query_only = ON");
    } else {
      execute(
          "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000;"
          "PRAGMA journal_size_limit = 67108864; PRAGMA secure_delete = OFF");
    }
  } catch (...) {
    sqlite3_close_v2(handle_);
    throw;
  }
}

Database::~Database() {
  for (const auto& entry : cache_) sqlite3_finalize(entry.second);
  if (hasWritten_ && poison_.empty()) {
    // The last writer leaves an empty log where it can; whoever is in the way does it later.
    try {
      if (gate_->lock(std::chrono::milliseconds(100))) {
        sqlite3_busy_timeout(handle_, 0);
        sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
        gate_->unlock();
      }
    } catch (const StoreError&) {  // the log stays and is read by the next opener
    }
  }
  sqlite3_close_v2(handle_);
}

Statement Database::prepare(std::string_view sql) {
  auto found = cache_.find(std::string(sql));
  if (found != cache_.end() && sqlite3_stmt_busy(found->second) == 0) return {*this, found->second};
  if (found != cache_.end()) {
    throw StoreError("a statement is used twice at once: " + std::string(sql));
  }
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) fail(code, quoted(std::string(sql.substr(0, sql.find('\n')))));
  cache_.emplace(sql, statement);
  return {*this, statement};
}

void Database::execute(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, quoted(std::string(sql).substr(0, 60)));
}

std::int64_t Database::integer(std::string_view sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

void Database::begin() {
  if (access_ == Access::Read) {
    throw StoreError("'" + file_.string() + "' is open for reading only");
  }
  if (!poison_.empty()) {
    throw StoreError("'" + file_.string() + "' is not written any more after an error: " + poison_);
  }
  if (!gate_->lock(std::chrono::milliseconds(kBusyMilliseconds))) {
    throw StoreError("'" + file_.string() +
                     "' is busy: another process has been writing for 5 s; try again");
  }
  try {
    execute("BEGIN IMMEDIATE");
  } catch (...) {
    gate_->unlock();
    throw;
  }
  depth_ = 1;
}

void Database::commit() {
  execute("COMMIT");  // an automatic checkpoint happens in here, under the gate
  depth_ = 0;
  hasWritten_ = true;
  gate_->unlock();
}

void Database::rollback() noexcept {
  if (sqlite3_get_autocommit(handle_) == 0) {
    sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  metricIds.clear();
  depth_ = 0;
  gate_->unlock();
}

void Database::fail(int code, const std::string& doing) {
  const std::string file = quoted(file_.string());
  // Texts of SQLite may quote a damaged file: bytes, not necessarily UTF-8.
  const std::string message = handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw StoreError(file +
                       " is busy: another program has held it for 5 s; close that or try again");
    case SQLITE_FULL:
      throw StoreError(file + " cannot grow because the disk is full; free some space");
    case SQLITE_NOTADB:
      throw StoreError(file +
                       " is not a Vitrine database: it is not an SQLite file; choose another file");
    case SQLITE_CANTOPEN:
      throw StoreError(file + " cannot be opened (" + message +
                       "); check the folder and its permissions");
    case SQLITE_READONLY:
      throw StoreError(file + " cannot be written (" + message + "); check its permissions");
    case SQLITE_CORRUPT:
      poison_ = message;
      throw StoreError(file + " is damaged (" + message +
                       "); run `vitrine db check` and restore a backup");
    case SQLITE_IOERR:
      poison_ = message;
      markForCheck(file_, message);
      throw StoreError("reading or writing " + file + " failed (" + message +
                       "); check the disk, then run `vitrine db check`");
    default:
      throw StoreError(file + ": " + doing + " failed: " + message);
  }
}

}  // namespace vitrine
