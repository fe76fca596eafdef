#include "core/store/run_reader.h"

#include "core/base/error.h"
#include "core/store/metrics/metrics.h"
#include "core/store/run_store.h"
#include "core/store/sqlite/file_system.h"
#include "core/store/tables/dependencies.h"
#include "core/store/tables/generated_rows.h"
#include "core/store/tables/image_tags.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"
#include "core/store/tables/run_marks.h"
#include "core/store/tables/run_states.h"

namespace vitrine::store {

namespace {

Json jsonOf(Database& database, const char* sql, std::int64_t run, const char* what) {
  Statement row = database.prepare(sql);
  if (!row.with(run).step()) noSuchRun(database, run);
  return parseJson(row.text(0), std::string("the ") + what + " of run " + std::to_string(run));
}

#define VITRINE_ARTIFACT_COLUMNS \
  "SELECT id, run_id, step, analysis, name, kind, meta, length(data) FROM "

ArtifactRow artifactOf(const Statement& row) {
  ArtifactRow artifact;
  artifact.id = row.integer(0);
  artifact.runId = row.integer(1);
  artifact.step = row.integer(2);
  artifact.analysis = row.text(3);
  artifact.name = row.text(4);
  artifact.kind = row.text(5);
  artifact.meta =
      parseJson(row.text(6), "the description of artifact " + std::to_string(artifact.id));
  artifact.bytes = row.integer(7);
  return artifact;
}

GeneratedImageRow imageOf(const Statement& row) {
  GeneratedImageRow image{.id = row.integer(0), .runId = row.integer(1), .step = row.integer(2)};
  image.recipe = parseJson(row.text(3), "the recipe of image " + std::to_string(image.id));
  image.seed = seedOf(row, 4);
  image.width = row.integer(5);
  image.height = row.integer(6);
  image.sha256 = row.text(7);
  image.bytes = row.integer(8);
  return image;
}

}  // namespace

std::vector<RunRow> RunReader::runs(std::int64_t changedSince) {
  return readRunsChanged(*database_, changedSince);
}

std::vector<std::int64_t> RunReader::deletedRuns(std::int64_t changedSince) {
  return database_->integers(
      "SELECT run_id FROM deleted_run WHERE change_sequence > ? ORDER BY run_id", changedSince);
}

std::int64_t RunReader::lastChange() {
  return database_->integer("SELECT value FROM counter WHERE name = 'change'");
}

const std::filesystem::path& RunReader::file() const noexcept { return database_->file(); }

RunRow RunReader::run(std::int64_t id) { return readRun(*database_, id); }

std::optional<RunRow> RunReader::runByUuid(const std::string& uuid) {
  return readRunByUuid(*database_, uuid);
}

Json RunReader::config(std::int64_t run) {
  return jsonOf(*database_, "SELECT config FROM run_config WHERE run_id = ?", run, "configuration");
}
Json RunReader::origins(std::int64_t run) {
  return jsonOf(*database_, "SELECT origins FROM run_config WHERE run_id = ?", run, "origins");
}
Json RunReader::init(std::int64_t run) {
  return jsonOf(*database_, "SELECT init FROM run_config WHERE run_id = ?", run, "start");
}

Json RunReader::selection(std::int64_t run) {
  return jsonOf(*database_, "SELECT selection FROM run_config WHERE run_id = ?", run, "selection");
}

std::vector<RunDependency> RunReader::dependencies(std::int64_t run) {
  return database_->rows(
      "SELECT kind, name, uuid, checkpoint FROM run_dependency WHERE run_id = ? ORDER BY kind, "
      "name",
      [](const Statement& row) {
        return RunDependency{row.text(0), row.text(1), row.text(2), row.text(3)};
      },
      run);
}

std::optional<RunReader::Blocker> RunReader::blocker(std::int64_t run) {
  Statement row = database_->prepare(
      std::string("SELECT d.id, d.state, d.id IS r.depends_on FROM run r JOIN run d ON d.id = ") +
      kBlockingRun + " WHERE r.id = ?");
  if (!row.with(run).step()) return std::nullopt;
  return Blocker{row.integer(0), runStateFromString(row.text(1)), row.integer(2) != 0};
}

Json RunReader::environment(std::int64_t run) {
  const std::string text = database_->text(
      "SELECT environment FROM segment WHERE run_id = ? ORDER BY number DESC LIMIT 1", run);
  if (text.empty()) return nullptr;
  return parseJson(text, "the environment of run " + std::to_string(run));
}

std::string RunReader::note(std::int64_t run) { return readNote(*database_, run); }

std::vector<std::string> RunReader::tags(std::int64_t run) { return readTags(*database_, run); }

std::vector<CurveNoteRow> RunReader::curveNotes(std::int64_t run) {
  return readCurveNotes(*database_, run);
}

std::vector<ImageTagRow> RunReader::imageTags(std::int64_t run) {
  return readImageTags(*database_, run);
}

std::string RunReader::mark(std::int64_t run, RunField field) {
  return readMark(*database_, run, field);
}

std::vector<SegmentRow> RunReader::segments(std::int64_t run) {
  return database_->rows(
      "SELECT number, first_step, coalesce(last_step, -1), resumed_from, started_at FROM segment "
      "WHERE run_id = ? ORDER BY number",
      [](const Statement& row) {
        return SegmentRow{row.integer(0), row.integer(1), row.integer(2), row.integer(3),
                          row.text(4)};
      },
      run);
}

std::vector<MetricSummary> RunReader::summaries(std::int64_t run) {
  return readSummaries(*database_, run);
}

std::vector<std::pair<std::int64_t, double>> RunReader::lastValues(const std::string& name) {
  return database_->rows(
      "SELECT m.run_id, m.last FROM metric_summary m JOIN metric_name n ON n.id = m.metric_id "
      "WHERE n.name = ? AND m.count > 0 ORDER BY m.run_id",
      [](const Statement& row) { return std::pair(row.integer(0), row.real(1)); }, name);
}

std::vector<std::string> RunReader::metricNames(std::int64_t run) {
  return database_->texts("SELECT name FROM metric_summaries WHERE run_id = ? ORDER BY name", run);
}

std::vector<MetricPoint> RunReader::points(std::int64_t run, const std::string& name,
                                           std::int64_t after) {
  return readPoints(*database_, run, name, after);
}

std::vector<EventRow> RunReader::events(std::int64_t run, std::int64_t after) {
  return database_->rows(
      "SELECT id, step, at, kind, text, data FROM event WHERE run_id = ? AND id > ? ORDER BY id",
      [](const Statement& row) {
        EventRow event;
        event.id = row.integer(0);
        event.step = row.integer(1);
        event.at = row.text(2);
        event.kind = row.text(3);
        event.text = row.text(4);
        event.data = parseJson(row.text(5), "the data of event " + std::to_string(event.id));
        return event;
      },
      run, after);
}

std::vector<ArtifactRow> RunReader::artifacts(std::int64_t run) {
  return database_->rows(VITRINE_ARTIFACT_COLUMNS
                         "artifacts WHERE run_id = ? ORDER BY step, analysis, name, id",
                         artifactOf, run);
}

ArtifactRow RunReader::artifact(std::int64_t id) {
  Statement row = database_->prepare(VITRINE_ARTIFACT_COLUMNS "artifact WHERE id = ?");
  if (!row.with(id).step()) throw missing("artifact", id);
  return artifactOf(row);
}
#undef VITRINE_ARTIFACT_COLUMNS

std::vector<std::byte> RunReader::artifactData(std::int64_t id) {
  return blobOf("SELECT data FROM artifact WHERE id = ?", id, "artifact");
}

std::vector<std::byte> RunReader::generatedImagePng(std::int64_t id) {
  return blobOf("SELECT png FROM generated_image WHERE id = ?", id, "generated image");
}

NotFoundError RunReader::missing(const char* what, std::int64_t id) const {
  return NotFoundError(std::string("there is no ") + what + " " + std::to_string(id) + " in '" +
                       file().string() + "'");
}

std::vector<std::byte> RunReader::blobOf(const char* sql, std::int64_t id, const char* what) {
  Statement row = database_->prepare(sql);
  if (!row.with(id).step()) throw missing(what, id);
  const auto bytes = row.blob(0);
  return {bytes.begin(), bytes.end()};
}

#define VITRINE_IMAGES                                                              \
  "SELECT id, run_id, step, recipe, seed, width, height, sha256, length(png) FROM " \
  "generated_images "                                                               \
  "WHERE "
std::vector<GeneratedImageRow> RunReader::generatedImages(std::int64_t run) {
  return database_->rows(VITRINE_IMAGES "run_id = ? ORDER BY step, id", imageOf, run);
}

GeneratedImageRow RunReader::generatedImage(std::int64_t id) {
  Statement row = database_->prepare(VITRINE_IMAGES "id = ?");
  if (!row.with(id).step()) throw missing("generated image", id);
  return imageOf(row);
}
#undef VITRINE_IMAGES

std::vector<GeneratedTextRow> RunReader::generatedTexts(std::int64_t run) {
  return database_->rows(
      "SELECT id, run_id, step, recipe, seed, prompt, text FROM generated_texts WHERE run_id = ? "
      "ORDER BY step, id",
      [](const Statement& row) {
        GeneratedTextRow text{
            .id = row.integer(0), .runId = row.integer(1), .step = row.integer(2)};
        text.recipe = parseJson(row.text(3), "the recipe of text " + std::to_string(text.id));
        text.seed = seedOf(row, 4);
        text.prompt = row.text(5);
        text.text = row.text(6);
        return text;
      },
      run);
}

std::vector<CheckpointRow> RunReader::checkpoints(std::int64_t run) {
  return database_->rows(
      "SELECT c.step, c.bytes, c.folder, c.created_at, c.step IS r.best_checkpoint, c.step IS "
      "r.latest_checkpoint "
      "FROM checkpoint c JOIN run r ON r.id = c.run_id "
      "JOIN segment s ON s.run_id = c.run_id AND s.number = c.segment "
      "WHERE c.run_id = ? AND c.removed_at = '' AND c.step > s.shown_above AND c.step <= "
      "s.shown_to ORDER BY c.step",
      [](const Statement& row) {
        return CheckpointRow{row.integer(0), row.integer(1),      row.text(2),
                             row.text(3),    row.integer(4) != 0, row.integer(5) != 0};
      },
      run);
}

std::string RunReader::experimentSource(std::int64_t experimentId) {
  Statement row = database_->prepare("SELECT source FROM experiment WHERE id = ?");
  if (!row.with(experimentId).step()) throw missing("experiment", experimentId);
  return row.text(0);
}

std::int64_t RunReader::dataVersion() {
  database_->checkPlace();
  return database_->integer("PRAGMA data_version");
}

bool RunReader::isLogGone() const noexcept { return database_->isLogGone(); }

std::string RunReader::uuid() { return uuidOf(*database_); }

std::string RunReader::request(std::int64_t run) { return requestOf(*database_, run); }

Json RunReader::info() {
  Database& database = *database_;
  std::error_code error;
  const auto bytesOf = [&](const std::string& suffix) {
    const auto size = std::filesystem::file_size(realFile(file()).string() + suffix, error);
    return error ? std::uintmax_t{0} : size;
  };
  Json info = Json::object();
  info["file"] = file().string();
  info["bytes"] = bytesOf("");
  info["log_bytes"] = bytesOf("-wal");
  info["uuid"] = uuidOf(database);
  info["schema_version"] = database.integer("PRAGMA user_version");
  info["page_size"] = database.integer("PRAGMA page_size");
  info["page_count"] = database.integer("PRAGMA page_count");
  info["free_pages"] = database.integer("PRAGMA freelist_count");
  info["experiments"] = database.integer("SELECT count(*) FROM experiment");
  info["runs"] = database.integer("SELECT count(*) FROM run");
  info["artifacts"] = database.integer("SELECT count(*) FROM artifact");
  info["sqlite"] = sqliteVersion();
  info["wal_reset_bug"] = sqliteHasWalResetBug();
  return info;
}

}  // namespace vitrine::store
