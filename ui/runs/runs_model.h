// The runs of a database as a tree: experiments, newest first, and their runs in order of id. A
// table has columns next to the name of a run, and may group runs by the values of a column
// instead.
#pragma once

#include <QAbstractItemModel>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/store/tables/run_marks.h"
#include "core/store/types.h"

namespace vitrine::ui {

/// Changes come row by row, so that selection and scroll position stay. Other columns, or groups by
/// another column, are a reset; new values of the column that groups are a change of layout.
class RunsModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum Role {
    IdRole = Qt::UserRole,  ///< run id; 0 for an experiment or group
    StateRole,              ///< the word
    DetailRole,             ///< second line: "[best] width 128 · seed 0 · step 2,184 / 4,690"
    ScoreRole,              ///< what sums the run up, "0.861"; "" where there is none
    ProgressRole,           ///< 0 to 1 while alive, -1 otherwise
    CountRole,              ///< of an experiment or group: number of runs
    HiddenRole,             ///< selected, and not drawn by the pages
    MarkRole,               ///< "baseline", "archived"; "" for most
    OrderRole,              ///< what a column is sorted by: a number or a text; none where missing
    GroupRole,              ///< id of an experiment or group: stays while its values change
  };

  using QAbstractItemModel::QAbstractItemModel;

  /// Adds the new ones, updates those that changed.
  void upsert(const std::vector<store::RunRow>& rows);
  void remove(const std::vector<std::int64_t>& ids);
  /// A score as the list shows it.
  struct Score {
    QString text;  ///< "0.861"
    QString what;  ///< "test accuracy", for the tool tip
    bool operator==(const Score&) const = default;
  };
  /// By run; those that are not in it have none.
  void setScores(const std::map<std::int64_t, Score>& scores);

  /// By run: words that tell it from others of its name.
  void setDifferences(std::map<std::int64_t, QString> differences);
  /// By run, of those that have some.
  void setTags(std::map<std::int64_t, std::vector<std::string>> tags);
  void setHidden(const std::set<std::int64_t>& runs);
  /// By run, of those that have some. Whether they differ from those before.
  bool setMarks(std::map<std::int64_t, store::RunMarks> marks);
  [[nodiscard]] store::RunMarks marksOf(std::int64_t run) const;
  /// Of the runs of the list.
  [[nodiscard]] int archivedCount() const;
  [[nodiscard]] bool hasArchived() const { return hasArchived_; }

  struct Cell {
    QString text;
    QVariant order;  ///< a number or a text
    bool operator==(const Cell&) const = default;
  };
  struct Column {
    std::string id;
    QString title, tip;
    std::map<std::int64_t, Cell> cells;  ///< by run; those that are not in it have no value
    /// The text of a mean over runs; none where a mean says nothing.
    std::function<QString(double)> meanText = {};
  };
  /// The columns next to the name: none for a list. With the ids that it has, only values change.
  void setColumns(std::vector<Column> columns);
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  /// Groups the runs by the texts of a column, shown or not: in the order of its values, runs
  /// without one last. None: by experiment. A run that is added has no value until the next call.
  void groupBy(std::optional<Column> column);
  [[nodiscard]] bool isGrouped() const { return grouping_.has_value(); }
  /// Title of the column that groups; "" where there is none.
  [[nodiscard]] QString groupedBy() const { return grouping_ ? grouping_->title : QString(); }
  /// The means of groups are over other runs than before.
  void tellMeans();

  [[nodiscard]] const store::RunRow* run(const QModelIndex& index) const;
  /// "best, paper"; "" where it has none.
  [[nodiscard]] QString tagsOf(std::int64_t run) const;
  /// All runs, in the order of the list.
  [[nodiscard]] std::vector<std::int64_t> ids() const;
  [[nodiscard]] QModelIndex indexOf(std::int64_t id) const;
  [[nodiscard]] int runCount() const { return static_cast<int>(parents_.size()); }

  QModelIndex index(int row, int column, const QModelIndex& parent) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent) const override;
  int columnCount(const QModelIndex& parent) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  /// A name that was typed over a run's: passed on with renamed(), and shown when it is stored.
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

 Q_SIGNALS:
  void renamed(std::int64_t run, const QString& name);

 private:
  struct Group {
    std::int64_t id = 0;  ///< of the experiment or value; 0: runs without a value
    QString title;
    QVariant order;  ///< of the value that the runs share
    std::vector<store::RunRow> runs;
  };
  /// Row of a group by its id; -1: there is none.
  [[nodiscard]] int groupOf(std::int64_t id) const;
  /// Groups from this row on came, went or moved.
  void numberGroupRows(int first);
  /// The row that a new group gets.
  [[nodiscard]] int groupPlaceOf(const Group& group) const;
  /// Id of the group that a run belongs to.
  [[nodiscard]] std::int64_t groupIdOf(const store::RunRow& row) const;
  /// An empty group for this run.
  [[nodiscard]] std::unique_ptr<Group> groupFor(const store::RunRow& row) const;
  void regroup(std::optional<Column> column);
  /// Ids of the groups by `grouping_`: a text keeps its id, a group whose value changes, too.
  void numberGroups();
  void tellMeans(int firstGroup, int lastGroup, int firstColumn, int lastColumn);
  /// What tells it from runs of the experiment with its name, seed, stage and differences: its
  /// time, or its number where another one has that minute; "" where there are none.
  [[nodiscard]] QString twinWords(const store::RunRow& row) const;
  [[nodiscard]] QString markWords(std::int64_t run) const;
  [[nodiscard]] QVariant cellData(const store::RunRow& row, const Column& column, int role) const;
  [[nodiscard]] static int placeOf(const Group& group, std::int64_t id);

  // Index::internalId is 0 for a group, else the group's id + 1: it survives moves of rows.
  std::vector<std::unique_ptr<Group>> groups_;
  std::unordered_map<std::int64_t, int> groupRows_;  ///< rows of the groups by their ids
  std::unordered_map<std::int64_t, std::int64_t> parents_;  ///< run -> group
  std::map<std::int64_t, Score> scores_;
  std::map<std::int64_t, QString> differences_;
  std::map<std::int64_t, std::vector<std::string>> tags_;
  std::set<std::int64_t> hidden_;
  std::map<std::int64_t, store::RunMarks> marks_;
  bool hasArchived_ = false;
  std::vector<Column> columns_;
  std::optional<Column> grouping_;                 ///< none: by experiment
  std::map<std::int64_t, std::int64_t> groupIds_;  ///< by run, of those that have a value
  std::map<QString, std::int64_t> valueIds_;       ///< groups by their text
  std::int64_t lastGroupId_ = std::int64_t{1} << 40;  ///< above the ids of experiments
};

/// Whether a value of OrderRole comes before another: numbers by size, then texts. Both are there.
[[nodiscard]] bool isOrderedBefore(const QVariant& a, const QVariant& b);

/// "seed 0 · step 2,184 / 4,690", as the list and the inspector show it.
[[nodiscard]] QString runDetail(const store::RunRow& row);

}  // namespace vitrine::ui
