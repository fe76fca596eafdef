#include "ui/shell/space_dialog.h"

#include <QHeaderView>
#include <QPushButton>
#include <QTreeWidget>
#include <set>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/studio_workbench.h"

namespace vitrine::ui {
namespace {

QString spaceText(const Json& from, const char* key) {
  return QString::fromStdString(formatBytes(stateNumber(from, key)));
}

const Json& partOf(const Json& from, const char* key) {
  static const Json kNone = Json::object();
  const auto found = from.find(key);
  return found != from.end() && found->is_structured() ? *found : kNone;
}

}  // namespace

SpaceDialog::SpaceDialog(StudioWorkbench& workbench, QWidget* parent)
    : QDialog(parent), workbench_(workbench) {
  setWindowTitle(tr("Disk space"));
  resize(px(720), px(400));
  about_ = withRole(new WrapLabel, "muted");
  list_ = withRole(new QTreeWidget, "rows");
  list_->setRootIsDecorated(false);
  list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  list_->setHeaderLabels({tr("Experiment"), tr("Runs"), tr("Curves"), tr("Artifacts"), tr("Images"),
                          tr("Files"), tr("Total")});
  for (int column = 1; column < list_->columnCount(); ++column)
    list_->headerItem()->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
  list_->headerItem()->setToolTip(5, tr("Checkpoints and logs"));
  list_->setAccessibleName(tr("Experiments by their size"));
  rest_ = withRole(new WrapLabel, "small");
  compact_ = new QPushButton(tr("&Compact"));
  compact_->setToolTip(tr("Writes the database again without the space of deleted rows"));
  compact_->setEnabled(false);
  select_ = new QPushButton(tr("&Select runs"));
  select_->setToolTip(
      tr("Selects the runs of these experiments: to archive, export or delete them"));
  select_->setProperty("primary", true);
  select_->setDefault(true);
  select_->setEnabled(false);
  auto* close = new QPushButton(tr("Close"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(compact_);
  buttons->addStretch(1);
  buttons->addWidget(close);
  buttons->addWidget(select_);
  auto* rows = columnIn(this, {px(16), px(16), px(16), px(16)}, px(12));
  rows->addWidget(about_);
  rows->addWidget(list_, 1);
  rows->addWidget(rest_);
  rows->addLayout(buttons);
  connect(close, &QPushButton::clicked, this, &QDialog::reject);
  connect(select_, &QPushButton::clicked, this, &SpaceDialog::selectRuns);
  connect(list_, &QTreeWidget::itemActivated, this, &SpaceDialog::selectRuns);
  connect(list_, &QTreeWidget::itemSelectionChanged, this,
          [this] { select_->setEnabled(!list_->selectedItems().isEmpty()); });
  connect(compact_, &QPushButton::clicked, this, &SpaceDialog::compact);
  connect(&reading_, &HeadlessQuestion::finished, this, &SpaceDialog::fill);
  connect(&reading_, &HeadlessQuestion::failed, about_, &QLabel::setText);
  connect(&compacting_, &HeadlessQuestion::failed, this, [this](const QString& reason) {
    about_->setText(reason);
    compact_->setEnabled(true);
  });
  connect(&compacting_, &HeadlessQuestion::finished, this, [this](const Json& report) {
    isCompacted_ = true;
    about_->setText(tr("The database took %1 and takes %2 now.")
                        .arg(spaceText(report, "before"), spaceText(report, "after")));
    read();
  });
  if (const RemoteLink* link = workbench_.link()) {
    about_->setText(tr("The database is on %1: `vitrine db info` there says what takes the space.")
                        .arg(link->host()));
    return;
  }
  about_->setText(tr("Measuring\u2026"));
  read();
}

void SpaceDialog::read() {
  reading_.askAbout(workbench_.store().file(), {QStringLiteral("db"), QStringLiteral("info")});
}

void SpaceDialog::compact() {
  compact_->setEnabled(false);
  about_->setText(tr("Compacting\u2026"));
  compacting_.askAbout(workbench_.store().file(),
                       {QStringLiteral("db"), QStringLiteral("compact")});
}

void SpaceDialog::fill(const Json& facts) {
  const Json& space = partOf(facts, "space");
  const Json& files = partOf(space, "files");
  list_->clear();
  for (const Json& experiment : partOf(space, "experiments")) {
    const std::string title = experiment.value("title", std::string());
    auto* item = new QTreeWidgetItem(
        list_, {QString::fromStdString(title),
                count(static_cast<std::int64_t>(stateNumber(experiment, "runs"))),
                spaceText(experiment, "metrics"), spaceText(experiment, "artifacts"),
                spaceText(experiment, "images"), spaceText(experiment, "files"),
                spaceText(experiment, "bytes")});
    for (int column = 1; column < list_->columnCount(); ++column)
      item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
  }
  for (int column = 1; column < list_->columnCount(); ++column)
    list_->resizeColumnToContents(column);
  list_->header()->setStretchLastSection(false);
  list_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  if (list_->topLevelItemCount() > 0) list_->setCurrentItem(list_->topLevelItem(0));
  if (!isCompacted_)
    about_->setText(
        tr("Experiments, the largest first. Checkpoints are files; the rest is in the database."));
  rest_->setText(tr("Checkpoints %1, logs %2, trash %3 (Run > Deleted runs), files without a run "
                    "%4, free when the database is compacted %5.")
                     .arg(spaceText(files, "checkpoints"), spaceText(files, "logs"),
                          spaceText(files, "trash"), spaceText(files, "orphans"),
                          spaceText(space, "free")));
  compact_->setEnabled(stateNumber(space, "free") > 0);
}

void SpaceDialog::selectRuns() {
  std::set<std::string> titles;
  for (const QTreeWidgetItem* item : list_->selectedItems())
    titles.insert(item->text(0).toStdString());
  std::vector<std::int64_t> runs;
  for (const auto& [id, run] : workbench_.runs())
    if (titles.contains(run.experiment)) runs.push_back(id);
  if (runs.empty()) return;
  workbench_.selection().setRuns(runs, runs.front());
  accept();
}

}  // namespace vitrine::ui
