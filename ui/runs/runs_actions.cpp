// Actions on runs of the list: the context menu, the eyes, and the functions of both.
#include <QApplication>
#include <QMenu>
#include <algorithm>

#include "core/base/text.h"
#include "core/store/maintenance/trash.h"
#include "ui/kit/questions.h"
#include "ui/kit/theme.h"
#include "ui/runs/runs_panel.h"

namespace vitrine::ui {
namespace {

bool isIn(const std::vector<std::int64_t>& runs, std::int64_t run) {
  return std::find(runs.begin(), runs.end(), run) != runs.end();
}

}  // namespace

/// Selects these runs besides the selected ones, and hides these of them.
void RunsPanel::draw(const std::vector<std::int64_t>& more, const std::set<std::int64_t>& hidden) {
  const Selection& selection = workbench_.selection();
  std::vector<std::int64_t> runs;
  for (const std::int64_t id : model_.ids()) {
    if (isIn(selection.runs(), id) || isIn(more, id)) runs.push_back(id);
  }
  const std::int64_t current = selection.current();
  workbench_.selection().setRuns(runs, current != 0 || runs.empty() ? current : runs.front(),
                                 hidden);
}

void RunsPanel::clickEye(std::int64_t run) {
  std::set<std::int64_t> hidden = workbench_.selection().hidden();
  if (hidden.erase(run) == 0 && isIn(workbench_.selection().runs(), run)) hidden.insert(run);
  draw({run}, hidden);
}

std::vector<std::int64_t> RunsPanel::hideTargets() const {
  const std::vector<std::int64_t> targets = workbench_.selection().targets();
  const std::int64_t outlined = view_->currentIndex().data(RunsModel::IdRole).toLongLong();
  if (!view_->hasFocus() || outlined == 0 || isIn(targets, outlined)) return targets;
  return {outlined};
}

bool RunsPanel::areDrawn() const {
  const Selection& selection = workbench_.selection();
  const std::vector<std::int64_t> targets = hideTargets();
  return std::any_of(targets.begin(), targets.end(),
                     [&](std::int64_t id) { return isIn(selection.drawn(), id); });
}

void RunsPanel::hideOrShow() {
  const std::vector<std::int64_t> targets = hideTargets();
  std::set<std::int64_t> hidden = workbench_.selection().hidden();
  const QPersistentModelIndex outlined = view_->currentIndex();
  if (areDrawn()) {
    hidden.insert(targets.begin(), targets.end());
    draw({}, hidden);
  } else {
    for (const std::int64_t id : targets) hidden.erase(id);
    draw(targets, hidden);
  }
  // The list shows the current run of the selection; the keys stay where they are.
  if (view_->hasFocus() && outlined.isValid())
    view_->selectionModel()->setCurrentIndex(outlined, QItemSelectionModel::NoUpdate);
}

void RunsPanel::showOnlyCurrent() {
  const Selection& selection = workbench_.selection();
  if (selection.current() == 0) return;
  std::set<std::int64_t> hidden(selection.runs().begin(), selection.runs().end());
  hidden.erase(selection.current());
  draw({selection.current()}, hidden);
}

void RunsPanel::showHidden() { draw({}, {}); }

void RunsPanel::selectOnlyCurrent() {
  const std::int64_t current = workbench_.selection().current();
  if (current != 0) select({current}, current);
}

void RunsPanel::selectExperiment() {
  const store::RunRow* current = workbench_.run(workbench_.selection().current());
  if (current == nullptr) return workbench_.showMessage(tr("Select a run of the experiment."));
  std::vector<std::int64_t> runs;
  for (const std::int64_t id : model_.ids()) {
    const store::RunRow* run = workbench_.run(id);
    if (run != nullptr && run->experimentId == current->experimentId &&
        proxy_->mapFromSource(model_.indexOf(id)).isValid())
      runs.push_back(id);
  }
  if (!runs.empty()) select(runs, isIn(runs, current->id) ? current->id : runs.front());
}

void RunsPanel::showMenu(const QPoint& place) {
  const QModelIndex at = view_->indexAt(place).siblingAtColumn(0);
  if (!at.isValid()) return;
  QMenu menu(this);
  if (at.parent().isValid())
    fillMenu(menu);
  else
    fillGroupMenu(menu, at);
  if (!menu.isEmpty()) menu.exec(view_->viewport()->mapToGlobal(place));
}

void RunsPanel::fillGroupMenu(QMenu& menu, const QModelIndex& group) {
  std::vector<std::int64_t> runs;
  for (const std::int64_t id : model_.ids())
    if (proxy_->mapFromSource(model_.indexOf(id)).parent() == group) runs.push_back(id);
  if (runs.empty()) return;
  connect(menu.addAction(tr("&Select these runs")), &QAction::triggered, this,
          [this, runs] { select(runs, runs.front()); });
  menu.addSeparator();
  const auto setAll = [this](bool isOpen) {
    for (int row = 0; row < proxy_->rowCount(); ++row)
      view_->setExpanded(proxy_->index(row, 0), isOpen);
  };
  connect(menu.addAction(tr("&Open all")), &QAction::triggered, this, [setAll] { setAll(true); });
  connect(menu.addAction(tr("&Close all")), &QAction::triggered, this, [setAll] { setAll(false); });
}

void RunsPanel::fillMenu(QMenu& menu) {
  if (workbench_.selection().targets().empty()) return;
  actions_->refresh();
  actions_->fill(menu);
}

std::int64_t RunsPanel::runToRename() const {
  const std::int64_t current = workbench_.selection().current();
  const std::int64_t outlined = view_->currentIndex().data(RunsModel::IdRole).toLongLong();
  const bool hasFocus =
      view_->hasFocus() || view_->viewport()->isAncestorOf(QApplication::focusWidget());
  return outlined != 0 && (hasFocus || current == 0) ? outlined : current;
}

void RunsPanel::rename() {
  const std::int64_t run = runToRename();
  if (run == 0) return workbench_.showMessage(tr("Select a run to rename it."));
  const QModelIndex at = proxy_->mapFromSource(model_.indexOf(run));
  if (!at.isValid())
    return workbench_.showMessage(
        tr("Run %1 is hidden by the filter: clear the filter to rename the run.").arg(run));
  if (view_->isPersistentEditorOpen(at)) return;  // F2 again: the line is open
  view_->scrollTo(at);
  view_->edit(at);
}

void RunsPanel::askTags() { edits_.askTags(workbench_.selection().targets()); }
void RunsPanel::askNote() { edits_.askNote(workbench_.selection().targets()); }

void RunsPanel::askDelete() {
  const std::vector<std::int64_t> ended = endedTargets();
  if (ended.empty()) return;
  askWithBytes(ended, [this, ended](std::int64_t bytes) {
    // Some may have been deleted elsewhere while the size was read.
    std::vector<std::int64_t> left = ended;
    std::erase_if(left, [this](std::int64_t id) { return workbench_.run(id) == nullptr; });
    if (!left.empty()) confirmDelete(left, bytes);
  });
}

void RunsPanel::confirmDelete(const std::vector<std::int64_t>& ended, std::int64_t bytes) {
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
  const QString stays = runs == 1 ? tr("You can restore it for %1 days: Run > Deleted runs.")
                                  : tr("You can restore them for %1 days: Run > Deleted runs.");
  const QString size =
      bytes == 0 ? QString()
                 : tr("The checkpoints take %1 until the trash is emptied. ")
                       .arg(QString::fromStdString(formatBytes(bytes)));
  const bool isSure =
      isConfirmed(this, tr("Delete runs"),
                  tr("Delete %1 with curves, artifacts and checkpoints?")
                      .arg(runs == 1 ? tr("this run") : tr("these %1 runs").arg(runs)),
                  tr("Delete"),
                  names.join(QLatin1Char('\n')) + QStringLiteral("\n\n") + size +
                      stays.arg(store::kTrashTime.count()));
  if (isSure) workbench_.deleteRuns(ended);
}

}  // namespace vitrine::ui
