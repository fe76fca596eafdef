// The left side of the window: filter, list of runs by experiment, their context menu. Its
// selection is the window's. As a table the list has columns, and the window gives it more room.
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QWidget>
#include <functional>
#include <set>
#include <vector>

#include "ui/kit/background.h"
#include "ui/runs/run_actions.h"
#include "ui/runs/run_edits.h"
#include "ui/runs/run_mark_actions.h"
#include "ui/runs/run_table.h"
#include "ui/runs/runs_filter.h"
#include "ui/runs/runs_model.h"
#include "ui/runs/runs_view.h"
#include "ui/runs/saved_filters.h"
#include "ui/runs/selection_memory.h"
#include "ui/runs/variant_colours.h"
#include "ui/workbench/headless.h"
#include "ui/workbench/studio_workbench.h"

class QShortcut;

namespace vitrine::ui {

class RunsPanel : public QWidget {
  Q_OBJECT
 public:
  RunsPanel(StudioWorkbench& workbench, QWidget* parent = nullptr);

  [[nodiscard]] RunsModel& model() { return model_; }
  [[nodiscard]] QTreeView& view() { return *view_; }
  [[nodiscard]] QLineEdit& filter() { return *filter_; }
  [[nodiscard]] FilterButton& savedFilters() { return *saved_; }
  [[nodiscard]] RunConfigs& configs() { return proxy_->configs(); }
  /// "12 runs, 3 selected, 1 hidden", "4 of 12 runs, 3 selected" while the filter leaves some out:
  /// for the header of the dock.
  [[nodiscard]] QString summary() const;
  /// The list as a table, or as a list again.
  void setTable(bool isTable);
  [[nodiscard]] RunTable& table() { return *table_; }
  [[nodiscard]] VariantColours& colours() { return colours_; }
  [[nodiscard]] RunMarkActions& marks() { return *marks_; }
  [[nodiscard]] RunActions& runActions() { return *actions_; }
  /// Whether the list has archived runs that no filter asks for.
  [[nodiscard]] QAction& showArchivedAction() { return *showArchived_; }
  /// Selects these runs, without asking the view.
  void select(const std::vector<std::int64_t>& ids, std::int64_t current);
  /// The pages stop drawing the runs that are acted on, or draw them (again).
  void hideOrShow();
  /// The runs that hideOrShow() concerns: the one outlined where the keys are in the list, else
  /// those of other actions.
  [[nodiscard]] std::vector<std::int64_t> hideTargets() const;
  /// Whether hideOrShow() hides: one of those runs is drawn.
  [[nodiscard]] bool areDrawn() const;
  /// Hides the selected runs but the current one.
  void showOnlyCurrent();
  void showHidden();
  void selectOnlyCurrent();
  /// Selects the runs of the current one's experiment that the filter shows.
  void selectExperiment();
  /// Opens the folder with checkpoints and log of the current run in the program for folders.
  void openFolder();
  /// Asks whether the selected runs that have ended are to be deleted, and does it.
  void askDelete();
  /// Asks which checkpoints of the selected runs that have ended are to be deleted, and does it.
  void askPrune();
  /// Opens a line over the name of runToRename().
  void rename();
  /// While the list has the focus or no run is current, the run with the outline, selected or not;
  /// else the current run. 0: none.
  [[nodiscard]] std::int64_t runToRename() const;
  /// Tags and notes of the selected runs.
  void askTags();
  void askNote();
  /// What can be done with the selected runs, as the context menu offers it.
  void fillMenu(QMenu& menu);
  /// The same of the row of an experiment or group. \param group  of view().model()
  void fillGroupMenu(QMenu& menu, const QModelIndex& group);

 Q_SIGNALS:
  void summaryChanged(const QString& text);
  /// The list has to be in sight for what comes next.
  void listNeeded();
  /// The user leaves the table.
  void tableLeft();

 protected:
  /// The arrow keys lead from the filter into the list.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fillHeader();
  [[nodiscard]] QString noHitsText() const;
  /// Reads in the background what the checkpoints of these runs take, in bytes, and asks then: the
  /// newest question alone. A reading that fails is an error instead.
  void askWithBytes(const std::vector<std::int64_t>& runs,
                    const std::function<void(std::int64_t bytes)>& ask);
  void confirmDelete(const std::vector<std::int64_t>& ended, std::int64_t bytes);
  void confirmPrune(const std::vector<std::int64_t>& ended, std::int64_t bytes);
  /// Of the runs that are acted on.
  [[nodiscard]] std::vector<std::int64_t> endedTargets() const;
  /// \param report  of `vitrine db prune`
  void pruned(const Json& report);
  void makeTable();
  void openExperiment(const QModelIndex& at);
  [[nodiscard]] bool isFiltered() const { return !filter_->text().trimmed().isEmpty(); }
  /// The user closed this experiment, here or before the last start, and looks for nothing in it.
  [[nodiscard]] bool isKeptClosed(const QModelIndex& at) const;
  void keepClosed(const QModelIndex& at, bool isClosed);
  void showSelection();
  void readSelection();
  /// Says once that the run beside a comparison is outlined; the words follow the outline.
  void explainOutline(bool isChosenHere);
  void readScores();
  void readMarks();
  void showArchived(bool isOn);
  void showMenu(const QPoint& place);
  void chooseFirst();
  void enterList();
  /// The place in the list of the experiment with the outline; -1: none.
  [[nodiscard]] int outlinedGroup() const;
  /// Where that experiment left the list, the outline goes to the one in its place, from which the
  /// arrow keys continue.
  void keepOutline(int group);
  void clickEye(std::int64_t run);
  void draw(const std::vector<std::int64_t>& more, const std::set<std::int64_t>& hidden);

  StudioWorkbench& workbench_;
  RunsModel model_;
  RunsFilter* proxy_;
  QLineEdit* filter_;
  FilterButton* saved_;
  RunsView* view_;
  RunsDelegate* delegate_;
  RunTable* table_;
  QWidget* tableBar_;
  QLabel* tableSummary_;
  QShortcut* leave_;
  RunActions* actions_;
  QStackedWidget* stack_;
  QLabel* emptyText_;
  QPushButton *create_, *clear_, *unhide_;
  RunEdits edits_;
  RunMarkActions* marks_;
  QAction* showArchived_;
  SelectionMemory memory_;
  VariantColours colours_;
  store::RunScores scoreReader_;
  Background disk_;
  HeadlessQuestion pruning_;
  QTimer scores_;
  std::set<std::int64_t> closed_;             ///< experiments and groups, while rows change
  std::set<std::int64_t> closedExperiments_;  ///< kept for each database
  bool isApplying_ = false;
  bool isReadingDue_ = false;  ///< a click or key that is being handled changes the selection
  bool isExplained_ = false;   ///< that a click next to a comparison leaves it
  QString explanation_;        ///< of the run that is outlined; "": none is, or none was given
  bool areNamesNew_ = true;    ///< runs of one name are to be told apart again
  bool hasChosen_ = false;
  /// The selection that runs left when they were archived.
  struct BeforeArchive {
    std::set<std::int64_t> runs;                ///< that were archived
    std::vector<std::int64_t> selected, left;  ///< before and after
    std::int64_t current = 0;
    std::set<std::int64_t> hidden;
  } archived_;
};

}  // namespace vitrine::ui
