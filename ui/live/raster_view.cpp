#include "ui/live/raster_view.h"

#include <QElapsedTimer>
#include <QEvent>
#include <QPainter>

#include "ui/live/live_canvas.h"

namespace vitrine::ui {

RasterView::RasterView(LiveCanvas& canvas, QWidget* parent) : QWidget(parent), canvas_(canvas) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAttribute(Qt::WA_OpaquePaintEvent);
}

void RasterView::redraw() {
  isStale_ = true;
  update();
}

bool RasterView::event(QEvent* event) {
  const bool isTaken = canvas_.take(event);
  if (isTaken) {
    redraw();
    if (event->type() != QEvent::Leave && event->type() != QEvent::MouseButtonPress) return true;
  }
  return QWidget::event(event) || isTaken;
}

void RasterView::paintEvent(QPaintEvent*) {
  if (isStale_ || picture_.deviceIndependentSize().toSize() != size()) {
    QElapsedTimer timer;
    timer.start();
    picture_ = canvas_.image(size(), devicePixelRatio());
    drawSeconds_ = static_cast<double>(timer.nsecsElapsed()) * 1e-9;
    isStale_ = false;
  }
  QPainter(this).drawImage(0, 0, picture_);
}

}  // namespace vitrine::ui
