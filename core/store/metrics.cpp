#include "core/store/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "core/base/error.h"
#include "core/store/chunk.h"

namespace vitrine {

namespace {

// metric_tail.kind
constexpr int kAsItIs = 0;
constexpr int kNan = 1;        // SQLite would store NULL
constexpr int kMinusZero = 2;  // SQLite would store 0

constexpr std::int64_t kNoId = -1;

std::int64_t metricId(Database& database, const std::string& name) {
  if (const auto found = database.metricIds.find(name); found != database.metricIds.end()) {
    return found->second;
  }
  std::int64_t id = kNoId;
  {
    Statement statement = database.prepare("SELECT id FROM metric_name WHERE name = ?");
    if (statement.with(name).step()) id = statement.integer(0);
  }
  if (id == kNoId) {
    database.prepare("INSERT INTO metric_name(name) VALUES (?)").with(name).run();
    id = sqlite3_last_insert_rowid(database.handle());
  }
  database.metricIds.emplace(name, id);
  return id;
}

/// The running statistics of one metric.
struct Statistics {
  std::int64_t count = 0, firstStep = 0, lastStep = 0, minimumStep = 0, maximumStep = 0;
  double last = std::nan(""), minimum = std::nan(""), maximum = std::nan("");

  void add(std::int64_t step, double value) {
    firstStep = count == 0 ? step : std::min(firstStep, step);
    if (count == 0 || step >= lastStep) {
      lastStep = step;
      last = value;
    }
    ++count;
    if (std::isnan(value)) return;
    if (std::isnan(minimum) || value < minimum) {
      minimum = value;
      minimumStep = step;
    }
    if (std::isnan(maximum) || value > maximum) {
      maximum = value;
      maximumStep = step;
    }
  }
};

struct Summary {
  Statistics statistics;
  std::int64_t tailRows = 0;
};

Summary loadSummary(Database& database, std::int64_t run, std::int64_t metric) {
  Statement row = database.prepare(
      "SELECT count, first_step, last_step, last, minimum, maximum, minimum_step, maximum_step, "
      "tail_rows "
      "FROM metric_summary WHERE run_id = ? AND metric_id = ?");
  row.with(run, metric);
  if (!row.step()) return {};
  Summary summary;
  summary.statistics = {row.integer(0), row.integer(1), row.integer(2), row.integer(6),
                        row.integer(7), row.real(3),    row.real(4),    row.real(5)};
  summary.tailRows = row.integer(8);
  return summary;
}

void saveSummary(Database& database, std::int64_t run, std::int64_t metric,
                 const Summary& summary) {
  const Statistics& s = summary.statistics;
  Statement row = database.prepare(
      "INSERT OR REPLACE INTO metric_summary(run_id, metric_id, count, first_step, last_step, "
      "last, minimum, "
      "maximum, minimum_step, maximum_step, tail_rows) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  row.with(run, metric, s.count, s.firstStep, s.lastStep, s.last, s.minimum, s.maximum,
           s.minimumStep, s.maximumStep, summary.tailRows);
  if (std::isnan(s.minimum)) row.bindNull(9).bindNull(10);
  row.run();
}

struct TailRow {
  chunk::Moment moment;
  double value = 0;
};

double storedValue(const Statement& row, int valueColumn, int kindColumn) {
  switch (row.integer(kindColumn)) {
    case kNan:
      return std::numeric_limits<double>::quiet_NaN();
    case kMinusZero:
      return -0.0;
    default:
      return row.real(valueColumn);
  }
}

std::vector<TailRow> oldestTailRows(Database& database, std::int64_t run, std::int64_t metric,
                                    std::int64_t segment) {
  Statement row = database.prepare(
      "SELECT sequence, step, time, epoch, value, kind FROM metric_tail "
      "WHERE run_id = ? AND metric_id = ? AND segment = ? ORDER BY sequence LIMIT ?");
  row.with(run, metric, segment, static_cast<std::int64_t>(chunk::kRows));
  std::vector<TailRow> rows;
  while (row.step()) {
    rows.push_back(
        {{row.integer(0), row.integer(1), row.integer(2), row.integer(3)}, storedValue(row, 4, 5)});
  }
  return rows;
}

std::int64_t insertClock(Database& database, std::int64_t run, std::int64_t segment,
                         const chunk::Clock& clock) {
  Statement row = database.prepare(
      "INSERT INTO clock_chunk(run_id, segment, count, step_base, step_stride, time_base, "
      "time_stride, epoch_base, "
      "epoch_stride, sequence_base, sequence_stride, step_rest, time_rest, epoch_rest, "
      "sequence_rest) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  row.with(run, segment, static_cast<std::int64_t>(clock.count), clock.step.base, clock.step.stride,
           clock.time.base, clock.time.stride, clock.epoch.base, clock.epoch.stride,
           clock.sequence.base, clock.sequence.stride);
  row.bindBlob(12, clock.step.rest).bindBlob(13, clock.time.rest);
  row.bindBlob(14, clock.epoch.rest).bindBlob(15, clock.sequence.rest);
  row.run();
  return sqlite3_last_insert_rowid(database.handle());
}

void insertValues(Database& database, std::int64_t run, std::int64_t metric, std::int64_t segment,
                  std::int64_t clock, std::int64_t lastSequence, std::span<const TailRow> rows) {
  std::vector<double> values;
  Statistics statistics;
  for (const TailRow& row : rows) {
    values.push_back(row.value);
    statistics.add(row.moment.step, row.value);
  }
  const std::vector<std::byte> data = chunk::packValues(values);
  Statement row = database.prepare(
      "INSERT INTO metric_chunk(run_id, metric_id, segment, clock_id, last_sequence, count, "
      "minimum, maximum, data) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  row.with(run, metric, segment, clock, lastSequence, static_cast<std::int64_t>(rows.size()),
           statistics.minimum, statistics.maximum);
  row.bindBlob(9, data);
  row.run();
}

/// Metrics of one clock, and the points of each that go into a chunk.
struct ClockGroup {
  std::vector<chunk::Moment> moments;
  std::vector<std::pair<std::int64_t, std::vector<TailRow>>> metrics;
};

/// One round: packs up to kRows of each metric that has at least `minimumRows`. False when there is
/// none.
bool packOnce(Database& database, std::int64_t run, std::size_t minimumRows) {
  std::vector<std::pair<std::int64_t, std::int64_t>> full;  // segment, metric
  {
    Statement row = database.prepare(
        "SELECT segment, metric_id FROM metric_tail WHERE run_id = ? GROUP BY segment, metric_id "
        "HAVING count(*) >= ?");
    row.with(run, static_cast<std::int64_t>(minimumRows));
    while (row.step()) full.emplace_back(row.integer(0), row.integer(1));
  }
  std::map<std::pair<std::int64_t, std::vector<std::int64_t>>, ClockGroup> groups;
  for (const auto& [segment, metric] : full) {
    std::vector<TailRow> rows = oldestTailRows(database, run, metric, segment);
    std::vector<std::int64_t> sequences;
    for (const TailRow& row : rows) sequences.push_back(row.moment.sequence);
    ClockGroup& group = groups[{segment, std::move(sequences)}];
    if (group.moments.empty()) {
      for (const TailRow& row : rows) group.moments.push_back(row.moment);
    }
    group.metrics.emplace_back(metric, std::move(rows));
  }
  for (const auto& [key, group] : groups) {
    const std::int64_t segment = key.first;
    const chunk::Clock clock = chunk::packClock(group.moments);
    const std::int64_t clockId = insertClock(database, run, segment, clock);
    const std::int64_t lastSequence = group.moments[clock.count - 1].sequence;
    for (const auto& [metric, rows] : group.metrics) {
      insertValues(database, run, metric, segment, clockId, lastSequence,
                   std::span(rows).first(clock.count));
      database
          .prepare(
              "DELETE FROM metric_tail WHERE run_id = ? AND metric_id = ? AND sequence <= ? AND "
              "segment = ?")
          .with(run, metric, lastSequence, segment)
          .run();
      database
          .prepare(
              "UPDATE metric_summary SET tail_rows = (SELECT count(*) FROM metric_tail t WHERE "
              "t.run_id = ?1 "
              "AND t.metric_id = ?2) WHERE run_id = ?1 AND metric_id = ?2")
          .with(run, metric)
          .run();
    }
  }
  return !full.empty();
}

chunk::Lane readLane(const Statement& row, int baseColumn, int restColumn) {
  const auto rest = row.blob(restColumn);
  return {row.integer(baseColumn), row.integer(baseColumn + 1), {rest.begin(), rest.end()}};
}

std::optional<std::int64_t> knownMetric(Database& database, const std::string& name) {
  Statement row = database.prepare("SELECT id FROM metric_name WHERE name = ?");
  if (!row.with(name).step()) return std::nullopt;
  return row.integer(0);
}

std::map<std::int64_t, ShownSteps> allShownSteps(Database& database, std::int64_t run) {
  std::map<std::int64_t, ShownSteps> shown;
  Statement row =
      database.prepare("SELECT number, shown_above, shown_to FROM segment WHERE run_id = ?");
  row.with(run);
  while (row.step()) shown[row.integer(0)] = {row.integer(1), row.integer(2)};
  return shown;
}

void addPoint(std::vector<MetricPoint>& points, const std::map<std::int64_t, ShownSteps>& shown,
              std::int64_t segment, const chunk::Moment& moment, double value, std::int64_t after) {
  if (moment.sequence <= after) return;
  const auto steps = shown.find(segment);
  if (steps == shown.end() || !steps->second.holds(moment.step)) return;
  points.push_back({moment.sequence, segment, moment.step, chunk::epochsOf(moment.epoch),
                    chunk::secondsOf(moment.time), value});
}

}  // namespace

ShownSteps shownSteps(Database& database, std::int64_t run, std::int64_t segment) {
  Statement row =
      database.prepare("SELECT shown_above, shown_to FROM segment WHERE run_id = ? AND number = ?");
  if (!row.with(run, segment).step()) {
    throw StoreError("run " + std::to_string(run) + " has no segment " + std::to_string(segment) +
                     "; open one before storing results");
  }
  return {row.integer(0), row.integer(1)};
}

void appendMetrics(Database& database, std::int64_t run, std::int64_t segment,
                   std::span<const MetricRecord> records) {
  if (records.empty()) return;
  const ShownSteps shown = shownSteps(database, run, segment);
  std::int64_t sequence = 0;
  {
    Statement row = database.prepare("SELECT last_sequence FROM run WHERE id = ?");
    if (row.with(run).step()) sequence = row.integer(0);
  }
  std::map<std::int64_t, Summary> summaries;
  bool isFull = false;
  {
    Statement insert = database.prepare(
        "INSERT OR REPLACE INTO metric_tail(run_id, metric_id, sequence, segment, step, time, "
        "epoch, value, kind) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (const MetricRecord& record : records) {
      ++sequence;
      const std::int64_t time = chunk::storedTime(record.time);
      const std::int64_t epoch = chunk::storedEpoch(record.epoch);
      for (const auto& [name, value] : record.values) {
        const std::int64_t metric = metricId(database, name);
        const int kind = std::isnan(value)                     ? kNan
                         : value == 0.0 && std::signbit(value) ? kMinusZero
                                                               : kAsItIs;
        insert.with(run, metric, sequence, segment, record.step, time, epoch, value, kind).run();
        sqlite3_reset(insert.handle());
        auto found = summaries.find(metric);
        if (found == summaries.end()) {
          found = summaries.emplace(metric, loadSummary(database, run, metric)).first;
        }
        if (shown.holds(record.step)) found->second.statistics.add(record.step, value);
        isFull |= ++found->second.tailRows >= static_cast<std::int64_t>(chunk::kRows);
      }
    }
  }
  for (const auto& [metric, summary] : summaries) saveSummary(database, run, metric, summary);
  database.prepare("UPDATE run SET last_sequence = ? WHERE id = ?").with(sequence, run).run();
  if (isFull) packMetrics(database, run, chunk::kRows);
}

void packMetrics(Database& database, std::int64_t run, std::size_t minimumRows) {
  while (packOnce(database, run, minimumRows)) {
  }
}

void rebuildSummaries(Database& database, std::int64_t run) {
  std::vector<std::pair<std::int64_t, std::string>> metrics;
  {
    Statement row = database.prepare(
        "SELECT n.id, n.name FROM metric_summary m JOIN metric_name n ON n.id = m.metric_id WHERE "
        "m.run_id = ?");
    row.with(run);
    while (row.step()) metrics.emplace_back(row.integer(0), row.text(1));
  }
  for (const auto& [metric, name] : metrics) {
    Summary summary;
    summary.tailRows = loadSummary(database, run, metric).tailRows;
    for (const MetricPoint& point : readPoints(database, run, name, 0)) {
      summary.statistics.add(point.step, point.value);
    }
    saveSummary(database, run, metric, summary);
  }
}

std::vector<MetricPoint> readPoints(Database& database, std::int64_t run, const std::string& name,
                                    std::int64_t after) {
  return database.read([&] {
    std::vector<MetricPoint> points;
    const auto metric = knownMetric(database, name);
    if (!metric) return points;
    const auto shown = allShownSteps(database, run);
    {
      Statement row = database.prepare(
          "SELECT c.segment, c.count, c.data, k.count, k.sequence_base, k.sequence_stride, "
          "k.sequence_rest, "
          "k.step_base, k.step_stride, k.step_rest, k.time_base, k.time_stride, k.time_rest, "
          "k.epoch_base, k.epoch_stride, k.epoch_rest "
          "FROM metric_chunk c JOIN clock_chunk k ON k.id = c.clock_id "
          "WHERE c.run_id = ? AND c.metric_id = ? AND c.last_sequence > ? ORDER BY "
          "c.last_sequence");
      row.with(run, *metric, after);
      while (row.step()) {
        chunk::Clock clock;
        clock.count = static_cast<std::size_t>(row.integer(3));
        clock.sequence = readLane(row, 4, 6);
        clock.step = readLane(row, 7, 9);
        clock.time = readLane(row, 10, 12);
        clock.epoch = readLane(row, 13, 15);
        const auto moments = chunk::unpackClock(clock);
        const auto values = chunk::unpackValues(row.blob(2));
        if (values.size() != moments.size()) {
          throw StoreError("a chunk of '" + name + "' of run " + std::to_string(run) + " has " +
                           std::to_string(values.size()) + " values at " +
                           std::to_string(moments.size()) + " moments; the database is damaged");
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
          addPoint(points, shown, row.integer(0), moments[i], values[i], after);
        }
      }
    }
    Statement row = database.prepare(
        "SELECT segment, sequence, step, time, epoch, value, kind FROM metric_tail "
        "WHERE run_id = ? AND metric_id = ? AND sequence > ? ORDER BY sequence");
    row.with(run, *metric, after);
    while (row.step()) {
      addPoint(points, shown, row.integer(0),
               {row.integer(1), row.integer(2), row.integer(3), row.integer(4)},
               storedValue(row, 5, 6), after);
    }
    const auto byStep = [](const MetricPoint& a, const MetricPoint& b) {
      return a.step != b.step ? a.step < b.step : a.sequence < b.sequence;
    };
    if (!std::is_sorted(points.begin(), points.end(), byStep)) {
      std::sort(points.begin(), points.end(), byStep);
    }
    return points;
  });
}

std::vector<MetricSummary> readSummaries(Database& database, std::int64_t run) {
  Statement row = database.prepare(
      "SELECT name, count, first_step, last_step, minimum_step, maximum_step, last, minimum, "
      "maximum "
      "FROM metric_summaries WHERE run_id = ? ORDER BY name");
  row.with(run);
  std::vector<MetricSummary> summaries;
  while (row.step()) {
    summaries.push_back({row.text(0), row.integer(1), row.integer(2), row.integer(3),
                         row.integer(4), row.integer(5), row.real(6), row.real(7), row.real(8)});
  }
  return summaries;
}

}  // namespace vitrine
