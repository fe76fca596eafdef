// A row of controls that continues in a second line where the window is too narrow for one.
#pragma once

#include <QLayout>
#include <QList>
#include <QWidget>

#include "ui/kit/fit_area.h"

namespace vitrine::ui {

/// Left to right in the order in which they were added, each at least as wide as it asks for. What
/// is left of a line goes to those that may grow, up to half as much again. A stretch pushes what
/// follows to the right end of its line.
class FlowRow : public QLayout {
  Q_OBJECT
 public:
  explicit FlowRow(QWidget* parent = nullptr);
  ~FlowRow() override;

  void addStretch();

  void addItem(QLayoutItem* item) override;
  [[nodiscard]] int count() const override { return static_cast<int>(items_.size()); }
  [[nodiscard]] QLayoutItem* itemAt(int index) const override;
  QLayoutItem* takeAt(int index) override;
  [[nodiscard]] Qt::Orientations expandingDirections() const override { return Qt::Horizontal; }
  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSize() const override;
  void setGeometry(const QRect& rect) override;

 private:
  enum class Place { Only, AndMove };
  /// Height that `width` needs.
  int arrange(const QRect& rect, Place place) const;

  QList<QLayoutItem*> items_;
};

/// A widget with a FlowRow, as high as its lines need. Its spacing is px(8).
class FlowBar : public OwnHeight<QWidget> {
  Q_OBJECT
 public:
  explicit FlowBar(QWidget* parent = nullptr);
  [[nodiscard]] FlowRow& row() { return *row_; }

 private:
  FlowRow* row_;
};

}  // namespace vitrine::ui
