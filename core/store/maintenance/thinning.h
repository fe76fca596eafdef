// Removes points of runs, on request only. Of every so many neighbouring points the lowest and the
// highest stay, with the number that there were.
#pragma once

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

/// Runs that thinning would change, with numbers of points. Of every `bucket` neighbouring points
/// of a metric, the lowest, the highest and the first NaN stay. The first and the last point of the
/// metric stay, too. A run in progress is left alone. \throws NotFoundError there is no such run
/// \throws ConfigError  `bucket` is below kSmallestBucket
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<ThinnedRun> planThinning(
    const std::filesystem::path& database, std::span<const std::int64_t> runs, std::int64_t bucket);

/// Does it, a run in one transaction, and leaves an event `thinned` in each. Removed points cannot
/// be restored. Summaries stay as they are.
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
