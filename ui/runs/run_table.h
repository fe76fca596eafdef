// The list of runs as a table: which columns it has, their values and their order.
#pragma once

#include <QMenu>
#include <QObject>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ui/runs/run_columns.h"
#include "ui/runs/runs_delegate.h"
#include "ui/runs/runs_filter.h"
#include "ui/runs/runs_view.h"
#include "ui/workbench/studio_workbench.h"

namespace vitrine::ui {

/// The columns that the user chose, their widths, what they are sorted and grouped by are kept for
/// each database. Until columns are chosen they are the usual ones of the current experiment when
/// the table opens.
class RunTable : public QObject {
  Q_OBJECT
 public:
  /// \param query  of the database: RunReader::query
  RunTable(StudioWorkbench& workbench, RunsModel& model, RunsFilter& filter, RunsView& view,
           RunsDelegate& delegate, store::QueryFunction query, QObject* parent);

  /// The metric that sums up each run, by run: those of the usual columns.
  void setMainMetrics(std::map<std::int64_t, std::string> metrics);
  void setShown(bool isShown);
  [[nodiscard]] bool isShown() const { return isShown_; }
  /// Gives columns whose width the user did not choose room for the rows that are shown now; none
  /// becomes narrower.
  void widen();
  /// Reads the values again, of a table that is shown.
  void read();
  [[nodiscard]] const std::vector<std::string>& columns() const { return ids_; }
  void setColumns(const std::vector<std::string>& ids);
  /// Runs stand in a group for each value of this column instead of by experiment. "": by
  /// experiment.
  void groupBy(const std::string& column);
  [[nodiscard]] const std::string& groupedBy() const { return groupedBy_; }
  /// Lets the user choose columns and their order.
  void askColumns();
  /// The columns of the runs that the filter shows, in the order of the list. They go to the
  /// clipboard as they are shown, into a CSV file with all digits.
  void copy();
  void askExport();
  /// Sorting, groups and columns, for the keyboard, too. \param section  that was clicked, or -1
  void fillMenu(QMenu& menu, int section = -1);

 private:
  /// Of the column of names, too; "" where there is none.
  [[nodiscard]] std::string idOf(int section) const;
  [[nodiscard]] std::vector<std::string> usual();
  enum class Form { Shown, Csv };
  /// \throws Error
  [[nodiscard]] QByteArray text(Form form);
  void exportTo(const QString& file);
  void show();
  /// Values and groups as the database has them now. \throws Error
  void readColumns();
  /// Says what the rows are by, for screen readers.
  void nameView();
  void keep() const;
  void restoreLook();
  void keepLook() const;

  StudioWorkbench& workbench_;
  RunsModel& model_;
  RunsView& view_;
  RunsDelegate& delegate_;
  RunColumns columns_;
  QString key_, lookKey_;  ///< of the settings: columns, widths and sorting
  std::map<std::int64_t, std::string> mainMetrics_;
  std::vector<std::string> ids_;
  std::string sortedBy_;  ///< id of a column; "": the order of the list
  std::string groupedBy_;  ///< id of a column; "": by experiment
  int sortSection_ = -1;  ///< -1: the order of the list
  Qt::SortOrder order_ = Qt::AscendingOrder;
  bool isShown_ = false;
  std::map<std::string, int> widths_;  ///< that the user gave columns, in pixels of zoom 1
  bool isSizing_ = false;              ///< widths change, and not by the user
};

}  // namespace vitrine::ui
