// The queue as a tree: runs in progress, waiting, resumable and ended.
#pragma once

#include <QAbstractItemModel>
#include <cstdint>
#include <string>
#include <vector>

#include "ui/workbench/queue_service.h"

namespace vitrine::ui {

class QueueModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum class Section { Running, Waiting, Resumable, Ended };
  enum Column { RunColumn, StateColumn, DeviceColumn, LimitColumn, TimeColumn, ColumnCount };
  enum Role {
    IdRole = Qt::UserRole,  ///< run id; 0 for a section
    SectionRole,            ///< as int
    DetailRole,             ///< second line of a cell
    ProgressRole,           ///< 0 to 1 while in progress, -1 otherwise
    CountRole,              ///< of a section: number of runs
  };

  using QAbstractItemModel::QAbstractItemModel;

  /// Sections without runs are left out. Selection and scroll position stay when no run came, went
  /// or moved, and only changed lines are reported; otherwise the model is reset.
  void show(const QueueView& view);
  [[nodiscard]] QModelIndex indexOf(std::int64_t run) const;
  [[nodiscard]] std::vector<std::int64_t> runsOf(Section section) const;

  QModelIndex index(int row, int column, const QModelIndex& parent) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent) const override;
  int columnCount(const QModelIndex& parent) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

  // Runs that wait are dragged to another place in their section.
  Qt::DropActions supportedDropActions() const override { return Qt::MoveAction; }
  QStringList mimeTypes() const override;
  QMimeData* mimeData(const QModelIndexList& indexes) const override;
  bool canDropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                       const QModelIndex& parent) const override;
  bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                    const QModelIndex& parent) override;

 Q_SIGNALS:
  /// These are to stand before `before`, or behind all others when that is 0.
  void moveRequested(const std::vector<std::int64_t>& runs, std::int64_t before);

 private:
  /// What the last column says of a moment; worked out when it is shown.
  enum class Moment { None, Left, Since, Ended };
  struct Line {
    std::int64_t run = 0;
    QString name, detail, state, note, device, limit;
    Moment moment = Moment::None;
    std::string at;               ///< UTC, of Since and Ended
    double remainingSeconds = 0;  ///< of Left
    double progress = -1;
    bool operator==(const Line&) const = default;
  };
  struct Group {
    Section section;
    std::vector<Line> lines;
  };
  [[nodiscard]] static Line lineOf(const QueueView& view, const jobs::QueueEntry* entry,
                                   std::int64_t run, Section section, bool isFirst);
  [[nodiscard]] static QString timeOf(const Line& line);
  [[nodiscard]] static QString timeTipOf(const Line& line);
  [[nodiscard]] const Line* line(const QModelIndex& index) const;

  // Index::internalId is 0 for a section, else its place + 1.
  std::vector<Group> groups_;
};

}  // namespace vitrine::ui
