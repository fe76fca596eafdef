// What a metric is called and what it is, for people.
#pragma once

#include <QString>
#include <string>
#include <utility>
#include <vector>

#include "core/store/run_store.h"

namespace vitrine::ui {

struct MetricCard {
  QString title;        ///< "loss / train"
  QString subtitle;     ///< "cross-entropy"
  QString definition;   ///< one sentence, for the tool tip; "" where none is known
  int decimals = 4;     ///< of values in the read-out
  bool isNoisy = true;  ///< false for what follows a schedule: smoothing would only falsify it
};

/// What the database says of its metrics: a pattern and a sentence; the first that matches holds.
using MetricDefinitions = std::vector<std::pair<std::string, QString>>;
/// None in an older file.
[[nodiscard]] MetricDefinitions metricDefinitions(RunStore& store);
[[nodiscard]] QString definitionOf(const std::string& metric, const MetricDefinitions& definitions);

/// `name` is a metric or the stem of one per head, see CurveKey.
[[nodiscard]] MetricCard metricCard(const std::string& name,
                                    const MetricDefinitions& definitions = {});

}  // namespace vitrine::ui
