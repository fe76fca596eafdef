// The variants of an experiment side by side: what differs, and what each metric says of them.
#pragma once

#include <string>
#include <vector>

#include "core/store/comparison.h"
#include "core/store/metrics/metric_format.h"

namespace vitrine::app {

/// Variants of an experiment and the metrics they are compared by.
struct Ablation {
  std::vector<store::ComparedRun> runs;
  std::vector<store::VariantGroup> variants;
  std::vector<std::string> metrics;
  store::Measurements measured;

  [[nodiscard]] store::VariantSample sample(std::size_t variant, const std::string& metric) const;
  /// Of a variant against the first, seed by seed.
  [[nodiscard]] PairedSample difference(std::size_t variant, const std::string& metric) const;
};

/// \param experiment  title or number
/// \throws NotFoundError  there is none: names the nearest title
[[nodiscard]] std::vector<store::RunRow> runsOfExperiment(store::RunReader& store,
                                                          const std::string& experiment);
/// \param patterns  metrics, * stands for anything; empty for those that the tasks name. One that
/// no run has is a warning.
[[nodiscard]] Ablation readAblation(const store::QueryFunction& query,
                                    const std::vector<store::RunRow>& rows,
                                    std::vector<std::string> patterns);

[[nodiscard]] std::string nameOf(const store::VariantGroup& variant);  ///< "all" where it has none
/// [{key, from, to}]
[[nodiscard]] Json differencesFrom(const store::VariantGroup& baseline,
                                   const store::VariantGroup& variant);
/// "model.width = 32, train.epochs = 5": what the variant has and the first has not.
[[nodiscard]] std::string differsText(const Ablation& ablation, const store::VariantGroup& variant);
/// Format of the numbers of one metric: the same decimals in each column.
struct ColumnStyle {
  store::MetricFormat format;
  int decimals = -1, differenceDecimals = -1;  ///< as store::columnDecimals() has them
};
[[nodiscard]] ColumnStyle columnStyle(const Ablation& ablation, const std::string& metric);
/// "0.8312 ± 0.0021". A fraction that is written in percent is so without "%".
[[nodiscard]] std::string meanText(const SampleStatistics& statistics, const ColumnStyle& style);
/// "+0.012 ± 0.004, better"
[[nodiscard]] std::string differenceText(const PairedSample& paired, Direction direction,
                                         const ColumnStyle& style);
/// One sentence on the runs that give no value; "" where all do.
[[nodiscard]] std::string leftOutSentence(const Ablation& ablation);

}  // namespace vitrine::app
