// Pictures of what the Compare page shows as lists: the ablation table, the differences, the
// published numbers. Their CSV is at full precision.
#pragma once

#include <memory>

#include "ui/compare/ablation_table.h"
#include "ui/compare/difference_list.h"
#include "ui/compare/published_table.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {

/// \param table  its rows as they are shown: sorted and filtered
[[nodiscard]] std::unique_ptr<Figure> makeAblationFigure(const AblationTable& table,
                                                         const TableOrigin& origin,
                                                         FigureStyle style = {});

enum class DifferencesShown { Only, All };
[[nodiscard]] std::unique_ptr<Figure> makeDifferencesFigure(const DifferenceList& list,
                                                            const CompareData& data,
                                                            DifferencesShown shown,
                                                            FigureStyle style = {});

/// The paper's numbers next to ours and, below them, the verdicts on its claims. nullptr where
/// there is neither.
[[nodiscard]] std::unique_ptr<Figure> makePublishedFigure(const PublishedTable& table,
                                                          const CompareData& data,
                                                          FigureStyle style = {});

}  // namespace vitrine::ui
