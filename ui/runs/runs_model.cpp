#include "ui/runs/runs_model.h"

#include <QDateTime>
#include <QLocale>
#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

bool isOrderedBefore(const QVariant& a, const QVariant& b) {
  const auto isNumber = [](const QVariant& value) { return value.typeId() == QMetaType::Double; };
  if (isNumber(a) != isNumber(b)) return isNumber(a);
  if (isNumber(a)) return a.toDouble() < b.toDouble();
  return a.toString().compare(b.toString(), Qt::CaseInsensitive) < 0;
}

QString runDetail(const store::RunRow& row) {
  QStringList parts{RunsModel::tr("seed %1").arg(row.seed)};
  if (!row.stage.empty()) parts.push_front(QString::fromStdString(row.stage));
  const bool hasStarted = row.step > 0 || isAlive(row.state);
  if (hasStarted && row.state != store::RunState::Done) {
    parts << (row.totalSteps > 0 && isAlive(row.state)
                  ? RunsModel::tr("step %1 / %2").arg(count(row.step), count(row.totalSteps))
                  : RunsModel::tr("at step %1").arg(count(row.step)));
  }
  return parts.join(QStringLiteral(" \u00b7 "));
}

namespace {

/// "23 Nov 14:20", in the time of this place; the text itself where it is not a time.
QString dayOf(const std::string& utc) {
  const QDateTime at = timeFromUtc(utc);
  return at.isValid() ? QLocale::c().toString(at.toLocalTime(), QStringLiteral("d MMM HH:mm"))
                      : QString::fromStdString(utc);
}

}  // namespace

int RunsModel::placeOf(const Group& group, std::int64_t id) {
  const auto place =
      std::lower_bound(group.runs.begin(), group.runs.end(), id,
                       [](const store::RunRow& row, std::int64_t key) { return row.id < key; });
  return static_cast<int>(place - group.runs.begin());
}

void RunsModel::upsert(const std::vector<store::RunRow>& rows) {
  for (const store::RunRow& row : rows) {
    const std::int64_t groupId = groupIdOf(row);
    int group = groupOf(groupId);
    if (group < 0) {
      std::unique_ptr<Group> made = groupFor(row);
      group = groupPlaceOf(*made);
      beginInsertRows({}, group, group);
      groups_.insert(groups_.begin() + group, std::move(made));
      numberGroupRows(group);
      endInsertRows();
    }
    Group& home = *groups_[static_cast<std::size_t>(group)];
    const QModelIndex parentIndex = createIndex(group, 0, quintptr{0});
    const int place = placeOf(home, row.id);
    const auto slot = static_cast<std::size_t>(place);
    if (slot < home.runs.size() && home.runs[slot].id == row.id) {
      home.runs[slot] = row;
      const QModelIndex at = index(place, 0, parentIndex);
      Q_EMIT dataChanged(at, at);
      continue;
    }
    beginInsertRows(parentIndex, place, place);
    home.runs.insert(home.runs.begin() + place, row);
    parents_[row.id] = groupId;
    endInsertRows();
    Q_EMIT dataChanged(parentIndex, parentIndex, {CountRole});
  }
}

void RunsModel::remove(const std::vector<std::int64_t>& ids) {
  for (const std::int64_t id : ids) {
    const QModelIndex at = indexOf(id);
    if (!at.isValid()) continue;
    const int group = at.parent().row();
    Group& home = *groups_[static_cast<std::size_t>(group)];
    beginRemoveRows(at.parent(), at.row(), at.row());
    home.runs.erase(home.runs.begin() + at.row());
    parents_.erase(id);
    scores_.erase(id);
    endRemoveRows();
    if (home.runs.empty()) {
      beginRemoveRows({}, group, group);
      groupRows_.erase(home.id);
      groups_.erase(groups_.begin() + group);
      numberGroupRows(group);
      endRemoveRows();
    } else {
      tellMeans(group, group, 1, columnCount({}) - 1);
    }
  }
}

void RunsModel::setScores(const std::map<std::int64_t, Score>& scores) {
  const std::map<std::int64_t, Score> before = std::exchange(scores_, scores);
  const auto tell = [this](std::int64_t id) {
    const QModelIndex at = indexOf(id);
    if (at.isValid()) Q_EMIT dataChanged(at, at, {ScoreRole});
  };
  for (const auto& [id, score] : scores_) {
    const auto known = before.find(id);
    if (known == before.end() || !(known->second == score)) tell(id);
  }
  for (const auto& [id, score] : before) {
    if (!scores_.contains(id)) tell(id);
  }
}

void RunsModel::setDifferences(std::map<std::int64_t, QString> differences) {
  if (differences == differences_) return;
  differences_ = std::move(differences);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const QModelIndex parent = createIndex(static_cast<int>(group), 0, quintptr{0});
    const int last = rowCount(parent) - 1;
    if (last >= 0) Q_EMIT dataChanged(index(0, 0, parent), index(last, 0, parent), {DetailRole});
  }
}

void RunsModel::setTags(std::map<std::int64_t, std::vector<std::string>> tags) {
  const auto before = std::exchange(tags_, std::move(tags));
  const auto tell = [this](std::int64_t id) {
    const QModelIndex at = indexOf(id);
    if (at.isValid()) Q_EMIT dataChanged(at, at, {DetailRole});
  };
  for (const auto& [id, words] : tags_) {
    const auto known = before.find(id);
    if (known == before.end() || known->second != words) tell(id);
  }
  for (const auto& [id, words] : before) {
    if (!tags_.contains(id)) tell(id);
  }
}

QString RunsModel::tagsOf(std::int64_t run) const {
  const auto found = tags_.find(run);
  if (found == tags_.end()) return {};
  QStringList words;
  for (const std::string& tag : found->second) words << QString::fromStdString(tag);
  return words.join(QStringLiteral(", "));
}

void RunsModel::setHidden(const std::set<std::int64_t>& runs) {
  const std::set<std::int64_t> before = std::exchange(hidden_, runs);
  std::vector<std::int64_t> changed;
  std::set_symmetric_difference(before.begin(), before.end(), runs.begin(), runs.end(),
                                std::back_inserter(changed));
  for (const std::int64_t id : changed) {
    const QModelIndex at = indexOf(id);
    if (at.isValid()) Q_EMIT dataChanged(at, at, {HiddenRole});
  }
}

bool RunsModel::setMarks(std::map<std::int64_t, store::RunMarks> marks) {
  if (marks == marks_) return false;
  const auto before = std::exchange(marks_, std::move(marks));
  hasArchived_ = std::any_of(marks_.begin(), marks_.end(),
                             [](const auto& one) { return one.second.isArchived; });
  for (const auto& group : groups_) {
    for (const store::RunRow& row : group->runs) {
      const auto known = before.find(row.id);
      if ((known == before.end() ? store::RunMarks() : known->second) == marksOf(row.id)) continue;
      const QModelIndex at = indexOf(row.id);
      Q_EMIT dataChanged(at, at, {DetailRole, MarkRole});
    }
  }
  return true;
}

store::RunMarks RunsModel::marksOf(std::int64_t run) const {
  const auto found = marks_.find(run);
  return found == marks_.end() ? store::RunMarks() : found->second;
}

int RunsModel::archivedCount() const {
  return static_cast<int>(std::count_if(marks_.begin(), marks_.end(), [this](const auto& one) {
    return one.second.isArchived && parents_.contains(one.first);
  }));
}

QString RunsModel::markWords(std::int64_t run) const {
  const store::RunMarks marks = marksOf(run);
  QStringList words;
  if (marks.isBaseline) words << tr("baseline");
  if (marks.isArchived) words << tr("archived");
  return words.join(QStringLiteral(", "));
}

void RunsModel::setColumns(std::vector<Column> columns) {
  const bool isSame = std::equal(columns_.begin(), columns_.end(), columns.begin(), columns.end(),
                                 [](const Column& a, const Column& b) { return a.id == b.id; });
  if (!isSame) {
    beginResetModel();
    columns_ = std::move(columns);
    endResetModel();
    return;
  }
  const std::vector<Column> before = std::exchange(columns_, std::move(columns));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const int column = static_cast<int>(i) + 1;
    if (before[i].title != columns_[i].title)
      Q_EMIT headerDataChanged(Qt::Horizontal, column, column);
    if (before[i].cells == columns_[i].cells) continue;
    for (int group = 0; group < rowCount({}); ++group) {
      const QModelIndex parent = index(group, 0, {});
      Q_EMIT dataChanged(index(0, column, parent), index(rowCount(parent) - 1, column, parent));
    }
    tellMeans(0, rowCount({}) - 1, column, column);
  }
}

void RunsModel::tellMeans() { tellMeans(0, rowCount({}) - 1, 1, columnCount({}) - 1); }

// All of them at once: a row that is sorted again finds its place only among rows in order.
void RunsModel::tellMeans(int firstGroup, int lastGroup, int firstColumn, int lastColumn) {
  if (grouping_ && firstGroup <= lastGroup && firstColumn <= lastColumn)
    Q_EMIT dataChanged(index(firstGroup, firstColumn, {}), index(lastGroup, lastColumn, {}));
}

std::vector<std::int64_t> RunsModel::ids() const {
  std::vector<std::int64_t> all;
  for (const auto& group : groups_) {
    for (const store::RunRow& row : group->runs) all.push_back(row.id);
  }
  return all;
}

const store::RunRow* RunsModel::run(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() == 0) return nullptr;
  const int group = groupOf(static_cast<std::int64_t>(index.internalId()) - 1);
  if (group < 0) return nullptr;
  const Group& home = *groups_[static_cast<std::size_t>(group)];
  const auto row = static_cast<std::size_t>(index.row());
  return row < home.runs.size() ? &home.runs[row] : nullptr;
}

QString RunsModel::twinWords(const store::RunRow& row) const {
  const int group = groupOf(groupIdOf(row));
  if (group < 0) return {};
  const std::vector<store::RunRow>& runs = groups_[static_cast<std::size_t>(group)]->runs;
  const auto wordsOf = [this](const store::RunRow& one) {
    const auto found = differences_.find(one.id);
    return found == differences_.end() ? QString() : found->second;
  };
  QString words;
  for (const store::RunRow& other : runs) {
    const bool isTwin = other.id != row.id && other.experimentId == row.experimentId &&
                        other.seed == row.seed && other.name == row.name &&
                        other.stage == row.stage && wordsOf(other) == wordsOf(row);
    if (!isTwin) continue;
    words = dayOf(row.createdAt);
    if (words == dayOf(other.createdAt)) return QStringLiteral("#%1").arg(row.id);
  }
  return words;
}

QModelIndex RunsModel::indexOf(std::int64_t id) const {
  const auto found = parents_.find(id);
  if (found == parents_.end()) return {};
  const int group = groupOf(found->second);
  if (group < 0) return {};
  const int place = placeOf(*groups_[static_cast<std::size_t>(group)], id);
  return createIndex(place, 0, static_cast<quintptr>(found->second + 1));
}

QModelIndex RunsModel::index(int row, int column, const QModelIndex& parent) const {
  if (column < 0 || column >= columnCount(parent) || row < 0 || row >= rowCount(parent)) return {};
  if (!parent.isValid()) return createIndex(row, column, quintptr{0});
  const Group& home = *groups_[static_cast<std::size_t>(parent.row())];
  return createIndex(row, column, static_cast<quintptr>(home.id + 1));
}

QModelIndex RunsModel::parent(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() == 0) return {};
  const int group = groupOf(static_cast<std::int64_t>(index.internalId()) - 1);
  return group < 0 ? QModelIndex() : createIndex(group, 0, quintptr{0});
}

int RunsModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) return static_cast<int>(groups_.size());
  if (parent.column() != 0 || parent.internalId() != 0 ||
      parent.row() >= static_cast<int>(groups_.size()))
    return 0;
  return static_cast<int>(groups_[static_cast<std::size_t>(parent.row())]->runs.size());
}

int RunsModel::columnCount(const QModelIndex&) const {
  return 1 + static_cast<int>(columns_.size());
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount({})) return {};
  const Column* column = section == 0 ? nullptr : &columns_[static_cast<std::size_t>(section) - 1];
  if (role == Qt::DisplayRole) return column == nullptr ? tr("Run") : column->title;
  if (role == Qt::ToolTipRole && column != nullptr) return column->tip;
  if (role == Qt::TextAlignmentRole && column != nullptr && !column->cells.empty() &&
      column->cells.begin()->second.order.typeId() == QMetaType::Double)
    return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
  return {};
}

QVariant RunsModel::cellData(const store::RunRow& row, const Column& column, int role) const {
  const auto found = column.cells.find(row.id);
  const bool isThere = found != column.cells.end();
  switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
      return isThere ? found->second.text : QStringLiteral("\u2013");
    case Qt::AccessibleTextRole:
      return tr("%1: %2").arg(column.title, isThere ? found->second.text : tr("no value"));
    case IdRole:
      return QVariant::fromValue<qlonglong>(row.id);
    case StateRole:
      return column.id == "state" ? QString::fromStdString(toString(row.state)) : QString();
    case HiddenRole:
      return hidden_.contains(row.id);
    case OrderRole:
      return isThere ? found->second.order : QVariant();
    default:
      return {};
  }
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const store::RunRow* row = run(index);
  if (row == nullptr) {
    if (index.row() >= static_cast<int>(groups_.size())) return {};
    const Group& group = *groups_[static_cast<std::size_t>(index.row())];
    if (index.column() > 0) {
      if (role == IdRole) return 0;
      const Column& column = columns_[static_cast<std::size_t>(index.column()) - 1];
      const bool isOfGroup = grouping_ && column.id == grouping_->id;
      return role == OrderRole && isOfGroup ? group.order : QVariant();
    }
    const auto runs = static_cast<std::int64_t>(group.runs.size());
    switch (role) {
      case Qt::DisplayRole:
      case Qt::ToolTipRole:
        return group.title;
      case Qt::AccessibleTextRole:
        return (grouping_ ? tr("group %1, %2") : tr("experiment %1, %2"))
            .arg(group.title, counted(runs, tr("run"), tr("runs")));
      case CountRole:
        return static_cast<int>(runs);
      case GroupRole:
        return QVariant::fromValue<qlonglong>(group.id);
      case IdRole:
        return 0;
      default:
        return {};
    }
  }
  if (index.column() > 0)
    return cellData(*row, columns_[static_cast<std::size_t>(index.column()) - 1], role);
  const QString state = QString::fromStdString(toString(row->state));
  switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
    case OrderRole:
      return QString::fromStdString(row->name);
    case IdRole:
      return QVariant::fromValue<qlonglong>(row->id);
    case StateRole:
      return state;
    case DetailRole: {
      QStringList parts{runDetail(*row)};
      if (const auto found = differences_.find(row->id); found != differences_.end())
        parts.push_front(found->second);
      if (const QString mark = markWords(row->id); !mark.isEmpty()) parts.push_front(mark);
      if (const QString twin = twinWords(*row); !twin.isEmpty()) parts << twin;
      const QString words = parts.join(QStringLiteral(" \u00b7 ")), tags = tagsOf(row->id);
      return tags.isEmpty() ? words : QStringLiteral("[%1] ").arg(tags) + words;
    }
    case MarkRole:
      return markWords(row->id);
    case ScoreRole: {
      const auto found = scores_.find(row->id);
      return found == scores_.end() ? QString() : found->second.text;
    }
    case ProgressRole:
      if (!isAlive(row->state) || row->totalSteps <= 0) return -1.0;
      return std::clamp(static_cast<double>(row->step) / static_cast<double>(row->totalSteps), 0.0,
                        1.0);
    case HiddenRole:
      return hidden_.contains(row->id);
    case Qt::AccessibleTextRole: {
      QString words = tr("run %1, %2, %3, %4")
                          .arg(row->id)
                          .arg(QString::fromStdString(row->name), state, runDetail(*row));
      if (const QString mark = markWords(row->id); !mark.isEmpty()) words += tr(", %1").arg(mark);
      if (const QString tags = tagsOf(row->id); !tags.isEmpty()) words += tr(", tags %1").arg(tags);
      return hidden_.contains(row->id) ? tr("%1, hidden from charts").arg(words) : words;
    }
    case Qt::ToolTipRole: {
      QString tip = tr("#%1 %2\n%3 \u00b7 %4")
                        .arg(row->id)
                        .arg(QString::fromStdString(row->name), runDetail(*row), state);
      const auto found = scores_.find(row->id);
      if (found != scores_.end())
        tip += tr("\n%1, last value: %2").arg(found->second.what, found->second.text);
      if (const QString mark = markWords(row->id); !mark.isEmpty())
        tip += tr("\nMarked: %1").arg(mark);
      if (const QString tags = tagsOf(row->id); !tags.isEmpty()) tip += tr("\nTags: %1").arg(tags);
      if (!row->reason.empty()) tip += QLatin1Char('\n') + QString::fromStdString(row->reason);
      return tip;
    }
    default:
      return {};
  }
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  if (index.internalId() == 0) return Qt::ItemIsEnabled;
  const Qt::ItemFlags of = Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren;
  return index.column() == 0 ? of | Qt::ItemIsEditable : of;
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  const store::RunRow* row = run(index);
  if (row == nullptr || index.column() != 0 || role != Qt::EditRole) return false;
  const QString name = value.toString().trimmed();
  if (name.isEmpty() || name.toStdString() == row->name) return false;
  Q_EMIT renamed(row->id, name);
  return true;
}

}  // namespace vitrine::ui
