#include "core/store/maintenance/maintenance.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/files/checkpoint_folder.h"
#include "core/store/maintenance/integrity.h"
#include "core/store/maintenance/new_file.h"
#include "core/store/maintenance/run_check.h"
#include "core/store/run_store.h"
#include "core/store/sqlite/file_system.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace fs = std::filesystem;

namespace {

constexpr int kPagesAtOnce = 4096;

std::uint64_t sizeOf(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return error ? 0 : size;
}

void report(const Fraction& progress, double done) {
  if (progress) progress(done);
}

/// One consistent copy: the source stands in a read transaction, so that commits of others neither
/// show in it nor make it start again.
void copyPages(Database& from, Database& to, const Fraction& progress) {
  from.read([&] {
    static_cast<void>(from.integer("SELECT count(*) FROM sqlite_schema"));
    sqlite3_backup* backup = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
    if (backup == nullptr) to.fail(sqlite3_errcode(to.handle()), "copying");
    int code = SQLITE_OK;
    do {
      code = sqlite3_backup_step(backup, kPagesAtOnce);
      const int pages = sqlite3_backup_pagecount(backup);
      const int left = sqlite3_backup_remaining(backup);
      if (pages > 0) report(progress, static_cast<double>(pages - left) / pages);
    } while (code == SQLITE_OK);
    const int end = sqlite3_backup_finish(backup);
    if (code != SQLITE_DONE) to.fail(end != SQLITE_OK ? end : code, "copying");
  });
}

/// Sizes by experiment, of what lies in rows.
struct Weights {
  std::string title;
  std::int64_t runs = 0, metrics = 0, artifacts = 0, images = 0, texts = 0, other = 0;
  std::uint64_t files = 0;
};

std::map<std::int64_t, Weights> weighExperiments(Database& database) {
  std::map<std::int64_t, Weights> weights;
  database.each(
      "SELECT e.id, e.title, count(r.id) FROM experiment e LEFT JOIN run r ON r.experiment_id = "
      "e.id GROUP BY e.id",
      [&](const Statement& row) {
        Weights& weight = weights[row.integer(0)];
        weight.title = cleanUtf8(row.text(1));
        weight.runs = row.integer(2);
      });
  const auto add = [&](std::int64_t Weights::*part, const std::string& table,
                       const std::string& bytes) {
    database.each("SELECT r.experiment_id, sum(" + bytes + ") FROM " + table +
                      " t JOIN run r ON r.id = t.run_id GROUP BY r.experiment_id",
                  [&](const Statement& row) { weights[row.integer(0)].*part += row.integer(1); });
  };
  // length() of a blob reads its header alone. Numbers of a row are taken as what they need at
  // most.
  add(&Weights::metrics, "metric_chunk", "length(t.data) + 60");
  add(&Weights::metrics, "metric_tail", "40");
  add(&Weights::metrics, "metric_summary", "70");
  add(&Weights::metrics, "clock_chunk",
      "length(t.step_rest) + length(t.time_rest) + length(t.epoch_rest) + length(t.sequence_rest) "
      "+ 60");
  add(&Weights::artifacts, "artifact", "length(t.data) + length(t.meta) + 80");
  add(&Weights::images, "generated_image", "length(t.png) + length(t.recipe) + 120");
  add(&Weights::texts, "generated_text",
      "length(t.prompt) + length(t.text) + length(t.recipe) + 60");
  add(&Weights::other, "event", "length(t.text) + length(t.data) + 60");
  add(&Weights::other, "run_config",
      "length(t.config) + length(t.origins) + length(t.init) + length(t.selection)");
  add(&Weights::other, "run_parameter", "length(t.key) + coalesce(length(t.value), 0) + 10");
  add(&Weights::other, "run_dependency", "length(t.name) + 60");
  add(&Weights::other, "segment", "length(t.environment) + 150");
  add(&Weights::other, "note", "length(t.text) + 30");
  add(&Weights::other, "curve_note", "length(t.metric) + length(t.text) + 20");
  add(&Weights::other, "image_tag", "length(t.tag) + 80");
  add(&Weights::other, "run_mark", "length(t.value) + 20");
  return weights;
}

Json tableBytes(Database& database) {
  // Indexes count as the table they belong to.
  std::map<std::string, std::string> owner;
  database.each("SELECT name, tbl_name FROM sqlite_schema",
                [&](const Statement& row) { owner[row.text(0)] = row.text(1); });
  std::map<std::string, std::int64_t> bytes;
  database.each("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE",
                [&](const Statement& row) {
                  const auto known = owner.find(row.text(0));
                  bytes[known == owner.end() ? row.text(0) : known->second] += row.integer(1);
                });
  std::vector<std::pair<std::string, std::int64_t>> sorted(bytes.begin(), bytes.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  Json tables = Json::object();
  for (const auto& [name, size] : sorted) tables[cleanUtf8(name)] = size;
  return tables;
}

}  // namespace

std::uint64_t backupDatabase(const fs::path& database, const fs::path& file,
                             const Fraction& progress) {
  Database from(database, Database::Access::Read);
  openSchema(from);
  NewFile target(file);
  const std::uint64_t size = sizeOf(database);
  const fs::path folder = folderOfFile(target.temporary());
  if (const auto room = freeBytes(folder); room && *room < size) {
    throw RefusedError("a backup of '" + database.string() + "' needs " +
                       formatBytes(size) + ", but '" + folder.string() +
                       "' has " + formatBytes(*room) + " free; make room or choose another disk");
  }
  {
    Database to(target.temporary(), Database::Access::Scratch, file);
    copyPages(from, to, [&](double done) { report(progress, 0.8 * done); });
    // A file without a log can be read anywhere; it gets one again when it is opened for writing.
    to.execute("PRAGMA journal_mode = DELETE");
  }
  {
    Database copy(target.temporary(), Database::Access::Foreign, file);
    openSchema(copy);
    const std::vector<std::string> problems = problemsOf(copy);
    if (!problems.empty()) {
      throw StoreError("the backup of '" + database.string() + "' is not whole (" +
                       problems.front() + "); run `vitrine db check`");
    }
  }
  report(progress, 1);
  const std::uint64_t bytes = sizeOf(target.temporary());
  target.finish();
  return bytes;
}

std::vector<std::string> checkContents(const fs::path& database, CheckpointFiles files,
                                       const Fraction& progress) {
  Database from(database, Database::Access::Read);
  openSchema(from);
  std::vector<std::string> problems;
  const auto add = [&](const std::vector<std::string>& more) {
    problems.insert(problems.end(), more.begin(), more.end());
  };
  const std::vector<std::int64_t> ids = from.integers("SELECT id FROM run ORDER BY id");
  const fs::path folder = filesFolder(database);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::vector<std::string> checkpoints;
    from.read([&] {
      if (!from.any("SELECT 1 FROM run WHERE id = ?", ids[i])) return;  // deleted meanwhile
      add(runProblems(from, ids[i]));
      add(fileProblems(from, ids[i], folder));
      checkpoints = from.texts(
          "SELECT folder FROM checkpoint WHERE run_id = ? AND removed_at = '' ORDER BY step",
          ids[i]);
    });
    if (files == CheckpointFiles::Verified) {
      const std::string own = runFolderName(readRun(from, ids[i]).uuid);
      for (const std::string& path : checkpoints) {
        std::error_code error;
        if (!isPlainPath(path, own) || !fs::exists(folder / path / "manifest.json", error))
          continue;
        const std::string problem = verifyCheckpointFolder(folder / path);
        if (!problem.empty()) {
          problems.push_back(nameOf(ids[i]) + ": the checkpoint '" +
                             (folder / path).string() + "' is not whole: " + problem);
        }
      }
    }
    report(progress, static_cast<double>(i + 1) / static_cast<double>(ids.size()));
  }
  return problems;
}

CompactReport compactDatabase(const fs::path& database) {
  CompactReport result;
  const auto bytes = [&] {
    return sizeOf(database) + sizeOf(realFile(database).string() + "-wal");
  };
  {
    Database to(database, Database::Access::Write);
    openSchema(to);
    result.before = bytes();
    const std::vector<RunRow> alive = readRunsAlive(to);
    if (!alive.empty()) {
      throw RefusedError("'" + database.string() + "' is not compacted while run " +
                         std::to_string(alive.front().id) + " is " + toString(alive.front().state) +
                         ": its results would have to wait; stop it or wait for its end");
    }
    // The new content first stands in the log, next to the old in the file.
    const std::uint64_t needed = 2 * sizeOf(database);
    const fs::path folder = folderOfFile(database);
    if (const auto room = freeBytes(folder); room && *room < needed) {
      throw RefusedError("compacting '" + database.string() + "' needs " +
                         formatBytes(needed) + " free for a moment, but '" +
                         folder.string() + "' has " + formatBytes(*room) + "; make room first");
    }
    to.vacuum();
  }
  result.after = bytes();
  return result;
}

Json databaseSpace(const fs::path& database) {
  Database from(database, Database::Access::Read);
  openSchema(from);
  Json space = Json::object();
  std::map<std::int64_t, Weights> experiments;
  std::map<std::string, std::int64_t> owner;  // folder of a run -> experiment
  from.read([&] {
    space["free"] = from.integer("PRAGMA freelist_count") * from.integer("PRAGMA page_size");
    space["tables"] = tableBytes(from);
    experiments = weighExperiments(from);
    from.each("SELECT uuid, experiment_id FROM run",
              [&](const Statement& row) { owner[runFolderName(row.text(0))] = row.integer(1); });
  });
  std::uint64_t checkpoints = 0, logs = 0, other = 0, trash = 0, orphans = 0;
  std::error_code error;
  for (auto entry = fs::directory_iterator(filesFolder(database), error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const auto known = owner.find(name);
    if (known == owner.end() || !entry->is_directory(error)) {
      (name == "trash" ? trash : orphans) +=
          entry->is_directory(error) ? bytesBelow(entry->path()) : sizeOf(entry->path());
      continue;
    }
    for (auto part = fs::directory_iterator(entry->path(), error);
         !error && part != fs::directory_iterator(); part.increment(error)) {
      const std::string what = part->path().filename().string();
      const std::uint64_t size =
          part->is_directory(error) ? bytesBelow(part->path()) : sizeOf(part->path());
      (what.starts_with("step-")            ? checkpoints
       : part->path().extension() == ".log" ? logs
                                            : other) += size;
      experiments[known->second].files += size;
    }
  }
  space["files"] = {{"checkpoints", checkpoints},
                    {"logs", logs},
                    {"other", other},
                    {"trash", trash},
                    {"orphans", orphans}};
  std::vector<Weights> sorted;
  for (const auto& entry : experiments) sorted.push_back(entry.second);
  const auto total = [](const Weights& w) {
    return static_cast<std::uint64_t>(w.metrics + w.artifacts + w.images + w.texts + w.other) +
           w.files;
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Weights& a, const Weights& b) { return total(a) > total(b); });
  space["experiments"] = Json::array();
  for (const Weights& weight : sorted) {
    space["experiments"].push_back({{"title", weight.title},
                                    {"runs", weight.runs},
                                    {"bytes", total(weight)},
                                    {"metrics", weight.metrics},
                                    {"artifacts", weight.artifacts},
                                    {"images", weight.images},
                                    {"texts", weight.texts},
                                    {"other", weight.other},
                                    {"files", weight.files}});
  }
  return space;
}

}  // namespace vitrine::store
