#include "core/store/run_facts.h"

#include "core/base/joined.h"
#include "core/base/read_json.h"
#include "core/store/tables/dependencies.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

/// "3, 5"
std::string listOf(const std::set<std::int64_t>& ids) {
  return vitrine::joined(ids, [](std::int64_t id) { return std::to_string(id); });
}

std::string textOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

}  // namespace

std::int64_t signsOfLife(RunReader& store, std::int64_t run) {
  return store.connection().integer(
      "SELECT r.step + r.last_sequence + (SELECT coalesce(max(id), 0) FROM event WHERE run_id = "
      "r.id AND kind <> 'hang') FROM run r WHERE r.id = ?",
      run);
}

bool isTakenUp(RunReader& store, std::int64_t run) {
  return store.connection().any(
      "SELECT 1 FROM run r JOIN segment s ON s.run_id = r.id AND s.worker_pid = r.worker_pid AND "
      "s.worker_start = r.worker_start AND s.worker_boot = r.worker_boot WHERE r.id = ?",
      run);
}

std::set<std::int64_t> stepsOthersNeed(RunReader& store, const std::string& uuid) {
  const std::vector<std::int64_t> named = store.connection().integers(
      std::string("SELECT CAST(json_extract(c.init, '$.checkpoint') AS INTEGER) FROM run_config c "
                  "JOIN run r ON r.id = c.run_id WHERE json_valid(c.init) AND "
                  "json_extract(c.init, '$.run') = ?1 AND (r.state <> 'done' OR ") +
          kFrozeParts +
          ") UNION SELECT CAST(checkpoint AS INTEGER) FROM run_dependency WHERE kind = 'aux' AND "
          "uuid = ?1",
      uuid);
  std::set<std::int64_t> steps(named.begin(), named.end());
  steps.erase(steps.begin(), steps.upper_bound(0));
  return steps;
}

std::vector<std::pair<std::int64_t, std::string>> configsAfter(RunReader& store, std::int64_t run) {
  return store.connection().rows(
      "SELECT run_id, config FROM run_config WHERE run_id > ? ORDER BY run_id",
      [](const Statement& row) { return std::pair(row.integer(0), row.text(1)); }, run);
}

std::set<std::int64_t> runsWithArtifact(RunReader& store, const std::string& kind) {
  std::set<std::int64_t> runs;
  store.connection().each(
      "SELECT DISTINCT run_id FROM artifact WHERE kind = ?",
      [&](const Statement& row) { runs.insert(row.integer(0)); }, kind);
  return runs;
}

std::map<std::int64_t, std::vector<std::string>> tagsByRun(RunReader& store) {
  std::map<std::int64_t, std::vector<std::string>> tags;
  store.connection().each(
      "SELECT run_id, tag FROM tag ORDER BY run_id, tag",
      [&](const Statement& row) { tags[row.integer(0)].push_back(row.text(1)); });
  return tags;
}

std::map<std::int64_t, double> runningTimes(const QueryFunction& query,
                                            const std::set<std::int64_t>& runs,
                                            const std::string& metric) {
  std::map<std::int64_t, double> seconds;
  if (runs.empty()) return seconds;
  for (const std::vector<Json>& row :
       query("SELECT run_id, max(time) FROM metrics WHERE name = " + quotedSql(metric) +
             " AND run_id IN (" + listOf(runs) + ") GROUP BY run_id")
           .rows) {
    if (row[1].is_number()) seconds[row[0].get<std::int64_t>()] = row[1].get<double>();
  }
  return seconds;
}

std::map<std::string, std::map<std::int64_t, double>> lastValuesOf(
    const QueryFunction& query, const std::set<std::string>& metrics) {
  std::map<std::string, std::map<std::int64_t, double>> values;
  if (metrics.empty()) return values;
  for (const std::vector<Json>& row :
       query("SELECT name, run_id, last FROM metric_summaries WHERE name IN (" +
             vitrine::joined(metrics, quotedSql) + ")")
           .rows) {
    if (row[2].is_number())
      values[textOf(row[0])][row[1].get<std::int64_t>()] = row[2].get<double>();
  }
  return values;
}

std::map<std::string, std::map<std::int64_t, std::pair<double, double>>> rangesOf(
    const QueryFunction& query, const std::set<std::string>& metrics) {
  std::map<std::string, std::map<std::int64_t, std::pair<double, double>>> ranges;
  if (metrics.empty()) return ranges;
  for (const std::vector<Json>& row :
       query("SELECT name, run_id, minimum, maximum FROM metric_summaries WHERE name IN (" +
             vitrine::joined(metrics, quotedSql) + ")")
           .rows) {
    if (row[2].is_number() && row[3].is_number())
      ranges[textOf(row[0])][row[1].get<std::int64_t>()] = {row[2].get<double>(),
                                                            row[3].get<double>()};
  }
  return ranges;
}

std::vector<std::string> recordedMetrics(const QueryFunction& query) {
  std::vector<std::string> names;
  for (const std::vector<Json>& row :
       query("SELECT DISTINCT name FROM metric_summaries ORDER BY name").rows)
    names.push_back(textOf(row[0]));
  return names;
}

std::map<std::int64_t, std::string> notesByRun(const QueryFunction& query) {
  std::map<std::int64_t, std::string> notes;
  for (const std::vector<Json>& row : query("SELECT run_id, text FROM note WHERE text <> ''").rows)
    notes[row[0].get<std::int64_t>()] = textOf(row[1]);
  return notes;
}

std::map<std::int64_t, std::int64_t> checkpointBytes(const QueryFunction& query,
                                                     const std::set<std::int64_t>& of) {
  const std::string which = of.empty() ? "" : " AND run_id IN (" + listOf(of) + ")";
  std::map<std::int64_t, std::int64_t> bytes;
  for (const std::vector<Json>& row :
       query("SELECT run_id, sum(bytes) FROM checkpoint WHERE removed_at = ''" + which +
             " GROUP BY run_id")
           .rows)
    bytes[row[0].get<std::int64_t>()] = row[1].get<std::int64_t>();
  return bytes;
}

std::map<std::int64_t, Json> environmentsOf(const QueryFunction& query,
                                            const std::set<std::int64_t>& runs) {
  const RunReader::Table table =
      query("SELECT run_id, environment, max(number) FROM segment WHERE run_id IN (" +
            listOf(runs) + ") GROUP BY run_id");
  std::map<std::int64_t, Json> environments;
  for (const auto& row : table.rows) {
    Json environment = readJson(textOf(row[1]));
    if (environment.is_object()) environments[row[0].get<std::int64_t>()] = std::move(environment);
  }
  return environments;
}

std::map<std::int64_t, std::string> sourcesOf(const QueryFunction& query,
                                              const std::set<std::int64_t>& experiments) {
  const RunReader::Table table =
      query("SELECT id, source FROM experiment WHERE id IN (" + listOf(experiments) + ")");
  std::map<std::int64_t, std::string> sources;
  for (const auto& row : table.rows) {
    if (row[1].is_string()) sources[row[0].get<std::int64_t>()] = row[1].get<std::string>();
  }
  return sources;
}

std::vector<StoredTable> storedTables(RunReader& store, const RunReader::QueryLimits& limits) {
  const RunReader::Table names = store.query(
      "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE "
      "'sqlite_%' ORDER BY type DESC, name",
      limits);
  std::vector<StoredTable> tables;
  for (const auto& row : names.rows) {
    StoredTable table{textOf(row[0]), textOf(row[1]) == "view", {}};
    const RunReader::Table columns =
        store.query("PRAGMA table_info(" + columnList({table.name}) + ")", limits);
    for (const auto& column : columns.rows)
      table.columns.push_back({textOf(column[1]), textOf(column[2])});
    tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<std::byte> pictureOf(RunReader& store, PictureView view, std::int64_t id,
                                 std::int64_t bytes) {
  Statement row = store.connection().prepare(
      view == PictureView::GeneratedImages
          ? "SELECT png FROM generated_images WHERE id = ? AND length(png) = ?"
          : "SELECT data FROM artifacts WHERE kind = 'image' AND id = ? AND length(data) = ?");
  if (!row.with(id, bytes).step()) return {};
  const auto blob = row.blob(0);
  return {blob.begin(), blob.end()};
}

}  // namespace vitrine::store
