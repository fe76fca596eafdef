// Parts of a page that must not overlap in a small window. One is a place that scrolls where its
// content needs more; the others know their height at the width they have.
#pragma once

#include <QResizeEvent>
#include <QScrollArea>
#include <QWidget>

#include "ui/kit/small_widgets.h"

namespace vitrine::ui {

/// Shows `content` as large as the place is, or scrolled where that is less than it needs at least.
/// Keyboard focus is followed. Splitters, stacks and this area ask for no height at a width:
/// parts whose height depends on it belong in an OwnHeight.
[[nodiscard]] QScrollArea* makeFitArea(QWidget* content, QWidget* parent = nullptr);

/// Lays out what was changed now, not at the next turn of the event loop: for pictures and tests.
void layOutNow();

/// Combo boxes and number fields of `root` take the wheel only while they have the focus: a user
/// who scrolls past them changes nothing.
void keepWheelForFocus(QWidget& root);

/// A widget whose height follows from its width, as words that wrap do. Its least height is right
/// for the width that it has, and is updated whenever that changes.
template <class Base>
class OwnHeight : public Base {
 public:
  using Base::Base;
  bool hasHeightForWidth() const override { return false; }
  QSize sizeHint() const override { return {Base::sizeHint().width(), heightNow()}; }
  QSize minimumSizeHint() const override { return {Base::minimumSizeHint().width(), heightNow()}; }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    Base::resizeEvent(event);
    if (event->size().width() != event->oldSize().width()) this->updateGeometry();
  }

 private:
  int heightNow() const {
    const int height = this->heightForWidth(this->width());
    return height >= 0 ? height : Base::minimumSizeHint().height();
  }
};

/// Words that wrap, in a place of their own height.
class WrapLabel : public OwnHeight<WordLabel> {
  Q_OBJECT
 public:
  explicit WrapLabel(QWidget* parent = nullptr) : WrapLabel(QString(), parent) {}
  explicit WrapLabel(const QString& text, QWidget* parent = nullptr);
  QSize minimumSizeHint() const override;
};

}  // namespace vitrine::ui
