#include "ui/queue/queue_model.h"

#include <QDateTime>
#include <QLocale>
#include <QMimeData>
#include <algorithm>
#include <unordered_map>

#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {
namespace {

constexpr auto kMimeType = "application/x-vitrine-queue";

QString text(const std::string& bytes) { return QString::fromStdString(bytes); }

/// "18:03" today, "21 Nov" before; an en dash for none.
QString when(const std::string& utc) {
  const QDateTime time = timeFromUtc(utc).toLocalTime();
  if (!time.isValid()) return QStringLiteral("\u2013");
  return time.date() == QDate::currentDate() ? time.toString(QStringLiteral("HH:mm"))
                                             : time.toString(QStringLiteral("d MMM"));
}

QString whole(const std::string& utc) {
  const QDateTime time = timeFromUtc(utc).toLocalTime();
  return time.isValid() ? QLocale().toString(time, QLocale::LongFormat) : QString();
}

QString steps(const store::RunRow& row) {
  if (row.totalSteps > 0)
    return QueueModel::tr("step %1 / %2").arg(count(row.step), count(row.totalSteps));
  return row.step > 0 ? QueueModel::tr("step %1").arg(count(row.step)) : QString();
}

QString titleOf(QueueModel::Section section) {
  switch (section) {
    case QueueModel::Section::Running:
      return QueueModel::tr("In progress");
    case QueueModel::Section::Waiting:
      return QueueModel::tr("Waiting");
    case QueueModel::Section::Resumable:
      return QueueModel::tr("Can be resumed");
    case QueueModel::Section::Ended:
      return QueueModel::tr("Finished recently");
  }
  return {};
}

}  // namespace

QueueModel::Line QueueModel::lineOf(const QueueView& view, const jobs::QueueEntry* entry,
                                    std::int64_t run, Section section, bool isFirst) {
  const store::RunRow& row = view.rows.at(run);
  Line line;
  line.run = run;
  line.name = text(row.name);
  line.detail = text(row.experiment) + QStringLiteral(" \u00b7 ") + tr("seed %1").arg(row.seed);
  line.state = text(toString(row.state));
  line.device = line.limit = QStringLiteral("\u2013");
  if (!row.device.empty()) line.device = deviceText(row.device);
  if (entry != nullptr) {
    const std::string& wanted = entry->wantedDevice();
    if (section == Section::Waiting || row.device.empty())
      line.device = deviceText(wanted.empty() ? "auto" : wanted);
    if (entry->options.timeLimitSeconds > 0)
      line.limit = duration(entry->options.timeLimitSeconds);
  }
  switch (section) {
    case Section::Running:
      line.note = steps(row);
      if (entry == nullptr) line.note += tr(" \u00b7 started outside the queue");
      if (row.remainingSeconds > 0 && row.state == store::RunState::Running) {
        line.moment = Moment::Left;
        line.remainingSeconds = row.remainingSeconds;
      }
      line.progress =
          row.totalSteps > 0
              ? std::clamp(static_cast<double>(row.step) / static_cast<double>(row.totalSteps), 0.0,
                           1.0)
              : 0;
      break;
    case Section::Waiting:
      line.note = text(entry->waits);
      if (line.note.isEmpty() && isFirst) {
        line.note =
            view.mode == store::QueueMode::Running ? tr("next") : tr("next when the queue resumes");
      }
      if (line.note.isEmpty() && row.step > 0) {
        line.note = row.latestCheckpoint >= 0
                        ? tr("continues from step %1").arg(count(row.latestCheckpoint))
                        : tr("restarts at step 0 (no checkpoint)");
      }
      line.moment = Moment::Since;
      line.at = entry->enqueuedAt;
      break;
    case Section::Resumable:
    case Section::Ended:
      line.note = row.reason.empty() ? steps(row) : text(row.reason);
      line.moment = Moment::Ended;
      line.at = row.finishedAt;
      break;
  }
  return line;
}

QString QueueModel::timeOf(const Line& line) {
  switch (line.moment) {
    case Moment::Left:
      return tr("%1 left").arg(duration(line.remainingSeconds));
    case Moment::Since:
      return tr("since %1").arg(when(line.at));
    case Moment::Ended:
      return when(line.at);
    case Moment::None:
      break;
  }
  return QStringLiteral("\u2013");
}

QString QueueModel::timeTipOf(const Line& line) {
  switch (line.moment) {
    case Moment::Left:
      return tr("Estimated from the speed so far");
    case Moment::Since:
      return tr("In the queue since %1").arg(whole(line.at));
    case Moment::Ended:
      return tr("Ended %1").arg(whole(line.at));
    case Moment::None:
      break;
  }
  return {};
}

void QueueModel::show(const QueueView& view) {
  std::unordered_map<std::int64_t, const jobs::QueueEntry*> entries;
  for (const jobs::QueueEntry& entry : view.entries) entries.emplace(entry.run, &entry);
  std::vector<Group> fresh;
  const auto add = [&](Section section, const std::vector<std::int64_t>& runs) {
    if (runs.empty()) return;
    Group group{section, {}};
    for (const std::int64_t run : runs) {
      const auto entry = entries.find(run);
      group.lines.push_back(lineOf(view, entry == entries.end() ? nullptr : entry->second, run,
                                   section, run == runs.front()));
    }
    fresh.push_back(std::move(group));
  };
  add(Section::Running, view.running);
  add(Section::Waiting, view.waiting());
  add(Section::Resumable, view.resumable);
  add(Section::Ended, view.ended);

  const bool isSame =
      std::equal(fresh.begin(), fresh.end(), groups_.begin(), groups_.end(),
                 [](const Group& a, const Group& b) {
                   return a.section == b.section &&
                          std::equal(a.lines.begin(), a.lines.end(), b.lines.begin(), b.lines.end(),
                                     [](const Line& x, const Line& y) { return x.run == y.run; });
                 });
  if (!isSame) {
    beginResetModel();
    groups_ = std::move(fresh);
    endResetModel();
    return;
  }
  groups_.swap(fresh);
  for (int group = 0; group < rowCount({}); ++group) {
    const QModelIndex parent = index(group, 0, {});
    const auto& now = groups_[static_cast<std::size_t>(group)].lines;
    const auto& before = fresh[static_cast<std::size_t>(group)].lines;
    for (std::size_t row = 0; row < now.size();) {
      std::size_t end = row;
      while (end < now.size() && !(now[end] == before[end])) ++end;
      if (end > row) {
        Q_EMIT dataChanged(index(static_cast<int>(row), 0, parent),
                           index(static_cast<int>(end) - 1, ColumnCount - 1, parent));
      }
      row = end + 1;
    }
  }
}

const QueueModel::Line* QueueModel::line(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() == 0) return nullptr;
  return &groups_[index.internalId() - 1].lines[static_cast<std::size_t>(index.row())];
}

QModelIndex QueueModel::indexOf(std::int64_t run) const {
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const auto& lines = groups_[group].lines;
    const auto found = std::find_if(lines.begin(), lines.end(),
                                    [run](const Line& line) { return line.run == run; });
    if (found != lines.end())
      return createIndex(static_cast<int>(found - lines.begin()), 0, group + 1);
  }
  return {};
}

std::vector<std::int64_t> QueueModel::runsOf(Section section) const {
  std::vector<std::int64_t> runs;
  for (const Group& group : groups_) {
    if (group.section != section) continue;
    for (const Line& each : group.lines) runs.push_back(each.run);
  }
  return runs;
}

QModelIndex QueueModel::index(int row, int column, const QModelIndex& parent) const {
  if (row < 0 || row >= rowCount(parent) || column < 0 || column >= ColumnCount) return {};
  return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : 0);
}

QModelIndex QueueModel::parent(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() == 0) return {};
  return createIndex(static_cast<int>(index.internalId()) - 1, 0, quintptr{0});
}

int QueueModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) return static_cast<int>(groups_.size());
  if (parent.internalId() != 0 || parent.column() != 0) return 0;
  return static_cast<int>(groups_[static_cast<std::size_t>(parent.row())].lines.size());
}

int QueueModel::columnCount(const QModelIndex&) const { return ColumnCount; }

QVariant QueueModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Line* shown = line(index);
  if (shown == nullptr) {
    const Group& group = groups_[static_cast<std::size_t>(index.row())];
    if (index.column() != 0) return {};
    const auto runs = static_cast<std::int64_t>(group.lines.size());
    switch (role) {
      case Qt::DisplayRole:
        return titleOf(group.section);
      case Qt::AccessibleTextRole:
        return titleOf(group.section) + QStringLiteral(", ") + counted(runs, tr("run"), tr("runs"));
      case IdRole:
        return 0;
      case SectionRole:
        return static_cast<int>(group.section);
      case CountRole:
        return static_cast<int>(runs);
      default:
        return {};
    }
  }
  switch (role) {
    case IdRole:
      return static_cast<qlonglong>(shown->run);
    case SectionRole:
      return static_cast<int>(groups_[index.internalId() - 1].section);
    case ProgressRole:
      return shown->progress;
    case Qt::TextAlignmentRole:
      return static_cast<int>((index.column() == LimitColumn || index.column() == TimeColumn
                                   ? Qt::AlignRight
                                   : Qt::AlignLeft) |
                              Qt::AlignVCenter);
    default:
      break;
  }
  const auto cell = [&]() -> std::pair<QString, QString> {
    switch (index.column()) {
      case RunColumn:
        return {shown->name, shown->detail};
      case StateColumn:
        return {shown->state, shown->note};
      case DeviceColumn:
        return {shown->device, {}};
      case LimitColumn:
        return {shown->limit, {}};
      default:
        return {timeOf(*shown), {}};
    }
  }();
  switch (role) {
    case Qt::DisplayRole:
      return cell.first;
    case DetailRole:
      return cell.second;
    case Qt::AccessibleTextRole:
      return index.column() == RunColumn
                 ? tr("run %1, %2, %3").arg(shown->run).arg(cell.first, cell.second)
                 : QStringList{cell.first, cell.second}.join(QLatin1Char(' ')).trimmed();
    case Qt::ToolTipRole:
      switch (index.column()) {
        case RunColumn:
          return QStringLiteral("#%1 %2\n%3").arg(shown->run).arg(cell.first, cell.second);
        case StateColumn:
          return cell.second;
        case DeviceColumn:
          return tr("Device of the run, or the one it waits for");
        case LimitColumn:
          return tr("The run stops at a checkpoint after this running time, over all starts");
        default:
          return timeTipOf(*shown);
      }
    default:
      return {};
  }
}

QVariant QueueModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    const bool isRight = section == LimitColumn || section == TimeColumn;
    return static_cast<int>((isRight ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) return {};
  const QString titles[] = {tr("Run"), tr("State"), tr("Device"), tr("Time limit"),
                            tr("Time left or finished")};
  return section >= 0 && section < ColumnCount ? QVariant(titles[section]) : QVariant();
}

Qt::ItemFlags QueueModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  const auto section = static_cast<Section>(index.siblingAtColumn(0).data(SectionRole).toInt());
  if (index.internalId() == 0) {
    return section == Section::Waiting ? Qt::ItemIsEnabled | Qt::ItemIsDropEnabled
                                       : Qt::ItemFlags(Qt::ItemIsEnabled);
  }
  Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren;
  if (section == Section::Waiting) flags |= Qt::ItemIsDragEnabled;
  return flags;
}

QStringList QueueModel::mimeTypes() const { return {QString::fromLatin1(kMimeType)}; }

QMimeData* QueueModel::mimeData(const QModelIndexList& indexes) const {
  // In the order of the queue, whatever the order in which they were selected.
  const std::vector<std::int64_t> waiting = runsOf(Section::Waiting);
  QStringList ids;
  for (const std::int64_t run : waiting) {
    const bool isMeant = std::any_of(indexes.begin(), indexes.end(), [run](const QModelIndex& at) {
      return at.column() == 0 && at.data(IdRole).toLongLong() == run;
    });
    if (isMeant) ids << QString::number(run);
  }
  if (ids.isEmpty()) return nullptr;
  auto* data = new QMimeData;
  data->setData(QString::fromLatin1(kMimeType), ids.join(QLatin1Char(' ')).toLatin1());
  return data;
}

bool QueueModel::canDropMimeData(const QMimeData* data, Qt::DropAction action, int, int,
                                 const QModelIndex& parent) const {
  return action == Qt::MoveAction && data->hasFormat(QString::fromLatin1(kMimeType)) &&
         parent.isValid() && parent.internalId() == 0 &&
         parent.siblingAtColumn(0).data(SectionRole).toInt() == static_cast<int>(Section::Waiting);
}

bool QueueModel::dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                              const QModelIndex& parent) {
  if (!canDropMimeData(data, action, row, column, parent)) return false;
  std::vector<std::int64_t> runs;
  for (const QByteArray& id : data->data(QString::fromLatin1(kMimeType)).split(' '))
    runs.push_back(id.toLongLong());
  // The place is before the next run that is not moved itself.
  const std::vector<std::int64_t> waiting = runsOf(Section::Waiting);
  std::int64_t before = 0;
  for (std::size_t i = row < 0 ? waiting.size() : static_cast<std::size_t>(row);
       i < waiting.size() && before == 0; ++i) {
    if (std::find(runs.begin(), runs.end(), waiting[i]) == runs.end()) before = waiting[i];
  }
  Q_EMIT moveRequested(runs, before);
  return false;  // the rows move when the queue says so
}

}  // namespace vitrine::ui
