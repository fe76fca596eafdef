// Title and description of a metric.
#pragma once

#include <QString>
#include <string>

#include "core/store/metrics/metric_format.h"
#include "core/store/run_card.h"

namespace vitrine::ui {

struct MetricCard {
  QString title;       ///< "Loss, train"
  QString subtitle;    ///< "training objective"
  QString definition;  ///< one sentence, for the tool tip; "" where none is known
  store::MetricFormat format;
  bool isNoisy = true;  ///< false for what follows a schedule: smoothing would only falsify it
};

/// `name` is a metric or the stem of one per head, see CurveKey.
[[nodiscard]] MetricCard metricCard(const std::string& name, const store::MetricKinds& kinds = {});

}  // namespace vitrine::ui
