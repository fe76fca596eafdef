#include "core/store/run_store.h"

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/store/maintenance/integrity.h"
#include "core/store/spool/spool.h"
#include "core/store/sqlite/check_mark.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

/// A write into a copy never reaches the database that it is a copy of.
void refuseCopies(Database& database) {
  Statement row = database.prepare("SELECT value FROM meta WHERE key = 'mirror_of'");
  if (!row.step()) return;
  throw RefusedError("'" + database.file().string() + "' is a copy of " + shown(row.text(0)) +
                     ", which is only read; open that one");
}

/// \throws StoreError  it is damaged and was to be written
void checkAfterError(Database& database, const std::string& why) {
  const std::vector<std::string> problems = problemsOf(database);
  const std::string after = "'" + database.file().string() + "' met an I/O error (" + why + ")";
  if (problems.empty()) {
    log::warning(after +
                 " and was checked just now: it is whole; `vitrine db check` clears the mark");
  } else if (database.isReadOnly()) {
    log::warning(after + " and is damaged: " + problems.front() + "; restore a backup");
  } else {
    throw StoreError(after + " and is damaged: " + problems.front() +
                     "; restore a backup, or see all of it with `vitrine db check`");
  }
}

std::shared_ptr<Database> openDatabase(const std::filesystem::path& file, OpenMode mode) {
  const auto access = mode == OpenMode::ReadWriteCreate ? Database::Access::Create
                      : mode == OpenMode::ReadWrite     ? Database::Access::Write
                                                        : Database::Access::Read;
  auto database = std::make_shared<Database>(file, access);
  openSchema(*database);
  const std::string why = whyCheckIsNeeded(file);
  if (!why.empty()) checkAfterError(*database, why);
  if (mode != OpenMode::ReadOnly) {
    refuseCopies(*database);
    Spool::storeAll(*database);
  }
  return database;
}

}  // namespace

RunReader::RunReader(const std::filesystem::path& file)
    : RunReader(openDatabase(file, OpenMode::ReadOnly)) {}

RunStore::RunStore(const std::filesystem::path& file, OpenMode mode)
    : RunStore(openDatabase(file, mode)) {}

RunStore::RunStore(const std::shared_ptr<Database>& database)
    : RunReader(database), RunWriter(database), Annotations(database) {}

void RunStore::setPatience(std::chrono::milliseconds patience) {
  connection().setPatience(patience);
}

std::vector<std::string> RunStore::check() {
  std::vector<std::string> problems = problemsOf(connection());
  if (problems.empty()) removeCheckMark(file());
  return problems;
}

int schemaVersion() { return migrations().back().version; }

}  // namespace vitrine::store
