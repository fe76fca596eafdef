// Words around numbers.
#pragma once

#include <QString>

#include "ui/shell/theme.h"

namespace vitrine::ui {

/// "1 run", "1,200 runs".
inline QString plural(std::size_t n, const QString& word) {
  return QStringLiteral("%1 %2%3").arg(count(static_cast<std::int64_t>(n)), word,
                                       n == 1 ? QString() : QStringLiteral("s"));
}

}  // namespace vitrine::ui
