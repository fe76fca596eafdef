// Claims of a paper that are testable at laptop scale: claims.toml, and the verdict on each.
//
// A claim is a relation between variants of one experiment, with a metric, a margin and a number of
// seeds. Its verdict is never a bare pass: it comes with n and a 95 % interval. It is from runs
// that were made as the experiment file says, whatever else the database holds under that title.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/statistics.h"
#include "core/config/toml/problem.h"

namespace vitrine {

/// The compared quantity of a run's curve.
///
/// - "last": its last value.
/// - "mean": its mean over the steps that both runs have. The difference is the area between the
///   curves, divided by the steps.
/// - "steps_to", "time_to": steps, or seconds of running time, until it reaches a target.
enum class ClaimMeasure { Last, Mean, StepsTo, TimeTo };
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string toString(ClaimMeasure measure);

/// One `[[claim]]`. Either `worse` and `margin`, or `above`.
struct Claim {
  std::string name;
  std::string source;      ///< "Table 8: 61.4 % without, 64.2 % with"
  std::string experiment;  ///< a file next to claims.toml
  std::string metric;
  ClaimMeasure measure = ClaimMeasure::Last;
  double window = 1;             ///< of Mean: the share of the common steps, at their end
  std::optional<double> target;  ///< of StepsTo and TimeTo: what the metric reaches
  std::string better;            ///< a variant or a stage
  std::string worse;
  /// better - worse is at least this, in the unit of the measure; 0: it is more than 0.
  double margin = 0;
  std::optional<double> above;  ///< better is at least this
  std::int64_t seeds = 1;       ///< fewer leave it undecided
  std::string note;
};

/// "test/top1", "mean of train/loss over the last 10 % of the steps", "steps until test/top1
/// reaches 0.8".
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string measureText(const Claim& claim);

/// \param problems  receives every problem of the text, as for an experiment file
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<Claim> readClaims(
    const std::string& text, const std::string& fileName, std::vector<Problem>& problems);

/// The title in the text of an experiment file: by it the runs are found.
/// \throws ConfigError  it has none
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string titleOf(const std::string& text,
                                                            const std::string& fileName);

/// Values of an experiment file, by key, without the defaults of the catalog.
class VITRINE_FOUNDATION_EXPORT ClaimedExperiment {
 public:
  /// Values by dotted key; a table that stands in one line, as `set` has them, takes the place of
  /// what was said below its key.
  using Settings = std::vector<std::pair<std::string, Json>>;

  /// \throws ConfigError  the text has no title, or is not TOML
  ClaimedExperiment(const std::string& text, const std::string& fileName);

  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] bool has(const std::string& variantOrStage) const;
  /// Deviation of `config`, that of a run of the variant and stage, from the file: "train.epochs =
  /// 1, not 6". "" for none. Swept keys may have any value.
  [[nodiscard]] std::string deviation(const Json& config, const std::string& variant,
                                      const std::string& stage) const;
  /// `config` without the keys in which the two sides of a claim may differ. These are the keys
  /// that `set` names in either, the seed, and keys that change no score (threads, checkpoints,
  /// observations).
  [[nodiscard]] Json conditions(const Json& config, const Claim& claim) const;

 private:
  [[nodiscard]] const Settings* settingsOf(const std::string& variantOrStage) const;

  std::string title_;
  Settings base_;
  std::map<std::string, Settings> variants_, stages_;
  std::vector<std::string> swept_;
};

enum class Verdict { Reproduced, Contradicted, Undecided };
/// "reproduced", "contradicted" or "undecided".
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string toString(Verdict verdict);

struct Judgement {
  Verdict verdict = Verdict::Undecided;
  /// Of better - worse over the seeds that both have, or of better alone.
  SampleStatistics statistics;
  double threshold = 0;  ///< the margin, or `above`
  std::string reason;    ///< one sentence without a full stop
  std::string leftOut;   ///< runs that give no value, and why: "1 failed"; "" where all do
};
/// Values by seed. Reproduced: the 95 % interval lies at or above the threshold, with a margin of 0
/// above 0; contradicted: below it. One seed has no interval, and a value that is not finite no
/// place: both leave the claim undecided.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Judgement
judge(const Claim& claim, const std::map<std::uint64_t, double>& better,
      const std::map<std::uint64_t, double>& worse);

}  // namespace vitrine
