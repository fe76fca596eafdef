// Words around numbers and problems.
#pragma once

#include <QObject>
#include <QString>

#include "core/config/experiment.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

/// "1 run", "1,200 runs".
inline QString plural(std::size_t n, const QString& word) {
  return QStringLiteral("%1 %2%3").arg(count(static_cast<std::int64_t>(n)), word,
                                       n == 1 ? QString() : QStringLiteral("s"));
}

/// "3 does not divide width 64", with the nearest that is legal where something was misspelt.
inline QString messageOf(const Problem& problem) {
  QString message = QString::fromStdString(problem.message);
  if (!problem.nearest.empty())
    message += QObject::tr(" (did you mean %1?)").arg(QString::fromStdString(problem.nearest));
  return message;
}

/// "model.heads: 3 does not divide width 64": without the place, which is marked.
inline QString sentenceOf(const Problem& problem) {
  const QString key = QString::fromStdString(problem.key);
  return key.isEmpty() ? messageOf(problem) : key + QStringLiteral(": ") + messageOf(problem);
}

}  // namespace vitrine::ui
