#include "ui/attention/attention_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include "ui/attention/attention_figures.h"

namespace vitrine::ui {

AttentionView::AttentionView(Shows shows, std::shared_ptr<const AttentionScene> scene,
                             QWidget* parent)
    : FigureView(parent), shows_(shows), scene_(std::move(scene)) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(shows == Shows::Heads ? tr("Attention of all layers and heads")
                                          : tr("Attention of the chosen head"));
}

FigureView::Table AttentionView::plotTable() const {
  if (shows_ == Shows::Head || figure() == nullptr) return FigureView::plotTable();
  HeadsTable heads = headsTable(*scene_);
  return {std::move(heads.columns), std::move(heads.rows)};
}

QSize AttentionView::minimumSizeHint() const {
  return {px(180), px(shows_ == Shows::Head ? 240 : 180)};
}

void AttentionView::keyPressEvent(QKeyEvent* event) {
  const bool isPlain =
      event->modifiers() == Qt::NoModifier || event->modifiers() == Qt::KeypadModifier;
  if (!isPlain || figure() == nullptr) {
    FigureView::keyPressEvent(event);
    return;
  }
  switch (event->key()) {
    case Qt::Key_Up:
      Q_EMIT moved(-1, 0);
      return;
    case Qt::Key_Down:
      Q_EMIT moved(1, 0);
      return;
    case Qt::Key_Left:
      Q_EMIT moved(0, -1);
      return;
    case Qt::Key_Right:
      Q_EMIT moved(0, 1);
      return;
    case Qt::Key_Home:
      Q_EMIT tokenRequested(0);
      return;
    case Qt::Key_End:
      Q_EMIT tokenRequested(-1);
      return;
    default:
      FigureView::keyPressEvent(event);
  }
}

void AttentionView::mouseMoveEvent(QMouseEvent* event) {
  FigureView::mouseMoveEvent(event);
  const bool isDragged = event->buttons().testFlag(Qt::LeftButton);
  if (figure() == nullptr || shows_ != Shows::Head || !(isDragged || isFollowing_)) return;
  const FigureTarget target = targetAt(event->position());
  if (target.queryAt) Q_EMIT clicked(target);
}

void AttentionView::paintEvent(QPaintEvent* event) {
  FigureView::paintEvent(event);
  if (!hasFocus()) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(themeColors().accent, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), px(8), px(8));
}

}  // namespace vitrine::ui
