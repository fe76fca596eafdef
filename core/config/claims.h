// What a laptop run can re-show of a paper: claims.toml, and the verdict on each claim.
//
// A claim is a relation between variants of one experiment, with a metric, a margin and a number of
// seeds. Its verdict is never a bare pass: it comes with n and a 95 % interval.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/statistics.h"
#include "core/config/experiment.h"

namespace vitrine {

/// One `[[claim]]`. Either `worse` and `margin`, or `above`.
struct Claim {
  std::string name;
  std::string source;      ///< "Table 8: 61.4 % without, 64.2 % with"
  std::string experiment;  ///< a file beside claims.toml
  std::string metric;      ///< its last value counts
  std::string better;      ///< a variant or a stage
  std::string worse;
  double margin = 0;            ///< better - worse is at least this, in the metric's unit
  std::optional<double> above;  ///< better is at least this
  std::int64_t seeds = 1;       ///< fewer leave it undecided
  std::string note;
};

/// \param problems  receives every problem of the text, as for an experiment file
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<Claim> readClaims(
    const std::string& text, const std::string& fileName, std::vector<Problem>& problems);

/// The title in the text of an experiment file: by it the runs are found. \throws ConfigError  it
/// has none
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string titleOf(const std::string& text,
                                                            const std::string& fileName);

enum class Verdict { Reshown, Contradicted, Undecided };
/// "re-shown", "contradicted" or "undecided".
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string toString(Verdict verdict);

struct Judgement {
  Verdict verdict = Verdict::Undecided;
  /// Of better - worse over the seeds that both have, or of better alone.
  SampleStatistics statistics;
  double threshold = 0;  ///< the margin, or `above`
  std::string reason;    ///< one sentence without a full stop
};
/// Values by seed. Re-shown: the 95 % interval lies at or above the threshold; contradicted: below
/// it. One seed has no interval: where the claim asks for one, the value alone decides, and the
/// reason says so. A value that is not finite leaves the claim undecided.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Judgement
judge(const Claim& claim, const std::map<std::uint64_t, double>& better,
      const std::map<std::uint64_t, double>& worse);

}  // namespace vitrine
