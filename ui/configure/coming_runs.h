// The runs that an experiment means: name, what differs from the first, time, and whether it was
// made before.
#pragma once

#include <QAbstractListModel>
#include <QListView>
#include <map>
#include <memory>

#include "core/config/experiment.h"
#include "core/store/types.h"
#include "ui/configure/run_forecast.h"

namespace vitrine::ui {

class ComingRuns : public QAbstractListModel {
  Q_OBJECT
 public:
  enum Role {
    DiffersRole = Qt::UserRole,  ///< "width 256, seed 1"; "the first" of the first
    TimeRole,                    ///< "3 min 20 s", or ""
    NoteRole,                    ///< "done as #12", "same as 2", or ""
    ExistingRole,                ///< the run it equals, 0 where there is none
  };
  using QAbstractListModel::QAbstractListModel;

  void setPlan(std::shared_ptr<const Plan> plan);
  void setForecast(const Forecast& forecast, const std::map<std::int64_t, RunRow>& rows);

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  [[nodiscard]] QString differs(int row) const;
  [[nodiscard]] QString note(int row) const;

  std::shared_ptr<const Plan> plan_;
  Forecast forecast_;
  std::map<std::int64_t, QString> states_;      ///< of the runs that equal one
  mutable std::map<int, QString> differences_;  ///< as far as they were shown
};

class ComingRunsView : public QListView {
  Q_OBJECT
 public:
  explicit ComingRunsView(QWidget* parent = nullptr);
  [[nodiscard]] ComingRuns& runs() const { return *model_; }
  QSize sizeHint() const override;

 Q_SIGNALS:
  void runWanted(std::int64_t run);

 private:
  ComingRuns* model_;
};

}  // namespace vitrine::ui
