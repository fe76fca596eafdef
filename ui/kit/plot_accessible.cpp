#include "ui/kit/plot_accessible.h"

#include <QAccessible>
#include <QAccessibleTableCellInterface>
#include <QAccessibleTableInterface>
#include <QAccessibleWidget>
#include <QElapsedTimer>
#include <QWidget>
#include <map>
#include <utility>

namespace vitrine::ui {
namespace {

class PlotAccessible;

/// One text of the table; the first row is that of the titles.
class PlotCell final : public QAccessibleInterface, public QAccessibleTableCellInterface {
 public:
  PlotCell(PlotAccessible& plot, int row, int column) : plot_(plot), row_(row), column_(column) {}

  bool isValid() const override;
  QObject* object() const override { return nullptr; }
  QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  QAccessibleInterface* parent() const override;
  QAccessibleInterface* child(int) const override { return nullptr; }
  int childCount() const override { return 0; }
  int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  QString text(QAccessible::Text kind) const override;
  void setText(QAccessible::Text, const QString&) override {}
  QRect rect() const override;
  QAccessible::Role role() const override {
    return row_ == 0 ? QAccessible::ColumnHeader : QAccessible::Cell;
  }
  QAccessible::State state() const override {
    QAccessible::State state;
    state.readOnly = true;
    return state;
  }
  void* interface_cast(QAccessible::InterfaceType type) override {
    return type == QAccessible::TableCellInterface
               ? static_cast<QAccessibleTableCellInterface*>(this)
               : nullptr;
  }

  bool isSelected() const override { return false; }
  QList<QAccessibleInterface*> columnHeaderCells() const override;
  QList<QAccessibleInterface*> rowHeaderCells() const override { return {}; }
  int columnIndex() const override { return column_; }
  int rowIndex() const override { return row_; }
  int columnExtent() const override { return 1; }
  int rowExtent() const override { return 1; }
  QAccessibleInterface* table() const override;

 private:
  PlotAccessible& plot_;
  int row_, column_;
};

class PlotAccessible final : public QAccessibleWidget, public QAccessibleTableInterface {
 public:
  PlotAccessible(QWidget* widget, const DescribedPlot& plot)
      : QAccessibleWidget(widget, QAccessible::Table), plot_(plot) {}
  ~PlotAccessible() override {
    for (const auto& [place, id] : cells_) QAccessible::deleteAccessibleInterface(id);
  }

  QString text(QAccessible::Text kind) const override {
    return kind == QAccessible::Description ? plot_.plotSummary() : QAccessibleWidget::text(kind);
  }
  int childCount() const override { return rowCount() * columnCount(); }
  QAccessibleInterface* child(int index) const override {
    const int columns = columnCount();
    return columns == 0 ? nullptr : cellAt(index / columns, index % columns);
  }
  int indexOfChild(const QAccessibleInterface* child) const override {
    for (const auto& [place, id] : cells_) {
      if (QAccessible::accessibleInterface(id) == child)
        return place.first * columnCount() + place.second;
    }
    return -1;
  }
  void* interface_cast(QAccessible::InterfaceType type) override {
    if (type == QAccessible::TableInterface) return static_cast<QAccessibleTableInterface*>(this);
    return QAccessibleWidget::interface_cast(type);
  }

  QAccessibleInterface* caption() const override { return nullptr; }
  QAccessibleInterface* summary() const override { return nullptr; }
  QAccessibleInterface* cellAt(int row, int column) const override {
    if (row < 0 || column < 0 || row >= rowCount() || column >= columnCount()) return nullptr;
    auto& self = const_cast<PlotAccessible&>(*this);  // what the interface of Qt asks for
    const auto [place, isNew] = self.cells_.try_emplace({row, column}, 0);
    if (isNew)
      place->second = QAccessible::registerAccessibleInterface(new PlotCell(self, row, column));
    return QAccessible::accessibleInterface(place->second);
  }
  int selectedCellCount() const override { return 0; }
  QList<QAccessibleInterface*> selectedCells() const override { return {}; }
  QString columnDescription(int column) const override { return now().columns.value(column); }
  QString rowDescription(int row) const override { return textOf(row, 0); }
  int selectedColumnCount() const override { return 0; }
  int selectedRowCount() const override { return 0; }
  int columnCount() const override { return static_cast<int>(now().columns.size()); }
  int rowCount() const override { return static_cast<int>(now().rows.size()) + 1; }
  QList<int> selectedColumns() const override { return {}; }
  QList<int> selectedRows() const override { return {}; }
  bool isColumnSelected(int) const override { return false; }
  bool isRowSelected(int) const override { return false; }
  bool selectRow(int) override { return false; }
  bool selectColumn(int) override { return false; }
  bool unselectRow(int) override { return false; }
  bool unselectColumn(int) override { return false; }
  void modelChange(QAccessibleTableModelChangeEvent*) override {}

  [[nodiscard]] QString textOf(int row, int column) const {
    const DescribedPlot::Table& table = now();
    if (row == 0) return table.columns.value(column);
    const auto at = static_cast<std::size_t>(row) - 1;
    return at < table.rows.size() ? table.rows[at].value(column) : QString();
  }

 private:
  /// A reader asks cell by cell; the table is made once for a walk over it.
  [[nodiscard]] const DescribedPlot::Table& now() const {
    if (!asked_.isValid() || asked_.elapsed() > kFreshMs) {
      table_ = plot_.plotTable();
      asked_.start();
    }
    return table_;
  }

  static constexpr qint64 kFreshMs = 1000;
  const DescribedPlot& plot_;
  mutable DescribedPlot::Table table_;
  mutable QElapsedTimer asked_;
  std::map<std::pair<int, int>, QAccessible::Id> cells_;
};

bool PlotCell::isValid() const {
  return plot_.isValid() && row_ < plot_.rowCount() && column_ < plot_.columnCount();
}
QAccessibleInterface* PlotCell::parent() const { return &plot_; }
QAccessibleInterface* PlotCell::table() const { return &plot_; }
QString PlotCell::text(QAccessible::Text kind) const {
  return kind == QAccessible::Name ? plot_.textOf(row_, column_) : QString();
}
QRect PlotCell::rect() const { return plot_.rect(); }
QList<QAccessibleInterface*> PlotCell::columnHeaderCells() const {
  return {plot_.cellAt(0, column_)};
}

QAccessibleInterface* makePlotAccessible(const QString&, QObject* object) {
  auto* widget = qobject_cast<QWidget*>(object);
  const auto* plot = dynamic_cast<const DescribedPlot*>(object);
  return widget != nullptr && plot != nullptr ? new PlotAccessible(widget, *plot) : nullptr;
}

}  // namespace

void useAccessiblePlots() {
  static const bool isInstalled = [] {
    QAccessible::installFactory(makePlotAccessible);
    return true;
  }();
  static_cast<void>(isInstalled);
}

}  // namespace vitrine::ui
