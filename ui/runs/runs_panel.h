// The left side of the window: filter, list of runs by experiment, their context menu. Its
// selection is the window's.
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTimer>
#include <QTreeView>
#include <QWidget>
#include <map>
#include <string>
#include <unordered_map>

#include "ui/runs/run_edits.h"
#include "ui/runs/run_query.h"
#include "ui/runs/runs_model.h"
#include "ui/workbench/studio_workbench.h"

namespace vitrine::ui {

/// Keeps the runs that match a query, and the experiments that have one.
class RunsFilter : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  RunsFilter(store::RunReader& store, QObject* parent);
  void setQuery(const QString& text);
  /// Runs have recorded more: whether they match may have changed.
  void lookAgain();
  [[nodiscard]] int runCount() const;
  /// The count of an experiment is that of the runs that match.
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  RunQuery query_;
  RunQuery::Lookup lookup_;
  mutable std::unordered_map<std::int64_t, Json> configs_;  ///< a configuration never changes
  /// Last values by metric and run, of the metrics that the query names.
  std::map<std::string, std::map<std::int64_t, double>> values_;
};

class RunsPanel : public QWidget {
  Q_OBJECT
 public:
  RunsPanel(StudioWorkbench& workbench, QWidget* parent = nullptr);

  [[nodiscard]] RunsModel& model() { return model_; }
  [[nodiscard]] QTreeView& view() { return *view_; }
  [[nodiscard]] QLineEdit& filter() { return *filter_; }
  /// "12 · 3 selected", "4 of 12 · 3 selected" while the filter hides some: for the header of the
  /// dock.
  [[nodiscard]] QString summary() const;
  /// Selects these runs, without asking the view.
  void select(const std::vector<std::int64_t>& ids, std::int64_t current);
  /// Asks whether the selected runs that have ended are to be deleted, and does it.
  void askDelete();
  /// Opens a line over the name of the current run.
  void rename();
  /// Tags and notes of the selected runs.
  void askTags();
  void askNote();
  /// What can be done with the selected runs, as the context menu offers it.
  void fillMenu(QMenu& menu);

 Q_SIGNALS:
  void summaryChanged(const QString& text);

 protected:
  /// The arrow keys lead from the filter into the list.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fillHeader();
  void showSelection();
  void readSelection();
  void readScores();
  void showMenu(const QPoint& place);
  void chooseFirst();
  void enterList();

  StudioWorkbench& workbench_;
  RunsModel model_;
  RunsFilter* proxy_;
  QLineEdit* filter_;
  QTreeView* view_;
  QStackedWidget* stack_;
  QLabel* emptyText_;
  QPushButton *create_, *clear_;
  RunEdits edits_;
  store::RunScores scoreReader_;
  store::MetricKinds kinds_;
  QTimer scores_;
  bool isApplying_ = false;
  bool hasChosen_ = false;
};

}  // namespace vitrine::ui
