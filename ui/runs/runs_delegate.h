// Draws an experiment as a 28 px header and a run as a two-line row of 44 px. In a table a run is
// cells of 28 px.
#pragma once

#include <QStyledItemDelegate>

namespace vitrine::ui {

/// The eye in the row of a run or its first cell, with the room around it that a click may hit.
[[nodiscard]] QRect eyeRect(const QRect& row);

class RunsDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void setTable(bool isTable) { isTable_ = isTable; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  /// Over the eye, what a click on it does.
  bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                 const QModelIndex& index) override;
  /// A line over the name of a run, to rename it.
  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const override;
  /// A name that is being typed is kept while its run trains.
  void setEditorData(QWidget* editor, const QModelIndex& index) const override;
  void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const override;

 private:
  /// Or a group, and the mean in a cell of it.
  void paintExperiment(QPainter* painter, const QStyleOptionViewItem& option,
                       const QModelIndex& index) const;
  void paintRun(QPainter* painter, const QStyleOptionViewItem& option,
                const QModelIndex& index) const;
  void paintCell(QPainter* painter, const QStyleOptionViewItem& option,
                 const QModelIndex& index) const;
  bool isTable_ = false;
};

}  // namespace vitrine::ui
