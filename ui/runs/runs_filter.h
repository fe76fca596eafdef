// The list of runs cut down to those that match a query.
#pragma once

#include <QSortFilterProxyModel>
#include <cstdint>
#include <map>
#include <string>

#include "core/store/run_store.h"
#include "ui/runs/run_query.h"

namespace vitrine::ui {

/// Keeps the runs that match a query, and the experiments that have one.
class RunsFilter : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  RunsFilter(store::RunReader& store, QObject* parent);
  void setQuery(const QString& text);
  /// Runs have recorded more: whether they match may have changed.
  void lookAgain();
  /// The same of their marks.
  void marksChanged() { filterChanged(); }
  [[nodiscard]] int runCount() const;
  /// Archived runs are listed, too; else only where the query asks for them.
  void setShowsArchived(bool isOn);
  /// Runs that an empty query would leave in the list.
  [[nodiscard]] int allCount() const;
  /// Why a run could not be looked into since the last call, and so does not match; "" mostly.
  [[nodiscard]] QString takeError();
  /// Keys of the query that no run of the list has, as they were typed.
  [[nodiscard]] QStringList unknownKeys() const;
  /// Conditions of the query that have no value yet.
  [[nodiscard]] QStringList unfinished() const { return query_.unfinished(); }
  /// Of the runs of the list, shown or not.
  [[nodiscard]] RunConfigs& configs() { return configs_; }
  /// Count and means of an experiment or group are those of the runs that match.
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
  /// Experiments keep their place. Groups stand in the order of their means where the column has
  /// them, and of their values in their own column. Elsewhere they stay where the model has them.
  /// Missing values come last in both orders.
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

 private:
  /// Other runs match, or other runs are listed.
  void filterChanged();
  /// "mean 42.3 %" in a cell of a group; nothing where a mean says nothing.
  /// \param isWhole  with the number of runs and their range
  [[nodiscard]] QVariant meanOf(const QModelIndex& cell, bool isWhole) const;
  /// What a group is sorted by. \param cell  of the source model
  [[nodiscard]] QVariant orderOfGroup(const QModelIndex& cell) const;
  [[nodiscard]] bool hidesArchived() const { return !showsArchived_ && !query_.asksArchived(); }

  RunQuery query_;
  bool showsArchived_ = false;
  RunQuery::Lookup lookup_;
  RunConfigs configs_;
  mutable QString error_;
  /// Last values by metric and run, of the metrics that the query names.
  std::map<std::string, std::map<std::int64_t, double>> values_;
};

}  // namespace vitrine::ui
