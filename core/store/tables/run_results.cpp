#include "core/store/tables/run_results.h"

#include "core/base/text.h"
#include "core/store/metrics/metrics.h"
#include "core/store/tables/generated_rows.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"

namespace vitrine::store {

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

namespace {

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
  database.run(
      "INSERT OR REPLACE INTO checkpoint(run_id, step, segment, folder, bytes, seconds, "
      "created_at, is_best) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      run, checkpoint.step, segment, checkpoint.folder, checkpoint.bytes, checkpoint.seconds, at,
      checkpoint.isBest ? 1 : 0);
  for (const std::string& folder : checkpoint.removed) {
    database.run(
        "UPDATE checkpoint SET removed_at = ? WHERE run_id = ? AND folder = ? AND step <> ?", at,
        run, folder, checkpoint.step);
  }
  if (checkpoint.isBest)
    database.run("UPDATE run SET best_checkpoint = ? WHERE id = ?", checkpoint.step, run);
  database.run("UPDATE run SET latest_checkpoint = ? WHERE id = ?", checkpoint.step, run);
}

void storeProgress(Database& database, std::int64_t run, const ProgressRecord& progress) {
  database.run(
      "UPDATE run SET step = ?2, total_steps = ?3, epoch = ?4, total_epochs = ?5, loss = ?6, "
      "images_per_second = ?7, memory_bytes = ?8, remaining_seconds = ?9 WHERE id = ?1",
      run, progress.step, progress.totalSteps, progress.epoch, progress.totalEpochs, progress.loss,
      progress.imagesPerSecond, progress.memoryBytes, progress.remainingSeconds);
}

}  // namespace

void appendBatch(Database& database, std::int64_t run, std::int64_t segment,
                 const RunWriter::Batch& batch, const std::string& at) {
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
    for (const CheckpointRecord& checkpoint : batch.checkpoints)
      storeCheckpoint(database, run, segment, checkpoint, at);
    if (batch.progress) storeProgress(database, run, *batch.progress);
    database.run("UPDATE run SET heartbeat_at = ?, change_sequence = ? WHERE id = ?", utcNow(),
                 nextChange(database), run);
  });
}

}  // namespace vitrine::store
