#include "ui/runs/runs_panel.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <algorithm>
#include <utility>

#include "core/store/metrics/metric_format.h"
#include "core/store/metrics/metric_titles.h"
#include "core/store/run_facts.h"
#include "ui/kit/icons.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/runs/run_differences.h"
#include "ui/runs/runs_delegate.h"

namespace vitrine::ui {

RunsPanel::RunsPanel(StudioWorkbench& workbench, QWidget* parent)
    : QWidget(parent),
      workbench_(workbench),
      edits_(workbench, this),
      memory_(workbench.store()),
      colours_(workbench, this),
      disk_(workbench.store().file()) {
  paintAs(this, "panel");
  marks_ = new RunMarkActions(workbench, edits_, model_, this);
  proxy_ = new RunsFilter(workbench.store(), this);
  proxy_->setSourceModel(&model_);
  showArchived_ = new QAction(tr("Show archiv&ed runs"), this);
  showArchived_->setCheckable(true);
  connect(showArchived_, &QAction::toggled, this, &RunsPanel::showArchived);

  filter_ = new QLineEdit;
  filter_->setPlaceholderText(tr("Filter runs"));
  filter_->setAccessibleName(tr("Filter runs"));
  filter_->setToolTip(
      tr("Words and conditions; all must match:\nsoft mask\n\"soft mask\"\nstate=running\n"
         "created>=2026-11-20\ncreated=today\ntag:best\nnote:diverged\nis:archived\nwidth=64\n"
         "learning_rate>=1e-3\ntest/top1 > 80 %"));
  filter_->installEventFilter(this);
  // With the first word: its picture is looked for in all icon themes, which takes a while.
  connect(filter_, &QLineEdit::textChanged, filter_, [this](const QString& text) {
    if (!text.isEmpty()) filter_->setClearButtonEnabled(true);
  });

  view_ = new RunsView;
  view_->setObjectName(QStringLiteral("runs"));
  view_->setAccessibleName(tr("Runs by experiment"));
  view_->setProperty("role", "list");
  view_->setModel(proxy_);
  delegate_ = new RunsDelegate(view_);
  view_->setItemDelegate(delegate_);
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
  auto* emptyLayout = columnIn(empty, {px(12), px(12), px(12), px(12)}, px(12));
  emptyText_ = withRole(new WordLabel(QString()), "muted");
  create_ = withName(new QPushButton(tr("New experiment")), tr("New experiment"));
  connect(create_, &QPushButton::clicked, this,
          [this] { workbench_.showPage(QStringLiteral("configure")); });
  clear_ = withName(new QPushButton(tr("Clear filter")), tr("Clear filter"));
  connect(clear_, &QPushButton::clicked, this, [this] {
    filter_->clear();
    filter_->setFocus();
  });
  unhide_ = withName(new QPushButton(tr("Show archived runs")), tr("Show archived runs"));
  connect(unhide_, &QPushButton::clicked, showArchived_, &QAction::toggle);
  emptyLayout->addWidget(emptyText_);
  emptyLayout->addWidget(create_, 0, Qt::AlignLeft);
  emptyLayout->addWidget(clear_, 0, Qt::AlignLeft);
  emptyLayout->addWidget(unhide_, 0, Qt::AlignLeft);
  emptyLayout->addStretch();

  stack_ = new QStackedWidget;
  stack_->addWidget(view_);
  stack_->addWidget(empty);

  auto* layout = columnIn(this, {}, 0);
  auto* top = new QWidget;
  auto* topLayout = rowIn(top, {px(12), px(8), px(8), px(8)}, px(4));
  saved_ = new FilterButton(*filter_);
  connect(saved_, &FilterButton::messageSent, &workbench_, &StudioWorkbench::showMessage);
  topLayout->addWidget(filter_, 1);
  topLayout->addWidget(saved_);
  makeTable();
  topLayout->addWidget(tableBar_);
  layout->addWidget(top);
  layout->addWidget(stack_, 1);

  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    isApplying_ = true;
    proxy_->setQuery(text);
    view_->expandAll();
    if (!isFiltered())
      for (int row = 0; row < proxy_->rowCount(); ++row) openExperiment(proxy_->index(row, 0));
    isApplying_ = false;
    table_->widen();
    showSelection();
    fillHeader();
  });
  connect(proxy_, &QAbstractItemModel::rowsInserted, this,
          [this](const QModelIndex& parentIndex, int first, int last) {
            if (parentIndex.isValid()) {
              if (!isKeptClosed(parentIndex)) view_->expand(parentIndex);
              return;
            }
            for (int row = first; row <= last; ++row) openExperiment(proxy_->index(row, 0));
          });
  connect(view_, &QTreeView::collapsed, this,
          [this](const QModelIndex& at) { keepClosed(at, true); });
  connect(view_, &QTreeView::expanded, this,
          [this](const QModelIndex& at) { keepClosed(at, false); });
  connect(view_, &QTreeView::clicked, this, [this](const QModelIndex& index) {
    const QModelIndex row = index.siblingAtColumn(0);
    if (!index.parent().isValid()) view_->setExpanded(row, !view_->isExpanded(row));
  });
  // A click changes the current run, then the selection: both are read once.
  const auto onChange = [this] {
    if (isApplying_) return;
    if (view_->isHandlingInput())
      isReadingDue_ = true;
    else
      readSelection();
  };
  connect(view_->selectionModel(), &QItemSelectionModel::selectionChanged, this, onChange);
  connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this, onChange);
  connect(view_, &RunsView::inputHandled, this, [this] {
    if (std::exchange(isReadingDue_, false)) readSelection();
  });
  connect(view_, &RunsView::eyeClicked, this,
          [this](const QModelIndex& at) { clickEye(at.data(RunsModel::IdRole).toLongLong()); });
  connect(view_, &QTreeView::doubleClicked, this, [this](const QModelIndex& at) {
    const std::int64_t run = at.data(RunsModel::IdRole).toLongLong();
    if (run != 0) select({run}, run);
  });
  connect(view_, &RunsView::returnPressed, this, [this] {
    // Not the current run where the filter hides it: the outline is elsewhere then.
    const std::int64_t run = view_->currentIndex().data(RunsModel::IdRole).toLongLong();
    if (run == 0) return selectOnlyCurrent();
    select({run}, run);
  });
  connect(view_, &QWidget::customContextMenuRequested, this, &RunsPanel::showMenu);
  // Once the line is gone and the list has the keys again: the filter may take its row.
  connect(&model_, &RunsModel::renamed, &edits_, &RunEdits::rename, Qt::QueuedConnection);
  actions_ = new RunActions(workbench_, *this);
  connect(&workbench.selection(), &Selection::runsChanged, this, [this] {
    hasChosen_ = true;
    memory_.keep(workbench_.selection());
    view_->setComparing(workbench_.selection().runs().size() > 1);
    model_.setHidden(workbench_.selection().hidden());
    showSelection();
    fillHeader();
    explainOutline(false);
  });
  connect(&workbench, &StudioWorkbench::runsChanged, this,
          [this](const std::vector<store::RunRow>& rows) {
            for (const store::RunRow& row : rows) {
              const store::RunRow* known = model_.run(model_.indexOf(row.id));
              areNamesNew_ = areNamesNew_ || known == nullptr || known->name != row.name;
            }
            model_.upsert(rows);
            chooseFirst();
            fillHeader();
            if (!scores_.isActive()) scores_.start();
          });
  connect(&workbench, &StudioWorkbench::runsRemoved, this,
          [this](const std::vector<std::int64_t>& ids) {
            const int group = outlinedGroup();
            model_.remove(ids);
            keepOutline(group);
            proxy_->configs().forget(ids);
            fillHeader();
          });
  connect(&workbench.watcher(), &store::RunWatcher::dataChanged, this, [this] {
    if (!scores_.isActive()) scores_.start();
  });
  connect(&workbench, &StudioWorkbench::cardsSettled, this, &RunsPanel::readScores);
  connect(&workbench, &Workbench::themeChanged, this, [this] {
    view_->doItemsLayout();
    view_->viewport()->update();
  });
  connect(&disk_, &Background::failed, this, [this](const QString& reason) {
    workbench_.showError(tr("The size of the checkpoints cannot be read: %1").arg(reason));
  });
  connect(&pruning_, &HeadlessQuestion::finished, this, &RunsPanel::pruned);
  connect(&pruning_, &HeadlessQuestion::failed, this, [this](const QString& reason) {
    workbench_.showError(tr("The checkpoints were not deleted: %1").arg(reason));
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
  const QString runs = counted(proxy_->allCount(), tr("run"), tr("runs"));
  QString text = isFiltered() ? tr("%1 of %2").arg(count(proxy_->runCount()), runs) : runs;
  if (selected > 0) text += tr(", %1 selected").arg(count(selected));
  if (const auto hidden = static_cast<std::int64_t>(workbench_.selection().hidden().size());
      hidden > 0)
    text += tr(", %1 hidden").arg(count(hidden));
  return text;
}

QString RunsPanel::noHitsText() const {
  const QString text =
      tr("None of %1 matches \u201c%2\u201d.")
          .arg(counted(proxy_->allCount(), tr("run"), tr("runs")), filter_->text().trimmed());
  if (const QStringList unfinished = proxy_->unfinished(); !unfinished.isEmpty()) {
    return text + QLatin1Char(' ') +
           tr("A number or word is missing after \u201c%1\u201d.").arg(unfinished.first());
  }
  QStringList unknown = proxy_->unknownKeys();
  if (unknown.isEmpty()) return text;
  for (QString& key : unknown) key = QStringLiteral("\u201c%1\u201d").arg(key);
  return text + QLatin1Char(' ') +
         tr("No run has a setting or metric %1.").arg(unknown.join(tr(" or ")));
}

void RunsPanel::fillHeader() {
  if (const QString error = proxy_->takeError(); !error.isEmpty())
    workbench_.showError(error);
  const bool isEmpty = proxy_->rowCount() == 0;
  if (isEmpty) {
    emptyText_->setText(
        isFiltered() ? noHitsText()
        : model_.runCount() > 0
            ? tr("All runs are archived.")
            : tr("Runs appear here, by experiment, as soon as one is stored: from this window "
                 "or from a terminal with vitrine train."));
    create_->setVisible(!isFiltered() && model_.runCount() == 0);
    clear_->setVisible(isFiltered());
    unhide_->setVisible(!isFiltered() && model_.runCount() > 0);
  }
  stack_->setCurrentIndex(isEmpty ? 1 : 0);
  tableSummary_->setText(summary());
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
  model->select(wanted, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  const QModelIndex current = proxy_->mapFromSource(model_.indexOf(selection.current()));
  if (current.isValid() && model->currentIndex().siblingAtColumn(0) != current) {
    model->setCurrentIndex(current, QItemSelectionModel::NoUpdate);
    view_->scrollTo(current);
  }
  isApplying_ = false;
}

void RunsPanel::readSelection() {
  const Selection& selection = workbench_.selection();
  const auto isIn = [](const std::vector<std::int64_t>& runs, std::int64_t run) {
    return std::find(runs.begin(), runs.end(), run) != runs.end();
  };
  // What the filter leaves out stays selected unless other runs were selected in its place.
  const bool keepsUnseen = !view_->isReplacing();
  std::vector<std::int64_t> ids;
  for (const std::int64_t id : model_.ids()) {
    const QModelIndex at = proxy_->mapFromSource(model_.indexOf(id));
    if (at.isValid() ? view_->selectionModel()->isSelected(at)
                     : keepsUnseen && isIn(selection.runs(), id))
      ids.push_back(id);
  }
  std::int64_t current = view_->currentIndex().data(RunsModel::IdRole).toLongLong();
  if (current == 0) current = selection.current();  // at the row of an experiment
  // A run is looked at next to several others; one that was just taken out of them is not.
  const bool isBeside =
      ids.size() > 1 && workbench_.run(current) != nullptr && !isIn(selection.runs(), current);
  if (!isIn(ids, current) && !isBeside)
    current = isIn(ids, selection.current()) ? selection.current() : ids.empty() ? 0 : ids.front();
  isApplying_ = true;  // the view shows it already
  workbench_.selection().setRuns(ids, current, selection.hidden());
  isApplying_ = false;
  fillHeader();
  explainOutline(true);
}

void RunsPanel::explainOutline(bool isChosenHere) {
  const Selection& selection = workbench_.selection();
  const std::vector<std::int64_t>& runs = selection.runs();
  const store::RunRow* outlined = workbench_.run(selection.current());
  const bool isBeside = outlined != nullptr && runs.size() > 1 &&
                        std::find(runs.begin(), runs.end(), outlined->id) == runs.end();
  view_->setBeside(isBeside ? outlined->id : 0);
  const QString sentence =
      isBeside ? tr("\u201c%1\u201d is outlined; the selected runs stay in the charts.")
                     .arg(QString::fromStdString(outlined->name))
               : QString();
  if (!explanation_.isEmpty()) {
    if (explanation_ != sentence) Q_EMIT workbench_.amended(explanation_, sentence);
    explanation_ = sentence;
  } else if (isBeside && isChosenHere && !std::exchange(isExplained_, true)) {
    explanation_ = sentence;
    Q_EMIT workbench_.offered(sentence, tr("Select only this run"),
                              [this] { selectOnlyCurrent(); });
  }
}

bool RunsPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched == filter_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Down || key == Qt::Key_PageDown) {
      enterList();
      return true;
    }
    if (key == Qt::Key_Escape && !filter_->text().isEmpty()) {
      filter_->clear();
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

int RunsPanel::outlinedGroup() const {
  const QModelIndex at = view_->currentIndex();
  return at.parent().isValid() ? at.parent().row() : at.row();
}

void RunsPanel::keepOutline(int group) {
  const int groups = proxy_->rowCount();
  if (group < 0 || groups == 0 || view_->currentIndex().isValid()) return;
  const QModelIndex next = proxy_->index(std::min(group, groups - 1), 0);
  isApplying_ = true;  // what is selected stays
  view_->selectionModel()->setCurrentIndex(
      view_->isExpanded(next) ? proxy_->index(0, 0, next) : next, QItemSelectionModel::NoUpdate);
  isApplying_ = false;
}

void RunsPanel::readScores() {
  proxy_->lookAgain();
  workbench_.attempt([&] {
    store::RunReader& store = workbench_.store();
    if (std::exchange(areNamesNew_, false)) {
      model_.setDifferences(
          runDifferences(workbench_.runs(), [this](const store::RunRow& run) -> const FlatConfig& {
            return proxy_->configs().of(run);
          }));
      colours_.refresh();
    }
    if (workbench_.runs().empty()) return model_.setScores({});  // nothing is asked for nothing
    readMarks();
    model_.setTags(store::tagsByRun(store));
    const store::MetricKinds kinds = metricKinds(store);
    std::map<std::int64_t, RunsModel::Score> scores;
    std::map<std::int64_t, std::string> metrics;
    const store::TaskCards& cards = workbench_.cards();
    // A guess before the cards come would be another metric than theirs.
    const bool isGuess = workbench_.areCardsComing();
    for (const auto& [id, score] : isGuess ? std::map<std::int64_t, store::RunScore>()
                                           : scoreReader_.read(store, cards)) {
      const store::MetricKind kind = store::kindOf(kinds, score.metric);
      metrics[id] = score.metric;
      scores[id] = {metricText(store::metricFormat(score.metric, kind), score.value),
                    QString::fromStdString(store::metricTitle(score.metric, kind.title).title)};
    }
    model_.setScores(scores);
    table_->setMainMetrics(std::move(metrics));
    table_->read();  // after the tags, which it shows
  });
}

/// Runs that were archived leave the selection with the list: charts do not draw what is not seen.
/// They come back with Undo, unless other runs were selected meanwhile.
void RunsPanel::readMarks() {
  std::map<std::int64_t, store::RunMarks> marks = store::marksByRun(workbench_.store());
  std::map<std::int64_t, std::int64_t> colours;
  std::set<std::int64_t> gone;
  const int group = outlinedGroup();
  for (const auto& [id, one] : marks) {
    if (one.colour > 0) colours[id] = one.colour;
    if (one.isArchived && !model_.marksOf(id).isArchived) gone.insert(id);
  }
  colours_.setOwn(std::move(colours));
  isApplying_ = true;  // rows that leave the view are not a choice of the user
  const bool isNew = model_.setMarks(std::move(marks));
  if (isNew) proxy_->marksChanged();
  isApplying_ = false;
  if (!isNew) return;
  marks_->refresh();
  Selection& selection = workbench_.selection();
  std::vector<std::int64_t> runs = selection.runs();
  std::erase_if(runs, [&](std::int64_t id) {
    return gone.contains(id) && !proxy_->mapFromSource(model_.indexOf(id)).isValid();
  });
  if (hasChosen_ && runs.size() < selection.runs().size()) {
    const std::int64_t current = selection.current();
    const bool stays =
        !gone.contains(current) || std::find(runs.begin(), runs.end(), current) != runs.end();
    // Runs that are archived together are seen one after the other.
    if (archived_.runs.empty() || archived_.left != selection.runs())
      archived_ = {{}, selection.runs(), {}, current, selection.hidden()};
    archived_.runs.insert(gone.begin(), gone.end());
    archived_.left = runs;
    selection.setRuns(runs,
                      stays          ? current
                      : runs.empty() ? 0
                                     : runs.front(),
                      selection.hidden());
  } else if (!archived_.runs.empty() &&
             std::none_of(archived_.runs.begin(), archived_.runs.end(),
                          [this](std::int64_t id) { return model_.marksOf(id).isArchived; })) {
    const BeforeArchive before = std::exchange(archived_, {});
    if (selection.runs() == before.left)
      selection.setRuns(before.selected, before.current, before.hidden);
  }
  showSelection();
  keepOutline(group);
  fillHeader();
}

void RunsPanel::showArchived(bool isOn) {
  isApplying_ = true;
  proxy_->setShowsArchived(isOn);
  isApplying_ = false;
  showSelection();
  fillHeader();
}

// The selection that the database had last. At the first sight of it: what is running, else the
// started runs of the newest experiment.
void RunsPanel::chooseFirst() {
  if (hasChosen_ || workbench_.runs().empty()) return;
  hasChosen_ = true;
  if (memory_.restore(workbench_)) return;
  constexpr std::size_t kMost = 6;
  const auto isArchived = [this](std::int64_t run) { return model_.marksOf(run).isArchived; };
  std::vector<std::int64_t> ids;
  for (const auto& [id, row] : workbench_.runs()) {
    if (isAlive(row.state) && !isArchived(id) && ids.size() < kMost) ids.push_back(id);
  }
  std::int64_t newest = 0;
  for (const auto& [id, row] : workbench_.runs()) {
    if (row.step > 0 && !isArchived(id)) newest = std::max(newest, row.experimentId);
  }
  if (!ids.empty()) newest = workbench_.run(ids.front())->experimentId;
  for (const auto& [id, row] : workbench_.runs()) {
    const bool isThere = std::find(ids.begin(), ids.end(), id) != ids.end();
    if (row.experimentId == newest && row.step > 0 && !isThere && !isArchived(id) &&
        ids.size() < kMost)
      ids.push_back(id);
  }
  if (ids.empty()) ids.push_back(workbench_.runs().rbegin()->first);
  const std::int64_t current = ids.front();
  std::sort(ids.begin(), ids.end());
  workbench_.selection().setRuns(ids, current);
}

}  // namespace vitrine::ui
