// Points taken out of runs, by the word of a person alone: of every so many that follow each other
// the lowest and the highest stay, with how many there were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/store_export.h"

namespace vitrine::store {

class Database;

struct ThinnedRun {
  std::int64_t run = 0;
  std::string name;
  std::int64_t before = 0, after = 0;  ///< points, superseded ones too
  std::string refusal;                 ///< why it is left alone, or ""
};

/// The fewest points that are worth replacing by two.
inline constexpr std::int64_t kSmallestBucket = 8;

/// What thinning would do. Of every `bucket` points of a metric that follow each other stay the
/// lowest, the highest and the first that is not a number; of a whole metric also the first and the
/// last point. A run in progress is left alone. \throws NotFoundError  there is no such run
/// \throws ConfigError  `bucket` is below kSmallestBucket
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<ThinnedRun> planThinning(
    const std::filesystem::path& database, std::span<const std::int64_t> runs, std::int64_t bucket);

/// Does it, a run in one transaction, and leaves an event `thinned` in each. What was taken out
/// cannot be had back. Summaries stay as they are.
/// \param progress  called with the run and what becomes of it, after each
VITRINE_STORE_EXPORT std::vector<ThinnedRun> thinRuns(
    const std::filesystem::path& database, std::span<const std::int64_t> runs, std::int64_t bucket,
    const std::function<void(const ThinnedRun&)>& progress = {});

/// Ids of runs that ended before `utc` (ISO 8601) and have points that can be thinned out.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::int64_t> runsEndedBefore(
    const std::filesystem::path& database, const std::string& utc);

/// Points of a metric that counted and were taken out.
[[nodiscard]] std::int64_t thinnedOut(Database& database, std::int64_t run, std::int64_t metric);
/// Within a transaction: counts them in summaries that were computed from the points that are left.
void countThinnedOut(Database& database, std::int64_t run);

}  // namespace vitrine::store
