// Marks of runs: archived, the baseline of its experiment, a colour of its own. Each is a short
// text, in which form it is edited, sent and kept: "" is none.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/store/run_reader.h"
#include "core/store/types.h"

namespace vitrine::store {

inline constexpr int kMarkColours = 7;  ///< of the palette for runs

struct RunMarks {
  bool isArchived = false;
  bool isBaseline = false;  ///< of its experiment, which has one at most
  int colour = 0;           ///< 1 to kMarkColours; 0: none of its own
  [[nodiscard]] bool operator==(const RunMarks&) const = default;
};

/// Of the runs that have some. One query.
[[nodiscard]] VITRINE_STORE_EXPORT std::map<std::int64_t, RunMarks> marksByRun(RunReader& store);

[[nodiscard]] VITRINE_STORE_EXPORT std::set<std::int64_t> archivedRuns(RunReader& store);

struct MarkedBaseline {
  std::int64_t run = 0, experiment = 0;
  std::string variant;
};
/// Of all experiments, by run. One query.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<MarkedBaseline> markedBaselines(
    const QueryFunction& query);

/// Archived, Baseline or Colour.
[[nodiscard]] bool isMark(RunField field) noexcept;
/// \throws ConfigError  a mark that no run can have
void checkMark(RunField field, const std::string& value);
[[nodiscard]] std::string readMark(Database& database, std::int64_t run, RunField field);
/// Within a transaction.
void writeMark(Database& database, std::int64_t run, RunField field, const std::string& value);
/// Other runs of the experiment of `run` that are marked as its baseline.
[[nodiscard]] std::vector<std::int64_t> otherBaselines(Database& database, std::int64_t run);

}  // namespace vitrine::store
