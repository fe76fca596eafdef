// The left side of the window: filter, list of runs by experiment, their context menu. Its
// selection is the window's.
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTimer>
#include <QTreeView>
#include <QWidget>
#include <unordered_map>

#include "ui/shell/run_query.h"
#include "ui/shell/runs_model.h"
#include "ui/workbench/studio_workbench.h"

namespace vitrine::ui {

/// Keeps the runs that match a query, and the experiments that have one.
class RunsFilter : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  RunsFilter(store::RunReader& store, QObject* parent);
  void setQuery(const QString& text);

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  RunQuery query_;
  RunQuery::Lookup lookup_;
  mutable std::unordered_map<std::int64_t, Json> configs_;  ///< a configuration never changes
};

class RunsPanel : public QWidget {
  Q_OBJECT
 public:
  RunsPanel(StudioWorkbench& workbench, QWidget* parent = nullptr);

  [[nodiscard]] RunsModel& model() { return model_; }
  [[nodiscard]] QTreeView& view() { return *view_; }
  [[nodiscard]] QLineEdit& filter() { return *filter_; }
  /// "12 runs · 3 selected", for the header of the dock.
  [[nodiscard]] QString summary() const;
  /// Selects these runs, without asking the view.
  void select(const std::vector<std::int64_t>& ids, std::int64_t current);
  /// Asks whether the selected runs that have ended are to be deleted, and does it.
  void askDelete();
  /// What can be done with the selected runs, as the context menu offers it.
  void fillMenu(QMenu& menu);

 Q_SIGNALS:
  void summaryChanged(const QString& text);

 private:
  void fillHeader();
  void showSelection();
  void readSelection();
  void readScores();
  void showMenu(const QPoint& place);
  void chooseFirst();

  StudioWorkbench& workbench_;
  RunsModel model_;
  RunsFilter* proxy_;
  QLineEdit* filter_;
  QTreeView* view_;
  QStackedWidget* stack_;
  QLabel* emptyText_;
  store::RunScores scoreReader_;
  store::MetricKinds kinds_;
  QTimer scores_;
  bool isApplying_ = false;
  bool hasChosen_ = false;
};

}  // namespace vitrine::ui
