// The ablation table for a view: text, order and tool tips of its cells.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include "ui/compare/ablation_table.h"

namespace vitrine::ui {

class AblationModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// Variant, what differs, then for each metric its value, the paired difference and n, then runs.
  enum class Part { Variant, Differs, Value, Difference, Count, Runs };
  static constexpr int kSortRole = Qt::UserRole + 1;  ///< a number, or text; invalid: missing

  using QAbstractTableModel::QAbstractTableModel;

  /// \param series  of each row, for its swatch: see seriesOf()
  void setTable(AblationTable table, std::vector<std::int64_t> series);
  [[nodiscard]] const AblationTable& table() const { return table_; }
  [[nodiscard]] Part partOf(int column) const;
  /// Verdicts as their signs alone, and headings in two lines, for a table with little room.
  void setNarrow(bool isNarrow);
  [[nodiscard]] bool isNarrow() const { return isNarrow_; }
  [[nodiscard]] int metricOf(int column) const;  ///< -1 where the column has none
  /// The heading in one line; where there are several metrics, with that of the column.
  [[nodiscard]] QString titleOf(int column) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  void tellChanged();
  [[nodiscard]] QString textOf(const AblationRow& row, int column) const;
  [[nodiscard]] QString tipOf(const AblationRow& row, int column) const;
  [[nodiscard]] QVariant sortKeyOf(const AblationRow& row, int column) const;

  AblationTable table_;
  std::vector<std::int64_t> series_;
  bool isNarrow_ = false;
};

/// Sorts by value with missing values last in either direction; filters by words in variant and
/// what differs.
class AblationOrder : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  explicit AblationOrder(QObject* parent = nullptr);
  void setWords(const QString& words);

 protected:
  [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
  [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  QStringList words_;
};

}  // namespace vitrine::ui
