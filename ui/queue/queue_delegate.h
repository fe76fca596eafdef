// Paints the rows of the queue: sections as headers, runs on two lines.
#pragma once

#include <QStyledItemDelegate>

namespace vitrine::ui {

class QueueDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace vitrine::ui
