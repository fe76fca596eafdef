#include "ui/shell/trash_dialog.h"

#include <QDateTime>
#include <QHeaderView>
#include <QLocale>
#include <QPushButton>
#include <QTreeWidget>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/questions.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/studio_workbench.h"

namespace vitrine::ui {

TrashDialog::TrashDialog(StudioWorkbench& workbench, QWidget* parent)
    : QDialog(parent), workbench_(workbench) {
  setWindowTitle(tr("Deleted runs"));
  resize(px(640), px(360));
  about_ = withRole(new WrapLabel, "muted");
  list_ = withRole(new QTreeWidget, "rows");
  list_->setRootIsDecorated(false);
  list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  list_->setHeaderLabels({tr("Run"), tr("Name"), tr("Experiment"), tr("Deleted"), tr("Size")});
  list_->headerItem()->setTextAlignment(0, Qt::AlignRight | Qt::AlignVCenter);
  list_->headerItem()->setTextAlignment(4, Qt::AlignRight | Qt::AlignVCenter);
  list_->setAccessibleName(tr("Deleted runs"));
  restore_ = new QPushButton(tr("&Restore"));
  restore_->setProperty("primary", true);
  restore_->setDefault(true);
  empty_ = new QPushButton(tr("&Empty trash\u2026"));
  auto* close = new QPushButton(tr("Close"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(empty_);
  buttons->addStretch(1);
  buttons->addWidget(close);
  buttons->addWidget(restore_);
  auto* rows = columnIn(this, {px(16), px(16), px(16), px(16)}, px(12));
  rows->addWidget(about_);
  rows->addWidget(list_, 1);
  rows->addLayout(buttons);
  connect(close, &QPushButton::clicked, this, &QDialog::reject);
  connect(restore_, &QPushButton::clicked, this, &TrashDialog::restore);
  connect(list_, &QTreeWidget::itemActivated, this, &TrashDialog::restore);
  connect(list_, &QTreeWidget::itemSelectionChanged, this,
          [this] { restore_->setEnabled(!list_->selectedItems().isEmpty()); });
  connect(empty_, &QPushButton::clicked, this, &TrashDialog::askEmpty);
  read();
}

void TrashDialog::read() {
  QString sentence;
  if (workbench_.link() != nullptr) {
    sentence =
        tr("The trash is on the other machine: `vitrine trash` there lists and restores "
           "deleted runs.");
  } else {
    try {
      runs_ = store::trashedRuns(workbench_.store().file());
      sentence = runs_.empty()
                     ? tr("No run was deleted in the last %1 days.").arg(store::kTrashTime.count())
                     : tr("A deleted run can be restored for %1 days. No list, search or "
                          "export shows it meanwhile.")
                           .arg(store::kTrashTime.count());
    } catch (const Error& error) {
      sentence = QString::fromUtf8(error.what());
    }
  }
  about_->setText(sentence);
  for (const store::TrashedRun& run : runs_) {
    const QDateTime at = timeFromUtc(run.deletedAt);
    auto* item = new QTreeWidgetItem(
        list_, {QString::number(run.id), QString::fromStdString(run.name),
                QString::fromStdString(run.experiment),
                QLocale().toString(at.toLocalTime(), QStringLiteral("yyyy-MM-dd HH:mm")),
                QString::fromStdString(formatBytes(run.bytes))});
    item->setTextAlignment(0, Qt::AlignRight | Qt::AlignVCenter);
    item->setTextAlignment(4, Qt::AlignRight | Qt::AlignVCenter);
  }
  for (const int column : {0, 3, 4}) list_->resizeColumnToContents(column);
  list_->header()->setStretchLastSection(false);
  list_->header()->setSectionResizeMode(1, QHeaderView::Stretch);
  list_->header()->setSectionResizeMode(2, QHeaderView::Stretch);
  if (!runs_.empty()) list_->setCurrentItem(list_->topLevelItem(0));
  restore_->setEnabled(!list_->selectedItems().isEmpty());
  empty_->setEnabled(!runs_.empty());
}

std::vector<std::int64_t> TrashDialog::chosen() const {
  std::vector<std::int64_t> ids;
  for (const QTreeWidgetItem* item : list_->selectedItems())
    ids.push_back(item->text(0).toLongLong());
  return ids;
}

void TrashDialog::restore() {
  const std::vector<std::int64_t> ids = chosen();
  if (ids.empty()) return;
  workbench_.restoreRuns(ids);
  accept();
}

void TrashDialog::askEmpty() {
  std::uint64_t bytes = 0;
  for (const store::TrashedRun& run : runs_) bytes += run.bytes;
  const QString text =
      tr("Delete %1, %2, permanently? This cannot be undone.")
          .arg(counted(static_cast<std::int64_t>(runs_.size()), tr("run"), tr("runs")),
               QString::fromStdString(formatBytes(bytes)));
  if (!isConfirmed(this, tr("Empty trash"), text, tr("Remove"))) return;
  workbench_.queue().execute({.what = jobs::Command::What::EmptyTrash},
                             [](const jobs::CommandResult&) { return tr("The trash is empty."); });
  accept();
}

}  // namespace vitrine::ui
