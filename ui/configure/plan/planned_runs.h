// The runs that an experiment means: name, what differs from the first, time, whether it was made
// before. Also those that are left out, at their places.
#pragma once

#include <QAbstractListModel>
#include <QListView>
#include <map>
#include <memory>
#include <vector>

#include "core/config/experiment.h"
#include "core/store/types.h"
#include "ui/configure/plan/run_forecast.h"

class QMenu;

namespace vitrine::ui {

class PlannedRuns : public QAbstractListModel {
  Q_OBJECT
 public:
  enum Role {
    DiffersRole = Qt::UserRole,  ///< "width 256, seed 1"; "the first" of the first
    TimeRole,                    ///< "3 min 20 s", or ""
    NoteRole,                    ///< "done as #12", "same as 2", or ""
    ExistingRole,                ///< the run it equals, 0 where there is none
    ExcludedRole,                ///< whether an [[exclude]] removes it
  };
  using QAbstractListModel::QAbstractListModel;

  void setPlan(std::shared_ptr<const Plan> plan);
  void setForecast(const Forecast& forecast, const std::map<std::int64_t, store::RunRow>& rows);

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  /// A check box was cleared or set: excludeRequested() or includeRequested().
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  /// Index into Plan::runs; -1 of an excluded run.
  [[nodiscard]] int runAt(int row) const;
  /// Index into Plan::excluded; -1 of a run that is not.
  [[nodiscard]] int excludedAt(int row) const;
  /// The file means more than one run, so one of them can be excluded.
  [[nodiscard]] bool canExclude() const { return rows_.size() > 1; }
  /// Runs that were made before, as indices into Plan::runs.
  [[nodiscard]] std::vector<int> madeBefore() const;

 Q_SIGNALS:
  void excludeRequested(const std::vector<int>& runs);
  void includeRequested(const std::vector<int>& excluded);

 private:
  struct Row {
    bool isExcluded = false;
    int at = 0;  ///< in Plan::excluded or Plan::runs
  };
  [[nodiscard]] QVariant excludedData(const Row& row, int role) const;
  [[nodiscard]] QString differs(int row) const;
  [[nodiscard]] QString note(int row) const;

  std::shared_ptr<const Plan> plan_;
  std::vector<Row> rows_;
  Forecast forecast_;
  std::map<std::int64_t, QString> states_;      ///< of the runs that equal one
  mutable std::map<int, QString> differences_;  ///< as far as they were shown
};

/// Space turns the tick of a row, Delete leaves the selected rows out.
class PlannedRunsView : public QListView {
  Q_OBJECT
 public:
  explicit PlannedRunsView(QWidget* parent = nullptr);
  [[nodiscard]] PlannedRuns& runs() const { return *model_; }
  QSize sizeHint() const override;
  /// What can be done with the selected rows.
  void fillMenu(QMenu& menu);

 Q_SIGNALS:
  void runRequested(std::int64_t run);
  void excludeRequested(const std::vector<int>& runs);
  void includeRequested(const std::vector<int>& excluded);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  /// \param placeOf  runAt() or excludedAt()
  [[nodiscard]] std::vector<int> selected(int (PlannedRuns::*placeOf)(int row) const) const;

  PlannedRuns* model_;
  int keptRow_ = -1, keptScroll_ = 0;  ///< over a new plan
};

}  // namespace vitrine::ui
