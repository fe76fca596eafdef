#include "ui/configure/form/pipeline_editor.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QFrame>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QStandardItemModel>
#include <QToolButton>
#include <algorithm>

#include "core/config/edit/document.h"
#include "core/config/lookup.h"
#include "ui/configure/form/collapsible_section.h"
#include "ui/configure/form/form_row.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

namespace {

/// What a list says differently from the defaults: "probability 0.5".
QString settingsOf(const Json& element, const std::vector<Field>& fields) {
  QStringList settings;
  for (const Field& field : fields) {
    const Json* value = valueAt(element, field.name);
    if (value == nullptr || field.type == FieldType::Table ||
        normalized(field, *value) == normalized(field, field.defaultValue))
      continue;
    settings << titleOf(field).toLower() + QLatin1Char(' ') + fieldText(field, *value);
  }
  return settings.join(QStringLiteral(", "));
}

std::string idOf(const Json& element) { return stateText(element, "name"); }

}  // namespace

bool isOnBatches(const ItemCard& transform) { return offersEvery(transform.offers, {"batch"}); }

PipelineEditor::PipelineEditor(const std::string& phase, const QString& title,
                               const Catalog& catalog, Folds& folds, QWidget* parent)
    : QWidget(parent),
      phase_(phase),
      catalog_(catalog),
      folds_(folds),
      title_(new QLabel(title, this)),
      words_(wrappedLabel("small", this)),
      problem_(wrappedLabel("error", this)),
      switch_(new QPushButton(this)),
      itemsBox_(new QVBoxLayout),
      add_(new QComboBox(this)) {
  auto* column = columnIn(this, {px(16), px(4), px(16), px(4)}, px(4));
  auto* line = rowIn(nullptr, {}, px(8));
  title_->setFixedWidth(px(150) - px(8));
  line->addWidget(title_);
  line->addWidget(words_, 1);
  line->addWidget(switch_);
  column->addLayout(line);
  column->addWidget(problem_);
  itemsBox_->setSpacing(px(4));
  column->addLayout(itemsBox_);
  auto* foot = new QHBoxLayout;
  add_->setAccessibleName(tr("Add a transform to the list of %1").arg(title.toLower()));
  add_->setFocusPolicy(Qt::StrongFocus);
  add_->installEventFilter(this);
  add_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  add_->setFixedWidth(px(190));
  foot->addWidget(add_);
  foot->addStretch();
  column->addLayout(foot);
  connect(switch_, &QPushButton::clicked, this, [this] {
    if (list_.is_null()) {
      Q_EMIT listRequested();
    } else {
      Q_EMIT dropped();
    }
  });
  connect(add_, &QComboBox::activated, this, [this](int index) {
    const std::string id = add_->itemData(index).toString().toStdString();
    add_->setCurrentIndex(0);
    if (!id.empty()) add(id);
  });
}

void PipelineEditor::show(const Json* list, const Json& shortForm,
                          const std::vector<std::string>& fields, FieldEditor::Typing typing) {
  const bool isList = list != nullptr && list->is_array();
  list_ = isList ? *list : Json();
  fields_ = fields;
  QStringList names;
  for (const Json& one : isList ? list_ : shortForm) {
    QString name = titleOfItem(idOf(one)).toLower();
    const ItemCard* card = catalog_.find(ItemKind::Transform, idOf(one));
    const QString settings =
        isList || card == nullptr ? QString() : settingsOf(one, card->schema.fields);
    names << (settings.isEmpty() ? name : name + QStringLiteral(" (%1)").arg(settings));
  }
  const QString steps =
      names.isEmpty() ? tr("nothing is changed") : names.join(QStringLiteral(" \u2192 "));
  words_->setText(isList ? steps : tr("Short form: %1").arg(steps));
  switch_->setText(isList ? tr("Use the short form") : tr("Write a list"));
  switch_->setAccessibleName(QStringLiteral("%1: %2").arg(title_->text(), switch_->text()));
  switch_->setToolTip(isList ? tr("Remove the list and use the fields above")
                             : tr("List these transforms, to change, add and order them"));
  add_->setVisible(isList);
  std::vector<std::string> ids;
  if (isList) {
    for (const Json& one : list_) ids.push_back(idOf(one));
  }
  const bool isSame = std::equal(ids.begin(), ids.end(), items_.begin(), items_.end(),
                                 [](const auto& id, const Item& item) { return id == item.id; });
  if (!isSame || (isList && add_->count() == 0)) build();
  refresh(typing);
  if (wantedFocus_ >= 0) focusItem(std::exchange(wantedFocus_, -1));
}

void PipelineEditor::build() {
  for (const Item& item : items_) {
    item.frame->hide();
    item.frame->deleteLater();
  }
  items_.clear();
  folds_.resize(list_.is_array() ? list_.size() : 0, false);
  if (list_.is_array()) {
    for (const Json& one : list_) append(catalog_.find(ItemKind::Transform, idOf(one)), idOf(one));
  }
  offerTransforms();
  tabThrough(*this);
}

QToolButton* PipelineEditor::button(const QString& text, const QString& name,
                                    QWidget* parent) const {
  auto* made = makeQuietButton(text, name, parent);
  made->setProperty(kListed, false);
  return made;
}

void PipelineEditor::append(const ItemCard* card, const std::string& id) {
  const int at = static_cast<int>(items_.size());
  const QString title = titleOfItem(id);
  Item item{.id = id, .frame = withRole(new QFrame(this), "card")};
  auto* column = new QVBoxLayout(item.frame);
  column->setContentsMargins(px(4), px(2), px(4), px(2));
  column->setSpacing(0);
  auto* line = rowIn(nullptr, {}, px(4));
  item.heading = makeFoldButton(QStringLiteral("%1  %2").arg(at + 1).arg(title), item.frame);
  item.heading->setAccessibleName(
      tr("%1, transform %2 of %3")
          .arg(title, QString::number(at + 1), title_->text().toLower()));
  item.heading->setProperty(kListed, false);
  item.heading->setToolTip(tr("Show its fields; Alt+Up and Alt+Down move it, Delete removes it"));
  item.heading->installEventFilter(this);
  item.heading->setProperty("place", at);
  item.summary = withRole(new ElidedLabel(item.frame), "small");
  auto* stage = withRole(new QLabel(card == nullptr      ? QString()
                                    : isOnBatches(*card) ? tr("changes batches")
                                                         : tr("changes samples"),
                                    item.frame),
                         "muted");
  auto* up = button(QStringLiteral("\u2191"), tr("Move %1 up (Alt+Up)").arg(title), item.frame);
  auto* down =
      button(QStringLiteral("\u2193"), tr("Move %1 down (Alt+Down)").arg(title), item.frame);
  auto* drop = button(QStringLiteral("\u00d7"), tr("Remove %1 (Delete)").arg(title), item.frame);
  up->setEnabled(at > 0);
  down->setEnabled(static_cast<std::size_t>(at) + 1 < list_.size());
  line->addWidget(item.heading);
  line->addWidget(item.summary, 1);
  for (QWidget* widget : std::initializer_list<QWidget*>{stage, up, down, drop})
    line->addWidget(widget);
  column->addLayout(line);
  item.problem = wrappedLabel("error", item.frame);
  item.problem->hide();
  auto* below = new QHBoxLayout;  // a label with a style has no margins of its own
  below->setContentsMargins(px(22), 0, px(8), 0);
  below->addWidget(item.problem);
  column->addLayout(below);
  item.body = new QWidget(item.frame);
  auto* rows = new QVBoxLayout(item.body);
  rows->setContentsMargins(0, 0, 0, px(4));
  rows->setSpacing(0);
  auto* doc = wrappedLabel("small", item.body);
  doc->setContentsMargins(px(22), 0, px(8), px(4));
  if (card != nullptr) {
    QString about = QString::fromStdString(card->doc);
    if (!card->paper.empty())
      about += QStringLiteral(" (%1)").arg(QString::fromStdString(card->paper));
    if (card->schema.fields.empty()) about += tr(". It has no fields");
    doc->setText(about);
    item.heading->setAccessibleDescription(about);
  }
  rows->addWidget(doc);
  column->addWidget(item.body);
  if (card != nullptr) addRows(item, card->schema.fields, "");
  itemsBox_->addWidget(item.frame);
  item.frame->show();
  items_.push_back(std::move(item));
  setOpen(static_cast<std::size_t>(at), folds_[static_cast<std::size_t>(at)]);
  connect(items_.back().heading, &QToolButton::clicked, this, [this, at](bool isOpen) {
    setOpen(static_cast<std::size_t>(at), isOpen);
    showProblems(std::map(messages_));  // a row that is shown says it itself
  });
  connect(up, &QToolButton::clicked, this, [this, at] { move(at, at - 1); });
  connect(down, &QToolButton::clicked, this, [this, at] { move(at, at + 1); });
  connect(drop, &QToolButton::clicked, this, [this, at] { remove(at); });
}

void PipelineEditor::addRows(Item& item, const std::vector<Field>& fields,
                             const std::string& prefix) {
  const int at = static_cast<int>(items_.size());
  for (const Field& field : fields) {
    const std::string name = prefix + field.name;
    if (field.type == FieldType::Table) {
      addRows(item, field.fields, name + ".");
      continue;
    }
    auto* row = new FormRow(keyOf(static_cast<std::size_t>(at)) + "." + name, titleOf(field), field,
                            px(6), item.body);
    row->leaveMenuOut();
    connect(&row->editor(), &FieldEditor::edited, this, [this, row, at] { onEdited(row, at); });
    connect(row, &FormRow::resetRequested, this, [this, row, at] {
      row->editor().setValue(row->editor().field().defaultValue, FieldEditor::Typing::Replace);
      onEdited(row, at);
    });
    item.body->layout()->addWidget(row);
    item.rows.push_back(row);
  }
}

void PipelineEditor::refresh(FieldEditor::Typing typing) {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    const std::size_t nameFrom = keyOf(i).size() + 1;
    QStringList changes;
    for (FormRow* row : item.rows) {
      const Field& field = row->editor().field();
      const Json standard = normalized(field, field.defaultValue);
      const Json* value = valueAt(list_[i], row->key().substr(nameFrom));
      const Json shown = value == nullptr ? standard : normalized(field, *value);
      row->editor().setValue(shown, typing);
      row->setChanged(value != nullptr && shown != standard, fieldText(field, standard));
      if (row->isChanged())
        changes << row->title().toLower() + QLatin1Char(' ') + fieldText(field, shown);
    }
    item.changes = changes.join(QStringLiteral(", "));
    item.summary->setText(folds_[i] ? QString() : item.changes);
  }
}

void PipelineEditor::offerTransforms() {
  add_->clear();
  add_->addItem(tr("Add a transform\u2026"));
  auto* model = qobject_cast<QStandardItemModel*>(add_->model());
  for (const bool onBatches : {false, true}) {
    bool isFirst = true;
    for (const ItemCard& card : catalog_.items) {
      if (card.kind != ItemKind::Transform || isOnBatches(card) != onBatches) continue;
      if (std::exchange(isFirst, false)) {
        add_->addItem(onBatches ? tr("Of whole batches, behind the others") : tr("Of each sample"));
        model->item(add_->count() - 1)->setEnabled(false);
      }
      add_->addItem(
          QStringLiteral("   %1: %2").arg(titleOfItem(card.id), QString::fromStdString(card.doc)),
          QString::fromStdString(card.id));
      std::vector<std::string> there = fields_;
      for (std::size_t i = 0; i < placeFor(card) && i < items_.size(); ++i) {
        if (const ItemCard* before = catalog_.find(ItemKind::Transform, items_[i].id);
            before != nullptr)
          there.insert(there.end(), before->offers.begin(), before->offers.end());
      }
      QStringList missing;
      for (const std::string& need : card.needs) {
        if (std::find(there.begin(), there.end(), need) == there.end())
          missing << QString::fromStdString(need);
      }
      if (missing.isEmpty()) continue;
      QStandardItem* item = model->item(add_->count() - 1);
      item->setEnabled(false);
      item->setToolTip(tr("The samples have no %1").arg(missing.join(QStringLiteral(", "))));
    }
  }
  add_->view()->setMinimumWidth(add_->view()->sizeHintForColumn(0) + px(24));
}

void PipelineEditor::setOpen(std::size_t at, bool isOpen) {
  folds_[at] = isOpen;
  items_[at].heading->setChecked(isOpen);
  items_[at].body->setVisible(isOpen);
  items_[at].summary->setText(isOpen ? QString() : items_[at].changes);
}

std::string PipelineEditor::keyOf(std::size_t at) const {
  return "data.pipeline." + phase_ + "[" + std::to_string(at) + "]";
}

QString PipelineEditor::titleOfItem(const std::string& id) const {
  const ItemCard* card = catalog_.find(ItemKind::Transform, id);
  const bool isTitled = card != nullptr && !card->title.empty();
  return QString::fromStdString(isTitled ? card->title : id.empty() ? "?" : id);
}

std::size_t PipelineEditor::placeFor(const ItemCard& card) const {
  std::size_t at = items_.size();
  for (std::size_t i = 0; i < items_.size() && !isOnBatches(card); ++i) {
    const ItemCard* there = catalog_.find(ItemKind::Transform, items_[i].id);
    if (there == nullptr || !isOnBatches(*there)) continue;
    at = i;
    break;
  }
  return at;
}

void PipelineEditor::add(const std::string& id) {
  const ItemCard* card = catalog_.find(ItemKind::Transform, id);
  if (card == nullptr || !list_.is_array()) return;
  const auto at = static_cast<std::ptrdiff_t>(placeFor(*card));
  list_.insert(list_.begin() + at, Json{{"name", id}});
  folds_.resize(items_.size(), false);
  folds_.insert(folds_.begin() + at, !card->schema.fields.empty());
  wantedFocus_ = static_cast<int>(at);
  Q_EMIT edited(list_, tr("new transform %1").arg(titleOfItem(id).toLower()), QString());
}

void PipelineEditor::move(int from, int to) {
  const int last = static_cast<int>(items_.size()) - 1;
  if (from < 0 || to < 0 || from > last || to > last || from == to) return;
  std::swap(list_[static_cast<std::size_t>(from)], list_[static_cast<std::size_t>(to)]);
  const bool isOpen = folds_[static_cast<std::size_t>(from)];
  folds_[static_cast<std::size_t>(from)] = folds_[static_cast<std::size_t>(to)];
  folds_[static_cast<std::size_t>(to)] = isOpen;
  wantedFocus_ = to;
  Q_EMIT edited(list_, tr("order of transforms"), QString());
}

void PipelineEditor::remove(int at) {
  if (at < 0 || static_cast<std::size_t>(at) >= items_.size()) return;
  const QString title = titleOfItem(items_[static_cast<std::size_t>(at)].id).toLower();
  list_.erase(static_cast<std::size_t>(at));
  folds_.erase(folds_.begin() + at);
  wantedFocus_ = std::min(at, static_cast<int>(list_.size()) - 1);
  Q_EMIT edited(list_, tr("removal of %1").arg(title), QString());
}

void PipelineEditor::onEdited(const FormRow* row, int at) {
  Document element;  // one table of the list, by dotted keys
  element.tables = list_[static_cast<std::size_t>(at)];
  const std::string name = row->key().substr(keyOf(static_cast<std::size_t>(at)).size() + 1);
  const Field& field = row->editor().field();
  const std::optional<Json> value = row->editor().value();
  if (!value || normalized(field, *value) == normalized(field, field.defaultValue)) {
    element.erase(name);
  } else {
    element.set(name, *value);
  }
  list_[static_cast<std::size_t>(at)] = element.tables;
  const bool isTyped = row->editor().isTyped();
  Q_EMIT edited(
      list_, row->title().toLower(),
      isTyped ? QStringLiteral("field:") + QString::fromStdString(row->key()) : QString());
}

void PipelineEditor::focusItem(int at) {
  QWidget* wanted = at < static_cast<int>(items_.size()) && at >= 0
                        ? static_cast<QWidget*>(items_[static_cast<std::size_t>(at)].heading)
                        : add_;
  wanted->setFocus(Qt::OtherFocusReason);
}

int PipelineEditor::itemOf(const std::string& key) const {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (key == keyOf(i) || key.starts_with(keyOf(i) + ".")) return static_cast<int>(i);
  }
  return -1;
}

bool PipelineEditor::shows(const std::string& key) const {
  return key == "data.pipeline." + phase_ || itemOf(key) >= 0;
}

void PipelineEditor::showProblems(const std::map<std::string, QString>& messages) {
  messages_ = messages;
  std::vector<QStringList> ofItems(items_.size());
  QStringList whole;
  for (const auto& [key, message] : messages) {
    if (key == "data.pipeline." + phase_) whole << message;
    const int at = itemOf(key);
    if (at < 0) continue;
    const Item& item = items_[static_cast<std::size_t>(at)];
    const bool hasRow = std::any_of(item.rows.begin(), item.rows.end(),
                                    [&key = key](const FormRow* row) { return row->key() == key; });
    const std::size_t from = keyOf(static_cast<std::size_t>(at)).size() + 1;
    const QString name = key.size() > from ? QString::fromStdString(key.substr(from)) : QString();
    // A row that is folded away cannot say it.
    if (!hasRow || !folds_[static_cast<std::size_t>(at)])
      ofItems[static_cast<std::size_t>(at)]
          << (name.isEmpty() ? message : name + QStringLiteral(": ") + message);
  }
  sayIn(*problem_, whole.join(QLatin1Char('\n')));
  for (std::size_t i = 0; i < items_.size(); ++i) {
    sayIn(*items_[i].problem, ofItems[i].join(QLatin1Char('\n')));
    for (FormRow* row : items_[i].rows) {
      const auto found = messages.find(row->key());
      row->setMessage(found == messages.end() ? QString() : found->second);
    }
  }
}

QWidget* PipelineEditor::place(const std::string& key) {
  const int at = itemOf(key);
  if (at < 0) return shows(key) ? switch_ : nullptr;
  setOpen(static_cast<std::size_t>(at), true);
  for (FormRow* row : items_[static_cast<std::size_t>(at)].rows) {
    if (row->key() == key) return row->editor().input();
  }
  return items_[static_cast<std::size_t>(at)].heading;
}

std::vector<FormRow*> PipelineEditor::rows() const {
  std::vector<FormRow*> rows;
  for (const Item& item : items_) rows.insert(rows.end(), item.rows.begin(), item.rows.end());
  return rows;
}

bool PipelineEditor::eventFilter(QObject* watched, QEvent* event) {
  // Scrolling the page must not change what the pointer happens to pass.
  if (watched == add_ && event->type() == QEvent::Wheel && !add_->hasFocus()) {
    event->ignore();
    return true;
  }
  if (watched == add_ || event->type() != QEvent::KeyPress)
    return QWidget::eventFilter(watched, event);
  const auto* pressed = static_cast<QKeyEvent*>(event);
  const int at = watched->property("place").toInt();
  const bool isAlt = pressed->modifiers() == Qt::AltModifier;
  if (isAlt && (pressed->key() == Qt::Key_Up || pressed->key() == Qt::Key_Down)) {
    move(at, at + (pressed->key() == Qt::Key_Up ? -1 : 1));
    return true;
  }
  if (pressed->key() == Qt::Key_Delete) {
    remove(at);
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace vitrine::ui
