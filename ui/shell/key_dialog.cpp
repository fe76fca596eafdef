#include "ui/shell/key_dialog.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>
#include <utility>

#include "ui/kit/fuzzy.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

constexpr int kIdRole = Qt::UserRole;

QString nativeKeys(const QList<QKeySequence>& keys) {
  QStringList texts;
  for (const QKeySequence& key : keys) texts << key.toString(QKeySequence::NativeText);
  return texts.join(QStringLiteral(", "));
}

}  // namespace

KeyDialog::KeyDialog(KeyMap& keys, QWidget* parent) : QDialog(parent), keys_(keys) {
  setWindowTitle(tr("Keyboard shortcuts"));
  search_ = makeSearchField(tr("Search actions and keys"), QString(), this);
  list_ = withName(new QTreeWidget, tr("Keyboard shortcuts"));
  list_->setRootIsDecorated(false);
  list_->setUniformRowHeights(true);
  list_->setHeaderLabels({tr("Action"), tr("Where"), tr("Keys")});
  list_->header()->setStretchLastSection(false);
  list_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  editor_ = withName(new QKeySequenceEdit, tr("New keys of the chosen action"));
  // The field that types the keys is a part of it that Qt makes.
  if (auto* inside = editor_->findChild<QLineEdit*>()) {
    inside->setAccessibleName(editor_->accessibleName());
    inside->setPlaceholderText(tr("Press the new keys"));
  }
  assign_ = new QPushButton(tr("Assign"));
  none_ = new QPushButton(tr("No keys"));
  giveBack_ = new QPushButton(tr("Default"));
  giveBack_->setToolTip(tr("The keys this action has by default"));
  sentence_ = withRole(new QLabel, "small");
  sentence_->setWordWrap(true);
  sentence_->setMinimumHeight(px(18));

  auto* row = rowIn(nullptr, {}, px(8));
  row->addWidget(editor_, 1);
  row->addWidget(assign_);
  row->addWidget(none_);
  row->addWidget(giveBack_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  QPushButton* all = buttons->addButton(tr("All defaults"), QDialogButtonBox::ResetRole);
  auto* layout = columnIn(this, {px(12), px(12), px(12), px(12)}, px(8));
  layout->addWidget(search_);
  layout->addWidget(list_, 1);
  layout->addLayout(row);
  layout->addWidget(sentence_);
  layout->addWidget(buttons);

  connect(search_, &QLineEdit::textChanged, this, &KeyDialog::filter);
  connect(list_, &QTreeWidget::itemSelectionChanged, this, &KeyDialog::showChosen);
  connect(editor_, &QKeySequenceEdit::keySequenceChanged, this, &KeyDialog::showChosen);
  connect(assign_, &QPushButton::clicked, this, &KeyDialog::assignKeys);
  connect(none_, &QPushButton::clicked, this, [this] { keys_.setKeys(chosen(), {}); });
  connect(giveBack_, &QPushButton::clicked, this, [this] { keys_.reset(chosen()); });
  connect(all, &QPushButton::clicked, &keys_, &KeyMap::resetAll);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(&keys_, &KeyMap::changed, this, &KeyDialog::fill);
  fill();
  resize(px(620), px(560));
}

QString KeyDialog::sentence() const { return sentence_->text(); }

QString KeyDialog::chosen() const {
  // Not the current one, which a list that gets the focus has before any is chosen.
  const QList<QTreeWidgetItem*> items = list_->selectedItems();
  return items.isEmpty() ? QString() : items.first()->data(0, kIdRole).toString();
}

void KeyDialog::fill() {
  const QString before = chosen();
  list_->clear();
  for (const KeyMap::Entry& entry : keys_.entries()) {
    auto* item = new QTreeWidgetItem({entry.title, entry.scope, nativeKeys(entry.keys)});
    item->setData(0, kIdRole, entry.id);
    if (entry.keys != entry.defaults) {
      QFont changed = item->font(2);
      changed.setWeight(QFont::DemiBold);
      item->setFont(2, changed);
      item->setToolTip(2, entry.defaults.isEmpty()
                              ? tr("No keys by default")
                              : tr("By default %1").arg(nativeKeys(entry.defaults)));
    }
    list_->addTopLevelItem(item);
    if (entry.id == before) list_->setCurrentItem(item);
  }
  // Mouse gestures cannot be given other keys.
  const std::pair<QString, QString> gestures[] = {
      {tr("Zoom at the mouse"), tr("Ctrl+wheel")},
      {tr("Zoom one axis"), tr("X or Y held, Ctrl+wheel or drag")},
      {tr("Logarithmic axis"), tr("X, Y")},
      {tr("Zoom to a rectangle"), tr("Drag")},
      {tr("Move"), tr("Middle button drag")},
      {tr("Enlarge a plot, and back"), tr("Double click or Return, Esc")},
      {tr("Menu of a plot"), tr("Right click, Menu or Shift+F10")},
      {tr("Show everything"), tr("Home")},
      {tr("Zoom and move from the keyboard"), tr("+, \u2212, arrows")},
  };
  for (const auto& [title, keys] : gestures) {
    auto* item = new QTreeWidgetItem({title, tr("Plots"), keys});
    item->setForeground(2, themeColors().muted);
    list_->addTopLevelItem(item);
  }
  // Of all rows, in sight or not: the columns stay where they are while the list is searched.
  for (const int column : {1, 2}) list_->resizeColumnToContents(column);
  filter(search_->text());
}

void KeyDialog::filter(const QString& text) {
  const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  QTreeWidgetItem* first = nullptr;
  for (int row = 0; row < list_->topLevelItemCount(); ++row) {
    QTreeWidgetItem* item = list_->topLevelItem(row);
    const QString all =
        item->text(0) + QLatin1Char(' ') + item->text(1) + QLatin1Char(' ') + item->text(2);
    item->setHidden(!holdsWords(all, words));
    if (first == nullptr && !item->isHidden()) first = item;
  }
  // Keys go to an action that is in sight.
  const QList<QTreeWidgetItem*> items = list_->selectedItems();
  if (!words.isEmpty() && (items.isEmpty() || items.first()->isHidden())) {
    list_->clearSelection();
    list_->setCurrentItem(first);
  }
  showChosen();
  if (first == nullptr)
    sentence_->setText(tr("No action or key matches \u201c%1\u201d.").arg(text.trimmed()));
}

void KeyDialog::showChosen() {
  const QString id = chosen();
  const bool canChange = !id.isEmpty();
  const QKeySequence wanted = editor_->keySequence();
  editor_->setEnabled(canChange);
  none_->setEnabled(canChange);
  giveBack_->setEnabled(canChange);
  assign_->setEnabled(canChange && !wanted.isEmpty());
  const KeyMap::Entry* rival =
      canChange && !wanted.isEmpty() ? keys_.rivalOf(id, {wanted}) : nullptr;
  if (rival != nullptr) {
    sentence_->setText(
        tr("%1 belongs to \u201c%2\u201d (%3); Assign moves it here.")
            .arg(wanted.toString(QKeySequence::NativeText), rival->title, rival->scope));
  } else if (!canChange && !list_->selectedItems().isEmpty()) {
    sentence_->setText(tr("Mouse gestures cannot be changed."));
  } else {
    sentence_->setText(canChange ? QString() : tr("Choose an action to give it other keys."));
  }
}

void KeyDialog::assignKeys() {
  const QString id = chosen();
  const QKeySequence wanted = editor_->keySequence();
  if (id.isEmpty() || wanted.isEmpty()) return;
  while (const KeyMap::Entry* rival = keys_.rivalOf(id, {wanted})) {
    QList<QKeySequence> left = rival->keys;
    left.removeAll(wanted);
    keys_.setKeys(QString(rival->id), left);
  }
  keys_.setKeys(id, {wanted});
  editor_->clear();
}

}  // namespace vitrine::ui
