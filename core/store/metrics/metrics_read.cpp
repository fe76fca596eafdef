// The reading half of metrics.h.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "core/base/error.h"
#include "core/store/metrics/metrics.h"

namespace vitrine::store {

namespace {

chunk::Lane readLane(const Statement& row, int column) {
  const auto rest = row.blob(column + 2);
  return {row.integer(column), row.integer(column + 1), {rest.begin(), rest.end()}};
}

std::optional<std::int64_t> knownMetric(Database& database, const std::string& name) {
  Statement row = database.prepare("SELECT id FROM metric_name WHERE name = ?");
  if (!row.with(name).step()) return std::nullopt;
  return row.integer(0);
}

std::map<std::int64_t, ShownSteps> allShownSteps(Database& database, std::int64_t run) {
  std::map<std::int64_t, ShownSteps> shown;
  database.each(
      "SELECT number, shown_above, shown_to FROM segment WHERE run_id = ?",
      [&](const Statement& row) {
        shown[row.integer(0)] = {row.integer(1), row.integer(2)};
      },
      run);
  return shown;
}

/// Points of a curve as they are read; remembers whether they came in order.
class CurveReader {
 public:
  CurveReader(const std::map<std::int64_t, ShownSteps>& shown, std::int64_t after)
      : shown_(shown), after_(after) {}

  /// Room for `count` points, in few large pages: a page fault each 4 KiB would take longer than
  /// all else.
  void reserve(std::size_t count) {
    constexpr std::size_t kHugePage = 2u << 20;
    points_.reserve(count);
    const auto begin = reinterpret_cast<std::uintptr_t>(points_.data());
    const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
    const std::uintptr_t last = (begin + count * sizeof(MetricPoint)) / kHugePage * kHugePage;
    if (first >= last) return;
    ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // a wish
  }

  /// What follows belongs to `segment`.
  void enter(std::int64_t segment) {
    segment_ = segment;
    const auto found = shown_.find(segment);
    steps_ = found == shown_.end() ? ShownSteps{0, 0} : found->second;
  }

  void add(const chunk::Moment& moment, double value) {
    if (moment.sequence <= after_ || !steps_.holds(moment.step)) return;
    isSorted_ = isSorted_ && (moment.step != lastStep_ ? moment.step > lastStep_
                                                       : moment.sequence > lastSequence_);
    lastStep_ = moment.step;
    lastSequence_ = moment.sequence;
    points_.push_back({moment.sequence, segment_, moment.step, chunk::epochsOf(moment.epoch),
                       chunk::secondsOf(moment.time), value});
  }

  /// By step, and of a step by sequence.
  [[nodiscard]] std::vector<MetricPoint> take() {
    if (!isSorted_) {
      std::sort(points_.begin(), points_.end(), [](const MetricPoint& a, const MetricPoint& b) {
        return a.step != b.step ? a.step < b.step : a.sequence < b.sequence;
      });
    }
    return std::move(points_);
  }

 private:
  const std::map<std::int64_t, ShownSteps>& shown_;
  const std::int64_t after_;
  std::int64_t segment_ = 0;
  ShownSteps steps_;
  std::vector<MetricPoint> points_;
  bool isSorted_ = true;
  std::int64_t lastStep_ = std::numeric_limits<std::int64_t>::min(), lastSequence_ = lastStep_;
};

struct TailPoint {
  std::int64_t segment = 0;
  chunk::Moment moment;
  double value = 0;
};

std::vector<TailPoint> readTail(Database& database, std::int64_t run, std::int64_t metric,
                                std::int64_t after) {
  return database.rows(
      "SELECT segment, sequence, step, time, epoch, value, kind FROM metric_tail "
      "WHERE run_id = ? AND metric_id = ? AND sequence > ? ORDER BY sequence",
      [](const Statement& row) {
        return TailPoint{row.integer(0),
                         {row.integer(1), row.integer(2), row.integer(3), row.integer(4)},
                         tailValue(row, 5, 6)};
      },
      run, metric, after);
}

/// How many chunks readPoints will read: from the index alone.
std::size_t chunkCount(Database& database, std::int64_t run, std::int64_t metric,
                       std::int64_t after) {
  return static_cast<std::size_t>(database.integer(
      "SELECT count(*) FROM metric_chunk WHERE run_id = ? AND metric_id = ? AND last_sequence > ?",
      run, metric, after));
}

}  // namespace

chunk::Clock readClock(const Statement& row, int column) {
  return {.count = static_cast<std::size_t>(row.integer(column)),
          .sequence = readLane(row, column + 1),
          .step = readLane(row, column + 4),
          .time = readLane(row, column + 7),
          .epoch = readLane(row, column + 10)};
}

std::vector<MetricPoint> readPoints(Database& database, std::int64_t run, const std::string& name,
                                    std::int64_t after) {
  return database.read([&] {
    const auto metric = knownMetric(database, name);
    if (!metric) return std::vector<MetricPoint>();
    const auto shown = allShownSteps(database, run);
    CurveReader curve(shown, after);
    // Counted first: room that is taken once is not copied again as it grows.
    const std::vector<TailPoint> tail = readTail(database, run, *metric, after);
    curve.reserve(chunkCount(database, run, *metric, after) * chunk::kRows + tail.size());
    database.each(
        std::string("SELECT c.segment, c.data, ") + kClockColumns +
            " FROM metric_chunk c JOIN clock_chunk k ON k.id = c.clock_id WHERE c.run_id = ? AND "
            "c.metric_id = ? AND c.last_sequence > ? ORDER BY c.last_sequence",
        [&](const Statement& row) {
          const auto moments = chunk::unpackClock(readClock(row, 2));
          const auto values = chunk::unpackValues(row.blob(1));
          if (values.size() != moments.size()) {
            throw StoreError("a chunk of '" + name + "' of run " + std::to_string(run) + " has " +
                             std::to_string(values.size()) + " values at " +
                             std::to_string(moments.size()) + " moments; the database is damaged");
          }
          curve.enter(row.integer(0));
          for (std::size_t i = 0; i < values.size(); ++i) curve.add(moments[i], values[i]);
        },
        run, *metric, after);
    for (const TailPoint& point : tail) {
      curve.enter(point.segment);
      curve.add(point.moment, point.value);
    }
    return curve.take();
  });
}

std::vector<MetricSummary> readSummaries(Database& database, std::int64_t run) {
  return database.rows(
      "SELECT name, count, first_step, last_step, minimum_step, maximum_step, last, minimum, "
      "maximum "
      "FROM metric_summaries WHERE run_id = ? ORDER BY name",
      [](const Statement& row) {
        return MetricSummary{row.text(0),    row.integer(1), row.integer(2),
                             row.integer(3), row.integer(4), row.integer(5),
                             row.real(6),    row.real(7),    row.real(8)};
      },
      run);
}

}  // namespace vitrine::store
