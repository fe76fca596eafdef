// Metrics in the database: appended to a tail, packed into chunks, summed up as they come.
// Private to core/store.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/run/event_sink.h"
#include "core/store/metrics/chunk.h"
#include "core/store/metrics/metric_batch.h"
#include "core/store/sqlite/database.h"
#include "core/store/types.h"

namespace vitrine::store {

/// Steps of a segment that count: above `above`, up to `upTo`. Later ones were done again by its
/// successor.
struct ShownSteps {
  std::int64_t above = -1, upTo = 0;
  [[nodiscard]] bool holds(std::int64_t step) const noexcept {
    return step > above && step <= upTo;
  }
};
/// \throws StoreError  the run has no such segment
[[nodiscard]] ShownSteps shownSteps(Database& database, std::int64_t run, std::int64_t segment);

/// The segment that shows a point of `segment` at `step`. That is `segment`, but for a step up to
/// its first one the segment before, which ended there: a pause prevented its evaluation.
[[nodiscard]] std::int64_t segmentShowing(Database& database, std::int64_t run,
                                          std::int64_t segment, std::int64_t step);

/// metric_tail.kind of a value: SQLite would store NaN as NULL and -0 as 0.
[[nodiscard]] int tailKind(double value) noexcept;
/// The value of a row of metric_tail, from its value and its kind.
[[nodiscard]] double tailValue(const Statement& row, int valueColumn, int kindColumn);

/// The columns that readClock() needs, of `clock_chunk k`: 13 columns.
inline constexpr const char* kClockColumns =
    "k.count, k.sequence_base, k.sequence_stride, k.sequence_rest, k.step_base, k.step_stride, "
    "k.step_rest, k.time_base, k.time_stride, k.time_rest, k.epoch_base, k.epoch_stride, "
    "k.epoch_rest";
/// The clock whose kClockColumns begin at `column` of `row`.
[[nodiscard]] chunk::Clock readClock(const Statement& row, int column);

/// Lowest and highest of the values that are numbers; both NaN while there is none. Of equal ones
/// (0 and -0) the first stays.
struct ValueRange {
  double lowest = std::numeric_limits<double>::quiet_NaN(), highest = lowest;
  void add(double value) noexcept {
    if (std::isnan(value)) return;
    if (!(value >= lowest)) lowest = value;
    if (!(value <= highest)) highest = value;
  }
};

/// Within a transaction: stores `batch`, packs full chunks, updates the summaries. What fills a
/// chunk goes straight into it, only the rest waits in the tail. Points of steps up to the
/// segment's first one go to segmentShowing(), once.
void appendMetrics(Database& database, std::int64_t run, std::int64_t segment,
                   const MetricBatch& batch);
void appendMetrics(Database& database, std::int64_t run, std::int64_t segment,
                   std::span<const MetricRecord> records);
/// Within a transaction: packs every metric of the run that has at least `minimumRows` in the tail.
void packMetrics(Database& database, std::int64_t run, std::size_t minimumRows);
/// Within a transaction: computes the summaries again, after a segment was superseded.
void rebuildSummaries(Database& database, std::int64_t run);

[[nodiscard]] std::vector<MetricPoint> readPoints(Database& database, std::int64_t run,
                                                  const std::string& name, std::int64_t after);
[[nodiscard]] std::vector<MetricSummary> readSummaries(Database& database, std::int64_t run);

}  // namespace vitrine::store
