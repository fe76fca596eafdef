// The duration of a run, by the times that it stores.
#pragma once

#include <QDateTime>

#include "core/store/types.h"

namespace vitrine::ui {

/// Seconds from the start of a run to its end; 0 where one of them is not known.
[[nodiscard]] inline double secondsOf(const store::RunRow& row) {
  const auto timeOf = [](const std::string& utc) {
    return QDateTime::fromString(QString::fromStdString(utc), Qt::ISODateWithMs);
  };
  const QDateTime start = timeOf(row.startedAt), end = timeOf(row.finishedAt);
  return start.isValid() && end.isValid() ? static_cast<double>(start.msecsTo(end)) / 1000 : 0;
}

}  // namespace vitrine::ui
