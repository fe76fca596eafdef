// Words around numbers and problems.
#pragma once

#include <QString>

#include "core/config/experiment.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {

/// "1 run", "1,200 runs".
inline QString plural(std::size_t n, const QString& word) {
  return QStringLiteral("%1 %2%3").arg(count(static_cast<std::int64_t>(n)), word,
                                       n == 1 ? QString() : QStringLiteral("s"));
}

/// "model.heads: 3 does not divide width 64": without the place, which is marked.
inline QString sentenceOf(const Problem& problem) {
  QString sentence = problem.key.empty()
                         ? QString()
                         : QString::fromStdString(problem.key) + QStringLiteral(": ");
  sentence += QString::fromStdString(problem.message);
  if (!problem.nearest.empty())
    sentence += QStringLiteral(" (did you mean %1?)").arg(QString::fromStdString(problem.nearest));
  return sentence;
}

}  // namespace vitrine::ui
