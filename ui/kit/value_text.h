// Values of a configuration, of JSON and of metrics as the window writes them.
#pragma once

#include <QString>
#include <QStringList>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/json.h"

class QDateTime;

namespace vitrine::store {
struct MetricFormat;
}  // namespace vitrine::store

namespace vitrine::ui {

/// A value of a configuration: a word without quotation marks, the shortest number that reads back,
/// "none" for null. Sizes are "28" and "28 x 32"; other lists have their entries with commas.
[[nodiscard]] QString valueText(const Json& value);

/// As plainText(): a string without quotation marks, the shortest number that reads back, else
/// JSON.
[[nodiscard]] QString jsonText(const Json& value);

/// As store::metricWords() with the minus and the thin space of the window; an en dash of NaN.
[[nodiscard]] QString metricText(const store::MetricFormat& format, double value);

/// A time that is stored: "2026-11-21T11:40:02.123Z"; not valid where it is none.
[[nodiscard]] QDateTime timeFromUtc(const std::string& utc);
/// An id as words: "attention map" of "attention_map".
[[nodiscard]] QString asWords(const std::string& id);

/// What layers, heads and patches are called, on every page: "layer 3", "head 0",
/// "row 4, column 5". Counted from 0, as in the names of metrics ("layer3/head0") and in artifacts.
[[nodiscard]] QString layerName(std::int64_t layer);
[[nodiscard]] QString headName(std::int64_t head);
[[nodiscard]] QString headName(std::int64_t layer, std::int64_t head);  ///< "layer 3, head 0"
[[nodiscard]] QString patchName(std::int64_t row, std::int64_t column);
/// As the first word of a sentence or a title. A key such as "ode.steps" stays as it is written.
[[nodiscard]] QString atStart(QString text);
/// Names in a sentence, each in quotation marks: a name may hold commas.
[[nodiscard]] QString quotedNames(const QStringList& names);

/// A member of a JSON object, as a view's state in a settings file or a recipe. Where it is missing
/// or of another type, `otherwise`. A whole number from `least` to `most`:
[[nodiscard]] int stateInteger(const Json& state, const char* key, int least, int most,
                               int otherwise);
[[nodiscard]] std::int64_t stateInteger(const Json& state, const char* key, std::int64_t otherwise);
[[nodiscard]] std::optional<std::int64_t> stateInteger(const Json& state, const char* key);
[[nodiscard]] double stateNumber(const Json& state, const char* key, double otherwise = 0);
[[nodiscard]] bool stateFlag(const Json& state, const char* key, bool otherwise = false);
[[nodiscard]] std::string stateText(const Json& state, const char* key,
                                    const std::string& otherwise = {});
[[nodiscard]] QString stateWords(const Json& state, const char* key);
/// The member itself, where it lies; null, or an empty one of the type, where it is missing.
[[nodiscard]] const Json& stateMember(const Json& state, const std::string& key);
[[nodiscard]] const Json& stateList(const Json& state, const std::string& key);
[[nodiscard]] const Json& stateTable(const Json& state, const std::string& key);
/// [a, b]; none of a value that is not two numbers.
[[nodiscard]] std::optional<std::array<double, 2>> statePair(const Json& value);

}  // namespace vitrine::ui
