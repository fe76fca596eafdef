// User input of a plot: wheel, drag and keys zoom, move and fit it.
#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPlainTextEdit>
#include <QWheelEvent>
#include <cmath>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/monitor/curve_plot.h"

namespace vitrine::ui {
namespace {

constexpr qint64 kLongestTapMs = 400;  // of X or Y; longer is holding it

bool isTextInput(const QWidget* widget) {
  return qobject_cast<const QLineEdit*>(widget) != nullptr ||
         qobject_cast<const QPlainTextEdit*>(widget) != nullptr;
}

}  // namespace

void CurvePlot::wheelEvent(QWheelEvent* event) {
  if (hasOneValue()) return event->ignore();
  const bool isZoom = (event->modifiers() & Qt::ControlModifier) != 0 || isXHeld_ || isYHeld_;
  if (curves_.empty() || !isZoom) return event->ignore();
  isTap_ = false;
  const double factor = std::pow(0.85, event->angleDelta().y() / 120.0);
  if (!isYHeld_) frame_.x.zoom(factor, frame_.x.valueAt(event->position().x()));
  if (!isXHeld_) {
    frame_.y.zoom(factor, frame_.y.valueAt(event->position().y()));
    isYChosen_ = true;
  }
  event->accept();
  refresh();
  if (!isYHeld_) Q_EMIT rangeChosen(frame_.x.lower, frame_.x.upper);
}

void CurvePlot::mousePressEvent(QMouseEvent* event) {
  isTap_ = false;
  pressed_ = now_ = event->position().toPoint();
  pressedX_ = frame_.x;
  pressedY_ = frame_.y;
  if (event->button() == Qt::RightButton) {
    Q_EMIT menuRequested(event->globalPosition().toPoint());
  } else if (hasOneValue()) {
    // Bars have nothing to zoom into.
  } else if (event->button() == Qt::MiddleButton) {
    drag_ = Drag::Pan;
  } else if (event->button() == Qt::LeftButton) {
    drag_ = Drag::Zoom;
  }
  event->accept();
}

void CurvePlot::mouseMoveEvent(QMouseEvent* event) {
  // X and Y are to act on the plot under the mouse, but never to be taken from a user who is
  // typing. A plot that appears below a mouse at rest takes nothing.
  if (std::exchange(isEntered_, false) && !isTextInput(QApplication::focusWidget()))
    setFocus(Qt::MouseFocusReason);
  now_ = event->position().toPoint();
  if (drag_ == Drag::Pan) {
    if (!isYHeld_) {
      frame_.x = pressedX_;
      frame_.x.move(pressed_.x() - now_.x());
    }
    if (!isXHeld_) {
      frame_.y = pressedY_;
      frame_.y.move(pressed_.y() - now_.y());
      isYChosen_ = true;
    }
    refresh();
    if (!isYHeld_) Q_EMIT rangeChosen(frame_.x.lower, frame_.x.upper);
    return;
  }
  if (drag_ == Drag::Zoom) update();
  pointCursor();
}

void CurvePlot::pointCursor() {
  const QRect inside = plotRect();
  const bool isInside = now_.x() >= inside.left() && now_.x() <= inside.right();
  if (isInside) {
    Q_EMIT cursorMoved(frame_.x.valueAt(now_.x()));
  } else {
    Q_EMIT cursorLeft();
  }
  isPointed_ = isInside;  // setCursor() has taken it back
}

void CurvePlot::mouseReleaseEvent(QMouseEvent* event) {
  const Drag ended = drag_;
  drag_ = Drag::None;
  if (ended != Drag::Zoom) return;
  const QRect box = QRect(pressed_, event->position().toPoint()).normalized();
  if (box.width() < px(6) && box.height() < px(6)) {
    update();
    if (plotRect().contains(pressed_)) Q_EMIT picked(frame_.x.valueAt(pressed_.x()));
    return;
  }
  const bool isX = !isYHeld_ && box.width() >= px(6);
  const bool isY = !isXHeld_ && box.height() >= px(6);
  const double x1 = frame_.x.valueAt(box.left()), x2 = frame_.x.valueAt(box.right());
  const double y1 = frame_.y.valueAt(box.bottom()), y2 = frame_.y.valueAt(box.top());
  if (isX) frame_.x.setRange(x1, x2);
  if (isY) {
    frame_.y.setRange(y1, y2);
    isYChosen_ = true;
  }
  refresh();
  if (isX) Q_EMIT rangeChosen(frame_.x.lower, frame_.x.upper);
}

void CurvePlot::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) {
    drag_ = Drag::None;
    Q_EMIT enlargeRequested();
  }
}

void CurvePlot::keyPressEvent(QKeyEvent* event) {
  const int key = event->key();
  const bool isPlain =
      (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) == 0;
  if ((key == Qt::Key_X || key == Qt::Key_Y) && isPlain) {
    (key == Qt::Key_X ? isXHeld_ : isYHeld_) = true;
    if (event->isAutoRepeat()) return;
    isTap_ = isXHeld_ != isYHeld_;
    sinceKey_.start();
  } else if ((key == Qt::Key_Return || key == Qt::Key_Enter) && isPlain) {
    Q_EMIT enlargeRequested();
  } else if (!moveByKey(event->key())) {
    QWidget::keyPressEvent(event);
  }
}

bool CurvePlot::moveByKey(int key) {
  if (curves_.empty()) return false;
  constexpr double kZoom = 0.7, kShare = 0.15;
  const QRectF& plot = frame_.plot;
  switch (key) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
    case Qt::Key_Minus:
      frame_.x.zoom(key == Qt::Key_Minus ? 1 / kZoom : kZoom, frame_.x.valueAt(plot.center().x()));
      break;
    case Qt::Key_Left:
    case Qt::Key_Right:
      frame_.x.move((key == Qt::Key_Left ? -kShare : kShare) * plot.width());
      break;
    case Qt::Key_Up:
    case Qt::Key_Down:
      frame_.y.move((key == Qt::Key_Up ? -kShare : kShare) * plot.height());
      isYChosen_ = true;
      refresh();
      return true;
    case Qt::Key_Home:
      isYChosen_ = false;
      Q_EMIT fitRequested();
      return true;
    default:
      return false;
  }
  refresh();
  Q_EMIT rangeChosen(frame_.x.lower, frame_.x.upper);
  return true;
}

void CurvePlot::keyReleaseEvent(QKeyEvent* event) {
  if (event->isAutoRepeat()) return;
  const int key = event->key();
  if (key != Qt::Key_X && key != Qt::Key_Y) return QWidget::keyReleaseEvent(event);
  bool& isHeld = key == Qt::Key_X ? isXHeld_ : isYHeld_;
  // Held for a wheel or a drag that did not come is not a tap.
  const bool isTap = isHeld && isTap_ && sinceKey_.elapsed() < kLongestTapMs;
  isHeld = isTap_ = false;
  if (isTap) Q_EMIT logRequested(key == Qt::Key_X ? Qt::Horizontal : Qt::Vertical);
}

void CurvePlot::enterEvent(QEnterEvent* event) {
  isEntered_ = true;
  QWidget::enterEvent(event);
}

void CurvePlot::focusInEvent(QFocusEvent* event) {
  // Any other reason gives back what the plot had: after a dialog, after cards were arranged.
  const Qt::FocusReason reason = event->reason();
  if (reason == Qt::MouseFocusReason) isRinged_ = false;
  if (isFromKeyboard(reason)) isRinged_ = true;
  QWidget::focusInEvent(event);
  update();
}

void CurvePlot::leaveEvent(QEvent* event) {
  isXHeld_ = isYHeld_ = isTap_ = isPointed_ = false;
  Q_EMIT cursorLeft();
  QWidget::leaveEvent(event);
}

// Another page comes to the front under a mouse that does not move.
void CurvePlot::hideEvent(QHideEvent* event) {
  setCursor(std::nullopt, false);  // no signal: a page that is destroyed hides its plots, too
  QWidget::hideEvent(event);
}

}  // namespace vitrine::ui
