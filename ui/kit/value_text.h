// Values of a configuration, of JSON and of metrics as the window writes them.
#pragma once

#include <QString>

#include "core/base/json.h"

namespace vitrine::store {
struct MetricFormat;
}  // namespace vitrine::store

namespace vitrine::ui {

/// A value of a configuration: a word without quotation marks, the shortest number that reads back,
/// "none" for null, "28" and "28 x 32" for sizes, the entries of another list with commas.
[[nodiscard]] QString valueText(const Json& value);

/// As plainText(): a string without quotation marks, the shortest number that reads back, else
/// JSON.
[[nodiscard]] QString jsonText(const Json& value);

/// As store::metricWords() with the minus and the thin space of the window; an en dash of NaN.
[[nodiscard]] QString metricText(const store::MetricFormat& format, double value);

}  // namespace vitrine::ui
