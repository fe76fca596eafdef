// Groups of the model of runs: by experiment, or by the values of a column.
#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/runs/runs_model.h"

namespace vitrine::ui {

int RunsModel::groupOf(std::int64_t id) const {
  const auto found = groupRows_.find(id);
  return found == groupRows_.end() ? -1 : found->second;
}

void RunsModel::numberGroupRows(int first) {
  for (int row = first; row < std::ssize(groups_); ++row)
    groupRows_[groups_[static_cast<std::size_t>(row)]->id] = row;
}

/// Newest experiment first; values in their order, runs without one last.
int RunsModel::groupPlaceOf(const Group& group) const {
  const auto isBefore = [this](const Group& one, const auto& other) {
    if (!grouping_) return other->id < one.id;
    if (!one.order.isValid()) return false;
    return !other->order.isValid() || isOrderedBefore(one.order, other->order);
  };
  const auto place = std::upper_bound(groups_.begin(), groups_.end(), group, isBefore);
  return static_cast<int>(place - groups_.begin());
}

std::int64_t RunsModel::groupIdOf(const store::RunRow& row) const {
  if (!grouping_) return row.experimentId;
  const auto found = groupIds_.find(row.id);
  return found == groupIds_.end() ? 0 : found->second;
}

std::unique_ptr<RunsModel::Group> RunsModel::groupFor(const store::RunRow& row) const {
  auto made = std::make_unique<Group>();
  made->id = groupIdOf(row);
  made->title = QString::fromStdString(row.experiment);
  if (!grouping_) return made;
  const auto value = grouping_->cells.find(row.id);
  const bool isThere = value != grouping_->cells.end();
  made->title =
      tr("%1: %2").arg(grouping_->title, isThere ? value->second.text : tr("no value"));
  if (isThere) made->order = value->second.order;
  return made;
}

void RunsModel::numberGroups() {
  const auto valuesBefore = std::exchange(valueIds_, {});
  const auto runsBefore = std::exchange(groupIds_, {});
  if (!grouping_) return;
  std::set<std::int64_t> taken;
  for (const auto& [run, cell] : grouping_->cells) {
    const auto known = valuesBefore.find(cell.text);
    if (known == valuesBefore.end()) continue;
    valueIds_[cell.text] = known->second;
    taken.insert(known->second);
  }
  for (const auto& [run, cell] : grouping_->cells) {
    const auto [value, isNew] = valueIds_.emplace(cell.text, 0);
    if (isNew) {
      const auto before = runsBefore.find(run);
      const bool isFree = before != runsBefore.end() && taken.insert(before->second).second;
      value->second = isFree ? before->second : ++lastGroupId_;
    }
    groupIds_[run] = value->second;
  }
}

void RunsModel::regroup(std::optional<Column> column) {
  std::vector<store::RunRow> rows;
  for (const auto& group : groups_)
    std::move(group->runs.begin(), group->runs.end(), std::back_inserter(rows));
  std::sort(rows.begin(), rows.end(),
            [](const store::RunRow& a, const store::RunRow& b) { return a.id < b.id; });
  groups_.clear();
  groupRows_.clear();
  grouping_ = std::move(column);
  numberGroups();
  std::unordered_map<std::int64_t, Group*> homes;
  for (store::RunRow& row : rows) {
    const std::int64_t id = groupIdOf(row);
    parents_[row.id] = id;
    Group*& home = homes[id];
    if (home == nullptr) {
      std::unique_ptr<Group> made = groupFor(row);
      home = made.get();
      groups_.insert(groups_.begin() + groupPlaceOf(*home), std::move(made));
    }
    home->runs.push_back(std::move(row));
  }
  numberGroupRows(0);
}

void RunsModel::groupBy(std::optional<Column> column) {
  const auto isSameText = [](const auto& a, const auto& b) {
    return a.first == b.first && a.second.text == b.second.text;
  };
  const bool isSameColumn =
      column && grouping_ && column->id == grouping_->id && column->title == grouping_->title;
  const bool isSame =
      isSameColumn ? std::equal(column->cells.begin(), column->cells.end(),
                                grouping_->cells.begin(), grouping_->cells.end(), isSameText)
                   : !column && !grouping_;
  if (isSame) return;
  if (!isSameColumn) {
    beginResetModel();
    valueIds_.clear();
    groupIds_.clear();
    regroup(std::move(column));
    endResetModel();
    return;
  }
  Q_EMIT layoutAboutToBeChanged();
  struct Place {
    int column;
    std::int64_t group, run;  // run 0: the row of the group
  };
  const QModelIndexList before = persistentIndexList();
  std::vector<Place> places;
  for (const QModelIndex& at : before) {
    const store::RunRow* row = run(at);
    const auto group = static_cast<std::size_t>(at.row());
    places.push_back(row == nullptr ? Place{at.column(), groups_[group]->id, 0}
                                    : Place{at.column(), 0, row->id});
  }
  regroup(std::move(column));
  QModelIndexList after;
  for (const Place& place : places) {
    if (place.run != 0) {
      after << indexOf(place.run).siblingAtColumn(place.column);
      continue;
    }
    const int row = groupOf(place.group);
    after << (row < 0 ? QModelIndex() : createIndex(row, place.column, quintptr{0}));
  }
  changePersistentIndexList(before, after);
  Q_EMIT layoutChanged();
}

}  // namespace vitrine::ui
