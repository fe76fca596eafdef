#include "ui/runs/runs_panel.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QShortcut>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/maintenance/trash.h"
#include "core/store/metrics/metric_titles.h"
#include "ui/kit/destructive_question.h"
#include "ui/kit/icons.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/runs/runs_delegate.h"

namespace vitrine::ui {

RunsFilter::RunsFilter(store::RunReader& store, QObject* parent) : QSortFilterProxyModel(parent) {
  setRecursiveFilteringEnabled(true);
  lookup_.config = [this, &store](std::int64_t id) {
    const auto found = configs_.find(id);
    return found != configs_.end() ? found->second
                                   : configs_.emplace(id, store.config(id)).first->second;
  };
  lookup_.tags = [&store](std::int64_t id) { return store.tags(id); };
  lookup_.note = [&store](std::int64_t id) { return store.note(id); };
  lookup_.metric = [this, &store](std::int64_t id,
                                  const std::string& name) -> std::optional<double> {
    auto known = values_.find(name);
    if (known == values_.end()) {
      known = values_.emplace(name, std::map<std::int64_t, double>()).first;
      for (const auto& [run, value] : store.lastValues(name)) known->second[run] = value;
    }
    const auto found = known->second.find(id);
    return found == known->second.end() ? std::nullopt : std::optional<double>(found->second);
  };
}

void RunsFilter::setQuery(const QString& text) {
  query_ = RunQuery(text);
  values_.clear();
  invalidateFilter();
}

void RunsFilter::lookAgain() {
  if (!query_.asksMetrics()) return;
  values_.clear();
  invalidateFilter();
}

int RunsFilter::runCount() const {
  int runs = 0;
  for (int group = 0; group < rowCount(); ++group) runs += rowCount(index(group, 0));
  return runs;
}

QVariant RunsFilter::data(const QModelIndex& index, int role) const {
  if (role == RunsModel::CountRole && index.isValid() && !index.parent().isValid())
    return rowCount(index);
  return QSortFilterProxyModel::data(index, role);
}

bool RunsFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  if (query_.isEmpty()) return true;
  const auto* model = static_cast<const RunsModel*>(sourceModel());
  const store::RunRow* run = model->run(model->index(row, 0, parent));
  return run != nullptr && query_.matches(*run, lookup_);
}

RunsPanel::RunsPanel(StudioWorkbench& workbench, QWidget* parent)
    : QWidget(parent), workbench_(workbench), edits_(workbench, this) {
  setProperty("role", "panel");
  setAttribute(Qt::WA_StyledBackground);
  proxy_ = new RunsFilter(workbench.store(), this);
  proxy_->setSourceModel(&model_);

  filter_ = new QLineEdit;
  filter_->setPlaceholderText(tr("Filter: name, tag:, state=, width>64"));
  filter_->setAccessibleName(tr("Filter runs"));
  filter_->setToolTip(
      tr("Words and conditions, all of which must hold:\nsoft mask\n\"soft mask\"\nstate=running\n"
         "tag:best\nnote:diverged\nwidth=64\nlearning_rate>=1e-3\ntest/top1 > 0.5"));
  filter_->installEventFilter(this);
  // With the first word: its picture is looked for in all icon themes, which takes a while.
  connect(filter_, &QLineEdit::textChanged, filter_, [this](const QString& text) {
    if (!text.isEmpty()) filter_->setClearButtonEnabled(true);
  });

  view_ = new QTreeView;
  view_->setObjectName(QStringLiteral("runs"));
  view_->setAccessibleName(tr("Runs by experiment"));
  view_->setProperty("role", "list");
  view_->setModel(proxy_);
  view_->setItemDelegate(new RunsDelegate(view_));
  view_->setHeaderHidden(true);
  view_->setIndentation(0);
  view_->setRootIsDecorated(false);
  view_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  view_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  view_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  view_->setContextMenuPolicy(Qt::CustomContextMenu);
  view_->setMouseTracking(true);
  view_->setExpandsOnDoubleClick(false);
  view_->setFrameShape(QFrame::NoFrame);

  auto* empty = new QWidget;
  auto* emptyLayout = new QVBoxLayout(empty);
  emptyLayout->setContentsMargins(px(12), px(12), px(12), px(12));
  emptyLayout->setSpacing(px(12));
  emptyText_ = new WordLabel(QString());
  emptyText_->setProperty("role", "muted");
  create_ = new QPushButton(tr("New experiment"));
  create_->setAccessibleName(tr("New experiment"));
  connect(create_, &QPushButton::clicked, this,
          [this] { workbench_.showPage(QStringLiteral("configure")); });
  clear_ = new QPushButton(tr("Clear filter"));
  clear_->setAccessibleName(tr("Clear filter"));
  connect(clear_, &QPushButton::clicked, this, [this] {
    filter_->clear();
    filter_->setFocus();
  });
  emptyLayout->addWidget(emptyText_);
  emptyLayout->addWidget(create_, 0, Qt::AlignLeft);
  emptyLayout->addWidget(clear_, 0, Qt::AlignLeft);
  emptyLayout->addStretch();

  stack_ = new QStackedWidget;
  stack_->addWidget(view_);
  stack_->addWidget(empty);

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  auto* top = new QWidget;
  auto* topLayout = new QVBoxLayout(top);
  topLayout->setContentsMargins(px(12), px(8), px(12), px(8));
  topLayout->addWidget(filter_);
  layout->addWidget(top);
  layout->addWidget(stack_, 1);

  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    isApplying_ = true;
    try {
      proxy_->setQuery(text);
    } catch (const Error& error) {
      workbench_.showError(QString::fromUtf8(error.what()));
    }
    view_->expandAll();
    isApplying_ = false;
    showSelection();
    fillHeader();
  });
  connect(proxy_, &QAbstractItemModel::rowsInserted, this,
          [this](const QModelIndex& parentIndex, int first, int last) {
            if (parentIndex.isValid()) return view_->expand(parentIndex);
            for (int row = first; row <= last; ++row) view_->expand(proxy_->index(row, 0));
          });
  connect(view_, &QTreeView::clicked, this, [this](const QModelIndex& index) {
    if (!index.parent().isValid()) view_->setExpanded(index, !view_->isExpanded(index));
  });
  connect(view_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    if (!isApplying_) readSelection();
  });
  connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this] {
    if (!isApplying_) readSelection();
  });
  connect(view_, &QWidget::customContextMenuRequested, this, &RunsPanel::showMenu);
  connect(&model_, &RunsModel::renamed, &edits_, &RunEdits::rename);
  auto* remove = new QShortcut(QKeySequence::Delete, view_);
  remove->setContext(Qt::WidgetShortcut);
  connect(remove, &QShortcut::activated, this, &RunsPanel::askDelete);
  connect(&workbench.selection(), &Selection::runsChanged, this, [this] {
    hasChosen_ = true;
    showSelection();
    fillHeader();
  });
  connect(&workbench, &StudioWorkbench::runsChanged, this,
          [this](const std::vector<store::RunRow>& rows) {
            model_.upsert(rows);
            chooseFirst();
            fillHeader();
            if (!scores_.isActive()) scores_.start();
          });
  connect(&workbench, &StudioWorkbench::runsRemoved, this,
          [this](const std::vector<std::int64_t>& ids) {
            model_.remove(ids);
            fillHeader();
          });
  connect(&workbench.watcher(), &store::RunWatcher::dataChanged, this, [this] {
    if (!scores_.isActive()) scores_.start();
  });
  connect(&workbench, &Workbench::catalogReady, this, &RunsPanel::readScores);
  connect(&workbench, &Workbench::themeChanged, this, [this] {
    view_->doItemsLayout();
    view_->viewport()->update();
  });
  scores_.setSingleShot(true);
  scores_.setInterval(100);
  connect(&scores_, &QTimer::timeout, this, &RunsPanel::readScores);

  std::vector<store::RunRow> known;
  for (const auto& [id, row] : workbench.runs()) known.push_back(row);
  model_.upsert(known);
  readScores();
  chooseFirst();
  fillHeader();
}

QString RunsPanel::summary() const {
  const auto selected = static_cast<std::int64_t>(workbench_.selection().runs().size());
  const bool isFiltered = !filter_->text().trimmed().isEmpty();
  QString text = isFiltered ? tr("%1 of %2").arg(count(proxy_->runCount()), count(model_.runCount()))
                            : count(model_.runCount());
  if (selected > 0) text += tr(" \u00b7 %1 selected").arg(count(selected));
  return text;
}

void RunsPanel::fillHeader() {
  const bool isFiltered = !filter_->text().trimmed().isEmpty();
  const bool isEmpty = proxy_->rowCount() == 0;
  if (isEmpty) {
    emptyText_->setText(
        isFiltered
            ? tr("None of %1 matches \u201c%2\u201d.")
                  .arg(counted(model_.runCount(), tr("run"), tr("runs")), filter_->text().trimmed())
            : tr("Runs appear here, by experiment, as soon as one is stored: from this window "
                 "or from a terminal with vitrine train."));
    create_->setVisible(!isFiltered);
    clear_->setVisible(isFiltered);
  }
  stack_->setCurrentIndex(isEmpty ? 1 : 0);
  Q_EMIT summaryChanged(summary());
}

void RunsPanel::select(const std::vector<std::int64_t>& ids, std::int64_t current) {
  workbench_.selection().setRuns(ids, current);
}

void RunsPanel::showSelection() {
  if (isApplying_) return;
  isApplying_ = true;
  const Selection& selection = workbench_.selection();
  QItemSelection wanted;
  for (const std::int64_t id : selection.runs()) {
    const QModelIndex at = proxy_->mapFromSource(model_.indexOf(id));
    if (at.isValid()) wanted.select(at, at);
  }
  QItemSelectionModel* model = view_->selectionModel();
  model->select(wanted, QItemSelectionModel::ClearAndSelect);
  const QModelIndex current = proxy_->mapFromSource(model_.indexOf(selection.current()));
  if (current.isValid() && model->currentIndex() != current) {
    model->setCurrentIndex(current, QItemSelectionModel::NoUpdate);
    view_->scrollTo(current);
  }
  isApplying_ = false;
}

void RunsPanel::readSelection() {
  std::vector<std::int64_t> ids;
  for (int group = 0; group < proxy_->rowCount(); ++group) {
    const QModelIndex parent = proxy_->index(group, 0);
    for (int row = 0; row < proxy_->rowCount(parent); ++row) {
      const QModelIndex at = proxy_->index(row, 0, parent);
      if (view_->selectionModel()->isSelected(at))
        ids.push_back(at.data(RunsModel::IdRole).toLongLong());
    }
  }
  std::int64_t current = view_->currentIndex().data(RunsModel::IdRole).toLongLong();
  if (std::find(ids.begin(), ids.end(), current) == ids.end())
    current = ids.empty() ? 0 : ids.front();
  isApplying_ = true;  // the view shows it already
  workbench_.selection().setRuns(ids, current);
  isApplying_ = false;
  fillHeader();
}

bool RunsPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched == filter_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Down || key == Qt::Key_PageDown) {
      enterList();
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

/// The list has the keys, at the current run where it is shown, else at the first one. What is
/// selected stays.
void RunsPanel::enterList() {
  if (proxy_->runCount() == 0) return;
  const QModelIndex known = view_->currentIndex();
  if (!known.isValid() || !known.parent().isValid()) {
    isApplying_ = true;
    view_->selectionModel()->setCurrentIndex(proxy_->index(0, 0, proxy_->index(0, 0)),
                                             QItemSelectionModel::NoUpdate);
    isApplying_ = false;
  }
  view_->setFocus(Qt::TabFocusReason);
  view_->scrollTo(view_->currentIndex());
}

void RunsPanel::readScores() {
  proxy_->lookAgain();
  try {
    store::RunReader& store = workbench_.store();
    if (workbench_.runs().empty()) return model_.setScores({});  // nothing is asked for nothing
    if (kinds_.empty()) kinds_ = metricKinds(store);
    std::map<std::int64_t, RunsModel::Score> scores;
    for (const auto& [id, score] : scoreReader_.read(store, workbench_.cards())) {
      const store::MetricKind kind = store::kindOf(kinds_, score.metric);
      const bool isFraction = kind.unit == "fraction";
      scores[id] = {
          isFraction ? number(score.value, 3) : QString::fromStdString(formatReal(score.value, 4)),
          QString::fromStdString(store::metricTitle(score.metric, kind.title).title)};
    }
    model_.setScores(scores);
  } catch (const Error& error) {
    workbench_.showError(QString::fromUtf8(error.what()));
  }
}

// The first sight of a database: what is running, else the started runs of the newest experiment.
void RunsPanel::chooseFirst() {
  if (hasChosen_ || workbench_.runs().empty()) return;
  hasChosen_ = true;
  constexpr std::size_t kMost = 6;
  std::vector<std::int64_t> ids;
  for (const auto& [id, row] : workbench_.runs()) {
    if (isAlive(row.state) && ids.size() < kMost) ids.push_back(id);
  }
  std::int64_t newest = 0;
  for (const auto& [id, row] : workbench_.runs()) {
    if (row.step > 0) newest = std::max(newest, row.experimentId);
  }
  if (!ids.empty()) newest = workbench_.run(ids.front())->experimentId;
  for (const auto& [id, row] : workbench_.runs()) {
    const bool isThere = std::find(ids.begin(), ids.end(), id) != ids.end();
    if (row.experimentId == newest && row.step > 0 && !isThere && ids.size() < kMost)
      ids.push_back(id);
  }
  if (ids.empty()) ids.push_back(workbench_.runs().rbegin()->first);
  const std::int64_t current = ids.front();
  std::sort(ids.begin(), ids.end());
  workbench_.selection().setRuns(ids, current);
}

void RunsPanel::showMenu(const QPoint& place) {
  if (view_->indexAt(place).data(RunsModel::IdRole).toLongLong() == 0) return;
  QMenu menu(this);
  fillMenu(menu);
  if (!menu.isEmpty()) menu.exec(view_->viewport()->mapToGlobal(place));
}

void RunsPanel::fillMenu(QMenu& menu) {
  const std::vector<std::int64_t> ids = workbench_.selection().runs();
  if (ids.empty()) return;
  const auto any = [this, &ids](bool (*test)(const store::RunRow&)) {
    return std::any_of(ids.begin(), ids.end(), [this, test](std::int64_t id) {
      const store::RunRow* row = workbench_.run(id);
      return row != nullptr && test(*row);
    });
  };
  const auto add = [this, &menu](const QIcon& picture, const QString& text, const auto& act) {
    QAction* made = menu.addAction(picture, text);
    connect(made, &QAction::triggered, this, act);
    return made;
  };
  add(icon(Icon::Play), tr("&Start or resume"), [this, ids] {
    workbench_.startRuns(ids);
  })->setEnabled(any(&StudioWorkbench::canStart));
  add(icon(Icon::Stop), tr("S&top"), [this, ids] {
    workbench_.stopRuns(ids);
  })->setEnabled(any(&StudioWorkbench::canStop));
  menu.addSeparator();
  add(icon(Icon::Plus), tr("New &from this run"),
      [this] { workbench_.newFromRun(workbench_.selection().current()); });
  menu.addSeparator();
  QAction* name = add({}, tr("&Rename"), [this] { rename(); });
  name->setShortcut(Qt::Key_F2);
  name->setEnabled(ids.size() == 1);
  add({}, tr("Ta&gs\u2026"), [this] { askTags(); });
  add({}, ids.size() == 1 ? tr("N&ote\u2026") : tr("Add to the n&otes\u2026"),
      [this] { askNote(); });
  menu.addSeparator();
  add(icon(Icon::Copy), ids.size() == 1 ? tr("Copy &id") : tr("Copy &ids"), [ids] {
    QStringList texts;
    for (const std::int64_t id : ids) texts << QString::number(id);
    QGuiApplication::clipboard()->setText(texts.join(QLatin1Char(' ')));
  });
  add(icon(Icon::Copy), ids.size() == 1 ? tr("Copy &name") : tr("Copy &names"), [this, ids] {
    QStringList texts;
    for (const std::int64_t id : ids) {
      const store::RunRow* row = workbench_.run(id);
      if (row != nullptr) texts << QString::fromStdString(row->name);
    }
    QGuiApplication::clipboard()->setText(texts.join(QLatin1Char('\n')));
  });
  menu.addSeparator();
  QAction* remove =
      add(icon(Icon::Trash, IconTint::Bad), tr("&Delete\u2026"), [this] { askDelete(); });
  remove->setShortcut(QKeySequence::Delete);
  remove->setEnabled(any(&StudioWorkbench::canDelete));
}

void RunsPanel::rename() {
  const std::int64_t run = workbench_.selection().current();
  if (run == 0) return workbench_.showMessage(tr("Select a run to rename it."));
  const QModelIndex at = proxy_->mapFromSource(model_.indexOf(run));
  if (!at.isValid())
    return workbench_.showMessage(
        tr("Run %1 is hidden by the filter: clear the filter to rename the run.").arg(run));
  if (view_->isPersistentEditorOpen(at)) return;  // F2 again: the line is open
  view_->scrollTo(at);
  view_->edit(at);
}

void RunsPanel::askTags() { edits_.askTags(workbench_.selection().runs()); }
void RunsPanel::askNote() { edits_.askNote(workbench_.selection().runs()); }

void RunsPanel::askDelete() {
  std::vector<std::int64_t> ended;
  for (const std::int64_t id : workbench_.selection().runs()) {
    const store::RunRow* row = workbench_.run(id);
    if (row != nullptr && StudioWorkbench::canDelete(*row)) ended.push_back(id);
  }
  if (ended.empty()) return;
  constexpr std::size_t kMostNames = 10;
  const auto runs = static_cast<std::int64_t>(ended.size());
  QStringList names;
  for (const std::int64_t id : ended) {
    if (static_cast<std::size_t>(names.size()) == kMostNames) {
      names << tr("and %1 more").arg(ended.size() - kMostNames);
      break;
    }
    const store::RunRow* row = workbench_.run(id);
    names << tr("%1  %2, %3")
                 .arg(id)
                 .arg(QString::fromStdString(row->name),
                      QString::fromStdString(toString(row->state)));
  }
  const QString stays = runs == 1 ? tr("It stays in the trash for %1 days: Run, Deleted runs.")
                                  : tr("They stay in the trash for %1 days: Run, Deleted runs.");
  const bool isSure =
      isConfirmed(this, tr("Delete runs"),
                  tr("Delete %1 with curves, artifacts and checkpoints?")
                      .arg(runs == 1 ? tr("this run") : tr("these %1 runs").arg(runs)),
                  tr("Delete"),
                  names.join(QLatin1Char('\n')) + QStringLiteral("\n\n") +
                      stays.arg(store::kTrashTime.count()));
  if (isSure) workbench_.deleteRuns(ended);
}

}  // namespace vitrine::ui
