#include "ui/configure/form/run_picker.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <QToolButton>
#include <QTreeView>

#include "ui/kit/fuzzy.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

/// Rows that hold every word typed, in any column.
class AllWords final : public QSortFilterProxyModel {
 public:
  using QSortFilterProxyModel::QSortFilterProxyModel;
  void setWords(const QStringList& words) {
    words_ = words;
    invalidateFilter();
  }

 protected:
  [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override {
    QString text;
    for (int column = 0; column < sourceModel()->columnCount(); ++column)
      text += sourceModel()->index(row, column, parent).data().toString() + QLatin1Char(' ');
    return holdsWords(text, words_);
  }

 private:
  QStringList words_;
};

}  // namespace

RunPicker::RunPicker(const QString& title, const std::map<std::int64_t, store::RunRow>& rows,
                     bool (*only)(const store::RunRow&), QWidget* parent)
    : QDialog(parent),
      filter_(makeSearchField(tr("Search runs"), tr("Number, name, experiment or state"), this)),
      list_(new QTreeView(this)),
      model_(nullptr) {
  setWindowTitle(title);
  auto* source = new QStandardItemModel(this);
  source->setHorizontalHeaderLabels(
      {QStringLiteral("#"), tr("Name"), tr("Experiment"), tr("State")});
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {  // the newest first
    const store::RunRow& run = row->second;
    if (only != nullptr && !only(run)) continue;
    auto* id = new QStandardItem(QStringLiteral("#%1").arg(run.id));
    id->setData(QVariant::fromValue<qlonglong>(run.id), Qt::UserRole);
    QList<QStandardItem*> line{id, new QStandardItem(QString::fromStdString(run.name)),
                               new QStandardItem(QString::fromStdString(run.experiment)),
                               new QStandardItem(QString::fromStdString(toString(run.state)))};
    line[3]->setForeground(stateColor(line[3]->text()));
    for (QStandardItem* item : line) {
      item->setEditable(false);
      item->setToolTip(item->text());
    }
    source->appendRow(line);
  }
  auto* words = new AllWords(this);
  words->setSourceModel(source);
  model_ = words;
  auto* column = columnIn(this, {px(12), px(12), px(12), px(12)}, px(8));
  filter_->installEventFilter(this);
  column->addWidget(filter_);
  list_->setAccessibleName(tr("Runs"));
  list_->setRootIsDecorated(false);
  list_->setUniformRowHeights(true);
  list_->setModel(model_);
  list_->header()->setStretchLastSection(false);
  list_->header()->setSectionResizeMode(1, QHeaderView::Stretch);
  list_->header()->setSectionResizeMode(2, QHeaderView::Stretch);
  list_->header()->resizeSection(0, px(60));
  list_->header()->resizeSection(3, px(96));
  column->addWidget(list_, 1);
  auto* empty = withRole(new QLabel(tr("There is no run to choose yet."), this), "muted");
  empty->setVisible(source->rowCount() == 0);
  column->addWidget(empty);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  take_ = buttons->addButton(tr("Choose"), QDialogButtonBox::AcceptRole);
  take_->setProperty("primary", true);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(list_, &QTreeView::activated, this, &QDialog::accept);
  const auto pickFirst = [this] {
    if (!list_->currentIndex().isValid() && model_->rowCount() > 0)
      list_->setCurrentIndex(model_->index(0, 0));
    take_->setEnabled(picked() != 0);
  };
  connect(filter_, &QLineEdit::textChanged, this, [words, pickFirst](const QString& text) {
    words->setWords(text.split(QLatin1Char(' '), Qt::SkipEmptyParts));
    pickFirst();
  });
  connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this, pickFirst);
  pickFirst();
  resize(px(560), px(420));
}

std::int64_t RunPicker::picked() const {
  const QModelIndex index = list_->currentIndex();
  return index.isValid() ? index.siblingAtColumn(0).data(Qt::UserRole).toLongLong() : 0;
}

int RunPicker::shown() const { return model_->rowCount(); }

bool RunPicker::eventFilter(QObject* watched, QEvent* event) {
  if (watched == filter_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    const int row = list_->currentIndex().row();
    if (key == Qt::Key_Down || key == Qt::Key_Up) {
      const int next = row + (key == Qt::Key_Down ? 1 : -1);
      if (next >= 0 && next < model_->rowCount()) list_->setCurrentIndex(model_->index(next, 0));
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

}  // namespace vitrine::ui
