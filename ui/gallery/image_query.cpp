#include "ui/gallery/image_query.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include "ui/kit/fuzzy.h"

namespace vitrine::ui {

namespace {

using Test = store::ImageCondition::Test;

Test testOf(const QString& sign) {
  if (sign == QLatin1String("!=")) return Test::IsNot;
  if (sign == QLatin1String("<")) return Test::Less;
  if (sign == QLatin1String("<=")) return Test::AtMost;
  if (sign == QLatin1String(">")) return Test::More;
  if (sign == QLatin1String(">=")) return Test::AtLeast;
  return Test::Is;
}

QString translated(const char* sentence) {
  return QCoreApplication::translate("vitrine::ui::ImageQuery", sentence);
}

}  // namespace

ImageQuery parseImageQuery(const QString& text) {
  static const QRegularExpression comparison(
      QStringLiteral("^([A-Za-z_][A-Za-z0-9_.-]*)(!=|<=|>=|<|>|=|:)(.*)$"),
      QRegularExpression::DotMatchesEverythingOption);
  ImageQuery query;
  for (QString word : typedWords(text)) {
    const bool isTurned = word.size() > 1 && word.startsWith(QLatin1Char('-'));
    if (isTurned) word.remove(0, 1);
    store::ImageCondition condition;
    const QRegularExpressionMatch match = comparison.match(word);
    if (word == QLatin1String("starred")) {
      condition.key = "starred";
    } else if (match.hasMatch()) {
      const QString key = match.captured(1), sign = match.captured(2);
      const QString value = match.captured(3);
      condition = {key.toStdString(), testOf(sign), value.toStdString()};
      const bool isOrder = condition.test != Test::Is && condition.test != Test::IsNot;
      bool isNumber = false;
      value.toDouble(&isNumber);
      if (value.isEmpty()) {
        query.error = translated("%1 needs a value, as in %2").arg(key + sign, key + sign + '3');
      } else if (isOrder && !isNumber) {
        query.error = translated("\"%1\" is not a number; %2 needs one").arg(value, key + sign);
      } else if (isOrder && condition.key == "tag") {
        query.error = translated("tags have no order; write tag:%1").arg(value);
      }
      if (!query.error.isEmpty()) return query;
    } else {
      condition = {"words", Test::Is, word.toStdString()};
    }
    if (isTurned) {
      if (condition.test != Test::Is) {
        query.error = translated("-%1 has two signs; leave the minus out").arg(word);
        return query;
      }
      condition.test = Test::IsNot;
    }
    query.search.push_back(condition);
  }
  return query;
}

store::ImageSearch withClasses(store::ImageSearch search, const ClassNames& names) {
  for (store::ImageCondition& condition : search) {
    const bool isWhole = condition.key == "class";
    const bool isOrder = condition.test != Test::Is && condition.test != Test::IsNot;
    const QString wanted = QString::fromStdString(condition.value);
    if ((!isWhole && condition.key != "words") || isOrder || wanted.isEmpty()) continue;
    const auto fits = [&](const QString& name) {
      return isWhole ? name.compare(wanted, Qt::CaseInsensitive) == 0
                     : name.contains(wanted, Qt::CaseInsensitive);
    };
    for (const auto& [run, dataset] : names.datasets) {
      const QStringList& all = names.of(run);
      for (qsizetype i = 0; i < all.size(); ++i) {
        if (fits(all[i])) condition.classes.push_back({run, i});
      }
    }
  }
  return search;
}

}  // namespace vitrine::ui
