#include "ui/playground/sampler_form.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QRandomGenerator>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>
#include <tuple>

#include "ui/form/field_editor.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/icons.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr int kInputWidth = 72;  // at least; an input takes the room that is left
constexpr std::uint32_t kMostRandomSeed = 1'000'000;

/// A whole number with words for its values is chosen from a list.
Field shownField(const FormEntry& entry) {
  Field field = entry.field;
  if (field.type != FieldType::Integer || entry.valueTitles.isEmpty()) return field;
  field.type = FieldType::Choice;
  field.choices.clear();
  for (qsizetype i = 0; i < entry.valueTitles.size(); ++i)
    field.choices.push_back(std::to_string(i));
  return field;
}

/// "Sneaker (7)" without its number.
QString nameAlone(const QString& words) {
  const QString number = QStringLiteral(" (");
  return words.contains(number) ? words.section(number, 0, -2) : words;
}

QToolButton* formButton(Icon picture, const QString& name, QWidget* parent) {
  auto* button = makeQuietButton(QString(), name, parent);
  button->setIcon(icon(picture));
  button->setIconSize(QSize(px(14), px(14)));
  return button;
}

/// What the form shows of a key.
auto shownOf(const FormEntry& entry) {
  const Field& field = entry.field;
  return std::tie(field.name, field.type, field.defaultValue, field.nullable, field.minimum,
                  field.maximum, field.choices, field.unit, field.doc, field.title,
                  entry.valueTitles, entry.noneTitle, entry.isRare);
}

}  // namespace

struct SamplerForm::Row {
  FormEntry entry;
  QLabel* title = nullptr;
  QStackedWidget* stack = nullptr;
  FieldEditor* editor = nullptr;
  QLineEdit* line = nullptr;      ///< of the axis
  QToolButton* button = nullptr;  ///< axis; nullptr where it cannot be one
  WrapLabel* problem = nullptr;
  Axis axis = Axis::None;
};

SamplerForm::SamplerForm(QWidget* parent)
    : QWidget(parent),
      grid_(new QGridLayout(this)),
      more_(makeFoldButton(tr("More settings"), this)) {
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(px(6));
  grid_->setVerticalSpacing(px(6));
  grid_->setColumnStretch(1, 1);
  more_->setChecked(false);
  connect(more_, &QToolButton::toggled, this, &SamplerForm::showRare);
}

SamplerForm::~SamplerForm() = default;

void SamplerForm::setEntries(std::vector<FormEntry> entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const FormEntry& a, const FormEntry& b) { return !a.isRare && b.isRare; });
  // A list that is open and the text that is being typed stay while a run is training.
  const auto isSame = [](const std::unique_ptr<Row>& row, const FormEntry& entry) {
    return shownOf(row->entry) == shownOf(entry);
  };
  if (std::equal(rows_.begin(), rows_.end(), entries.begin(), entries.end(), isSame)) return;
  Json before = values();
  const SampleGrid grid = this->grid();
  for (const std::unique_ptr<Row>& one : rows_) {
    // A number that was left at its default takes that of the new sampler.
    const Field& field = one->entry.field;
    if (field.type != FieldType::Choice && before.at(field.name) == field.defaultValue)
      before.erase(field.name);
    for (QWidget* widget :
         std::initializer_list<QWidget*>{one->title, one->stack, one->button, one->problem}) {
      if (widget == nullptr) continue;
      widget->hide();
      grid_->removeWidget(widget);
      widget->deleteLater();
    }
  }
  rows_.clear();
  grid_->removeWidget(more_);
  int line = 0;
  bool hasRare = false;
  for (FormEntry& entry : entries) {
    if (entry.isRare && !hasRare) {
      hasRare = true;
      grid_->addWidget(more_, line++, 0, 1, 3, Qt::AlignLeft);
    }
    addRow(std::move(entry), line);
    line += 2;
  }
  more_->setVisible(hasRare);
  setValues(before);
  setGrid(grid);
  showRare();
}

void SamplerForm::addRow(FormEntry entry, int line) {
  auto made = std::make_unique<Row>();
  Row& row = *made;
  row.entry = std::move(entry);
  const Field& field = row.entry.field;
  const QString title = titleOf(field);
  row.title = withRole(new QLabel(title, this), "muted");
  row.title->setToolTip(QString::fromStdString(field.doc));
  row.stack = new QStackedWidget(this);
  row.stack->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  row.editor = new FieldEditor(shownField(row.entry), title, row.stack);
  QWidget* input = row.editor->input();
  const QString name = QString::fromStdString(field.name);
  input->setObjectName(name);
  input->setMinimumWidth(px(kInputWidth));
  input->setMaximumWidth(QWIDGETSIZE_MAX);
  auto* inside = qobject_cast<QBoxLayout*>(row.editor->layout());
  inside->setStretchFactor(input, 1);
  const QString none = row.entry.noneTitle;
  if (auto* text = qobject_cast<QLineEdit*>(input); text != nullptr && !none.isEmpty())
    text->setPlaceholderText(none);
  if (auto* list = qobject_cast<QComboBox*>(input); list != nullptr) {
    for (int i = 0; i < list->count(); ++i) {
      if (!none.isEmpty() && list->itemData(i).toString() == QStringLiteral("none"))
        list->setItemText(i, none);
      bool isNumber = false;
      const int value = list->itemData(i).toString().toInt(&isNumber);
      if (field.type == FieldType::Integer && isNumber && value < row.entry.valueTitles.size())
        list->setItemText(i, row.entry.valueTitles[value]);
      const auto choice = std::find(field.choices.begin(), field.choices.end(),
                                    list->itemData(i).toString().toStdString());
      const auto at = choice - field.choices.begin();
      if (field.type == FieldType::Choice && at < row.entry.valueTitles.size())
        list->setItemText(i, row.entry.valueTitles[at]);
    }
  }
  row.line = new QLineEdit(row.stack);
  row.line->setObjectName(name + QStringLiteral(".axis"));
  row.line->setMinimumWidth(px(kInputWidth));
  row.line->setAccessibleName(tr("Values of %1").arg(title));
  row.stack->addWidget(row.editor);
  row.stack->addWidget(row.line);
  row.problem = withRole(new WrapLabel(this), "error");
  row.problem->hide();
  row.title->setBuddy(input);
  grid_->addWidget(row.title, line, 0);
  grid_->addWidget(row.stack, line, 1);
  grid_->addWidget(row.problem, line + 1, 0, 1, 3);
  if (field.name == "seed") {
    QToolButton* dice = formButton(Icon::Refresh, tr("New seed"), row.editor);
    connect(dice, &QToolButton::clicked, this, [this] {
      setValues({{"seed", QRandomGenerator::global()->bounded(kMostRandomSeed)}});
      Q_EMIT edited();
    });
    inside->addWidget(dice);
  }
  if (field.name == "image" && field.type == FieldType::Text) {
    QToolButton* file = formButton(Icon::Folder, tr("Choose an image file"), row.editor);
    connect(file, &QToolButton::clicked, this, [this, key = field.name] { chooseFile(key); });
    inside->addWidget(file);
  }
  if (canBeAxis(field)) {
    row.button = withRole(new QToolButton(this), "dots");  // which say that it has a menu
    row.button->setObjectName(row.line->objectName());
    row.button->setProperty("quiet", true);
    row.button->setPopupMode(QToolButton::InstantPopup);
    row.button->setCheckable(true);
    row.button->setMenu(new QMenu(row.button));
    row.button->setProperty("listed", false);
    fillAxisMenu(row);
    grid_->addWidget(row.button, line, 2, Qt::AlignRight);
  }
  connect(row.editor, &FieldEditor::edited, this, [this, &row] {
    showAxis(row);
    Q_EMIT edited();
  });
  // Left alone it shows its beginning: ".5, 2, 3" would be read as the values.
  connect(row.line, &QLineEdit::editingFinished, row.line, [line = row.line] {
    if (!line->hasFocus()) line->setCursorPosition(0);
  });
  connect(row.line, &QLineEdit::textEdited, this, [this, &row] {
    showAxis(row);
    Q_EMIT edited();
  });
  row.editor->setValue(field.defaultValue);
  showAxis(row);
  rows_.push_back(std::move(made));
}

void SamplerForm::fillAxisMenu(Row& row) {
  QMenu& menu = *row.button->menu();
  const auto add = [&](const QString& text, Axis axis) {
    // The row may be made again while its menu is open.
    menu.addAction(text, this, [this, key = row.entry.field.name, axis] {
      setAxis(key, axis);
      Q_EMIT edited();
    });
  };
  add(tr("One value"), Axis::None);
  add(tr("Rows of a grid"), Axis::Rows);
  add(tr("Columns of a grid"), Axis::Columns);
}

void SamplerForm::setAxis(const std::string& key, Axis axis) {
  Row* chosen = row(key);
  if (chosen == nullptr || chosen->button == nullptr) return;
  for (const std::unique_ptr<Row>& other : rows_) {
    if (axis != Axis::None && other.get() != chosen && other->axis == axis) {
      other->axis = Axis::None;  // one key each
      showAxis(*other);
    }
  }
  if (axis != Axis::None && chosen->line->text().isEmpty()) {
    const std::optional<Json> now = valueOf(*chosen);
    if (now && !now->is_null()) chosen->line->setText(axisText(chosen->entry.field, {*now}));
  }
  chosen->axis = axis;
  showAxis(*chosen);
  if (axis != Axis::None && isVisible()) {
    chosen->line->setFocus();
    chosen->line->selectAll();
  }
}

void SamplerForm::showAxis(Row& row) {
  const bool isAxis = row.axis != Axis::None;
  row.stack->setCurrentIndex(isAxis ? 1 : 0);
  row.title->setBuddy(isAxis ? static_cast<QWidget*>(row.line) : row.editor->input());
  const QString title = titleOf(row.entry.field);
  if (row.button != nullptr) {
    row.button->setChecked(isAxis);
    row.button->setText(row.axis == Axis::Rows      ? tr("rows")
                        : row.axis == Axis::Columns ? tr("columns")
                                                    : QString(QChar(0x22ee)));
    row.button->setAccessibleName(
        row.axis == Axis::Rows      ? tr("%1 is the rows of the grid").arg(title)
        : row.axis == Axis::Columns ? tr("%1 is the columns of the grid").arg(title)
                                    : tr("Grid over %1").arg(title));
    row.button->setToolTip(tr("Draw a grid: values of %1 as rows or columns").arg(title));
  }
  const QString problem = problemOf(row);
  sayIn(*row.problem, problem);
  row.editor->setInvalid(isAxis ? QString() : problem);
  const bool isInvalid = isAxis && !problem.isEmpty();
  restyle(*row.line, "invalid", isInvalid);
}

void SamplerForm::showRare() {
  for (const std::unique_ptr<Row>& one : rows_) {
    const bool isWrong = !one->problem->text().isEmpty();
    const bool isShown =
        !one->entry.isRare || more_->isChecked() || one->axis != Axis::None || isWrong;
    one->title->setVisible(isShown);
    one->stack->setVisible(isShown);
    if (one->button != nullptr) one->button->setVisible(isShown);
    one->problem->setVisible(isWrong);
  }
}

SamplerForm::Row* SamplerForm::row(const std::string& key) const {
  for (const std::unique_ptr<Row>& one : rows_) {
    if (one->entry.field.name == key) return one.get();
  }
  return nullptr;
}

std::optional<Json> SamplerForm::valueOf(const Row& row) const {
  const std::optional<Json> shown = row.editor->value();
  const Field& field = row.entry.field;
  if (!shown) return field.defaultValue;
  const bool isListed = field.type == FieldType::Integer && !row.entry.valueTitles.isEmpty();
  if (!isListed || !shown->is_string()) return normalized(field, *shown);
  bool isNumber = false;
  const qlonglong number = QString::fromStdString(shown->get<std::string>()).toLongLong(&isNumber);
  return isNumber ? Json(static_cast<std::int64_t>(number)) : *shown;
}

AxisValues SamplerForm::axisOf(const Row& row) const {
  QString text = row.line->text();
  if (row.entry.field.type == FieldType::Integer && !row.entry.valueTitles.isEmpty()) {
    // Names stand for their numbers.
    QStringList parts = text.split(QLatin1Char(','));
    for (QString& part : parts) {
      for (qsizetype i = 0; i < row.entry.valueTitles.size(); ++i) {
        const QString words = row.entry.valueTitles[i];
        if (words.compare(part.trimmed(), Qt::CaseInsensitive) == 0 ||
            nameAlone(words).compare(part.trimmed(), Qt::CaseInsensitive) == 0)
          part = QString::number(i);
      }
    }
    text = parts.join(QLatin1Char(','));
  }
  AxisValues along = axisValues(row.entry.field, text);
  const qsizetype titles = row.entry.valueTitles.size();
  if (row.entry.field.type != FieldType::Integer || titles == 0) return along;
  for (const Json& value : along.values) {
    if (!value.is_number_integer() || value.get<std::int64_t>() < titles) continue;
    along.error = tr("%1 has no value %2; use 0 to %3")
                        .arg(titleOf(row.entry.field),
                             QString::number(value.get<std::int64_t>()),
                             QString::number(titles - 1));
  }
  return along;
}

QString SamplerForm::problemOf(const Row& row) const {
  if (row.axis != Axis::None) return axisOf(row).error;
  // A list has only what can be chosen, and an empty line is the default.
  if (row.entry.field.type == FieldType::Choice || !row.editor->value()) return {};
  return valueProblem(row.entry.field, valueOf(row).value_or(Json()));
}

Json SamplerForm::values() const {
  Json all = Json::object();
  for (const std::unique_ptr<Row>& one : rows_) {
    std::optional<Json> value = valueOf(*one);
    if (one->axis != Axis::None) {
      const AxisValues along = axisOf(*one);
      if (!along.values.empty()) value = along.values.front();
    }
    all[one->entry.field.name] = value.value_or(Json());
  }
  return all;
}

void SamplerForm::setValues(const Json& values) {
  if (!values.is_object()) return;
  for (const auto& [key, value] : values.items()) {
    Row* found = row(key);
    if (found == nullptr) continue;
    const bool isListed =
        found->entry.field.type == FieldType::Integer && !found->entry.valueTitles.isEmpty();
    if (isListed && value.is_number_integer()) {
      const std::int64_t number = value.get<std::int64_t>();
      if (number < 0 || number >= found->entry.valueTitles.size()) continue;
      found->editor->setValue(std::to_string(number), FieldEditor::Typing::Replace);
      showAxis(*found);
      continue;
    }
    const Field& field = found->entry.field;
    // A choice that is not offered any more, as a checkpoint that was deleted.
    if (field.type == FieldType::Choice &&
        !(value.is_string() && field.offers(value.get<std::string>())))
      continue;
    found->editor->setValue(value, FieldEditor::Typing::Replace);
    showAxis(*found);
  }
  showRare();  // a wrong value is in sight
}

SampleGrid SamplerForm::grid() const {
  SampleGrid grid;
  for (const std::unique_ptr<Row>& one : rows_) {
    if (one->axis == Axis::None) continue;
    GridAxis axis{one->entry.field.name, titleOf(one->entry.field), axisOf(*one).values, {}};
    for (const Json& value : axis.values) axis.labels << titleOfValue(axis.key, value);
    (one->axis == Axis::Rows ? grid.rows : grid.columns) = std::move(axis);
  }
  return grid;
}

void SamplerForm::setGrid(const SampleGrid& grid) {
  for (const std::unique_ptr<Row>& one : rows_) {
    one->axis = Axis::None;
    for (const auto& [axis, where] :
         {std::pair(&grid.rows, Axis::Rows), std::pair(&grid.columns, Axis::Columns)}) {
      if (!*axis || (*axis)->key != one->entry.field.name || one->button == nullptr) continue;
      one->axis = where;
      one->line->setText(axisText(one->entry.field, (*axis)->values));
      one->line->setCursorPosition(0);
    }
    showAxis(*one);
  }
  showRare();  // an axis is in sight
}

QString SamplerForm::error() const {
  std::size_t cells = 1;
  for (const std::unique_ptr<Row>& one : rows_) {
    if (const QString problem = problemOf(*one); !problem.isEmpty()) return problem;
    if (one->axis != Axis::None) cells *= axisOf(*one).values.size();
  }
  if (cells > SampleGrid::kMostCells)
    return tr("The grid has %1 cells; take at most %2").arg(cells).arg(SampleGrid::kMostCells);
  return {};
}

QString SamplerForm::titleOfValue(const std::string& key, const Json& value) const {
  const Row* found = row(key);
  if (found == nullptr) return valueText(value);
  const Field& field = found->entry.field;
  qsizetype at = -1;
  if (value.is_number_integer()) at = static_cast<qsizetype>(value.get<std::int64_t>());
  if (value.is_string()) {
    const auto choice =
        std::find(field.choices.begin(), field.choices.end(), value.get<std::string>());
    if (choice != field.choices.end()) at = choice - field.choices.begin();
  }
  if (at < 0 || at >= found->entry.valueTitles.size()) return valueText(value);
  const QString words = found->entry.valueTitles[at];
  return field.type == FieldType::Integer ? nameAlone(words) : words;
}

SamplerForm::Axis SamplerForm::axis(const std::string& key) const {
  const Row* found = row(key);
  return found == nullptr ? Axis::None : found->axis;
}

void SamplerForm::chooseFile(const std::string& key) {
  const QString file = QFileDialog::getOpenFileName(this, tr("Image to describe"), QString(),
                                                    tr("Images (*.png *.jpg *.jpeg *.webp)"));
  // The rows may have been made again while the dialog was open.
  Row* found = row(key);
  if (file.isEmpty() || found == nullptr) return;
  found->editor->setValue(file.toStdString(), FieldEditor::Typing::Replace);
  Q_EMIT edited();
}

}  // namespace vitrine::ui
