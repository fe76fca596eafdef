// A score of runs that differ in their seed alone, as one curve: its mean over the seeds. Also what
// the difference between two variants says. Statistics as on the Compare page.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "core/store/comparison.h"
#include "core/store/run_reader.h"

namespace vitrine::ui {

struct SeedCurve {
  QString name;                                   ///< of the variant
  std::int64_t run = 0;                           ///< of its first seed: gives the colour
  std::vector<double> steps, mean, lower, upper;  ///< steps that every seed has; 95 % interval
  store::VariantSample sample;                    ///< last values, by seed
};

/// One curve for each variant among `runs` with a value; empty where no two runs differ in their
/// seed alone. \param metric  "analysis/attention_rank/stable_rank/layer0" \throws Error
[[nodiscard]] std::vector<SeedCurve> readSeedCurves(store::RunReader& store,
                                                    const std::vector<std::int64_t>& runs,
                                                    const std::string& metric);

/// "a 12.3 ± 0.4 (3 seeds); b 15.0 ± 0.3 (3 seeds), higher: +2.7 ± 0.6 against a (3 pairs)". Last
/// values with their 95 % intervals, differences paired by seed.
[[nodiscard]] QString seedVerdict(const std::vector<SeedCurve>& curves);

}  // namespace vitrine::ui
