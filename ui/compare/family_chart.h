// Scores of an analysis at several numbers, such as image sizes, as one curve a variant. A curve is
// the chosen value of each run against the number, with its spread over seeds.
#pragma once

#include <cstddef>
#include <vector>

#include "ui/compare/ablation_table.h"
#include "ui/figures/line_chart.h"

namespace vitrine::ui {

/// Of data.family, which must be there. \param table  gives centre and spread \param variants  the
/// lines, in their order
[[nodiscard]] LineChart familyChart(const CompareData& data, const CompareChoice& choice,
                                    const AblationTable& table,
                                    const std::vector<std::size_t>& variants);
/// Paired differences to the baseline, with their intervals.
[[nodiscard]] LineChart familyDifferences(const CompareData& data, const CompareChoice& choice,
                                          const AblationTable& table,
                                          const std::vector<std::size_t>& variants);

}  // namespace vitrine::ui
