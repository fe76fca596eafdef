// exportRuns, and the SQLite form.
#include <algorithm>
#include <ctime>
#include <fstream>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/checkpoint_use.h"
#include "core/store/exchange/export_forms.h"
#include "core/store/exchange/run_copier.h"
#include "core/store/maintenance/new_file.h"
#include "core/store/maintenance/run_check.h"
#include "core/store/run_store.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace fs = std::filesystem;

namespace {

/// Puts one file into the export, in parts.
void storeFile(Database& to, std::int64_t run, const fs::path& file, const std::string& path) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw FileError("'" + file.string() + "' cannot be read; it should be exported");
  std::vector<std::byte> part(static_cast<std::size_t>(kExportedPart));
  for (std::int64_t number = 0;; ++number) {
    stream.read(reinterpret_cast<char*>(part.data()), kExportedPart);
    const auto count = static_cast<std::size_t>(stream.gcount());
    if (stream.bad()) throw FileError("'" + file.string() + "' cannot be read to its end");
    if (count == 0 && number > 0) return;
    Statement row =
        to.prepare("INSERT INTO exported_file(run_id, path, part, data) VALUES (?, ?, ?, ?)");
    row.with(run, path, number);
    row.bindBlob(4, std::span(part).first(count));
    row.run();
    if (count < part.size()) return;
  }
}

/// Every file of the checkpoint at `folder`, which must be whole.
void storeCheckpoint(Database& to, std::int64_t run, const fs::path& folder,
                     const std::string& runFolder) {
  std::optional<CheckpointHold> hold;  // its run may be removing older ones meanwhile
  if (fs::is_directory(folder)) hold.emplace(folder);
  const std::string problem = verifyCheckpointFolder(folder);
  if (!problem.empty()) {
    throw FileError("the checkpoint '" + folder.string() + "' cannot be exported: " + problem +
                    "; choose others with --checkpoints, or none");
  }
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && !entry.is_symlink()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const std::string path =
        folder.filename().string() + "/" + file.lexically_relative(folder).generic_string();
    if (!isPlainPath(runFolder + "/" + path, runFolder))
      throw FileError("'" + file.string() + "' has a name that an export cannot hold");
    storeFile(to, run, file, path);
  }
}

std::set<std::int64_t> chosenSteps(const RunRow& run, ExportedCheckpoints choice,
                                   const std::set<std::int64_t>& kept) {
  std::set<std::int64_t> chosen;
  if (choice == ExportedCheckpoints::All) chosen = kept;
  if (choice == ExportedCheckpoints::Latest && kept.count(run.latestCheckpoint) != 0)
    chosen.insert(run.latestCheckpoint);
  if (choice == ExportedCheckpoints::Best && kept.count(run.bestCheckpoint) != 0)
    chosen.insert(run.bestCheckpoint);
  return chosen;
}

/// Files of `run` that go along; rows of checkpoints that do not are marked as removed.
void exportFiles(const ExportTask& task, Database& to, const RunRow& run, std::int64_t id) {
  const fs::path files = filesFolder(task.database.file());
  const std::string runFolder = runFolderName(run.uuid);
  std::map<std::int64_t, std::string> folders;
  to.each(
      "SELECT step, folder FROM checkpoint WHERE run_id = ? AND removed_at = ''",
      [&](const Statement& row) { folders[row.integer(0)] = row.text(1); }, id);
  std::set<std::int64_t> kept;
  for (const auto& entry : folders) kept.insert(entry.first);
  const std::set<std::int64_t> chosen = chosenSteps(run, task.checkpoints, kept);
  const std::string now = utcNow();
  for (const auto& [step, folder] : folders) {
    if (chosen.count(step) == 0) {
      to.run("UPDATE checkpoint SET removed_at = ? WHERE run_id = ? AND step = ?", now, id, step);
      continue;
    }
    if (!isPlainPath(folder, runFolder) ||
        folder.find('/', runFolder.size() + 1) != std::string::npos) {
      throw StoreError(nameOf(run.id) + " names the checkpoint folder '" +
                       shown(folder) + "', which is not its own; run `vitrine db check`");
    }
    storeCheckpoint(to, id, files / folder, runFolder);
    ++task.report.checkpoints;
  }
  Statement row =
      to.prepare("UPDATE run SET latest_checkpoint = ?2, best_checkpoint = ?3 WHERE id = ?1");
  row.bind(1, id);
  if (chosen.empty()) {
    row.bindNull(2);
  } else {
    row.bind(2, *chosen.rbegin());
  }
  if (chosen.count(run.bestCheckpoint) == 0) {
    row.bindNull(3);
  } else {
    row.bind(3, run.bestCheckpoint);
  }
  row.run();
  std::error_code error;
  if (isPlainPath(run.logFile, runFolder) && fs::is_regular_file(files / run.logFile, error))
    storeFile(to, id, files / run.logFile, run.logFile.substr(runFolder.size() + 1));
}

std::int64_t dependencyOf(Database& database, std::int64_t run) {
  return database.integer("SELECT coalesce(depends_on, 0) FROM run WHERE id = ?", run);
}

}  // namespace

void ExportTask::tell(std::size_t index) const {
  if (!progress) return;
  progress(nameOf(runs[index].id) + " (" + std::to_string(index + 1) + " of " +
           std::to_string(runs.size()) + ")");
}

double secondsOfUtc(const std::string& text) {
  std::tm time{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  if (rest == nullptr) return 0;
  double fraction = 0;
  if (*rest == '.') {
    double place = 0.1;
    for (++rest; *rest >= '0' && *rest <= '9'; ++rest, place /= 10)
      fraction += (*rest - '0') * place;
  }
  return static_cast<double>(::timegm(&time)) + fraction;
}

ExportFormat exportFormatOf(const fs::path& file) {
  const std::string ending = file.extension().string();
  if (!file.has_filename() || ending.empty()) return ExportFormat::TensorBoard;
  if (ending == ".vitrine" || ending == ".sqlite" || ending == ".db") return ExportFormat::Sqlite;
  if (ending == ".csv") return ExportFormat::Csv;
  if (ending == ".jsonl" || ending == ".ndjson") return ExportFormat::JsonLines;
  throw ConfigError(
      "'" + file.filename().string() +
      "' has no known ending: take .vitrine or .sqlite, .csv, .jsonl, or a folder for "
      "TensorBoard (a name without an ending)");
}

void exportSqlite(const ExportTask& task) {
  Database to(task.target, Database::Access::Scratch, task.file);
  openSchema(to);
  to.write([&] {
    to.execute(std::string(exportTables()).c_str());
    RunCopier copier(task.database, to);
    std::map<std::int64_t, std::int64_t> ids;
    for (std::size_t i = 0; i < task.runs.size(); ++i) {
      task.tell(i);
      // A snapshot per run: the log of the database is not held up for long.
      task.database.read([&] {
        const RunRow run = readRun(task.database, task.runs[i].id);
        const std::int64_t parent = dependencyOf(task.database, run.id);
        RunCopier::Changes changes;
        const auto copied = ids.find(parent);
        if (copied != ids.end()) changes.dependsOn = copied->second;
        const std::int64_t id = copier.copy(run.id, changes);
        ids[run.id] = id;
        if (parent != 0 && copied == ids.end()) {
          to.run("INSERT INTO exported_dependency(run_id, uuid) VALUES (?, ?)", id,
                 readRun(task.database, parent).uuid);
        }
        exportFiles(task, to, run, id);
      });
    }
  });
  task.report.points = to.integer("SELECT coalesce(sum(count), 0) FROM metric_summary");
  task.report.artifacts = to.integer("SELECT count(*) FROM artifact");
  task.report.images = to.integer("SELECT count(*) FROM generated_image");
  task.report.texts = to.integer("SELECT count(*) FROM generated_text");
}

ExportReport exportRuns(const fs::path& database, std::span<const std::int64_t> runs,
                        const fs::path& file, ExportFormat format, ExportedCheckpoints checkpoints,
                        const ExchangeProgress& progress) {
  Database from(database, Database::Access::Read);
  openSchema(from);
  const std::set<std::int64_t> ids(runs.begin(), runs.end());
  std::vector<RunRow> rows;
  for (const std::int64_t id : ids) rows.push_back(readRun(from, id));
  ExportReport report{.runs = static_cast<std::int64_t>(rows.size())};
  NewFile target(file);
  const ExportTask task{from, rows, target.temporary(), file, checkpoints, progress, report};
  switch (format) {
    case ExportFormat::Sqlite:
      exportSqlite(task);
      break;
    case ExportFormat::Csv:
      exportCsv(task);
      break;
    case ExportFormat::JsonLines:
      exportJsonLines(task);
      break;
    case ExportFormat::TensorBoard:
      exportTensorBoard(task);
      break;
  }
  if (format != ExportFormat::Sqlite && checkpoints != ExportedCheckpoints::None) {
    report.notes.push_back(
        "checkpoints are left out: only an export to .vitrine or .sqlite can hold them");
  }
  if (fs::is_directory(target.temporary())) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(target.temporary())) {
      if (entry.is_regular_file()) report.bytes += entry.file_size();
    }
  } else {
    report.bytes = fs::file_size(target.temporary());
  }
  target.finish();
  return report;
}

}  // namespace vitrine::store
