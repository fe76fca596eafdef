#include "ui/runs/run_actions.h"

#include <QClipboard>
#include <QGuiApplication>
#include <algorithm>

#include "ui/runs/runs_panel.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

RunActions::RunActions(StudioWorkbench& workbench, RunsPanel& panel)
    : QObject(&panel), workbench_(workbench), panel_(panel) {
  const QString noRun = tr("select a run"), oneRun = tr("select several runs"),
                noEnd = tr("select a run that has ended");
  start_ = add(
      tr("&Start"), tr("select a run that can start or resume"),
      [this] { workbench_.startRuns(workbench_.selection().targets()); },
      Qt::CTRL | Qt::Key_Return);
  start_->setIcon(icon(Icon::Play));
  start_->setToolTip(tr("Start or resume the selected runs"));
  stop_ = add(
      tr("S&top"), tr("select a run that runs or waits"),
      [this] { workbench_.stopRuns(workbench_.selection().targets()); },
      Qt::CTRL | Qt::ALT | Qt::Key_Return);
  stop_->setIcon(icon(Icon::Stop));
  stop_->setToolTip(tr("Stop the selected runs: at a checkpoint, or before they start"));
  hide_ = add(
      tr("&Hide from charts"), noRun, [this] { panel_.hideOrShow(); }, Qt::CTRL | Qt::Key_H);
  showOnly_ =
      add(tr("Show on&ly this run in charts"), oneRun, [this] { panel_.showOnlyCurrent(); });
  showHidden_ =
      add(tr("Sho&w hidden runs"), tr("no run is hidden"), [this] { panel_.showHidden(); });
  selectOnly_ = add(tr("Select only this r&un"), oneRun, [this] { panel_.selectOnlyCurrent(); });
  selectExperiment_ =
      add(tr("Select all runs of the e&xperiment"), noRun, [this] { panel_.selectExperiment(); });
  variantColours_ = add(tr("Colour runs by &variant"), {},
                        [this] { panel_.colours().setOn(variantColours_->isChecked()); });
  variantColours_->setCheckable(true);
  variantColours_->setToolTip(tr("All seeds of a variant have one colour, on every page"));
  variantColours_->setChecked(panel.colours().isOn());
  connect(&panel.colours(), &VariantColours::switched, variantColours_, &QAction::setChecked);
  newFrom_ = add(
      tr("New &from this run"), noRun,
      [this] { workbench_.newFromRun(workbench_.selection().current()); },
      Qt::CTRL | Qt::SHIFT | Qt::Key_N);
  newFrom_->setIcon(icon(Icon::Plus));
  newFrom_->setToolTip(tr("Fill the form with this run's configuration"));
  openFolder_ = add(tr("O&pen folder of the run"), noRun, [this] { panel_.openFolder(); });
  openFolder_->setToolTip(tr("Checkpoints and log of the current run, in the file manager"));
  rename_ = add(
      tr("&Rename run"), noRun,
      [this] {
        Q_EMIT panel_.listNeeded();
        panel_.rename();
      },
      Qt::Key_F2);
  tags_ = add(tr("Ta&gs\u2026"), noRun, [this] { panel_.askTags(); });
  note_ = add(tr("N&ote\u2026"), noRun, [this] { panel_.askNote(); });
  copyIds_ = add(tr("Copy &id"), noRun, [this] {
    QStringList texts;
    for (const std::int64_t id : workbench_.selection().targets()) texts << QString::number(id);
    QGuiApplication::clipboard()->setText(texts.join(QLatin1Char(' ')));
  });
  copyNames_ = add(tr("Copy &name"), noRun, [this] {
    QStringList texts;
    for (const std::int64_t id : workbench_.selection().targets()) {
      const store::RunRow* row = workbench_.run(id);
      if (row != nullptr) texts << QString::fromStdString(row->name);
    }
    QGuiApplication::clipboard()->setText(texts.join(QLatin1Char('\n')));
  });
  for (QAction* one : {copyIds_, copyNames_}) one->setIcon(icon(Icon::Copy));
  remove_ = add(
      tr("&Delete\u2026"), noEnd, [this] { panel_.askDelete(); }, QKeySequence::Delete);
  remove_->setIcon(icon(Icon::Trash, IconTint::Bad));
  remove_->setShortcutContext(Qt::WidgetShortcut);
  panel.view().addAction(remove_);
  prune_ = add(tr("Delete chec&kpoints\u2026"), noEnd, [this] { panel_.askPrune(); });
  prune_->setToolTip(tr("Curves, artifacts and logs of the runs stay"));
  RunMarkActions& marks = panel.marks();
  all_ << QList<QAction*>{&marks.archive(), &marks.baseline(), &panel.showArchivedAction()};
  // Texts that change: the names of their keys do not.
  start_->setObjectName(QStringLiteral("start"));
  hide_->setObjectName(QStringLiteral("hide-from-charts"));
  note_->setObjectName(QStringLiteral("note"));
  copyIds_->setObjectName(QStringLiteral("copy-id"));
  copyNames_->setObjectName(QStringLiteral("copy-name"));
}

QAction* RunActions::add(const QString& text, const QString& whyNot,
                         const std::function<void()>& act, const QKeySequence& key) {
  auto* made = new QAction(text, this);
  made->setProperty(kWhyNot, whyNot);
  made->setShortcut(key);
  connect(made, &QAction::triggered, this, act);
  all_ << made;
  return made;
}

void RunActions::fill(QMenu& menu) const {
  RunMarkActions& marks = panel_.marks();
  menu.addActions({start_, stop_});
  menu.addSeparator();
  menu.addActions({hide_, showOnly_, showHidden_, selectOnly_, selectExperiment_, variantColours_,
                   &panel_.showArchivedAction()});
  menu.addSeparator();
  menu.addActions({newFrom_, openFolder_});
  menu.addSeparator();
  menu.addActions({rename_, tags_, note_});
  menu.addMenu(&marks.colours());
  menu.addActions({&marks.baseline(), &marks.archive()});
  menu.addSeparator();
  menu.addActions({copyIds_, copyNames_});
  menu.addSeparator();
  menu.addActions({remove_, prune_});
}

void RunActions::refresh() {
  bool canStart = false, canStop = false, canDelete = false, isFresh = false;
  const Selection& selection = workbench_.selection();
  const std::vector<std::int64_t> targets = selection.targets();
  for (const std::int64_t id : targets) {
    const store::RunRow* row = workbench_.run(id);
    if (row == nullptr) continue;
    canStart = canStart || StudioWorkbench::canStart(*row);
    isFresh = isFresh || (StudioWorkbench::canStart(*row) && row->step == 0);
    canStop = canStop || StudioWorkbench::canStop(*row);
    canDelete = canDelete || StudioWorkbench::canDelete(*row);
  }
  const bool areSeveral = targets.size() > 1;
  start_->setEnabled(canStart);
  start_->setText(canStart && !isFresh ? tr("Re&sume") : tr("&Start"));
  stop_->setEnabled(canStop);
  for (QAction* one : {remove_, prune_}) one->setEnabled(canDelete);
  rename_->setEnabled(workbench_.run(panel_.runToRename()) != nullptr);
  for (QAction* one : {hide_, tags_, note_, copyIds_, copyNames_})
    one->setEnabled(!targets.empty());
  for (QAction* one : {selectExperiment_, openFolder_}) one->setEnabled(selection.current() != 0);
  hide_->setText(targets.empty() || panel_.areDrawn() ? tr("&Hide from charts")
                                                      : tr("S&how in charts"));
  note_->setText(areSeveral ? tr("Add to the n&otes\u2026") : tr("N&ote\u2026"));
  copyIds_->setText(areSeveral ? tr("Copy &ids") : tr("Copy &id"));
  copyNames_->setText(areSeveral ? tr("Copy &names") : tr("Copy &name"));
  for (QAction* one : {showOnly_, selectOnly_})
    one->setEnabled(selection.current() != 0 && selection.runs().size() > 1);
  showHidden_->setEnabled(!selection.hidden().empty());
  newFrom_->setEnabled(workbench_.run(selection.current()) != nullptr);
}

}  // namespace vitrine::ui
