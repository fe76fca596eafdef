// The reading half of RunStore.
#include <algorithm>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "core/store/exchange/run_copier.h"
#include "core/store/metrics/metrics.h"
#include "core/store/run_store.h"
#include "core/store/sqlite/check_mark.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/rows.h"

namespace vitrine {

namespace {

/// One text column of one row, or "".
std::string textOf(Database& database, const char* sql, std::int64_t id) {
  Statement row = database.prepare(sql);
  return row.with(id).step() ? row.text(0) : std::string();
}

Json jsonOf(Database& database, const char* sql, std::int64_t run, const char* what) {
  Statement row = database.prepare(sql);
  if (!row.with(run).step()) {
    throw NotFoundError("there is no run " + std::to_string(run) + " in '" +
                        database.file().string() + "'; `vitrine runs` lists them");
  }
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

}  // namespace

std::vector<RunRow> RunStore::runs(std::int64_t changedSince) {
  return readRunsChanged(*database_, changedSince);
}

std::vector<std::int64_t> RunStore::deletedRuns(std::int64_t changedSince) {
  Statement row = database_->prepare(
      "SELECT run_id FROM deleted_run WHERE change_sequence > ? ORDER BY run_id");
  row.with(changedSince);
  std::vector<std::int64_t> ids;
  while (row.step()) ids.push_back(row.integer(0));
  return ids;
}

std::int64_t RunStore::lastChange() {
  return database_->integer("SELECT value FROM counter WHERE name = 'change'");
}

RunRow RunStore::run(std::int64_t id) { return readRun(*database_, id); }

std::optional<RunRow> RunStore::runByUuid(const std::string& uuid) {
  std::int64_t id = 0;
  {
    Statement row = database_->prepare("SELECT id FROM run WHERE uuid = ?");
    if (!row.with(uuid).step()) return std::nullopt;
    id = row.integer(0);
  }
  return readRun(*database_, id);
}

Json RunStore::config(std::int64_t run) {
  return jsonOf(*database_, "SELECT config FROM run_config WHERE run_id = ?", run, "configuration");
}
Json RunStore::origins(std::int64_t run) {
  return jsonOf(*database_, "SELECT origins FROM run_config WHERE run_id = ?", run, "origins");
}
Json RunStore::init(std::int64_t run) {
  return jsonOf(*database_, "SELECT init FROM run_config WHERE run_id = ?", run, "start");
}

Json RunStore::selection(std::int64_t run) {
  return jsonOf(*database_, "SELECT selection FROM run_config WHERE run_id = ?", run, "selection");
}

Json RunStore::environment(std::int64_t run) {
  const std::string text =
      textOf(*database_,
             "SELECT environment FROM segment WHERE run_id = ? ORDER BY number DESC LIMIT 1", run);
  if (text.empty()) return nullptr;
  return parseJson(text, "the environment of run " + std::to_string(run));
}

std::string RunStore::note(std::int64_t run) {
  return textOf(*database_, "SELECT text FROM note WHERE run_id = ?", run);
}

std::vector<std::string> RunStore::tags(std::int64_t run) {
  Statement row = database_->prepare("SELECT tag FROM tag WHERE run_id = ? ORDER BY tag");
  row.with(run);
  std::vector<std::string> tags;
  while (row.step()) tags.push_back(row.text(0));
  return tags;
}

std::vector<CurveNoteRow> RunStore::curveNotes(std::int64_t run) {
  Statement row = database_->prepare(
      "SELECT metric, step, text FROM curve_note WHERE run_id = ? ORDER BY metric, step, text");
  row.with(run);
  std::vector<CurveNoteRow> notes;
  while (row.step()) notes.push_back({row.text(0), row.integer(1), row.text(2)});
  return notes;
}

std::vector<SegmentRow> RunStore::segments(std::int64_t run) {
  Statement row = database_->prepare(
      "SELECT number, first_step, coalesce(last_step, -1), resumed_from, started_at FROM segment "
      "WHERE run_id = ? ORDER BY number");
  row.with(run);
  std::vector<SegmentRow> segments;
  while (row.step()) {
    segments.push_back(
        {row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.text(4)});
  }
  return segments;
}

std::vector<MetricSummary> RunStore::summaries(std::int64_t run) {
  return readSummaries(*database_, run);
}

std::vector<std::pair<std::int64_t, double>> RunStore::lastValues(const std::string& name) {
  Statement row = database_->prepare(
      "SELECT m.run_id, m.last FROM metric_summary m JOIN metric_name n ON n.id = m.metric_id "
      "WHERE n.name = ? AND m.count > 0 ORDER BY m.run_id");
  row.with(name);
  std::vector<std::pair<std::int64_t, double>> values;
  while (row.step()) values.emplace_back(row.integer(0), row.real(1));
  return values;
}

std::vector<std::string> RunStore::metricNames(std::int64_t run) {
  Statement row =
      database_->prepare("SELECT name FROM metric_summaries WHERE run_id = ? ORDER BY name");
  row.with(run);
  std::vector<std::string> names;
  while (row.step()) names.push_back(row.text(0));
  return names;
}

std::vector<MetricPoint> RunStore::points(std::int64_t run, const std::string& name,
                                          std::int64_t after) {
  return readPoints(*database_, run, name, after);
}

std::vector<EventRow> RunStore::events(std::int64_t run, std::int64_t after) {
  Statement row = database_->prepare(
      "SELECT id, step, at, kind, text, data FROM event WHERE run_id = ? AND id > ? ORDER BY id");
  row.with(run, after);
  std::vector<EventRow> events;
  while (row.step()) {
    EventRow event;
    event.id = row.integer(0);
    event.step = row.integer(1);
    event.at = row.text(2);
    event.kind = row.text(3);
    event.text = row.text(4);
    event.data = parseJson(row.text(5), "the data of event " + std::to_string(event.id));
    events.push_back(std::move(event));
  }
  return events;
}

std::vector<ArtifactRow> RunStore::artifacts(std::int64_t run) {
  Statement row = database_->prepare(
      VITRINE_ARTIFACT_COLUMNS "artifacts WHERE run_id = ? ORDER BY step, analysis, name, id");
  row.with(run);
  std::vector<ArtifactRow> artifacts;
  while (row.step()) artifacts.push_back(artifactOf(row));
  return artifacts;
}

ArtifactRow RunStore::artifact(std::int64_t id) {
  Statement row = database_->prepare(VITRINE_ARTIFACT_COLUMNS "artifact WHERE id = ?");
  if (!row.with(id).step()) {
    throw NotFoundError("there is no artifact " + std::to_string(id) + " in '" + file().string() +
                        "'");
  }
  return artifactOf(row);
}
#undef VITRINE_ARTIFACT_COLUMNS

std::vector<std::byte> RunStore::artifactData(std::int64_t id) {
  Statement row = database_->prepare("SELECT data FROM artifact WHERE id = ?");
  if (!row.with(id).step()) {
    throw NotFoundError("there is no artifact " + std::to_string(id) + " in '" + file().string() +
                        "'");
  }
  const auto bytes = row.blob(0);
  return {bytes.begin(), bytes.end()};
}

std::vector<CheckpointRow> RunStore::checkpoints(std::int64_t run) {
  Statement row = database_->prepare(
      "SELECT c.step, c.bytes, c.folder, c.created_at, c.step IS r.best_checkpoint, c.step IS "
      "r.latest_checkpoint "
      "FROM checkpoint c JOIN run r ON r.id = c.run_id "
      "JOIN segment s ON s.run_id = c.run_id AND s.number = c.segment "
      "WHERE c.run_id = ? AND c.removed_at = '' AND c.step > s.shown_above AND c.step <= "
      "s.shown_to ORDER BY c.step");
  row.with(run);
  std::vector<CheckpointRow> checkpoints;
  while (row.step()) {
    checkpoints.push_back({row.integer(0), row.integer(1), row.text(2), row.text(3),
                           row.integer(4) != 0, row.integer(5) != 0});
  }
  return checkpoints;
}

std::string RunStore::experimentSource(std::int64_t experimentId) {
  Statement row = database_->prepare("SELECT source FROM experiment WHERE id = ?");
  if (!row.with(experimentId).step()) {
    throw NotFoundError("there is no experiment " + std::to_string(experimentId) + " in '" +
                        file().string() + "'");
  }
  return row.text(0);
}

std::int64_t RunStore::dataVersion() {
  database_->checkPlace();
  return database_->integer("PRAGMA data_version");
}

bool RunStore::isLogGone() const noexcept { return database_->isLogGone(); }

void RunStore::setPatience(std::chrono::milliseconds patience) { database_->setPatience(patience); }

Json RunStore::info() {
  Database& database = *database_;
  std::error_code error;
  const auto bytesOf = [&](const std::string& suffix) {
    const auto size = std::filesystem::file_size(file().string() + suffix, error);
    return error ? std::uintmax_t{0} : size;
  };
  Json info = Json::object();
  info["file"] = file().string();
  info["bytes"] = bytesOf("");
  info["log_bytes"] = bytesOf("-wal");
  {
    Statement row = database.prepare("SELECT value FROM meta WHERE key = ?");
    info["uuid"] = row.with("uuid").step() ? row.text(0) : std::string();
  }
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

std::vector<std::string> RunStore::check() {
  std::vector<std::string> problems = problemsOf(*database_);
  if (problems.empty()) removeCheckMark(file());
  return problems;
}

namespace {

/// The row belongs to a run that is being imported, which has none yet.
bool isUnfinished(Database& database, const std::string& table, std::int64_t id) {
  const auto known = runTables();
  const bool isLarge = std::any_of(known.begin(), known.end(), [&](const RunTable& each) {
    return each.isLarge && table == each.name;
  });
  if (!isLarge) return false;
  const std::set<std::int64_t> runs = unfinishedRuns(database);
  Statement run = database.prepare("SELECT run_id FROM " + table + " WHERE id = ?");
  return run.with(id).step() && runs.count(run.integer(0)) != 0;
}

}  // namespace

std::vector<std::string> problemsOf(Database& database) {
  std::vector<std::string> problems;
  {
    Statement row = database.prepare("PRAGMA integrity_check");
    while (row.step()) {
      // One row may hold several lines, the first of which names the database.
      std::istringstream lines(row.text(0));
      for (std::string line; std::getline(lines, line);) {
        if (line != "ok" && !line.starts_with("*** in database")) problems.push_back(shown(line));
      }
    }
  }
  Statement row = database.prepare("PRAGMA foreign_key_check");
  while (row.step()) {
    if (isUnfinished(database, row.text(0), row.integer(1))) continue;
    problems.push_back("a row of '" + shown(row.text(0)) + "' refers to a missing row of '" +
                       shown(row.text(2)) + "'");
  }
  return problems;
}

}  // namespace vitrine
