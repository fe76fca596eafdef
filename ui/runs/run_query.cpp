#include "ui/runs/run_query.h"

#include <QDate>
#include <QDateTime>
#include <QRegularExpression>
#include <algorithm>
#include <optional>

#include "ui/kit/fuzzy.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {
namespace {

/// "0.8", and "80%" of a value that is shown in percent.
double numberOf(const QString& text, bool* isNumber) {
  if (!text.endsWith(QLatin1Char('%'))) return text.toDouble(isNumber);
  return text.chopped(1).toDouble(isNumber) / 100;
}

bool compare(RunQuery::Comparison comparison, const QString& have, const QString& want) {
  using C = RunQuery::Comparison;
  bool haveIsNumber = false, wantIsNumber = false;
  const double a = have.toDouble(&haveIsNumber), b = numberOf(want, &wantIsNumber);
  const bool areNumbers = haveIsNumber && wantIsNumber;
  const bool isEqual = areNumbers ? a == b : have.compare(want, Qt::CaseInsensitive) == 0;
  switch (comparison) {
    case C::Equal:
      return isEqual;
    case C::NotEqual:
      return !isEqual;
    case C::Less:
      return areNumbers && a < b;
    case C::AtMost:
      return areNumbers && a <= b;
    case C::Greater:
      return areNumbers && a > b;
    case C::AtLeast:
      return areNumbers && a >= b;
  }
  return false;
}

/// "2026-11-23 14:20", in the time of this place.
QString createdText(const store::RunRow& row) {
  return timeFromUtc(row.createdAt).toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm"));
}

/// A month or a day that is given alone is meant whole.
bool compareTimes(RunQuery::Comparison comparison, const QString& have, QString want) {
  using C = RunQuery::Comparison;
  static const QRegularExpression form(
      QStringLiteral("^[0-9]{4}(-[0-9]{2}(-[0-9]{2}( [0-9]{2}:[0-9]{2})?)?)?$"));
  const QDate today = QDate::currentDate();
  if (want.compare(QLatin1String("today"), Qt::CaseInsensitive) == 0)
    want = today.toString(Qt::ISODate);
  if (want.compare(QLatin1String("yesterday"), Qt::CaseInsensitive) == 0)
    want = today.addDays(-1).toString(Qt::ISODate);
  if (have.isEmpty() || !form.match(want).hasMatch()) return false;
  const int order = have.left(want.size()).compare(want);
  switch (comparison) {
    case C::Equal:
      return order == 0;
    case C::NotEqual:
      return order != 0;
    case C::Less:
      return order < 0;
    case C::AtMost:
      return order <= 0;
    case C::Greater:
      return order > 0;
    case C::AtLeast:
      return order >= 0;
  }
  return false;
}

std::optional<QString> ofRow(const store::RunRow& row, const QString& key) {
  const auto text = [](const std::string& value) { return QString::fromStdString(value); };
  if (key == QLatin1String("state")) return text(toString(row.state));
  if (key == QLatin1String("seed")) return QString::number(row.seed);
  if (key == QLatin1String("id")) return QString::number(row.id);
  if (key == QLatin1String("name")) return text(row.name);
  if (key == QLatin1String("experiment")) return text(row.experiment);
  if (key == QLatin1String("variant")) return text(row.variant);
  if (key == QLatin1String("stage")) return text(row.stage);
  if (key == QLatin1String("device")) return text(row.device);
  if (key == QLatin1String("created")) return createdText(row);
  return std::nullopt;
}

RunQuery::Comparison comparisonOf(const QString& sign) {
  using C = RunQuery::Comparison;
  if (sign == QLatin1String("!=")) return C::NotEqual;
  if (sign == QLatin1String("<")) return C::Less;
  if (sign == QLatin1String("<=")) return C::AtMost;
  if (sign == QLatin1String(">")) return C::Greater;
  if (sign == QLatin1String(">=")) return C::AtLeast;
  return C::Equal;
}

}  // namespace

RunQuery::RunQuery(const QString& text) {
  static const QRegularExpression pattern(
      QStringLiteral("^([A-Za-z_][A-Za-z0-9_./@-]*)(!=|<=|>=|=|<|>)(.+)$"));
  static const QRegularExpression named(QStringLiteral("^(tag|note|is):(.+)$"),
                                        QRegularExpression::CaseInsensitiveOption);
  // "width = 64" means "width=64", "tag: best" means "tag:best".
  static const QRegularExpression spaces(QStringLiteral("\\s*(!=|<=|>=|=|<|>)\\s*"));
  static const QRegularExpression colon(QStringLiteral("\\b(tag|note|is):\\s+"),
                                        QRegularExpression::CaseInsensitiveOption);
  // "80 %" is one word, also with the narrow space that the list writes.
  static const QRegularExpression percent(
      QStringLiteral("(?<=[0-9.])[\\s\\x{2009}\\x{202f}\\x{a0}]+%"));
  QString tight = text;
  tight.replace(percent, QStringLiteral("%"));
  tight.replace(spaces, QStringLiteral("\\1"));
  tight.replace(colon, QStringLiteral("\\1:"));
  for (const QString& term : typedWords(tight)) {
    if (const auto match = named.match(term); match.hasMatch()) {
      conditions_.push_back({match.captured(1).toLower(), match.captured(2), Comparison::Equal});
    } else if (const auto compared = pattern.match(term); compared.hasMatch()) {
      // Fields of runs have one case; keys and metrics of other programs may have any.
      const QString key = compared.captured(1), field = key.toLower();
      conditions_.push_back({ofRow(store::RunRow(), field) ? field : key, compared.captured(3),
                             comparisonOf(compared.captured(2))});
    } else {
      words_ << term;
    }
  }
}

bool RunQuery::asksMetrics() const {
  return std::any_of(conditions_.begin(), conditions_.end(), [](const Condition& condition) {
    return condition.key.contains(QLatin1Char('/'));
  });
}

QStringList RunQuery::keys() const {
  QStringList keys;
  for (const Condition& condition : conditions_) {
    if (!keys.contains(condition.key)) keys << condition.key;
  }
  return keys;
}

QStringList RunQuery::unfinished() const {
  static const QRegularExpression pattern(
      QStringLiteral("^([A-Za-z_][A-Za-z0-9_./@-]*(!=|<=|>=|=|<|>)|(tag|note|is):)$"),
      QRegularExpression::CaseInsensitiveOption);
  return words_.filter(pattern);
}

bool RunQuery::hasKey(const QString& key, const store::RunRow& row, const Lookup& lookup) {
  for (const char* known : {"tag", "note", "is"})
    if (key == QLatin1String(known)) return true;
  if (ofRow(row, key)) return true;
  const std::string wanted = key.toStdString();
  if (lookup.config && !key.contains(QLatin1Char('/'))) {
    for (const auto& [name, value] : lookup.config(row)) {
      if (name == wanted || name.ends_with('.' + wanted)) return true;
    }
  }
  return lookup.metric && lookup.metric(row.id, wanted).has_value();
}

bool RunQuery::asksArchived() const {
  return std::any_of(conditions_.begin(), conditions_.end(), [](const Condition& condition) {
    return condition.key == QLatin1String("is") &&
           condition.value.compare(QLatin1String("archived"), Qt::CaseInsensitive) == 0;
  });
}

bool RunQuery::matches(const store::RunRow& row, const Lookup& lookup) const {
  if (!words_.isEmpty()) {
    QString text =
        QString::fromStdString(row.name + ' ' + row.experiment + ' ' + row.variant + ' ' +
                               row.stage + ' ' + toString(row.state) + ' ' + row.reason);
    bool isWhole = false;  // tags and note are asked for where the row does not have the word
    for (const QString& word : words_) {
      if (text.contains(word, Qt::CaseInsensitive)) continue;
      if (isWhole) return false;
      isWhole = true;
      if (lookup.tags) {
        for (const std::string& tag : lookup.tags(row.id))
          text += QLatin1Char(' ') + QString::fromStdString(tag);
      }
      if (lookup.note) text += QLatin1Char(' ') + QString::fromStdString(lookup.note(row.id));
      if (!text.contains(word, Qt::CaseInsensitive)) return false;
    }
  }
  return std::all_of(conditions_.begin(), conditions_.end(),
                     [&](const Condition& condition) { return holds(condition, row, lookup); });
}

bool RunQuery::holds(const Condition& condition, const store::RunRow& row, const Lookup& lookup) {
  if (condition.key == QLatin1String("created"))
    return compareTimes(condition.comparison, createdText(row), condition.value);
  if (const auto value = ofRow(row, condition.key))
    return compare(condition.comparison, *value, condition.value);
  const bool isNot = condition.comparison == Comparison::NotEqual;
  if (condition.key == QLatin1String("tag")) {
    bool hasIt = false;
    for (const std::string& tag : lookup.tags ? lookup.tags(row.id) : std::vector<std::string>{})
      hasIt = hasIt || compare(Comparison::Equal, QString::fromStdString(tag), condition.value);
    return hasIt != isNot;
  }
  if (condition.key == QLatin1String("note")) {
    const QString note = lookup.note ? QString::fromStdString(lookup.note(row.id)) : QString();
    return note.contains(condition.value, Qt::CaseInsensitive) != isNot;
  }
  if (condition.key == QLatin1String("is")) {
    const store::RunMarks marks = lookup.marks ? lookup.marks(row.id) : store::RunMarks();
    const QString mark = condition.value.toLower();
    const bool hasIt = (mark == QLatin1String("archived") && marks.isArchived) ||
                       (mark == QLatin1String("baseline") && marks.isBaseline);
    return hasIt != isNot;
  }
  if (!condition.key.contains(QLatin1Char('/'))) {
    const std::string wanted = condition.key.toStdString();
    static const FlatConfig kNone;
    bool hasKey = false;
    for (const auto& [key, value] : lookup.config ? lookup.config(row) : kNone) {
      if (key != wanted && !key.ends_with('.' + wanted)) continue;
      hasKey = true;
      if (compare(condition.comparison, jsonText(value), condition.value)) return true;
    }
    if (hasKey) return false;
  }
  if (!lookup.metric) return false;
  const auto value = lookup.metric(row.id, condition.key.toStdString());
  return value && compare(condition.comparison, QString::number(*value, 'g', 17), condition.value);
}

}  // namespace vitrine::ui
