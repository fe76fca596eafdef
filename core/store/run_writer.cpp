// Runs and what they leave behind: the writing half of RunStore.
#include "core/store/run_store.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/store/metrics/metrics.h"
#include "core/store/spool/spool.h"
#include "core/store/sqlite/check_mark.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/dependencies.h"
#include "core/store/tables/generated_rows.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"
#include "core/store/tables/storable.h"

namespace vitrine {

namespace {

void bindParameter(Statement& row, int index, const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      row.bindNull(index);
      break;
    case Json::value_t::boolean:
      row.bind(index, value.get<bool>() ? 1 : 0);
      break;
    case Json::value_t::number_integer:
      row.bind(index, value.get<std::int64_t>());
      break;
    case Json::value_t::number_unsigned:
      bindSeed(row, index, value.get<std::uint64_t>());
      break;
    case Json::value_t::number_float:
      row.bind(index, value.get<double>());
      break;
    case Json::value_t::string:
      row.bind(index, value.get_ref<const std::string&>());
      break;
    default:
      row.bind(index, dumpJson(value));
  }
}

void addParameters(Database& database, std::int64_t run, const Json& config) {
  Statement row =
      database.prepare("INSERT OR REPLACE INTO run_parameter(run_id, key, value) VALUES (?, ?, ?)");
  for (const auto& [key, value] : flatten(config)) {
    row.bind(1, run).bind(2, key);
    bindParameter(row, 3, value);
    row.run();
    sqlite3_reset(row.handle());
  }
}

std::int64_t storeArtifact(Database& database, std::int64_t run, std::int64_t segment,
                           const Artifact& artifact, const std::string& at) {
  Statement row = database.prepare(
      "INSERT INTO artifact(run_id, segment, step, created_at, analysis, name, kind, meta, data) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  row.with(run, segment, artifact.step, at, artifact.analysis, artifact.name, artifact.kind,
           dumpJson(artifact.meta));
  row.bindBlob(9, artifact.data);
  row.run();
  return sqlite3_last_insert_rowid(database.handle());
}

/// The same bytes under the same name and step.
bool isStored(Database& database, std::int64_t run, std::int64_t segment,
              const Artifact& artifact) {
  Statement row = database.prepare(
      "SELECT 1 FROM artifact WHERE run_id = ? AND segment = ? AND step = ? AND analysis = ? AND "
      "name = ? AND data = ?");
  row.with(run, segment, artifact.step, artifact.analysis, artifact.name);
  row.bindBlob(6, artifact.data);
  return row.step();
}

void storeCheckpoint(Database& database, std::int64_t run, std::int64_t segment,
                     const CheckpointRecord& checkpoint, const std::string& at) {
  database
      .prepare(
          "INSERT OR REPLACE INTO checkpoint(run_id, step, segment, folder, bytes, seconds, "
          "created_at, is_best) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      .with(run, checkpoint.step, segment, checkpoint.folder, checkpoint.bytes, checkpoint.seconds,
            at, checkpoint.isBest ? 1 : 0)
      .run();
  for (const std::string& folder : checkpoint.removed) {
    database
        .prepare(
            "UPDATE checkpoint SET removed_at = ? WHERE run_id = ? AND folder = ? AND step <> ?")
        .with(at, run, folder, checkpoint.step)
        .run();
  }
  if (checkpoint.isBest) {
    database.prepare("UPDATE run SET best_checkpoint = ? WHERE id = ?")
        .with(checkpoint.step, run)
        .run();
  }
  database.prepare("UPDATE run SET latest_checkpoint = ? WHERE id = ?")
      .with(checkpoint.step, run)
      .run();
}

void storeProgress(Database& database, std::int64_t run, const ProgressRecord& progress) {
  database
      .prepare(
          "UPDATE run SET step = ?2, total_steps = ?3, epoch = ?4, total_epochs = ?5, loss = ?6, "
          "images_per_second = ?7, memory_bytes = ?8, remaining_seconds = ?9 WHERE id = ?1")
      .with(run, progress.step, progress.totalSteps, progress.epoch, progress.totalEpochs,
            progress.loss, progress.imagesPerSecond, progress.memoryBytes,
            progress.remainingSeconds)
      .run();
}

/// What is written into a copy never reaches the database that it is a copy of.
void refuseCopies(Database& database) {
  Statement row = database.prepare("SELECT value FROM meta WHERE key = 'mirror_of'");
  if (!row.step()) return;
  throw RefusedError("'" + database.file().string() + "' is a copy of " + shown(row.text(0)) +
                     ", which is only read; open that one");
}

}  // namespace

RunStore::RunStore(const std::filesystem::path& file, OpenMode mode) {
  const auto access = mode == OpenMode::ReadWriteCreate ? Database::Access::Create
                      : mode == OpenMode::ReadWrite     ? Database::Access::Write
                                                        : Database::Access::Read;
  database_ = std::make_unique<Database>(file, access);
  openSchema(*database_);
  const std::string why = whyCheckIsNeeded(file);
  if (!why.empty()) checkAfterError(mode, why);
  if (mode != OpenMode::ReadOnly) {
    refuseCopies(*database_);
    Spool::storeAll(*this);
  }
}

/// \throws StoreError  it is damaged and was to be written
void RunStore::checkAfterError(OpenMode mode, const std::string& why) {
  const std::vector<std::string> problems = problemsOf(*database_);
  const std::string after = "'" + file().string() + "' met an I/O error (" + why + ")";
  if (problems.empty()) {
    log::warning(after +
                 " and was checked just now: it is whole; `vitrine db check` clears the mark");
  } else if (mode == OpenMode::ReadOnly) {
    log::warning(after + " and is damaged: " + problems.front() + "; restore a backup");
  } else {
    throw StoreError(after + " and is damaged: " + problems.front() +
                     "; restore a backup, or see all of it with `vitrine db check`");
  }
}
RunStore::~RunStore() = default;
RunStore::RunStore(RunStore&&) noexcept = default;

const std::filesystem::path& RunStore::file() const noexcept { return database_->file(); }

std::int64_t RunStore::experiment(const std::string& title, const std::string& sourceText) {
  return database_->write([&] {
    Statement row = database_->prepare(
        "INSERT INTO experiment(title, source, created_at) VALUES (?, ?, ?) "
        "ON CONFLICT(title) DO UPDATE SET source = excluded.source RETURNING id");
    const bool found = row.with(title, sourceText, utcNow()).step();
    const std::int64_t id = found ? row.integer(0) : 0;
    row.run();
    return id;
  });
}

std::vector<std::int64_t> RunStore::addRuns(std::int64_t experimentId,
                                            const std::vector<NewRun>& runs) {
  Database& database = *database_;
  return database.write([&] {
    std::vector<std::int64_t> ids;
    for (const NewRun& run : runs) {
      std::int64_t dependsOn = run.dependsOn;
      if (dependsOn < 0) {
        const auto index = static_cast<std::size_t>(-(dependsOn + 1));
        if (index >= ids.size()) {
          throw StoreError("the new run '" + run.name + "' depends on number " +
                           std::to_string(index) + " of its list, which does not come before it");
        }
        dependsOn = ids[index];
      }
      {
        Statement row = database.prepare(
            "INSERT INTO run(uuid, experiment_id, variant, stage, name, seed, depends_on, state, "
            "created_at, "
            "change_sequence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        row.with(newUuid(), experimentId, run.variant, run.stage, run.name);
        bindSeed(row, 6, run.seed);
        if (dependsOn == 0) {
          row.bindNull(7);
        } else {
          row.bind(7, dependsOn);
        }
        row.bind(8, toString(run.state)).bind(9, utcNow()).bind(10, nextChange(database));
        row.run();
      }
      const std::int64_t id = sqlite3_last_insert_rowid(database.handle());
      database
          .prepare(
              "INSERT INTO run_config(run_id, config, origins, init, selection) VALUES (?, ?, ?, "
              "?, ?)")
          .with(id, dumpJson(run.config), dumpJson(run.origins), dumpJson(run.init),
                dumpJson(run.selection))
          .run();
      addParameters(database, id, run.config);
      storeDependencies(database, id, run.dependencies);
      ids.push_back(id);
    }
    return ids;
  });
}

void RunStore::completeConfig(std::int64_t run, const Json& config, const Json& origins,
                              const Json& selection, const EventRecord& event) {
  Database& database = *database_;
  database.write([&] {
    static_cast<void>(stateOf(database, run));
    if (lastSegment(database, run) > 0)
      throw StoreError(nameOf(run) + " has begun; its configuration stays as it is");
    database
        .prepare("UPDATE run_config SET config = ?, origins = ?, selection = ? WHERE run_id = ?")
        .with(dumpJson(config), dumpJson(origins), dumpJson(selection), run)
        .run();
    database.prepare("DELETE FROM run_parameter WHERE run_id = ?").with(run).run();
    addParameters(database, run, config);
    addEvent(database, run, 0, event);
    touch(database, run);
  });
}

void RunStore::deleteRun(std::int64_t run) {
  Database& database = *database_;
  std::string uuid;
  database.write([&] {
    const RunRow row = readRun(database, run);
    uuid = row.uuid;
    refuseDeletion(database, row);
    deleteRows(database, row);
  });
  const auto folder = filesFolder(file()) / ("run-" + uuid);
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (error) {
    throw StoreError(nameOf(run) + " is deleted, but not its folder '" + folder.string() +
                     "': " + error.message());
  }
}

void RunStore::append(std::int64_t run, std::int64_t segment, const Batch& batch) {
  appendAt(run, segment, batch, utcNow());
}

void RunStore::appendAt(std::int64_t run, std::int64_t segment, const Batch& batch,
                        const std::string& at) {
  Database& database = *database_;
  database.write([&] {
    static_cast<void>(shownSteps(database, run, segment));
    appendMetrics(database, run, segment, batch.metrics);
    for (const EventRecord& event : batch.events) addEvent(database, run, segment, event, at);
    for (const Artifact& artifact : batch.artifacts) {
      const std::int64_t home = segmentShowing(database, run, segment, artifact.step);
      if (home == segment || !isStored(database, run, home, artifact))
        storeArtifact(database, run, home, artifact, at);
    }
    for (const GeneratedImage& image : batch.images) {
      const std::int64_t home = segmentShowing(database, run, segment, image.step);
      if (home == segment || !isStored(database, run, home, image))
        storeImage(database, run, home, image, at);
    }
    for (const GeneratedText& text : batch.texts) {
      const std::int64_t home = segmentShowing(database, run, segment, text.step);
      if (home == segment || !isStored(database, run, home, text))
        storeText(database, run, home, text, at);
    }
    for (const CheckpointRecord& checkpoint : batch.checkpoints) {
      storeCheckpoint(database, run, segment, checkpoint, at);
    }
    if (batch.progress) storeProgress(database, run, *batch.progress);
    database.prepare("UPDATE run SET heartbeat_at = ?, change_sequence = ? WHERE id = ?")
        .with(utcNow(), nextChange(database), run)
        .run();
  });
}

std::int64_t RunStore::addArtifact(std::int64_t run, const Artifact& artifact) {
  const std::string why = whyUnstorable(artifact, database_->mostRowBytes());
  if (!why.empty()) throw StoreError(why + "; look at fewer layers or images at once");
  return database_->write([&] {
    static_cast<void>(stateOf(*database_, run));
    const std::int64_t id = storeArtifact(*database_, run, 0, artifact, utcNow());
    touch(*database_, run);
    return id;
  });
}

}  // namespace vitrine
