// Facts about runs and their variants, as text: no widgets, so that a test can read it.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/statistics.h"
#include "core/store/run_card.h"
#include "core/store/types.h"

namespace vitrine::store {
struct ComparedRun;
struct VariantGroup;
}  // namespace vitrine::store

namespace vitrine::ui {

struct Fact {
  QString label;       ///< "Loss, train"
  QString value;       ///< "0.412"; an en dash where it is missing
  QString definition;  ///< for the tool tip
};

/// State, progress, remaining time, speed, scores and device of a run.
/// \param card   what its task is judged by; a score that is not there yet is an en dash
/// \param kinds  a fraction is shown in percent
[[nodiscard]] std::vector<Fact> runFacts(const store::RunRow& row,
                                         const std::vector<store::MetricSummary>& summaries,
                                         const Json& environment, const store::RunCard& card,
                                         const store::MetricKinds& kinds);

/// Versions, commit, host and seeds: what a repetition needs to know.
[[nodiscard]] std::vector<Fact> environmentFacts(const Json& environment);

enum class ConfigFilter { Baseline, Default, All };

/// Keys and values of a configuration.
/// \param baseline  configuration of the experiment's first run
/// \param origins   RunStore::origins: where each value came from
[[nodiscard]] std::vector<Fact> configFacts(const Json& config, const Json& baseline,
                                            const Json& origins, ConfigFilter filter);

/// Shell commands that store the resolved configuration in a file and train it again.
[[nodiscard]] QString repeatCommand(const store::RunRow& row, const Json& config);

/// "1 min 52 s", "2 h 5 min", "12 s".
[[nodiscard]] QString duration(double seconds);
/// As valueText(); of a list of entries with names, such as transforms, the names alone.
[[nodiscard]] QString namesOrText(const Json& value);
/// Of an estimate: "about 12 s", "less than a second".
[[nodiscard]] QString aboutDuration(double seconds);
/// "CPU", "cuda:0": a device as the window names it.
[[nodiscard]] QString deviceText(const std::string& device);

/// Configuration keys whose values are not the same in all variants.
[[nodiscard]] std::vector<std::string> differingKeys(
    const std::vector<store::VariantGroup>& variants);
/// The shortest ending of a dotted key that no other of `keys` has: "model.mask.kind" as "kind".
[[nodiscard]] QString shortKey(const std::string& key, const std::vector<std::string>& keys);
/// By variant, no two alike: its name, or where that does not tell it what it sets.
/// \param variants  of store::variantsOf(runs)
[[nodiscard]] std::vector<QString> variantLabels(const std::vector<store::ComparedRun>& runs,
                                                 const std::vector<store::VariantGroup>& variants);

/// "mean", "median"; "95 % interval", "standard deviation", ...
[[nodiscard]] QString nameOf(Centre centre);
[[nodiscard]] QString nameOf(Spread spread);
/// What a line and its band are: "mean, band: minimum to maximum".
[[nodiscard]] QString bandText(Centre centre, Spread spread);

}  // namespace vitrine::ui
