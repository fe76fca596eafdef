// Check boxes, lists and lines, and the two ways between a value and its text.
#include "ui/form/field_editor.h"

#include <QCheckBox>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr int kEditorWidth = 190;

bool isNone(const QString& text) {
  return text.compare(QLatin1String("none"), Qt::CaseInsensitive) == 0 ||
         text.compare(QLatin1String("null"), Qt::CaseInsensitive) == 0;
}

/// Whether the word "none" means that the field is absent, and not a choice of that name.
bool noneIsAbsent(const Field& field) { return field.nullable && !field.offers("none"); }

/// A whole or real number as typed; text where it is none.
Json numberFrom(FieldType type, QString text) {
  text.remove(QLatin1Char('_')).remove(QChar(0x2009));
  const QString typed = text;
  static const QRegularExpression kThousands(QStringLiteral("^[+-]?\\d{1,3}(,\\d{3})+$"));
  if (kThousands.match(text).hasMatch()) text.remove(QLatin1Char(','));
  bool isNumber = false;
  const qlonglong whole = QLocale::c().toLongLong(text, &isNumber);
  if (isNumber)
    return type == FieldType::Real ? Json(static_cast<double>(whole))
                                   : Json(static_cast<std::int64_t>(whole));
  const double real = QLocale::c().toDouble(text, &isNumber);
  if (isNumber) return real;
  return typed.toStdString();
}

Json elementFrom(FieldType type, const QString& text) {
  switch (type) {
    case FieldType::Integer:
    case FieldType::Real:
      return numberFrom(type, text);
    case FieldType::Bool:
      if (text == QLatin1String("true")) return true;
      if (text == QLatin1String("false")) return false;
      return text.toStdString();
    default: {
      QString bare = text;
      if (bare.size() >= 2 && bare.startsWith(QLatin1Char('"')) &&
          bare.endsWith(QLatin1Char('"'))) {
        bare = bare.mid(1, bare.size() - 2);
      }
      return bare.toStdString();
    }
  }
}

/// An absent value: the words of the field's help behind "none: " where they are
/// short, such as "all" or "every core".
QString absentText(const Field& field) {
  constexpr std::size_t kLongest = 20;
  const std::string mark = "none: ";
  const std::size_t at = field.doc.rfind(mark);
  if (at == std::string::npos || field.doc.size() - at - mark.size() > kLongest)
    return QObject::tr("none");
  return QString::fromStdString(field.doc.substr(at + mark.size()));
}

}  // namespace

QString titleOf(const Field& field) {
  if (!field.title.empty()) return QString::fromStdString(field.title);
  return atStart(asWords(field.name));
}

QString rangeText(const Field& field) {
  const auto text = [](double bound) {
    if (std::abs(bound) < 1e15 && bound == std::round(bound))
      return count(static_cast<std::int64_t>(bound));
    return std::abs(bound) >= 1e15 ? QString::fromStdString(formatReal(bound, 3))
                                   : QString::fromStdString(formatReal(bound));
  };
  QStringList parts;
  const QString unit =
      field.unit.empty() ? QString() : QStringLiteral(" ") + QString::fromStdString(field.unit);
  if (field.minimum && field.maximum) {
    parts << QStringLiteral("%1 \u2026 %2").arg(text(*field.minimum), text(*field.maximum)) + unit;
  } else {
    if (field.minimum) parts << QObject::tr("%1 or more").arg(text(*field.minimum));
    if (field.above) parts << QObject::tr("more than %1").arg(text(*field.above));
    if (field.maximum) parts << QObject::tr("at most %1").arg(text(*field.maximum));
    if (field.below) parts << QObject::tr("below %1").arg(text(*field.below));
  }
  if (field.nullable) parts << QObject::tr("or %1").arg(absentText(field));
  return parts.join(QStringLiteral(", "));
}

QString fieldText(const Field& field, const Json& value) {
  if (value.is_null()) return absentText(field);
  if (!value.is_array() || field.type == FieldType::Size) return valueText(value);
  QStringList parts;
  for (const Json& entry : value) parts << valueText(entry);
  return parts.join(QStringLiteral(", "));
}

std::optional<Json> parseFieldText(const Field& field, const QString& text) {
  const QString trimmed = text.trimmed();
  if (trimmed.isEmpty()) {
    if (field.nullable) return Json(nullptr);
    // Text may be empty, unless that is not a choice of its own: then the default holds.
    const bool isEmptyPlain =
        !field.defaultValue.is_string() || field.defaultValue.get<std::string>().empty();
    if (field.type == FieldType::Text && isEmptyPlain) return Json(std::string());
    return std::nullopt;
  }
  const bool isAbsentWord = trimmed.compare(absentText(field), Qt::CaseInsensitive) == 0;
  if (noneIsAbsent(field) && (isNone(trimmed) || isAbsentWord)) return Json(nullptr);
  switch (field.type) {
    case FieldType::Integer:
    case FieldType::Real:
      return numberFrom(field.type, trimmed);
    case FieldType::Size: {
      static const QRegularExpression kPair(
          QStringLiteral("^\\[?\\s*(\\d+)\\s*(?:[x\u00d7,]|\\s)\\s*(\\d+)\\s*\\]?$"),
          QRegularExpression::CaseInsensitiveOption);
      const QRegularExpressionMatch match = kPair.match(trimmed);
      if (match.hasMatch())
        return Json::array({match.captured(1).toLongLong(), match.captured(2).toLongLong()});
      return numberFrom(FieldType::Integer, trimmed);
    }
    case FieldType::List: {
      QString inside = trimmed;
      if (inside.startsWith(QLatin1Char('[')) && inside.endsWith(QLatin1Char(']')))
        inside = inside.mid(1, inside.size() - 2);
      Json list = Json::array();
      const QStringList parts = inside.split(QLatin1Char(','), Qt::SkipEmptyParts);
      for (const QString& part : parts) {
        if (!part.trimmed().isEmpty())
          list.push_back(elementFrom(field.elements.value_or(FieldType::Text), part.trimmed()));
      }
      return list;
    }
    default:
      return Json(trimmed.toStdString());
  }
}

Json normalized(const Field& field, const Json& value) {
  if (field.type == FieldType::Size && value.is_number_integer())
    return Json::array({value, value});
  if (field.type == FieldType::Real && value.is_number()) return value.get<double>();
  if (field.type == FieldType::List && field.elements == FieldType::Real && value.is_array()) {
    Json list = Json::array();
    for (const Json& entry : value)
      list.push_back(entry.is_number() ? Json(entry.get<double>()) : entry);
    return list;
  }
  if (noneIsAbsent(field) && value.is_string() &&
      isNone(QString::fromStdString(value.get<std::string>())))
    return nullptr;
  return value;
}

FieldEditor::FieldEditor(const Field& field, const QString& label, QWidget* parent)
    : QWidget(parent), field_(field) {
  auto* layout = rowIn(this, {});
  const QString description = QString::fromStdString(field.doc);
  if (field.type == FieldType::Bool && !field.nullable) {
    box_ = new QCheckBox(this);
    connect(box_, &QCheckBox::toggled, this, &FieldEditor::edited);
    layout->addWidget(box_);
  } else if (field.type == FieldType::Choice || field.type == FieldType::Bool) {
    list_ = new QComboBox(this);
    if (noneIsAbsent(field)) list_->addItem(QStringLiteral("none"), QStringLiteral("none"));
    const std::vector<std::string> choices =
        field.type == FieldType::Bool ? std::vector<std::string>{"true", "false"} : field.choices;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const QString choice = QString::fromStdString(choices[i]);
      list_->addItem(choice, choice);
      if (i < field.choiceDocs.size()) {
        list_->setItemData(list_->count() - 1, QString::fromStdString(field.choiceDocs[i]),
                           Qt::ToolTipRole);
      }
    }
    list_->setFocusPolicy(Qt::StrongFocus);
    list_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    list_->setFixedWidth(px(kEditorWidth));
    connect(list_, &QComboBox::currentIndexChanged, this, &FieldEditor::edited);
    layout->addWidget(list_);
  } else {
    line_ = new QLineEdit(this);
    line_->setFixedWidth(px(kEditorWidth));
    if (field.nullable) line_->setPlaceholderText(absentText(field));
    connect(line_, &QLineEdit::textEdited, this, &FieldEditor::edited);
    layout->addWidget(line_);
    if (!field.unit.empty()) {
      auto* unit = withRole(new QLabel(QString::fromStdString(field.unit), line_), "small");
      unit->setAttribute(Qt::WA_TransparentForMouseEvents);
      auto* inside = rowIn(line_, {0, 0, px(8), 0});
      inside->addStretch();
      inside->addWidget(unit);
      line_->setTextMargins(0, 0, unit->sizeHint().width() + 6, 0);
    }
  }
  layout->addStretch();
  QWidget* shown = input();
  shown->setAccessibleName(label);
  shown->setAccessibleDescription(description);
  shown->setToolTip(description);
  shown->installEventFilter(this);
  setFocusProxy(shown);
}

QWidget* FieldEditor::input() const {
  if (box_ != nullptr) return box_;
  if (list_ != nullptr) return list_;
  return line_;
}

std::optional<Json> FieldEditor::value() const {
  if (box_ != nullptr) return Json(box_->isChecked());
  if (list_ != nullptr) {
    const QString text = list_->currentData().toString();
    if (noneIsAbsent(field_) && text == QLatin1String("none")) return Json(nullptr);
    if (field_.type == FieldType::Bool) return Json(text == QLatin1String("true"));
    return Json(text.toStdString());
  }
  return parseFieldText(field_, line_->text());
}

void FieldEditor::setValue(const Json& value, Typing typing) {
  const QSignalBlocker quiet(input());
  if (box_ != nullptr) {
    box_->setChecked(value.is_boolean() && value.get<bool>());
    return;
  }
  if (list_ != nullptr) {
    const QString text = valueText(value);
    int index = list_->findData(text);
    if (index < 0) {  // a wrong value from the text stays visible, so that its message makes sense
      list_->addItem(text, text);
      index = list_->count() - 1;
    }
    list_->setCurrentIndex(index);
    return;
  }
  if (typing == Typing::Keep && line_->hasFocus()) {
    const std::optional<Json> typed = parseFieldText(field_, line_->text());
    if (typed && normalized(field_, *typed) == normalized(field_, value)) return;
    if (!typed) return;
  }
  const QString text = value.is_null() ? QString() : fieldText(field_, value);
  if (line_->text() != text) line_->setText(text);
}

void FieldEditor::setInvalid(const QString& message) {
  QWidget* shown = input();
  const bool isInvalid = !message.isEmpty();
  shown->setAccessibleDescription(isInvalid ? message : QString::fromStdString(field_.doc));
  restyle(*shown, "invalid", isInvalid);
}

void FieldEditor::step(int direction) {
  const std::optional<Json> now = parseFieldText(field_, line_->text());
  if (!now || !now->is_number_integer()) return;
  std::int64_t next = now->get<std::int64_t>() + direction;
  if (field_.minimum) next = std::max(next, static_cast<std::int64_t>(*field_.minimum));
  if (field_.maximum) next = std::min(next, static_cast<std::int64_t>(*field_.maximum));
  line_->setText(QString::number(next));
  Q_EMIT edited();
}

bool FieldEditor::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::ContextMenu) {
    const auto* asked = static_cast<QContextMenuEvent*>(event);
    Q_EMIT menuRequested(asked->reason() == QContextMenuEvent::Keyboard
                             ? input()->mapToGlobal(QPoint(0, input()->height()))
                             : asked->globalPos());
    return true;
  }
  // Scrolling the page must not change what the pointer happens to pass.
  if (event->type() == QEvent::Wheel && list_ != nullptr && !list_->hasFocus()) {
    event->ignore();
    return true;
  }
  if (event->type() == QEvent::KeyPress && line_ != nullptr && field_.type == FieldType::Integer) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Up || key == Qt::Key_Down) {
      step(key == Qt::Key_Up ? 1 : -1);
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace vitrine::ui
