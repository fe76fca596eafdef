#include "ui/runs/runs_filter.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "ui/kit/theme.h"
#include "ui/runs/runs_model.h"

namespace vitrine::ui {
namespace {

/// Of a column over the runs of a group.
struct RunsMean {
  double mean = 0, least = 0, greatest = 0;
  int runs = 0;
};

/// Over the runs that are counted; none where none has a value.
template <typename IsCounted>
std::optional<RunsMean> meanOverRuns(const QAbstractItemModel& model, const QModelIndex& group,
                                   int column, IsCounted isCounted) {
  RunsMean made;
  double sum = 0;
  for (int row = 0; row < model.rowCount(group); ++row) {
    const QVariant value = model.index(row, column, group).data(RunsModel::OrderRole);
    if (!value.isValid() || !isCounted(row)) continue;
    const double number = value.toDouble();
    made.least = made.runs == 0 ? number : std::min(made.least, number);
    made.greatest = made.runs == 0 ? number : std::max(made.greatest, number);
    sum += number;
    ++made.runs;
  }
  if (made.runs == 0) return std::nullopt;
  made.mean = sum / made.runs;
  return std::isnan(made.mean) ? std::nullopt : std::optional<RunsMean>(made);
}

}  // namespace

RunsFilter::RunsFilter(store::RunReader& store, QObject* parent)
    : QSortFilterProxyModel(parent), configs_(store) {
  setRecursiveFilteringEnabled(true);
  lookup_.config = [this](const store::RunRow& run) -> const FlatConfig& {
    return configs_.of(run);
  };
  lookup_.tags = [&store](std::int64_t id) { return store.tags(id); };
  lookup_.note = [&store](std::int64_t id) { return store.note(id); };
  lookup_.marks = [this](std::int64_t id) {
    return static_cast<const RunsModel*>(sourceModel())->marksOf(id);
  };
  lookup_.metric = [this, &store](std::int64_t id,
                                  const std::string& name) -> std::optional<double> {
    auto known = values_.find(name);
    if (known == values_.end()) {
      known = values_.emplace(name, std::map<std::int64_t, double>()).first;
      for (const auto& [run, value] : store.lastValues(name)) known->second[run] = value;
    }
    const auto found = known->second.find(id);
    return found == known->second.end() ? std::nullopt : std::optional<double>(found->second);
  };
}

void RunsFilter::setQuery(const QString& text) {
  query_ = RunQuery(text);
  values_.clear();
  filterChanged();
}

void RunsFilter::lookAgain() {
  if (!query_.asksMetrics()) return;
  values_.clear();
  filterChanged();
}

void RunsFilter::setShowsArchived(bool isOn) {
  showsArchived_ = isOn;
  filterChanged();
}

void RunsFilter::filterChanged() {
  invalidateFilter();
  static_cast<RunsModel*>(sourceModel())->tellMeans();
}

int RunsFilter::allCount() const {
  const auto* model = static_cast<const RunsModel*>(sourceModel());
  return model->runCount() - (hidesArchived() ? model->archivedCount() : 0);
}

QString RunsFilter::takeError() { return std::exchange(error_, {}); }

QStringList RunsFilter::unknownKeys() const {
  const auto* model = static_cast<const RunsModel*>(sourceModel());
  QStringList unknown;
  try {
    for (const QString& key : query_.keys()) {
      const std::vector<std::int64_t> runs = model->ids();
      const bool isKnown = std::any_of(runs.begin(), runs.end(), [&](std::int64_t id) {
        const store::RunRow* run = model->run(model->indexOf(id));
        return run != nullptr && RunQuery::hasKey(key, *run, lookup_);
      });
      if (!isKnown) unknown << key;
    }
  } catch (const Error& error) {
    error_ = QString::fromUtf8(error.what());
    return {};
  }
  return unknown;
}

int RunsFilter::runCount() const {
  int runs = 0;
  for (int group = 0; group < rowCount(); ++group) runs += rowCount(index(group, 0));
  return runs;
}

QVariant RunsFilter::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.parent().isValid()) return QSortFilterProxyModel::data(index, role);
  if (role == RunsModel::CountRole) return rowCount(index);
  if (index.column() > 0 && (role == Qt::DisplayRole || role == Qt::ToolTipRole))
    return meanOf(index, role == Qt::ToolTipRole);
  return QSortFilterProxyModel::data(index, role);
}

QVariant RunsFilter::meanOf(const QModelIndex& cell, bool isWhole) const {
  const auto* model = static_cast<const RunsModel*>(sourceModel());
  const RunsModel::Column& column = model->columns()[static_cast<std::size_t>(cell.column()) - 1];
  if (!model->isGrouped() || !column.meanText) return {};
  const auto mean = meanOverRuns(*this, cell.siblingAtColumn(0), cell.column(),
                                 [](int) { return true; });
  if (!mean) return {};
  const QString text = tr("mean %1").arg(column.meanText(mean->mean));
  if (!isWhole) return text;
  return tr("%1 of %2\n%3 to %4")
      .arg(text, counted(mean->runs, tr("run"), tr("runs")), column.meanText(mean->least),
           column.meanText(mean->greatest));
}

QVariant RunsFilter::orderOfGroup(const QModelIndex& cell) const {
  const auto* model = static_cast<const RunsModel*>(sourceModel());
  if (cell.column() == 0 || !model->isGrouped()) return {};
  if (const QVariant own = cell.data(RunsModel::OrderRole); own.isValid()) return own;
  if (!model->columns()[static_cast<std::size_t>(cell.column()) - 1].meanText) return {};
  // Rows of the proxy are being sorted: only those of the model can be asked for.
  const QModelIndex group = cell.siblingAtColumn(0);
  const auto mean = meanOverRuns(*model, group, cell.column(), [this, &group](int row) {
    return filterAcceptsRow(row, group);
  });
  return mean ? QVariant(mean->mean) : QVariant();
}

bool RunsFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  const auto* model = static_cast<const RunsModel*>(sourceModel());
  const bool isWhole = !hidesArchived() || !model->hasArchived();
  if (query_.isEmpty() && isWhole) return true;
  const store::RunRow* run = model->run(model->index(row, 0, parent));
  if (!isWhole && run != nullptr && model->marksOf(run->id).isArchived) return false;
  // An exception would leave the proxy half mapped: Qt's models know none.
  try {
    return run != nullptr && query_.matches(*run, lookup_);
  } catch (const Error& error) {
    error_ = QString::fromUtf8(error.what());
    return false;
  }
}

bool RunsFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  // In a descending order the proxy asks with the two exchanged.
  const bool isExchanged = sortOrder() == Qt::DescendingOrder;
  const bool areGroups = !left.parent().isValid();
  const QVariant a = areGroups ? orderOfGroup(left) : left.data(RunsModel::OrderRole),
                 b = areGroups ? orderOfGroup(right) : right.data(RunsModel::OrderRole);
  if (areGroups && !a.isValid() && !b.isValid())
    return isExchanged ? right.row() < left.row() : left.row() < right.row();
  if (a.isValid() != b.isValid()) return a.isValid() != isExchanged;
  return isOrderedBefore(a, b);
}

}  // namespace vitrine::ui
