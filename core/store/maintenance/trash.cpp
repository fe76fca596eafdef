// A run in the trash is a folder `run-<uuid>` with
//   run.vitrine   its rows, a database of one run
//   about.json    what of it the rows do not say; written last: without it the rows count
//   files         its folder, as it was next to the database
// It is deleted in this order: rows copied, rows removed from the database, files moved. It comes
// back in the opposite one. Whatever is cut short, either the database or the trash has all rows,
// and files are where the rows are or next to the database.
#include "core/store/maintenance/trash.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/files/posix_file.h"
#include "core/store/exchange/export_forms.h"
#include "core/store/exchange/run_copier.h"
#include "core/store/maintenance/new_file.h"
#include "core/store/run_store.h"
#include "core/store/sqlite/file_system.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"

namespace vitrine::store {

namespace fs = std::filesystem;

namespace {

constexpr const char* kRows = "run.vitrine";
constexpr const char* kAbout = "about.json";
constexpr const char* kFiles = "files";

fs::path trashFolder(const fs::path& database) { return filesFolder(database) / "trash"; }

struct Entry {
  TrashedRun run;
  fs::path folder;
  std::string parent;                   ///< UUID of the run it started from, or ""
  std::vector<std::string> dependents;  ///< UUIDs of runs that started from it
};

std::optional<Entry> entryAt(const fs::path& folder) {
  std::ifstream stream(folder / kAbout);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  const Json about = readJson(text);
  if (!about.is_object()) return std::nullopt;
  Entry entry{.folder = folder};
  try {
    entry.run = {about.at("id").get<std::int64_t>(), about.at("uuid").get<std::string>(),
                 about.at("name").get<std::string>(), about.at("experiment").get<std::string>(),
                 about.at("deleted_at").get<std::string>()};
    entry.parent = about.at("parent").get<std::string>();
    entry.dependents = about.at("dependents").get<std::vector<std::string>>();
  } catch (const Json::exception&) {  // not as it is written here
    return std::nullopt;
  }
  if (folder.filename() != runFolderName(entry.run.uuid)) return std::nullopt;
  return entry;
}

/// 0 where the database does not have the run.
std::int64_t idOf(Database& database, const std::string& uuid) {
  return database.integer("SELECT id FROM run WHERE uuid = ?", uuid);
}

/// The newest first. A run in the database is not in the trash: it was brought back, or deleting
/// it was cut short.
std::vector<Entry> entriesOf(Database& database) {
  std::vector<Entry> entries;
  std::error_code error;
  for (auto at = fs::directory_iterator(trashFolder(database.file()), error);
       !error && at != fs::directory_iterator(); at.increment(error)) {
    std::optional<Entry> entry = entryAt(at->path());
    if (entry && idOf(database, entry->run.uuid) == 0) entries.push_back(std::move(*entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.run.deletedAt != b.run.deletedAt ? a.run.deletedAt > b.run.deletedAt
                                              : a.run.id > b.run.id;
  });
  return entries;
}

void writeAbout(Database& database, const RunRow& run, const fs::path& folder) {
  const auto parents = database.texts(
      "SELECT p.uuid FROM run r JOIN run p ON p.id = r.depends_on WHERE r.id = ?", run.id);
  const Json about{
      {"id", run.id},
      {"uuid", run.uuid},
      {"name", cleanUtf8(run.name)},
      {"experiment", cleanUtf8(run.experiment)},
      {"deleted_at", utcNow()},
      {"parent", parents.empty() ? std::string() : parents.front()},
      {"dependents", database.texts("SELECT uuid FROM run WHERE depends_on = ?", run.id)}};
  NewFile file(folder / kAbout);
  Appender text(file.temporary(), folder / kAbout);
  text.write(about.dump(1) + "\n");
  text.close();
  file.finish();
}

/// Copies the rows of `run` into the trash; returns the change up to which they are.
std::int64_t copyRows(Database& database, std::int64_t run, const fs::path& folder) {
  std::int64_t change = 0;
  std::error_code error;
  fs::remove_all(folder, error);  // of a deletion that was cut short
  fs::create_directories(folder, error);
  if (error)
    throw FileError("cannot make the folder '" + folder.string() +
                    "' for the trash: " + error.message());
  NewFile file(folder / kRows);
  {
    Database rows(file.temporary(), Database::Access::Scratch, database.file());
    openSchema(rows);
    rows.write([&] {
      database.read([&] {
        const RunRow row = readRun(database, run);
        change = row.changeSequence;
        RunCopier(database, rows).copy(run, {});
        writeAbout(database, row, folder);
      });
    });
  }
  file.finish();
  return change;
}

/// copyRows(), with what to do where there is no room for it.
std::int64_t moveAside(Database& database, std::int64_t run, const fs::path& folder) {
  const auto refuse = [&](const std::string& why) {
    std::error_code error;
    fs::remove_all(folder, error);
    throw FileError(nameOf(run) + " cannot be moved to the trash: " + why +
                    "; `vitrine delete --for-good` removes it without the trash");
  };
  try {
    return copyRows(database, run, folder);
  } catch (const StoreError& error) {
    refuse(error.what());
  } catch (const FileError& error) {
    refuse(error.what());
  }
  return 0;
}

/// \returns  its id
std::int64_t storeAgain(Database& database, Database& rows, const Entry& entry) {
  RunCopier::Changes changes;
  changes.dependsOn = entry.parent.empty() ? 0 : idOf(database, entry.parent);
  changes.id = database.any("SELECT 1 FROM run WHERE id = ?", entry.run.id) ? 0 : entry.run.id;
  const std::int64_t id =
      RunCopier(rows, database).copy(rows.integer("SELECT id FROM run"), changes);
  database.run(
      "UPDATE run SET state = 'stopped', reason = 'was queued when it was deleted; `vitrine "
      "retry` puts it into the queue' WHERE id = ? AND state = 'queued'",
      id);
  for (const std::string& uuid : entry.dependents) {
    database.run(
        "UPDATE run SET depends_on = ?, change_sequence = ? WHERE uuid = ? AND depends_on IS "
        "NULL",
        id, nextChange(database), uuid);
  }
  database.run("DELETE FROM deleted_run WHERE uuid = ?", entry.run.uuid);
  return id;
}

}  // namespace

std::vector<TrashedRun> trashedRuns(const fs::path& file) {
  Database database(file, Database::Access::Read);
  openSchema(database);
  std::vector<TrashedRun> runs;
  for (Entry& entry : entriesOf(database)) {
    entry.run.bytes = bytesBelow(entry.folder);
    runs.push_back(std::move(entry.run));
  }
  return runs;
}

void trashRun(const fs::path& file, std::int64_t run) {
  Database database(file, Database::Access::Write);
  openSchema(database);
  const RunRow row = readRun(database, run);
  refuseDeletion(database, row);
  const fs::path folder = trashFolder(file) / runFolderName(row.uuid);
  for (bool isDone = false; !isDone;) {
    const std::int64_t change = moveAside(database, run, folder);
    isDone = database.write([&] {
      const RunRow now = readRun(database, run);
      refuseDeletion(database, now);
      if (now.changeSequence != change) return false;  // another process wrote to it meanwhile
      deleteRows(database, now);
      return true;
    });
  }
  // Where this fails, the files stay next to the database, and come back with the run all the same.
  std::error_code error;
  fs::rename(filesFolder(file) / runFolderName(row.uuid), folder / kFiles, error);
  try {
    emptyTrash(file, kTrashTime);
  } catch (const FileError& old) {  // of another run; this one is in the trash
    log::warning(old.what());
  }
}

std::int64_t restoreRun(const fs::path& file, std::int64_t run) {
  Database database(file, Database::Access::Write);
  openSchema(database);
  const std::vector<Entry> entries = entriesOf(database);
  const auto entry =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.run.id == run; });
  if (entry == entries.end()) {
    throw NotFoundError(nameOf(run) + " is not in the trash of '" + file.string() +
                        "'; `vitrine trash` lists the runs in it");
  }
  const fs::path folder = filesFolder(file) / runFolderName(entry->run.uuid);
  std::error_code error;
  if (fs::exists(entry->folder / kFiles, error) && !fs::exists(folder, error)) {
    fs::rename(entry->folder / kFiles, folder, error);
    if (error)
      throw FileError("'" + (entry->folder / kFiles).string() +
                      "' cannot be moved back: " + error.message());
  }
  std::int64_t id = 0;
  {
    // A copy, which may be brought up to date: the run may be older than this program.
    const fs::path copy = entry->folder / (std::string(kRows) + ".restored");
    fs::copy_file(entry->folder / kRows, copy, fs::copy_options::overwrite_existing, error);
    if (error)
      throw FileError(nameOf(run) + " cannot be restored: '" + (entry->folder / kRows).string() +
                      "' cannot be copied: " + error.message());
    Database rows(copy, Database::Access::Scratch, entry->folder / kRows);
    openSchema(rows);
    id = database.write([&] {
      const std::int64_t known = idOf(database, entry->run.uuid);
      return known != 0 ? known : storeAgain(database, rows, *entry);
    });
  }
  fs::remove_all(entry->folder, error);
  return id;
}

EmptiedTrash emptyTrash(const fs::path& file, std::chrono::seconds age) {
  Database database(file, Database::Access::Read);
  openSchema(database);
  const double now = secondsOfUtc(utcNow());
  EmptiedTrash emptied;
  const auto removeFolder = [](const fs::path& folder) {
    std::error_code error;
    fs::remove_all(folder, error);
    if (error)
      throw FileError("'" + folder.string() + "' of a deleted run cannot be removed: " +
                      error.message() + "; check its permissions");
  };
  for (const Entry& entry : entriesOf(database)) {
    if (now - secondsOfUtc(entry.run.deletedAt) < static_cast<double>(age.count())) continue;
    emptied.bytes += bytesBelow(entry.folder);
    ++emptied.runs;
    removeFolder(filesFolder(file) / runFolderName(entry.run.uuid));
    removeFolder(entry.folder);
  }
  return emptied;
}

}  // namespace vitrine::store
