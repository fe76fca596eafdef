// The rows that a statement returned, as a table whose cells become text only when they are looked
// at. Also as text for files and the clipboard.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/store/run_store.h"

namespace vitrine::ui {

/// A value as it stands in a file: full precision, "" for NULL, "[123 bytes]" for a blob.
[[nodiscard]] QString sqlPlain(const Json& value);
/// Bytes of a blob; -1 for every other value.
[[nodiscard]] std::int64_t blobBytes(const Json& value);

enum class SqlHeader { None, Names };
/// Rows [from, to) in the order of `order` (empty: as they came).
[[nodiscard]] QString sqlTsv(const store::RunReader::Table& table, const std::vector<int>& order,
                             SqlHeader header);
[[nodiscard]] QString sqlCsv(const store::RunReader::Table& table, const std::vector<int>& order);
[[nodiscard]] QString sqlJsonLines(const store::RunReader::Table& table,
                                   const std::vector<int>& order);

/// Rows of a table in the order of a column, equal ones as they came; every row as it came without
/// a column (-1). Takes a while: not for the window's thread.
[[nodiscard]] std::vector<int> sqlOrder(const store::RunReader::Table& table, int column,
                                        Qt::SortOrder direction);

class SqlResultModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;

  /// \param statement  what returned it: says whether `id` is a run's
  void setTable(std::shared_ptr<const store::RunReader::Table> table, const QString& statement);
  [[nodiscard]] const store::RunReader::Table& table() const { return *table_; }
  /// The same rows, to be read in another thread.
  [[nodiscard]] const std::shared_ptr<const store::RunReader::Table>& shared() const {
    return table_;
  }
  /// Rows of the table as they are shown.
  [[nodiscard]] const std::vector<int>& order() const { return order_; }
  [[nodiscard]] const Json& value(const QModelIndex& index) const;
  /// The column that names a run; -1 without one.
  [[nodiscard]] int runColumn() const { return runColumn_; }
  [[nodiscard]] std::int64_t runOf(int row) const;  ///< 0 where there is none
  [[nodiscard]] bool isNumeric(int column) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  /// Shows the rows in an order of sqlOrder(); selected rows stay selected.
  void setOrder(std::vector<int> order);
  /// Colours after a change of theme.
  void restyle();

 private:
  struct Column {
    bool isNumeric = false;
    bool isIdentifier = false;  ///< written without separators
    int decimals = -1;          ///< the same in all cells; -1: as each needs
  };
  [[nodiscard]] QString shown(const Json& value, const Column& column) const;

  std::shared_ptr<const store::RunReader::Table> table_ =
      std::make_shared<const store::RunReader::Table>();
  std::vector<Column> columns_;
  std::vector<int> order_;
  int runColumn_ = -1;
};

}  // namespace vitrine::ui
