// The ablation table as a booktabs tabular for a paper.
#pragma once

#include <QString>

#include "ui/compare/ablation_table.h"

namespace vitrine::ui {

/// A column has the same number of decimals in all of its rows: what most of its intervals support.
/// What LaTeX would read as a command is escaped.
[[nodiscard]] QString toLatex(const AblationTable& table, const TableOrigin& origin,
                              const LatexChoice& choice = {});

[[nodiscard]] QString escapeLatex(const QString& text);

}  // namespace vitrine::ui
