// Statements of a connection.
#include <cmath>
#include <utility>

#include "core/base/text.h"
#include "core/store/sqlite/database.h"

namespace vitrine::store {

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
  if (code != SQLITE_DONE) database_->fail(code, "'" + firstLine(sqlite3_sql(statement_)) + "'");
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

/// A value that is not NULL and yet cannot be had: SQLite had no memory for it.
void Statement::checkMemory(int column) const {
  if (isNull(column) || sqlite3_errcode(database_->handle()) != SQLITE_NOMEM) return;
  database_->fail(SQLITE_NOMEM, "reading a value");
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
  if (bytes == nullptr) {
    checkMemory(column);
    return {};
  }
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::span<const std::byte> Statement::blob(int column) const {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  if (bytes == nullptr) checkMemory(column);
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

}  // namespace vitrine::store
