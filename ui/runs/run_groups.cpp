// Groups of the model of runs: by experiment, or by the values of a column.
#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/runs/runs_model.h"

namespace vitrine::ui {

int RunsModel::groupOf(std::int64_t id) const {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i]->id == id) return static_cast<int>(i);
  }
  return -1;
}

/// Newest experiment first; values in their order, runs without one last.
int RunsModel::groupPlaceOf(const Group& group) const {
  const auto place = std::find_if(groups_.begin(), groups_.end(), [&](const auto& other) {
    if (!grouping_) return other->id < group.id;
    if (!group.order.isValid()) return false;
    return !other->order.isValid() || isOrderedBefore(group.order, other->order);
  });
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
  grouping_ = std::move(column);
  numberGroups();
  for (store::RunRow& row : rows) {
    const std::int64_t id = groupIdOf(row);
    parents_[row.id] = id;
    int group = groupOf(id);
    if (group < 0) {
      std::unique_ptr<Group> made = groupFor(row);
      group = groupPlaceOf(*made);
      groups_.insert(groups_.begin() + group, std::move(made));
    }
    groups_[static_cast<std::size_t>(group)]->runs.push_back(std::move(row));
  }
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
