#include "ui/configure/form/axis_list.h"

#include <QCompleter>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <algorithm>

#include "core/config/toml/to_toml.h"
#include "ui/configure/form/wording.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

std::vector<Json> parseValues(const QString& text) {
  const std::string trimmed = text.trimmed().toStdString();
  if (trimmed.empty()) return {};
  // A list of TOML values as it stands, so that lists and tables may be swept too.
  const Json whole = parseValue("[" + trimmed + "]");
  if (whole.is_array()) return {whole.begin(), whole.end()};
  std::vector<Json> values;
  for (const QString& part : text.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    if (!part.trimmed().isEmpty()) values.push_back(parseValue(part.trimmed().toStdString()));
  }
  return values;
}

QString valuesText(const std::vector<Json>& values) {
  QStringList parts;
  for (const Json& value : values) {
    const bool isWord = value.is_string() && parseValue(value.get<std::string>()) == value &&
                        value.get<std::string>().find(',') == std::string::npos;
    parts << QString::fromStdString(isWord ? value.get<std::string>() : tomlValue(value));
  }
  return parts.join(QStringLiteral(", "));
}

AxisList::AxisList(const QString& place, const QString& wording, QWidget* parent)
    : QWidget(parent), place_(place), wording_(wording), column_(new QVBoxLayout(this)) {
  column_->setContentsMargins(0, 0, 0, 0);
  column_->setSpacing(px(4));
}

void AxisList::setKeys(const QStringList& keys) {
  if (keys == keys_) return;
  keys_ = keys;
  for (const Row& axis : rows_) complete(axis.key);
}

void AxisList::complete(QLineEdit* line) const {
  auto* completer = new QCompleter(keys_, line);
  completer->setFilterMode(Qt::MatchContains);
  line->setCompleter(completer);
}

void AxisList::setAxes(const std::vector<Document::Axis>& wanted) {
  const std::vector<Document::Axis> shown = axes();
  const bool isSame = std::equal(shown.begin(), shown.end(), wanted.begin(), wanted.end(),
                                 [](const Document::Axis& a, const Document::Axis& b) {
                                   return a.key == b.key && a.values == b.values;
                                 });
  if (isSame) return;
  clear();
  for (const Document::Axis& axis : wanted) append(axis.key, axis.values);
}

void AxisList::clear() {
  for (const Row& axis : rows_) {
    axis.row->hide();
    axis.row->deleteLater();
  }
  rows_.clear();
}

std::vector<Document::Axis> AxisList::axes() const {
  std::vector<Document::Axis> axes;
  for (const Row& axis : rows_) {
    const std::string key = axis.key->text().trimmed().toStdString();
    std::vector<Json> values = parseValues(axis.values->text());
    if (!key.empty() && !values.empty()) axes.push_back({key, std::move(values)});
  }
  return axes;
}

QLineEdit* AxisList::keyLine(const std::string& key) const {
  for (const Row& axis : rows_) {
    if (axis.key->text().trimmed().toStdString() == key) return axis.key;
  }
  return nullptr;
}

QLineEdit* AxisList::valuesOf(const std::string& key, const std::vector<Json>& values) {
  for (const Row& axis : rows_) {
    if (axis.key->text().trimmed().toStdString() == key) return axis.values;
  }
  append(key, values);
  return rows_.back().values;
}

void AxisList::addAxis() {
  append({}, {});
  rows_.back().key->setFocus();
}

QString AxisList::unread(const Row& axis) {
  const QString key = axis.key->text().trimmed();
  const bool hasValues = !parseValues(axis.values->text()).empty();
  if (key.isEmpty() == !hasValues) return {};  // whole, or not begun
  return key.isEmpty()
             ? tr("the axis with the values %1 has no key").arg(axis.values->text().trimmed())
             : tr("the axis %1 has no values").arg(key);
}

QStringList AxisList::unread() const {
  QStringList sentences;
  for (const Row& axis : rows_) {
    if (const QString message = unread(axis); !message.isEmpty()) sentences << message;
  }
  return sentences;
}

void AxisList::showProblems(const std::vector<Problem>& problems) {
  for (const Row& axis : rows_) {
    const std::string key = axis.key->text().trimmed().toStdString();
    QString message = unread(axis);
    for (const Problem& problem : problems) {
      const bool isMine =
          !key.empty() && (problem.key == place_.toStdString() + "." + key ||
                           (problem.key == key && problem.code == ProblemCode::UnknownKey));
      if (!isMine || !message.isEmpty()) continue;
      message = messageOf(problem);
    }
    sayIn(*axis.problem, message);
    for (QLineEdit* line : {axis.key, axis.values}) restyle(*line, "invalid", !message.isEmpty());
  }
}

void AxisList::append(const std::string& key, const std::vector<Json>& values) {
  auto* row = new QWidget(this);
  auto* column = columnIn(row, {}, px(2));
  auto* line = rowIn(nullptr, {}, px(4));
  column->addLayout(line);
  auto* keyLine =
      withName(new QLineEdit(QString::fromStdString(key), row), tr("Key of the %1").arg(wording_));
  keyLine->setPlaceholderText(tr("key"));
  complete(keyLine);
  auto* valueLine = withName(new QLineEdit(valuesText(values), row),
                             tr("Values of the %1, comma separated").arg(wording_));
  valueLine->setPlaceholderText(tr("values, with commas"));
  auto* remove = makeQuietButton(QStringLiteral("\u00d7"), tr("Remove this axis"), row);
  line->addWidget(keyLine, 1);
  line->addWidget(valueLine, 1);
  line->addWidget(remove);
  QLabel* problem = wrappedLabel("error", row);
  problem->hide();
  column->addWidget(problem);
  column_->addWidget(row);
  row->show();
  rows_.push_back({row, keyLine, valueLine, problem});
  const QString mergeKey = QStringLiteral("%1:%2").arg(place_).arg(reinterpret_cast<quintptr>(row));
  connect(keyLine, &QLineEdit::textChanged, this,
          [this, mergeKey] { Q_EMIT edited(wording_, mergeKey + QStringLiteral(":key")); });
  connect(valueLine, &QLineEdit::textEdited, this, [this, mergeKey] {
    Q_EMIT edited(tr("values of a %1").arg(wording_), mergeKey + QStringLiteral(":values"));
  });
  connect(remove, &QToolButton::clicked, this, [this, row] {
    rows_.erase(
        std::find_if(rows_.begin(), rows_.end(), [row](const Row& one) { return one.row == row; }));
    row->hide();
    row->deleteLater();
    Q_EMIT edited(tr("removal of an axis"), QString());
  });
}

}  // namespace vitrine::ui
