// The duration of a run, by the times that it stores.
#pragma once

#include <QDateTime>

#include "core/store/types.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

/// Seconds from the start of a run to its end; 0 where one of them is not known.
[[nodiscard]] inline double secondsOf(const store::RunRow& row) {
  const QDateTime start = timeFromUtc(row.startedAt), end = timeFromUtc(row.finishedAt);
  return start.isValid() && end.isValid() ? static_cast<double>(start.msecsTo(end)) / 1000 : 0;
}

}  // namespace vitrine::ui
