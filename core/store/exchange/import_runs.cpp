// importRuns, and the SQLite form. What comes from the file is suspect in every respect.
#include <array>
#include <cstring>
#include <fstream>
#include <map>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/files/checkpoint_folder.h"
#include "core/store/exchange/file_probe.h"
#include "core/store/exchange/import_forms.h"
#include "core/store/exchange/run_copier.h"
#include "core/store/maintenance/integrity.h"
#include "core/store/maintenance/new_file.h"
#include "core/store/maintenance/run_check.h"
#include "core/store/run_store.h"
#include "core/store/sqlite/file_system.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"

namespace vitrine::store {

namespace fs = std::filesystem;

namespace {

std::string quotedSource(const ImportTask& task) { return "'" + task.source.string() + "'"; }

/// The database that an import makes, with its folders, where there was none. They are removed when
/// the import fails before a run is in it.
class NewDatabase {
 public:
  explicit NewDatabase(const fs::path& database) {
    std::error_code error;
    for (fs::path each = realFile(fs::absolute(database)); !fs::exists(each, error);
         each = each.parent_path())
      made_.push_back(each);
  }

  /// Under the writer lock: no other process stores a run in it meanwhile.
  void removeIfEmpty(Database& database) const {
    if (made_.empty()) return;
    try {
      database.write([&] {
        if (!database.any("SELECT 1 FROM run")) remove(database);
      });
    } catch (const StoreError&) {  // it cannot be looked at, so it stays
    }
  }

 private:
  void remove(const Database& database) const {
    std::error_code error;
    for (const char* suffix : {"", "-wal", "-shm", ".gate"})
      fs::remove(made_.front().string() + suffix, error);
    fs::remove(filesFolder(database.file()), error);
    // A folder that holds anything stays.
    for (std::size_t i = 1; i < made_.size(); ++i) fs::remove(made_[i], error);
  }

  std::vector<fs::path> made_;  ///< the file, and the folders above it, from below
};

bool isSqliteFile(const fs::path& file) {
  std::array<char, 16> start{};
  std::ifstream(file, std::ios::binary).read(start.data(), start.size());
  return std::memcmp(start.data(), "SQLite format 3", 16) == 0;
}

/// A log next to the file holds a part of it, which is not seen when it is opened as it lies there.
void refuseUnfinished(const fs::path& source) {
  std::error_code error;
  const fs::path real = realFile(source);
  for (const char* suffix : {"-wal", "-journal"}) {
    const auto size = fs::file_size(real.string() + suffix, error);
    if (!error && size > 0) {
      throw RefusedError("'" + source.string() + "' is in use or was not closed properly: '" +
                         real.filename().string() + suffix +
                         "' holds a part of it; import a copy that `vitrine db backup --db '" +
                         source.string() + "' COPY` makes");
    }
  }
}

/// The file, opened so that nothing of its own runs, with our schema, and sound.
class ForeignFile {
 public:
  explicit ForeignFile(const ImportTask& task) {
    refuseUnfinished(task.source);
    try {
      open(task);
    } catch (...) {
      close();
      throw;
    }
  }
  ~ForeignFile() { close(); }
  ForeignFile(const ForeignFile&) = delete;
  ForeignFile& operator=(const ForeignFile&) = delete;

  Database& operator*() { return *database_; }

 private:
  void open(const ImportTask& task) {
    database_ = std::make_unique<Database>(task.source, Database::Access::Foreign);
    const std::int64_t version = database_->integer("PRAGMA user_version");
    const bool isOlder = database_->integer("PRAGMA application_id") == kApplicationId &&
                         version > 0 && version < migrations().back().version;
    if (isOlder) {
      // Compared under its own name, then brought up to date as a copy of our own.
      openSchema(*database_, migrations().first(static_cast<std::size_t>(version)));
      copy_ = task.database.file().string() + ".import-" + newUuid();
      database_.reset();
      std::error_code error;
      fs::copy_file(task.source, copy_, error);
      if (error)
        throw FileError(quotedSource(task) +
                        " is of an older version and cannot be copied next to '" +
                        task.database.file().string() + "': " + error.message());
      database_ = std::make_unique<Database>(copy_, Database::Access::Scratch);
    }
    openSchema(*database_);
    const std::vector<std::string> problems = problemsOf(*database_);
    if (!problems.empty()) {
      throw StoreError(quotedSource(task) + " is damaged (" + shown(problems.front()) +
                       "); export it again");
    }
  }
  void close() noexcept {
    database_.reset();
    std::error_code error;
    if (!copy_.empty()) fs::remove(copy_, error);
  }

  std::unique_ptr<Database> database_;
  fs::path copy_;
};

bool hasTable(Database& database, const char* name) {
  return database.any("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", name);
}

/// A folder of the run's files that gets its name with the commit of its rows.
class StagedFiles {
 public:
  StagedFiles(const fs::path& files, const std::string& uuid)
      : target_(files / runFolderName(uuid)),
        staging_(files / (runFolderName(uuid) + ".import-" + newUuid())) {}
  ~StagedFiles() {
    std::error_code error;
    fs::remove_all(staging_, error);
  }
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  [[nodiscard]] const fs::path& folder() const noexcept { return staging_; }

  /// Takes the files of run `id` out of `from`, durable.
  void fill(Database& from, std::int64_t id, const std::string& source) {
    if (!hasTable(from, "exported_file")) return;
    Statement row = from.prepare(
        "SELECT path, part, data FROM exported_file WHERE run_id = ? ORDER BY path, part");
    row.with(id);
    std::string current;
    std::int64_t next = 0;
    std::unique_ptr<Appender> out;
    while (row.step()) {
      const std::string path = row.text(0);
      if (!isPlainPath("run/" + path, "run")) {
        throw StoreError(source + " names a file '" + shown(path) +
                         "', which would not stay in the folder of its run; it is not imported");
      }
      if (path != current) {
        if (out) out->close();
        out.reset();
        fs::create_directories((staging_ / path).parent_path());
        out = std::make_unique<Appender>(staging_ / path);
        current = path;
        next = 0;
      }
      if (row.integer(1) != next++) {
        throw StoreError(source + " lacks part " + std::to_string(next - 1) + " of the file '" +
                         path + "' of one of its runs; it is damaged");
      }
      out->write(row.blob(2));
    }
    if (out) out->close();
    std::error_code error;
    if (fs::exists(staging_, error)) syncTree(staging_);
  }

  /// Under the transaction that stores the rows, as its last step.
  void putInPlace() {
    std::error_code error;
    if (!fs::exists(staging_, error)) return;
    // Left by an import that was killed: the rows of this run do not exist yet.
    fs::remove_all(target_, error);
    fs::rename(staging_, target_);
    files::syncFolder(target_.parent_path());
  }

 private:
  fs::path target_, staging_;
};

/// Steps of checkpoints of run `id` whose files did not come along. All others are read, which
/// takes its time: not while other processes wait to write.
std::vector<std::int64_t> missingCheckpoints(Database& from, std::int64_t id,
                                             const std::string& uuid, const fs::path& staged,
                                             const std::string& source) {
  const std::string folder = runFolderName(uuid);
  Statement row = from.prepare(
      "SELECT folder, step, removed_at FROM checkpoint WHERE run_id = ? ORDER BY step");
  row.with(id);
  std::vector<std::int64_t> missing;
  while (row.step()) {
    const std::string path = row.text(0);
    if (!isPlainPath(path, folder)) {
      throw StoreError(source + " names a checkpoint folder '" + shown(path) +
                       "', which would not stay in the folder of its run; it is not imported");
    }
    if (!row.text(2).empty()) continue;
    const fs::path here = staged / path.substr(folder.size() + 1);
    std::error_code error;
    if (!fs::exists(here, error)) {
      missing.push_back(row.integer(1));
      continue;
    }
    const std::string problem = verifyCheckpointFolder(here);
    if (!problem.empty()) {
      throw StoreError(source + " holds a checkpoint of step " + std::to_string(row.integer(1)) +
                       " that is not whole: " + problem);
    }
  }
  return missing;
}

/// Of a database that was copied without its files, not of an export.
void markRemoved(Database& to, std::int64_t run, const std::vector<std::int64_t>& steps) {
  for (const std::int64_t step : steps) {
    to.run("UPDATE checkpoint SET removed_at = ? WHERE run_id = ? AND step = ?", utcNow(), run,
           step);
    to.run(
        "UPDATE run SET latest_checkpoint = nullif(latest_checkpoint, ?2), best_checkpoint = "
        "nullif(best_checkpoint, ?2) WHERE id = ?1",
        run, step);
  }
}

/// The log is shown, searched and sent to other machines by its path.
void checkLog(Database& to, std::int64_t run, const std::string& uuid, const std::string& source) {
  const std::string log = readRun(to, run).logFile;
  if (log.empty() || isPlainPath(log, runFolderName(uuid))) return;
  throw StoreError(source + " names a log '" + shown(log) +
                   "', which would not stay in the folder of its run; it is not imported");
}

/// Nothing runs or waits here because of a file: such states become ones that a person can continue
/// from.
void stopImported(Database& to, std::int64_t run) {
  const RunRow row = readRun(to, run);
  std::string reason;
  RunState state = row.state;
  if (isAlive(row.state)) {
    state = RunState::Interrupted;
    reason = "was " + toString(row.state) + " when it was exported";
    if (!row.worker.host.empty()) reason += " on " + shown(row.worker.host);
  } else if (row.state == RunState::Queued) {
    state = RunState::Stopped;
    reason = "was queued when it was exported; `vitrine retry` puts it into the queue here";
  } else {
    return;
  }
  to.run(
      "UPDATE run SET state = ?2, reason = ?3, request = '', finished_at = CASE finished_at WHEN "
      "'' THEN ?4 ELSE finished_at END WHERE id = ?1",
      run, toString(state), reason, utcNow());
}

class SqliteImport {
 public:
  SqliteImport(const ImportTask& task, Database& from)
      : task_(task), from_(from), copier_(from, task.database) {}

  void all() {
    from_.each("SELECT id, uuid, name, coalesce(depends_on, 0) FROM run ORDER BY id",
               [&](const Statement& row) {
                 sources_.emplace(row.integer(0), Source{.uuid = row.text(1),
                                                         .name = shown(row.text(2)),
                                                         .parent = row.integer(3)});
               });
    if (hasTable(from_, "exported_dependency")) {
      from_.each("SELECT run_id, uuid FROM exported_dependency", [&](const Statement& row) {
        const auto found = sources_.find(row.integer(0));
        if (found != sources_.end()) found->second.parentUuid = row.text(1);
      });
    }
    for (const auto& entry : sources_) take(entry.first);
  }

 private:
  struct Source {
    std::string uuid, name, parentUuid;
    std::int64_t parent = 0;
    std::int64_t here = 0;  ///< id in our database once it is there
    bool isVisited = false;
  };

  /// Runs of the file that run `id` needs come before it, so that it can follow their new names.
  void takeNeeded(std::int64_t id) {
    for (const std::string& uuid :
         from_.texts("SELECT uuid FROM run_dependency WHERE run_id = ?", id)) {
      for (const auto& [other, source] : sources_) {
        if (source.uuid == uuid && source.here == 0) {
          if (source.isVisited) refuseCircle();
          take(other);
        }
      }
    }
  }

  [[noreturn]] void refuseCircle() {
    throw StoreError(quotedSource(task_) +
                     " holds runs that depend on each other in a circle; it is damaged");
  }

  /// The run that `source` depends on, as an id here; 0 where there is none, or none that is known.
  std::int64_t parentOf(const Source& source) {
    if (source.parent != 0) {
      const auto parent = sources_.find(source.parent);
      if (parent == sources_.end()) return 0;
      if (parent->second.here == 0) {
        if (parent->second.isVisited) refuseCircle();
        take(source.parent);
      }
      return parent->second.here;
    }
    if (source.parentUuid.empty()) return 0;
    return task_.database.integer("SELECT id FROM run WHERE uuid = ?", source.parentUuid);
  }

  void take(std::int64_t id) {
    Source& source = sources_.at(id);
    if (source.isVisited) return;
    source.isVisited = true;
    const RunRow row = readRun(from_, id);  // its UUID is one, or this throws
    const std::int64_t parent = parentOf(source);
    takeNeeded(id);
    task_.tell(source.name, task_.report.runs.size(), sources_.size());
    if (task_.isDuplicate(source.uuid, source.name)) {
      source.here = task_.report.runs.back().id;
      return;
    }
    RunCopier::Changes changes{.dependsOn = parent};
    if (task_.database.any("SELECT 1 FROM run WHERE uuid = ?", source.uuid))
      changes.uuid = newUuid();
    const std::string uuid = changes.uuid.empty() ? source.uuid : changes.uuid;
    renamed_[source.uuid] = uuid;
    const fs::path files = filesFolder(task_.database.file());
    StagedFiles staged(files, uuid);
    staged.fill(from_, id, quotedSource(task_));
    const std::vector<std::int64_t> missing =
        missingCheckpoints(from_, id, source.uuid, staged.folder(), quotedSource(task_));
    try {
      store(source, id, changes, uuid, staged, missing);
    } catch (const ConstraintError& error) {
      // Our tables refuse what the file's own could not: another program wrote it.
      throw StoreError(quotedSource(task_) + ": run '" + source.name +
                       "' holds a value that its column may not have (" + error.detail() +
                       "); it is not imported");
    }
    task_.report.runs.push_back({source.here, uuid, source.name, true});
  }

  void store(Source& source, std::int64_t id, const RunCopier::Changes& changes,
             const std::string& uuid, StagedFiles& staged,
             const std::vector<std::int64_t>& missing) {
    task_.database.write([&] {
      source.here = copier_.copy(id, changes);
      if (uuid != source.uuid) {
        followInit(source.here);
        followNeeded(source.here);
      }
      markRemoved(task_.database, source.here, missing);
      checkLog(task_.database, source.here, uuid, quotedSource(task_));
      stopImported(task_.database, source.here);
      // What was stored is now read with our own eyes, and not stored if it does not hold together.
      const std::vector<std::string> problems = runProblems(task_.database, source.here);
      if (!problems.empty()) {
        const std::string here = nameOf(source.here);
        std::string what = problems.front();
        if (what.starts_with(here)) what = "'" + source.name + "'" + what.substr(here.size());
        throw StoreError(quotedSource(task_) + ": run " + what + "; it is not imported");
      }
      staged.putInPlace();
    });
  }

  /// A copy that starts from a run that was copied too starts from that copy.
  void followInit(std::int64_t run) {
    Statement row = task_.database.prepare("SELECT init FROM run_config WHERE run_id = ?");
    if (!row.with(run).step()) return;
    Json init = readJson(row.text(0));
    if (!init.is_object() || !init.contains("run") || !init["run"].is_string()) return;
    const auto renamed = renamed_.find(init["run"].get<std::string>());
    if (renamed == renamed_.end()) return;
    init["run"] = renamed->second;
    task_.database.run("UPDATE run_config SET init = ? WHERE run_id = ?", dumpJson(init), run);
  }

  /// The same of the runs that it needs.
  void followNeeded(std::int64_t run) {
    for (const auto& [before, after] : renamed_) {
      task_.database.run("UPDATE run_dependency SET uuid = ? WHERE run_id = ? AND uuid = ?", after,
                         run, before);
    }
  }

  const ImportTask& task_;
  Database& from_;
  RunCopier copier_;
  std::map<std::int64_t, Source> sources_;
  std::map<std::string, std::string> renamed_;
};

}  // namespace

void ImportTask::tell(const std::string& name, std::size_t index, std::size_t count) const {
  if (progress)
    progress("'" + name + "' (" + std::to_string(index + 1) + " of " + std::to_string(count) + ")");
}

bool ImportTask::isDuplicate(const std::string& uuid, const std::string& name) const {
  if (duplicates == Duplicates::Copy) return false;
  const std::int64_t run = database.integer("SELECT id FROM run WHERE uuid = ?", uuid);
  if (run == 0) return false;
  report.runs.push_back({run, uuid, name, false});
  report.notes.push_back("'" + name + "' is here already as run " + std::to_string(run) +
                         " and was skipped; --again imports it as a copy");
  return true;
}

void importSqlite(const ImportTask& task) {
  ForeignFile file(task);
  try {
    SqliteImport(task, *file).all();
  } catch (const StoreError& error) {
    const std::string what = error.what();
    if (what.find(task.source.string()) != std::string::npos) throw;
    throw StoreError(quotedSource(task) + ": " + what);
  }
}

ImportReport importRuns(const fs::path& database, const fs::path& source, Duplicates duplicates,
                        const std::string& experiment, const ExchangeProgress& progress) {
  std::error_code error;
  if (!fs::exists(source, error))
    throw NotFoundError("there is no file '" + source.string() + "' to import");
  if (fs::equivalent(source, database, error))
    throw RefusedError("'" + source.string() + "' is the database itself; its runs are there");
  const NewDatabase made(database);
  Database to(database, Database::Access::Create);
  ImportReport report;
  const ImportTask task{to, source, duplicates, experiment, progress, report};
  try {
    openSchema(to);
    sweepUnfinished(to);
    if (fs::is_regular_file(source, error) && isSqliteFile(source)) {
      importSqlite(task);
    } else if (const FileKind kind = kindByName(source);
               kind == FileKind::Export || kind == FileKind::Database) {
      throw StoreError("'" + source.string() + "' is not an SQLite file; export it again");
    } else {
      importTensorBoard(task);
    }
  } catch (...) {
    made.removeIfEmpty(to);
    throw;
  }
  return report;
}

}  // namespace vitrine::store
