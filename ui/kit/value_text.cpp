#include "ui/kit/value_text.h"

#include <QDateTime>
#include <QObject>
#include <QStringList>
#include <cmath>

#include "core/base/cell_text.h"
#include "core/base/text.h"
#include "core/store/metrics/metric_format.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

QString valueText(const Json& value) {
  if (value.is_null()) return QStringLiteral("none");
  if (value.is_number_float()) return QString::fromStdString(formatReal(value.get<double>()));
  if (!value.is_array()) return jsonText(value);
  QStringList parts;
  for (const Json& part : value) parts << valueText(part);
  const bool isSize =
      value.size() == 2 && value[0].is_number_integer() && value[1].is_number_integer();
  if (isSize && value[0] == value[1]) return parts[0];
  return parts.join(isSize ? QStringLiteral(" x ") : QStringLiteral(", "));
}

QString jsonText(const Json& value) { return QString::fromStdString(plainText(value)); }

QString metricText(const store::MetricFormat& format, double value) {
  if (!std::isfinite(value)) return number(value, 0);
  QString text = QString::fromStdString(store::metricWords(format, value));
  if (text.startsWith(QLatin1Char('-'))) text.replace(0, 1, QChar(0x2212));
  return text.replace(QLatin1Char(' '), QChar(0x2009));
}

QDateTime timeFromUtc(const std::string& utc) {
  return QDateTime::fromString(QString::fromStdString(utc), Qt::ISODateWithMs);
}
QString asWords(const std::string& id) {
  return QString::fromStdString(id).replace(QLatin1Char('_'), QLatin1Char(' '));
}

QString layerName(std::int64_t layer) { return QObject::tr("layer %1").arg(layer); }
QString headName(std::int64_t head) { return QObject::tr("head %1").arg(head); }
QString headName(std::int64_t layer, std::int64_t head) {
  return QObject::tr("%1, %2").arg(layerName(layer), headName(head));
}
QString patchName(std::int64_t row, std::int64_t column) {
  return QObject::tr("row %1, column %2").arg(row).arg(column);
}
QString atStart(QString text) {
  if (text.isEmpty()) return text;
  const QString word = text.section(QLatin1Char(' '), 0, 0);
  const int dot = static_cast<int>(word.indexOf(QLatin1Char('.')));
  const bool isKey = dot > 0 && dot + 1 < word.size() && word[dot + 1].isLetter();
  if (!isKey) text[0] = text[0].toUpper();
  return text;
}

QString quotedNames(const QStringList& names) {
  QStringList quoted;
  for (const QString& name : names) quoted << QObject::tr("\u201c%1\u201d").arg(name);
  return quoted.join(QStringLiteral(", "));
}

int stateInteger(const Json& state, const char* key, int least, int most, int otherwise) {
  const std::int64_t value = stateInteger(state, key, otherwise);
  return value >= least && value <= most ? static_cast<int>(value) : otherwise;
}

std::int64_t stateInteger(const Json& state, const char* key, std::int64_t otherwise) {
  return stateInteger(state, key).value_or(otherwise);
}

std::optional<std::int64_t> stateInteger(const Json& state, const char* key) {
  const auto found = state.find(key);
  if (found == state.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

double stateNumber(const Json& state, const char* key, double otherwise) {
  const auto found = state.find(key);
  return found != state.end() && found->is_number() ? found->get<double>() : otherwise;
}

bool stateFlag(const Json& state, const char* key, bool otherwise) {
  const auto found = state.find(key);
  return found != state.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

std::string stateText(const Json& state, const char* key, const std::string& otherwise) {
  const auto found = state.find(key);
  return found != state.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

QString stateWords(const Json& state, const char* key) {
  return QString::fromStdString(stateText(state, key));
}

const Json& stateMember(const Json& state, const std::string& key) {
  static const Json kNull;
  const auto found = state.find(key);
  return found == state.end() ? kNull : *found;
}

const Json& stateList(const Json& state, const std::string& key) {
  static const Json kNone = Json::array();
  const Json& member = stateMember(state, key);
  return member.is_array() ? member : kNone;
}

const Json& stateTable(const Json& state, const std::string& key) {
  static const Json kNone = Json::object();
  const Json& member = stateMember(state, key);
  return member.is_object() ? member : kNone;
}

std::optional<std::array<double, 2>> statePair(const Json& value) {
  const bool isPair =
      value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number();
  if (!isPair) return std::nullopt;
  return std::array{value[0].get<double>(), value[1].get<double>()};
}

}  // namespace vitrine::ui
