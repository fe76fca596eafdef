// What a metric is called and what it is, for people.
#pragma once

#include <QString>
#include <string>

#include "core/store/run_store.h"

namespace vitrine::ui {

struct MetricCard {
  QString title;        ///< "loss / train"
  QString subtitle;     ///< "cross-entropy"
  QString definition;   ///< one sentence, for the tool tip; "" where none is known
  int decimals = 4;     ///< of values in the read-out
  bool isNoisy = true;  ///< false for what follows a schedule: smoothing would only falsify it
};

/// `name` is a metric or the stem of one per head, see CurveCache. Definitions come from the
/// database's metric_kind table.
[[nodiscard]] MetricCard metricCard(const std::string& name, RunStore* store = nullptr);

}  // namespace vitrine::ui
