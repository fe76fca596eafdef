#include "ui/queue/queue_page.h"

#include <QFontMetrics>
#include <QHeaderView>
#include <QScrollBar>
#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/sha256.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/settings.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/queue/queue_delegate.h"
#include "ui/workbench/page_commands.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {
namespace {

constexpr int kDeviceMs = 2000;

/// Where is stored when a run was interrupted for which the offer was declined last. Of one
/// database: what was declined in another one says nothing of this.
QString declinedKey(Workbench& workbench) {
  const std::string file = std::filesystem::absolute(workbench.store().file()).string();
  return QStringLiteral("queue/declined/") +
         QString::fromStdString(sha256OfText(file).substr(0, 16));
}

}  // namespace

QueuePage::QueuePage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench), devices_(workbench.link()) {
  paintAs(this, "canvas");
  makeActions();

  view_ = withRole(new QTreeView, "list");
  view_->setObjectName(QStringLiteral("queue"));
  view_->setAccessibleName(tr("Runs in progress, waiting and ended"));
  view_->setModel(&model_);
  view_->setItemDelegate(new QueueDelegate(view_));
  view_->setIndentation(0);
  view_->setRootIsDecorated(false);
  view_->setItemsExpandable(false);
  view_->setExpandsOnDoubleClick(false);
  view_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  view_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  view_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  view_->setMinimumHeight(px(180));  // the head, a section and two runs
  view_->setContextMenuPolicy(Qt::CustomContextMenu);
  view_->setMouseTracking(true);
  view_->setFrameShape(QFrame::NoFrame);
  view_->setDragDropMode(QAbstractItemView::InternalMove);
  view_->setDropIndicatorShown(true);
  view_->setDragDropOverwriteMode(false);
  view_->header()->setStretchLastSection(false);
  view_->header()->setSectionsMovable(false);
  view_->header()->setHighlightSections(false);
  setColumns();

  headline_ = withName(withRole(new WrapLabel, "title"), tr("The queue"));
  error_ = withRole(new WrapLabel, "warn");
  error_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  error_->setAccessibleName(tr("Why the queue is paused"));
  error_->hide();

  auto* card = withRole(new QFrame, "card");
  auto* inCard = columnIn(card, {1, 1, 1, 1}, 0);
  auto* head = new QWidget;
  auto* headLayout = columnIn(head, {px(12), px(8), px(12), px(8)}, px(4));
  headLayout->addWidget(headline_);
  headLayout->addWidget(error_);
  inCard->addWidget(head);
  stack_ = new QStackedWidget;
  stack_->addWidget(view_);
  auto* empty = new EmptyPage(
      tr("Nothing is in the queue.\n"
         "Runs that you start here or with `vitrine enqueue` wait in it for their device. They run "
         "in processes of their own and continue when this window is closed."),
      tr("New experiment"));
  connect(empty, &EmptyPage::actionRequested, this,
          [this] { workbench_.showPage(QStringLiteral("configure")); });
  stack_->addWidget(empty);
  inCard->addWidget(stack_, 1);

  panel_ = new DevicePanel;
  auto* inside = new QWidget;
  auto* layout = columnIn(inside, {px(12), px(12), px(12), px(12)}, px(12));
  layout->addWidget(makeOffer());
  layout->addWidget(card, 1);
  layout->addWidget(panel_);
  auto* whole = columnIn(this, {});
  whole->addWidget(makeFitArea(inside));

  connect(&workbench_.queue(), &QueueService::viewChanged, this, [this] {
    isStale_ = true;
    if (isVisible()) showQueue();
  });
  connect(&workbench_, &Workbench::themeChanged, this, [this] {
    setColumns();  // of another zoom
    view_->viewport()->update();
  });
  connect(&devices_, &DeviceMonitor::changed, this, &QueuePage::showDevices);
  connect(&model_, &QueueModel::moveRequested, this, &QueuePage::move);
  connect(&model_, &QueueModel::modelReset, this, [this] { isReset_ = true; });
  connect(view_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    if (!isApplying_) readSelection();
  });
  chosen_ = workbench_.selection().targets();
  connect(&workbench_.selection(), &Selection::runsChanged, this, [this] {
    if (!isApplying_) {
      chosen_ = workbench_.selection().targets();
      showSelection();
    }
    updateActions();
  });
  connect(view_, &QTreeView::customContextMenuRequested, this, [this](const QPoint& place) {
    if (view_->indexAt(place).data(QueueModel::IdRole).toLongLong() == 0) return;
    QMenu menu(this);
    fillMenu(menu);
    if (!menu.isEmpty()) menu.exec(view_->viewport()->mapToGlobal(place));
  });
  offerMenu(view_, {}, [this](QMenu& menu) { fillMenu(menu); });
  for (QAction* action : {front_, up_, down_, remove_, limit_, device_})
    action->setProperty(kWhyNot, tr("select a run that waits"));
  pauseRun_->setProperty(kWhyNot, tr("select a run in progress"));
  resumeRun_->setProperty(kWhyNot, tr("select a run that was interrupted or has ended"));
  connect(view_, &QTreeView::activated, this, [this](const QModelIndex& index) {
    if (index.data(QueueModel::IdRole).toLongLong() != 0)
      workbench_.showPage(QStringLiteral("monitor"));
  });
  showQueue();
}

QWidget* QueuePage::makeOffer() {
  offer_ = withRole(new QFrame, "card");
  offerText_ = withName(new WrapLabel, tr("Interrupted runs"));
  auto* resume = new QPushButton(tr("Resume"));
  resume->setProperty("primary", true);
  resume->setToolTip(tr("Put them into the queue: they continue from their newest checkpoint"));
  auto* decline = new QPushButton(tr("Not now"));
  decline->setToolTip(tr("Decide later; the runs stay listed below"));
  offerLine_ = new QBoxLayout(QBoxLayout::LeftToRight, offer_);
  offerLine_->setContentsMargins(px(12), px(8), px(12), px(8));
  offerLine_->setSpacing(px(8));
  offerLine_->addWidget(offerText_, 1);
  auto* answers = rowIn(nullptr, {}, px(8));
  answers->addStretch(1);
  answers->addWidget(decline);
  answers->addWidget(resume);
  offerLine_->addLayout(answers);
  const auto interrupted = [this] {
    std::vector<std::int64_t> runs;
    const QueueView& queue = workbench_.queue().view();
    for (const std::int64_t run : queue.resumable) {
      if (queue.rows.at(run).state == store::RunState::Interrupted) runs.push_back(run);
    }
    std::sort(runs.begin(), runs.end());  // in the order in which they were stored
    return runs;
  };
  connect(resume, &QPushButton::clicked, this,
          [this, interrupted] { resumeRuns(interrupted(), jobs::QueueEnd::Front); });
  connect(decline, &QPushButton::clicked, this, [this] {
    std::string last;
    for (const auto& [id, row] : workbench_.queue().view().rows) {
      if (row.state == store::RunState::Interrupted) last = std::max(last, row.finishedAt);
    }
    storeSetting(declinedKey(workbench_), QString::fromStdString(last));
    offer_->setProperty("declined", QString::fromStdString(last));
    showOffer();
  });
  offer_->hide();
  return offer_;
}

void QueuePage::showQueue() {
  isStale_ = false;
  const QueueView& queue = workbench_.queue().view();
  const int scroll = view_->verticalScrollBar()->value();
  const QModelIndex at = view_->currentIndex();
  const bool isRun = at.parent().isValid();
  const int section = isRun ? at.parent().row() : at.row(), place = isRun ? at.row() : -1;
  const QVariant kind = at.data(QueueModel::SectionRole);
  const bool isInSight = view_->viewport()->rect().intersects(view_->visualRect(at));
  isApplying_ = true;
  model_.show(queue);
  isApplying_ = false;
  if (std::exchange(isReset_, false)) {
    view_->expandAll();
    for (int row = 0; row < model_.rowCount({}); ++row) view_->setFirstColumnSpanned(row, {}, true);
    showSelection();
    keepOutline(section, place);
    view_->verticalScrollBar()->setValue(scroll);
    // A run that was moved is followed; one that has ended is not.
    if (const QModelIndex now = view_->currentIndex();
        isInSight && now.data(QueueModel::SectionRole) == kind)
      view_->scrollTo(now);
  }
  stack_->setCurrentIndex(model_.rowCount({}) == 0 ? 1 : 0);

  const auto running = static_cast<std::int64_t>(queue.running.size());
  const auto waiting = static_cast<std::int64_t>(queue.waiting().size());
  QStringList parts;
  if (queue.mode == store::QueueMode::Paused) parts << tr("The queue is paused");
  if (queue.mode == store::QueueMode::AfterCurrent)
    parts << tr("The queue pauses after the runs in progress");
  parts << (running == 0 ? tr("nothing in progress") : tr("%1 in progress").arg(count(running)));
  parts << (waiting == 0 ? tr("nothing waiting") : tr("%1 waiting").arg(count(waiting)));
  if (const QString left = leftText(queue); !left.isEmpty()) parts << left;
  QString text = parts.join(QStringLiteral(" \u00b7 "));
  text[0] = text[0].toUpper();
  headline_->setText(text);
  sayIn(*error_, queue.error);
  showOffer();
  showDevices();
  updateActions();
}

void QueuePage::showOffer() {
  const QueueView& queue = workbench_.queue().view();
  // What this window declined holds even where settings are not stored.
  const QString declined = std::max(setting(declinedKey(workbench_), QString()).toString(),
                                    offer_->property("declined").toString());
  std::vector<std::int64_t> runs;
  bool isNews = false;
  for (const std::int64_t run : queue.resumable) {
    const store::RunRow& row = queue.rows.at(run);
    if (row.state != store::RunState::Interrupted) continue;
    runs.push_back(run);
    isNews = isNews || QString::fromStdString(row.finishedAt) > declined;
  }
  offer_->setVisible(isNews);
  if (!isNews) return;
  const store::RunRow& row = queue.rows.at(runs.front());
  QString text;
  if (runs.size() == 1) {
    text = tr("Run %1, %2, was interrupted").arg(row.id).arg(QString::fromStdString(row.name));
    if (!row.reason.empty()) text += QStringLiteral(": ") + QString::fromStdString(row.reason);
    text += QStringLiteral(". ");
    text += row.latestCheckpoint >= 0
                ? tr("It can continue from step %1.").arg(count(row.latestCheckpoint))
                : tr("It has no checkpoint and would restart at step 0.");
  } else {
    text = tr("%1 runs were interrupted. They can continue from their newest checkpoints.")
               .arg(count(static_cast<std::int64_t>(runs.size())));
  }
  offerText_->setText(text);
}

void QueuePage::showDevices() {
  const QueueView& queue = workbench_.queue().view();
  std::vector<QStringList> runs;
  for (const jobs::DeviceLoad& load : devices_.loads()) {
    QStringList names;
    for (const std::int64_t id : queue.running) {
      const store::RunRow& row = queue.rows.at(id);
      const bool isHere =
          row.device == load.name || (row.device == "cuda" && load.name == "cuda:0");
      if (isHere) names << QString::fromStdString(row.name);
    }
    runs.push_back(names);
  }
  panel_->show(devices_.loads(), runs);
  panel_->setVisible(!devices_.loads().empty());
}

std::vector<std::int64_t> QueuePage::selected(std::optional<QueueModel::Section> section) const {
  std::vector<std::int64_t> runs;
  for (int group = 0; group < model_.rowCount({}); ++group) {
    const QModelIndex parent = model_.index(group, 0, {});
    if (section && parent.data(QueueModel::SectionRole).toInt() != static_cast<int>(*section))
      continue;
    for (int row = 0; row < model_.rowCount(parent); ++row) {
      const QModelIndex at = model_.index(row, 0, parent);
      if (view_->selectionModel()->isSelected(at))
        runs.push_back(at.data(QueueModel::IdRole).toLongLong());
    }
  }
  return runs;
}

void QueuePage::readSelection() {
  const std::vector<std::int64_t> runs = selected();
  if (runs.empty()) return;  // a section was clicked: the other pages keep what they show
  std::int64_t current =
      view_->currentIndex().siblingAtColumn(0).data(QueueModel::IdRole).toLongLong();
  if (std::find(runs.begin(), runs.end(), current) == runs.end()) current = runs.front();
  chosen_ = runs;
  isApplying_ = true;
  // One run is looked at: a comparison of several stays.
  if (runs.size() > 1)
    workbench_.selection().setRuns(runs, current);
  else
    workbench_.selection().look(current);
  isApplying_ = false;
  updateActions();
}

void QueuePage::showSelection() {
  QItemSelection wanted;
  for (const std::int64_t run : chosen_) {
    const QModelIndex at = model_.indexOf(run);
    if (at.isValid()) wanted.select(at, at.siblingAtColumn(QueueModel::ColumnCount - 1));
  }
  isApplying_ = true;
  view_->selectionModel()->select(wanted, QItemSelectionModel::ClearAndSelect);
  const QModelIndex current = model_.indexOf(workbench_.selection().current());
  if (current.isValid() && view_->currentIndex().siblingAtColumn(0) != current)
    view_->selectionModel()->setCurrentIndex(current, QItemSelectionModel::NoUpdate);
  isApplying_ = false;
}

void QueuePage::keepOutline(int section, int place) {
  const int sections = model_.rowCount({});
  if (section < 0 || sections == 0 || view_->currentIndex().isValid()) return;
  const QModelIndex parent = model_.index(std::min(section, sections - 1), 0, {});
  const QModelIndex run = model_.index(std::min(place, model_.rowCount(parent) - 1), 0, parent);
  isApplying_ = true;
  view_->selectionModel()->setCurrentIndex(run.isValid() ? run : parent,
                                           QItemSelectionModel::NoUpdate);
  isApplying_ = false;
}

void QueuePage::setColumns() {
  QHeaderView* header = view_->header();
  header->setMinimumSectionSize(px(90));
  // Titles stand over what the delegate draws: sections begin and columns end 12 px inside.
  header->setStyleSheet(QStringLiteral("QHeaderView::section { padding-left: %1px; padding-right: "
                                       "%2px; } QHeaderView::section:first { padding-left: %2px; }")
                            .arg(px(8))
                            .arg(px(12)));
  // Neither "88 min 88 s left" nor the title is cut.
  const QFontMetrics metrics(bodyFont());
  const QString title =
      model_.headerData(QueueModel::TimeColumn, Qt::Horizontal, Qt::DisplayRole).toString();
  const int time = std::max(metrics.horizontalAdvance(tr("%1 left").arg(duration(5328))),
                            metrics.horizontalAdvance(title));
  const std::pair<int, int> widths[] = {{QueueModel::DeviceColumn, px(90)},
                                        {QueueModel::LimitColumn, px(90)},
                                        {QueueModel::TimeColumn, time + px(24)}};
  for (const auto& [column, width] : widths) {
    header->setSectionResizeMode(column, QHeaderView::Fixed);
    header->resizeSection(column, width);
  }
  // These share the rest.
  for (const int column : {QueueModel::RunColumn, QueueModel::StateColumn})
    header->setSectionResizeMode(column, QHeaderView::Stretch);
}

void QueuePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (isStale_) showQueue();
  devices_.start(kDeviceMs);
}

void QueuePage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  // The answers stand below the sentence where it would have a few letters a line next to them.
  offerLine_->setDirection(width() < px(460) ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

void QueuePage::hideEvent(QHideEvent* event) {
  Page::hideEvent(event);
  devices_.stop();
}

QString QueuePage::howToRead() const {
  return tr(
      "Runs start in the order of the list, each as a process of its own that keeps running if "
      "you close this window. Drag a waiting run, or move it with Up and Down. Queue first "
      "starts it next.\n\n"
      "Pause run writes a checkpoint and frees the device; Resume continues from it. A run "
      "whose process ended is interrupted and can be resumed too. A time limit counts the "
      "running time over all starts.\n\n"
      "Below are the devices of this machine with load, memory and temperature, and the runs "
      "that they compute.");
}

void QueuePage::waitUntilIdle() {
  workbench_.queue().waitUntilIdle();
  devices_.waitUntilIdle();
  showQueue();
  layout()->activate();
}

}  // namespace vitrine::ui
