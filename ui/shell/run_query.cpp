#include "ui/shell/run_query.h"

#include <QRegularExpression>
#include <QStringList>
#include <optional>

#include "core/config/config.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {
namespace {

bool compare(RunQuery::Comparison comparison, const QString& have, const QString& want) {
  using C = RunQuery::Comparison;
  bool haveIsNumber = false, wantIsNumber = false;
  const double a = have.toDouble(&haveIsNumber), b = want.toDouble(&wantIsNumber);
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
  return std::nullopt;
}

}  // namespace

RunQuery::RunQuery(const QString& text) {
  static const QRegularExpression pattern(
      QStringLiteral("^([A-Za-z_][A-Za-z0-9_.]*)(!=|<=|>=|=|<|>)(.+)$"));
  // "width = 64" means "width=64".
  static const QRegularExpression spaces(QStringLiteral("\\s*(!=|<=|>=|=|<|>)\\s*"));
  QString tight = text;
  tight.replace(spaces, QStringLiteral("\\1"));
  for (const QString& term : tight.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    const auto match = pattern.match(term);
    if (!match.hasMatch()) {
      words_ << term;
      continue;
    }
    Condition condition{match.captured(1), match.captured(3), Comparison::Equal};
    const QString sign = match.captured(2);
    if (sign == QLatin1String("!=")) condition.comparison = Comparison::NotEqual;
    if (sign == QLatin1String("<")) condition.comparison = Comparison::Less;
    if (sign == QLatin1String("<=")) condition.comparison = Comparison::AtMost;
    if (sign == QLatin1String(">")) condition.comparison = Comparison::Greater;
    if (sign == QLatin1String(">=")) condition.comparison = Comparison::AtLeast;
    conditions_.push_back(condition);
  }
}

bool RunQuery::matches(const store::RunRow& row, const Lookup& lookup) const {
  if (!words_.isEmpty()) {
    QString text = QString::fromStdString(row.name + ' ' + row.experiment + ' ' + row.variant +
                                          ' ' + row.stage + ' ' + toString(row.state));
    bool hasTags = false;
    for (const QString& word : words_) {
      if (text.contains(word, Qt::CaseInsensitive)) continue;
      if (!hasTags && lookup.tags) {
        for (const std::string& tag : lookup.tags(row.id))
          text += QLatin1Char(' ') + QString::fromStdString(tag);
        hasTags = true;
        if (text.contains(word, Qt::CaseInsensitive)) continue;
      }
      return false;
    }
  }
  for (const Condition& condition : conditions_) {
    if (const auto value = ofRow(row, condition.key)) {
      if (!compare(condition.comparison, *value, condition.value)) return false;
      continue;
    }
    if (condition.key == QLatin1String("tag")) {
      bool hasIt = false;
      for (const std::string& tag :
           lookup.tags ? lookup.tags(row.id) : std::vector<std::string>{}) {
        hasIt = hasIt || compare(Comparison::Equal, QString::fromStdString(tag), condition.value);
      }
      if (hasIt == (condition.comparison == Comparison::NotEqual)) return false;
      continue;
    }
    bool holds = false;
    const Json config = lookup.config ? lookup.config(row.id) : Json();
    for (const auto& [key, value] : flatten(config)) {
      const QString name = QString::fromStdString(key);
      if (name != condition.key && !name.endsWith(QLatin1Char('.') + condition.key)) continue;
      if (compare(condition.comparison, jsonText(value), condition.value)) {
        holds = true;
        break;
      }
    }
    if (!holds) return false;
  }
  return true;
}

}  // namespace vitrine::ui
