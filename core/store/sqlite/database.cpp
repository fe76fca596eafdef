#include "core/store/sqlite/database.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/store/sqlite/check_mark.h"
#include "core/store/sqlite/file_system.h"
#include "core/store/sqlite/open_file_locks.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

constexpr int kBusyMilliseconds = 5000;
constexpr const char* kReadSomething = "SELECT 1 FROM sqlite_schema LIMIT 1";
constexpr int kMostForeignColumns = 200;

std::string quoted(const std::string& text) {
  std::string result(1, '\'');
  result += text;
  result += '\'';
  return result;
}

/// `file` as a URI for sqlite3_open_v2; bytes that mean something there are escaped.
std::string uriOf(const std::filesystem::path& file, const char* parameters) {
  static constexpr const char* kHex = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '?' || c == '#' || c == '%') {
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      uri += c;
    }
  }
  return uri + "?" + parameters;
}

constexpr const char* kFull =
    " cannot grow because the disk is full, or your share of it; free some space";

/// SQLite calls a full disk SQLITE_FULL. It has other codes for a quota, a limit on the size of
/// files, or a full disk met while it makes its `-shm`. A sync that failed is never one of these:
/// it is unknown what of it is on the disk.
bool isForWantOfSpace(sqlite3* handle, int code) noexcept {
  if (handle == nullptr || (code != SQLITE_IOERR_WRITE && code != SQLITE_IOERR_SHMSIZE))
    return false;
  const auto isIt = [](int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; };
  sqlite3_file* log = nullptr;
  int ofFile = 0, ofLog = 0;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &ofFile);
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  // A journal in memory has no such call.
  if (log != nullptr && log->pMethods != nullptr && log->pMethods->xFileControl != nullptr)
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &ofLog);
  return isIt(sqlite3_system_errno(handle)) || isIt(ofFile) || isIt(ofLog);
}

std::string secondsOf(std::chrono::milliseconds time) {
  return formatReal(static_cast<double>(time.count()) / 1000, 3) + " s";
}

std::uint64_t sizeOf(const std::string& file) noexcept {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

ConstraintError::ConstraintError(const std::string& message, int extendedCode, std::string detail)
    : StoreError(message), extendedCode_(extendedCode), detail_(std::move(detail)) {}
ConstraintError::~ConstraintError() = default;

Database::Database(const std::filesystem::path& file, Access access,
                   const std::filesystem::path& named)
    : file_(file), named_(named.empty() ? file : named), access_(access) {
  std::error_code error;
  const bool exists = std::filesystem::exists(file_, error);
  if (!exists && access != Access::Create && access != Access::Scratch) {
    throw NotFoundError("there is no database '" + file_.string() +
                        "'; `vitrine train` or `vitrine runs` makes one");
  }
  if (std::filesystem::is_directory(file_, error))
    throw StoreError("'" + file_.string() + "' is a folder, not a Vitrine database");
  // SQLite would put a journal next to a device, and this program its marks.
  if (exists && !std::filesystem::is_regular_file(file_, error)) {
    throw StoreError("'" + file_.string() +
                     "' is a device or a pipe, not a Vitrine database; choose another file");
  }
  if (access == Access::Create && file_.has_parent_path()) {
    std::filesystem::create_directories(file_.parent_path(), error);
    if (error) {
      throw StoreError("cannot make the folder '" + file_.parent_path().string() +
                       "' for the database: " + error.message());
    }
  }
  const std::string system = isShared() ? networkFileSystem(folderOfFile(file_)) : "";
  if (!system.empty()) {
    throw RefusedError("'" + file_.string() + "' lies on a network file system (" + system +
                       "), where several processes cannot share a database; keep it on a local "
                       "disk and carry results over with `vitrine export` and `vitrine import`");
  }
  if (access == Access::Write || access == Access::Create)
    writerLock_ = std::make_unique<WriterLock>(realFile(file_));
  try {
    open();
  } catch (...) {
    sqlite3_close_v2(handle_);
    throw;
  }
}

void Database::open() {
  keepLocksWithOpenFiles();
  const int common = SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE;
  int code = SQLITE_OK;
  switch (access_) {
    case Access::Create:
    case Access::Scratch:
      code = sqlite3_open_v2(file_.c_str(), &handle_,
                             common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
      break;
    case Access::Write:
      code = sqlite3_open_v2(file_.c_str(), &handle_, common | SQLITE_OPEN_READWRITE, nullptr);
      break;
    case Access::Read:
      code = sqlite3_open_v2(file_.c_str(), &handle_, common | SQLITE_OPEN_READONLY, nullptr);
      break;
    case Access::Foreign:
      code = sqlite3_open_v2(uriOf(file_, "mode=ro&immutable=1").c_str(), &handle_,
                             common | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
      break;
  }
  if (code != SQLITE_OK) fail(code, "opening");
  configure();
  if (!isShared()) return;
  // Reading opens the log.
  code = sqlite3_exec(handle_, kReadSomething, nullptr, nullptr, nullptr);
  rememberLog();
  if (access_ != Access::Read) return;
  // A file in WAL mode needs to make its -shm. Where the folder is read-only, it is read as it lies
  // there, unless some of it is still in a log.
  const bool isLocked = (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY;
  if (!isLocked) return;
  const std::string logFile = realFile(file_).string() + "-wal";
  if (sizeOf(logFile) > 0) {
    throw StoreError("'" + file_.string() +
                     "' cannot be read in a folder without write permission while its log '" +
                     logFile + "' is not empty; copy both into a folder of your own");
  }
  sqlite3_close_v2(std::exchange(handle_, nullptr));
  log_.reset();
  code = sqlite3_open_v2(uriOf(file_, "mode=ro&immutable=1").c_str(), &handle_,
                         common | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  if (code != SQLITE_OK) fail(code, "opening");
  configure();
}

void Database::configure() {
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
  switch (access_) {
    case Access::Create:
    case Access::Write:
      execute(
          "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000;"
          "PRAGMA journal_size_limit = 67108864; PRAGMA secure_delete = OFF");
      break;
    case Access::Scratch:
      // Its maker syncs it before it gets its name; a kill leaves a temporary file.
      execute(
          "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;"
          "PRAGMA secure_delete = OFF");
      break;
    case Access::Foreign:
      sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, &ignored);
      sqlite3_limit(handle_, SQLITE_LIMIT_COLUMN, kMostForeignColumns);
      execute("PRAGMA query_only = ON");
      break;
    case Access::Read:
      execute("PRAGMA query_only = ON");
      break;
  }
}

Database::~Database() {
  for (const auto& entry : cache_) sqlite3_finalize(entry.second);
  if (hasWritten_ && poison_.empty() && writerLock_ && !isLogGone()) {
    // The last writer leaves an empty log where it can; a process in the way does it later.
    try {
      if (writerLock_->lock(std::chrono::milliseconds(100))) {
        sqlite3_busy_timeout(handle_, 0);
        sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
        writerLock_->unlock();
      }
    } catch (const StoreError&) {  // the log stays and is read by the next opener
    }
  }
  sqlite3_close_v2(handle_);
}

Statement Database::prepare(std::string_view sql) {
  auto found = cache_.find(std::string(sql));
  if (found != cache_.end() && sqlite3_stmt_busy(found->second) == 0) return {*this, found->second};
  if (found != cache_.end())
    throw StoreError("a statement is used twice at once: " + std::string(sql));
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) fail(code, quoted(firstLine(sql)));
  cache_.emplace(sql, statement);
  return {*this, statement};
}

std::uint64_t Database::mostRowBytes() const noexcept {
  return static_cast<std::uint64_t>(sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, -1));
}

void Database::execute(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, quoted(shorten(sql, 60)));
}

/// Takes the writer lock, when writing is possible at all.
void Database::lock() {
  if (isReadOnly()) throw StoreError("'" + file_.string() + "' is open for reading only");
  if (!poison_.empty())
    throw StoreError("'" + file_.string() + "' is not written any more after an error: " + poison_);
  if (writerLock_ && !writerLock_->lock(patience_)) {
    throw UnwritableError("'" + file_.string() +
                          "' is busy: another process has been writing for " +
                          secondsOf(patience_) + "; try again");
  }
  try {
    checkPlace();
  } catch (...) {
    unlock();
    throw;
  }
}

void Database::begin() {
  lock();
  // Programs that do not know the writer lock are waited for here.
  sqlite3_busy_timeout(handle_, static_cast<int>(patience_.count()));
  try {
    execute("BEGIN IMMEDIATE");
  } catch (...) {
    sqlite3_busy_timeout(handle_, kBusyMilliseconds);
    unlock();
    throw;
  }
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
  depth_ = 1;
}

std::string Database::useLog() {
  lock();
  try {
    const std::string mode = text("PRAGMA journal_mode = WAL");
    unlock();
    sqlite3_exec(handle_, kReadSomething, nullptr, nullptr, nullptr);
    rememberLog();
    return mode;
  } catch (...) {
    unlock();
    throw;
  }
}

void Database::vacuum() {
  lock();
  const auto restore = [&] {
    sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
    unlock();
  };
  try {
    sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 1);  // VACUUM attaches its new file
    execute("VACUUM");
    sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  } catch (...) {
    restore();
    throw;
  }
  hasWritten_ = true;
  restore();
}

void Database::commit() {
  execute("COMMIT");  // an automatic checkpoint happens in here, under the writer lock
  depth_ = 0;
  hasWritten_ = true;
  limitLog();
  unlock();
}

void Database::rollback() noexcept {
  if (sqlite3_get_autocommit(handle_) == 0)
    sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  metricIds.clear();
  depth_ = 0;
  unlock();
}

void Database::unlock() noexcept {
  if (writerLock_) writerLock_->unlock();
}

void Database::checkPlace() {
  int hasMoved = 0;
  const int code = sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved);
  if (code != SQLITE_OK || hasMoved == 0) {
    if (isLogGone()) throw UnwritableError(logSentence());
    return;
  }
  poison_ = "it was renamed, removed or replaced while it was open";
  throw StoreError("'" + file_.string() + "' " + poison_.substr(3) +
                   "; put it back and open it again: nothing is written meanwhile");
}

std::optional<Database::LogFiles> Database::logFiles() const noexcept {
  const char* const name = sqlite3_db_filename(handle_, "main");  // where a link leads
  if (name == nullptr || *name == '\0') return std::nullopt;
  struct stat log {};
  struct stat shared {};
  if (::stat((std::string(name) + "-wal").c_str(), &log) != 0) return std::nullopt;
  if (::stat((std::string(name) + "-shm").c_str(), &shared) != 0) return std::nullopt;
  return LogFiles{log.st_dev, log.st_ino, shared.st_dev, shared.st_ino};
}

/// What it had open before the log was turned on, or in a file without one, is nothing.
void Database::rememberLog() {
  if (!log_) log_ = logFiles();
}

bool Database::isLogGone() const noexcept { return log_ && logFiles() != log_; }

std::string Database::logSentence() const {
  return "'" + file_.string() + "' is open here, but another program deleted its log '" +
         file_.filename().string() +
         "-wal'; nothing is written meanwhile: close the database and open it again";
}

void Database::setPatience(std::chrono::milliseconds patience) { patience_ = patience; }

/// Under the writer lock, after a commit: keeps the log short. A reader that stands still prevents
/// it; then nothing is lost, but the log grows.
void Database::limitLog() {
  if (!writerLock_) return;
  const std::uint64_t size = sizeOf(realFile(file_).string() + "-wal");
  if (size < logPolicy.emptyAt) {
    isLogAlarmed_ = false;
    return;
  }
  sqlite3_busy_timeout(handle_, 0);
  const int code =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
  if (code == SQLITE_OK || size < logPolicy.alarmAt || isLogAlarmed_) return;
  isLogAlarmed_ = true;
  log::warning("the log of '" + file_.string() + "' has grown to " + formatBytes(size) +
               " because a program keeps reading an old state of it; close the window or program "
               "that hangs, and the log is emptied");
}

void Database::fail(int code, const std::string& doing) {
  const std::string file = quoted(named_.string());
  // Texts of SQLite may quote a damaged file: bytes, not necessarily UTF-8.
  const std::string message =
      shown(handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code));
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw UnwritableError(file + " is busy: another program has held it for " +
                            secondsOf(patience_) + "; close that or try again");
    case SQLITE_FULL:
      throw UnwritableError(file + kFull);
    case SQLITE_NOTADB:
      throw StoreError(file +
                       " is not a Vitrine database: it is not an SQLite file; choose another file");
    case SQLITE_CANTOPEN:
      if (!isReadOnly() && ::access(file_.c_str(), R_OK) == 0) {
        throw UnwritableError(file + " cannot be opened for writing (" + message +
                              "); check the permissions of its folder");
      }
      throw StoreError(file + " cannot be opened (" + message +
                       "); check the folder and its permissions");
    case SQLITE_READONLY:
      throw ProtectedError(file + " cannot be written (" + message + "); check its permissions");
    case SQLITE_NOMEM:
      throw StoreError(file + ": " + doing +
                       " failed: out of memory; close other programs and try again");
    case SQLITE_CORRUPT:
      poison_ = message;
      throw StoreError(file + " is damaged (" + message + "); " +
                       (isShared() ? "run `vitrine db check` and restore a backup"
                                   : "take or make another copy of it"));
    case SQLITE_TOOBIG:
      throw StoreError(file + ": " + doing + " failed: a value is larger than the limit of " +
                       formatBytes(sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, -1)) +
                       " for one row; make it smaller");
    case SQLITE_IOERR:
      if (code == SQLITE_IOERR_NOMEM) fail(SQLITE_NOMEM, doing);
      if (isForWantOfSpace(handle_, code)) throw UnwritableError(file + kFull);
      poison_ = message;
      if (isShared()) markForCheck(file_, message);
      throw StoreError("reading or writing " + file + " failed (" + message +
                       "); check the disk" + (isShared() ? ", then run `vitrine db check`" : ""));
    case SQLITE_CONSTRAINT:
      throw ConstraintError(file + ": " + doing + " failed: " + message, code, message);
    default:
      throw StoreError(file + ": " + doing + " failed: " + message);
  }
}

}  // namespace vitrine::store
