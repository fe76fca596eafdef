#include "core/store/metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/store/tables/run_changes.h"

namespace vitrine::store {

namespace {

// metric_tail.kind
constexpr int kAsItIs = 0;
constexpr int kNan = 1;        // SQLite would store NULL
constexpr int kMinusZero = 2;  // SQLite would store 0

std::int64_t metricId(Database& database, const std::string& name) {
  if (const auto found = database.metricIds.find(name); found != database.metricIds.end())
    return found->second;
  std::int64_t id = database.integer("SELECT id FROM metric_name WHERE name = ?", name);
  if (id == 0) {
    database.run("INSERT INTO metric_name(name) VALUES (?)", name);
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
  const std::string of = " of a metric of run " + std::to_string(run);
  summary.statistics = {counted(row.integer(0), "the count of points" + of),
                        row.integer(1),
                        row.integer(2),
                        row.integer(6),
                        row.integer(7),
                        row.real(3),
                        row.real(4),
                        row.real(5)};
  summary.tailRows = counted(row.integer(8), "the tail" + of);
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

/// Points of one metric and segment, oldest first: those in the tail, and new ones that are not in
/// the database yet.
struct Column {
  std::int64_t metric = 0, segment = 0;
  std::vector<chunk::Moment> tail;
  std::vector<std::int64_t> sequences;  ///< of all points, as are `values`
  std::vector<double> values;
  std::size_t packed = 0;  ///< points that are in chunks by now

  [[nodiscard]] std::size_t left() const noexcept { return sequences.size() - packed; }
  /// Sequences of what may go into the next chunk.
  [[nodiscard]] std::span<const std::int64_t> next() const noexcept {
    return std::span(sequences).subspan(packed, std::min(left(), chunk::kRows));
  }
};

/// Puts the points of the tail before the new ones of `column`.
void loadTail(Database& database, std::int64_t run, Column& column) {
  std::vector<std::int64_t> sequences;
  std::vector<double> values;
  database.each(
      "SELECT sequence, step, time, epoch, value, kind FROM metric_tail "
      "WHERE run_id = ? AND metric_id = ? AND segment = ? ORDER BY sequence",
      [&](const Statement& row) {
        column.tail.push_back({row.integer(0), row.integer(1), row.integer(2), row.integer(3)});
        sequences.push_back(row.integer(0));
        values.push_back(tailValue(row, 4, 5));
      },
      run, column.metric, column.segment);
  column.sequences.insert(column.sequences.begin(), sequences.begin(), sequences.end());
  column.values.insert(column.values.begin(), values.begin(), values.end());
}

/// Moments of a batch: consecutive sequences.
class NewMoments {
 public:
  void add(const chunk::Moment& moment) { moments_.push_back(moment); }
  [[nodiscard]] const chunk::Moment& at(std::int64_t sequence) const {
    return moments_[static_cast<std::size_t>(sequence - moments_.front().sequence)];
  }

 private:
  std::vector<chunk::Moment> moments_;
};

const chunk::Moment& momentOf(const Column& column, std::size_t i, const NewMoments& fresh) {
  return i < column.tail.size() ? column.tail[i] : fresh.at(column.sequences[i]);
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

void insertValues(Database& database, std::int64_t run, const Column& column, std::int64_t clock,
                  std::size_t count) {
  const auto values = std::span(column.values).subspan(column.packed, count);
  ValueRange range;
  for (const double value : values) range.add(value);
  const std::vector<std::byte> data = chunk::packValues(values);
  Statement row = database.prepare(
      "INSERT INTO metric_chunk(run_id, metric_id, segment, clock_id, last_sequence, count, "
      "minimum, maximum, data) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  row.with(run, column.metric, column.segment, clock, column.sequences[column.packed + count - 1],
           static_cast<std::int64_t>(count), range.lowest, range.highest);
  row.bindBlob(9, data);
  row.run();
}

/// Packs the next points of each column that has at least `minimumRows` left; those that have the
/// same moments share a clock. False when there is none.
bool packOnce(Database& database, std::int64_t run, std::span<Column> columns,
              std::size_t minimumRows, const NewMoments& fresh) {
  std::vector<Column*> full;
  for (Column& column : columns) {
    if (column.left() >= minimumRows) full.push_back(&column);
  }
  const auto isBefore = [](const Column* a, const Column* b) {
    if (a->segment != b->segment) return a->segment < b->segment;
    const auto left = a->next(), right = b->next();
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  };
  std::stable_sort(full.begin(), full.end(), isBefore);
  for (auto first = full.begin(); first != full.end();) {
    const auto last = std::find_if(first, full.end(),
                                   [&](const Column* other) { return isBefore(*first, other); });
    const Column& one = **first;
    std::vector<chunk::Moment> moments;
    moments.reserve(one.next().size());
    for (std::size_t i = 0; i < one.next().size(); ++i)
      moments.push_back(momentOf(one, one.packed + i, fresh));
    const chunk::Clock clock = chunk::packClock(moments);
    const std::int64_t clockId = insertClock(database, run, one.segment, clock);
    for (; first != last; ++first) {
      insertValues(database, run, **first, clockId, clock.count);
      (*first)->packed += clock.count;
    }
  }
  return !full.empty();
}

/// Packs full chunks, and removes their points from the tail. `columns` have their tails.
void packColumns(Database& database, std::int64_t run, std::span<Column> columns,
                 std::size_t minimumRows, const NewMoments& fresh) {
  while (packOnce(database, run, columns, minimumRows, fresh)) {
  }
  for (const Column& column : columns) {
    if (column.packed == 0 || column.tail.empty()) continue;
    database.run(
        "DELETE FROM metric_tail WHERE run_id = ? AND metric_id = ? AND sequence <= ? AND "
        "segment = ?",
        run, column.metric, column.sequences[column.packed - 1], column.segment);
  }
}

/// The new points of `column` that are in no chunk.
void insertTail(Database& database, std::int64_t run, const Column& column,
                const NewMoments& fresh) {
  Statement insert = database.prepare(
      "INSERT OR REPLACE INTO metric_tail(run_id, metric_id, sequence, segment, step, time, "
      "epoch, value, kind) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (std::size_t i = std::max(column.packed, column.tail.size()); i < column.sequences.size();
       ++i) {
    const double value = column.values[i];
    const chunk::Moment& moment = fresh.at(column.sequences[i]);
    insert
        .with(run, column.metric, moment.sequence, column.segment, moment.step, moment.time,
              moment.epoch, value, tailKind(value))
        .run();
    sqlite3_reset(insert.handle());
  }
}

/// The points of `batch` by metric, in the order in which the metrics appear. Of a metric that a
/// record names twice, the last value counts.
std::vector<Column> columnsOf(Database& database, std::int64_t segment, const MetricBatch& batch,
                              std::int64_t firstSequence) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<Column> columns;
  std::vector<std::size_t> indices(batch.names().size(), kNone);
  std::int64_t sequence = firstSequence;
  std::size_t at = 0;
  for (const MetricBatch::Moment& moment : batch.moments()) {
    for (; at < moment.end; ++at) {
      const auto& [name, value] = batch.values()[at];
      if (indices[name] == kNone) {
        indices[name] = columns.size();
        columns.push_back({metricId(database, batch.names()[name]), segment, {}, {}, {}});
      }
      Column& column = columns[indices[name]];
      if (!column.sequences.empty() && column.sequences.back() == sequence) {
        column.values.back() = value;
      } else {
        column.sequences.push_back(sequence);
        column.values.push_back(value);
      }
    }
    ++sequence;
  }
  return columns;
}

/// Stores all of `batch` in `segment`, of which views show `shown`.
void appendTo(Database& database, std::int64_t run, std::int64_t segment, const ShownSteps& shown,
              const MetricBatch& batch) {
  std::int64_t sequence =
      counted(database.integer("SELECT last_sequence FROM run WHERE id = ?", run),
              "the last point of run " + std::to_string(run));
  std::vector<Column> columns = columnsOf(database, segment, batch, sequence + 1);
  NewMoments fresh;
  for (const MetricBatch::Moment& moment : batch.moments()) {
    fresh.add({++sequence, moment.step, chunk::storedTime(moment.time),
               chunk::storedEpoch(moment.epoch)});
  }
  std::vector<Summary> summaries;
  summaries.reserve(columns.size());
  for (const Column& column : columns) {
    Summary& summary = summaries.emplace_back(loadSummary(database, run, column.metric));
    for (std::size_t k = 0; k < column.sequences.size(); ++k) {
      const std::int64_t step = fresh.at(column.sequences[k]).step;
      if (shown.holds(step)) summary.statistics.add(step, column.values[k]);
    }
    summary.tailRows += static_cast<std::int64_t>(column.sequences.size());
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    // A clock is shared by metrics that fill a chunk at the same time.
    if (summaries[i].tailRows >= static_cast<std::int64_t>(chunk::kRows))
      loadTail(database, run, columns[i]);
  }
  packColumns(database, run, columns, chunk::kRows, fresh);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    insertTail(database, run, columns[i], fresh);
    summaries[i].tailRows -= static_cast<std::int64_t>(columns[i].packed);
    saveSummary(database, run, columns[i].metric, summaries[i]);
  }
  database.run("UPDATE run SET last_sequence = ? WHERE id = ?", sequence, run);
}

}  // namespace

int tailKind(double value) noexcept {
  if (std::isnan(value)) return kNan;
  return value == 0.0 && std::signbit(value) ? kMinusZero : kAsItIs;
}

double tailValue(const Statement& row, int valueColumn, int kindColumn) {
  switch (row.integer(kindColumn)) {
    case kNan:
      return std::numeric_limits<double>::quiet_NaN();
    case kMinusZero:
      return -0.0;
    default:
      return row.real(valueColumn);
  }
}

ShownSteps shownSteps(Database& database, std::int64_t run, std::int64_t segment) {
  Statement row =
      database.prepare("SELECT shown_above, shown_to FROM segment WHERE run_id = ? AND number = ?");
  if (!row.with(run, segment).step()) {
    throw StoreError(nameOf(run) + " has no segment " + std::to_string(segment) +
                     "; open one before storing results");
  }
  return {row.integer(0), row.integer(1)};
}

std::int64_t segmentShowing(Database& database, std::int64_t run, std::int64_t segment,
                            std::int64_t step) {
  if (step > shownSteps(database, run, segment).above) return segment;
  Statement row = database.prepare(
      "SELECT number FROM segment WHERE run_id = ?1 AND number < ?2 AND ?3 > shown_above AND "
      "?3 <= shown_to ORDER BY number DESC LIMIT 1");
  return row.with(run, segment, step).step() ? row.integer(0) : segment;
}

void appendMetrics(Database& database, std::int64_t run, std::int64_t segment,
                   std::span<const MetricRecord> records) {
  appendMetrics(database, run, segment, MetricBatch(records));
}

void appendMetrics(Database& database, std::int64_t run, std::int64_t segment,
                   const MetricBatch& batch) {
  if (batch.isEmpty()) return;
  const ShownSteps shown = shownSteps(database, run, segment);
  const auto& moments = batch.moments();
  const bool isOwing = std::any_of(moments.begin(), moments.end(),
                                   [&](const auto& moment) { return moment.step <= shown.above; });
  if (!isOwing) {
    appendTo(database, run, segment, shown, batch);
    return;
  }
  std::vector<MetricRecord> records;
  batch.appendTo(records);
  for (MetricRecord& record : records) {
    const std::int64_t home = segmentShowing(database, run, segment, record.step);
    // A process may have been killed between storing and the checkpoint that knows of it.
    if (home != segment) {
      std::erase_if(record.values, [&](const auto& value) {
        const std::vector<MetricPoint> known = readPoints(database, run, value.first, 0);
        return std::any_of(known.begin(), known.end(),
                           [&](const MetricPoint& point) { return point.step == record.step; });
      });
    }
    if (record.values.empty()) continue;
    appendTo(database, run, home, shownSteps(database, run, home),
             MetricBatch(std::span(&record, 1)));
  }
}

void packMetrics(Database& database, std::int64_t run, std::size_t minimumRows) {
  std::vector<Column> columns;
  database.each(
      "SELECT metric_id, segment FROM metric_tail WHERE run_id = ? GROUP BY segment, metric_id "
      "HAVING count(*) >= ?",
      [&](const Statement& row) {
        columns.push_back({row.integer(0), row.integer(1), {}, {}, {}});
      },
      run, static_cast<std::int64_t>(minimumRows));
  for (Column& column : columns) loadTail(database, run, column);
  packColumns(database, run, columns, minimumRows, {});
  for (const Column& column : columns) {
    database.run(
        "UPDATE metric_summary SET tail_rows = tail_rows - ?3 WHERE run_id = ?1 AND metric_id "
        "= ?2",
        run, column.metric, static_cast<std::int64_t>(column.packed));
  }
}

void rebuildSummaries(Database& database, std::int64_t run) {
  const auto metrics = database.rows(
      "SELECT n.id, n.name FROM metric_summary m JOIN metric_name n ON n.id = m.metric_id WHERE "
      "m.run_id = ?",
      [](const Statement& row) { return std::pair(row.integer(0), row.text(1)); }, run);
  for (const auto& [metric, name] : metrics) {
    Summary summary{.tailRows = loadSummary(database, run, metric).tailRows};
    for (const MetricPoint& point : readPoints(database, run, name, 0))
      summary.statistics.add(point.step, point.value);
    saveSummary(database, run, metric, summary);
  }
}

}  // namespace vitrine::store
