// Metrics in the database: appended to a tail, packed into chunks, summed up as they come.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/artifact/event_sink.h"
#include "core/store/database.h"
#include "core/store/metric_batch.h"
#include "core/store/types.h"

namespace vitrine {

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

/// The value of a row of metric_tail: it has more than SQLite stores.
[[nodiscard]] double tailValue(const Statement& row, int valueColumn, int kindColumn);

/// Within a transaction: stores `batch`, packs what is full, keeps the summaries. What fills a
/// chunk goes straight into it, only the rest waits in the tail.
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

}  // namespace vitrine
