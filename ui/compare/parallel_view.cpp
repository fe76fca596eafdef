#include "ui/compare/parallel_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/figures/figure_view.h"
#include "ui/figures/painting.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

constexpr double kReach = 14;  // pixels next to an axis that belong to it

}  // namespace

ParallelView::ParallelView(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(false);
  setAccessibleName(tr("Parallel coordinates"));
  setAccessibleDescription(
      tr("Left and right choose an axis, L makes it logarithmic, F reverses it and B brushes it. "
         "Up and down move the brush, with Shift they change its size, and Delete drops it."));
}

ParallelView::~ParallelView() = default;

void ParallelView::setChart(ParallelChart chart) {
  chart_ = std::move(chart);
  focusAxis_ = std::clamp(focusAxis_, 0, std::max(0, static_cast<int>(chart_.axes.size()) - 1));
  redraw();
}

std::unique_ptr<Figure> ParallelView::figure() const {
  return std::make_unique<ParallelFigure>(chart_, FigureStyle{});
}

// The drawing, then the keys.
QString ParallelView::plotSummary() const {
  return figure_ == nullptr ? QString()
                            : figure_->summary() + QLatin1Char(' ') + accessibleDescription();
}

DescribedPlot::Table ParallelView::plotTable() const { return tableOf(figure_.get()); }

void ParallelView::redraw() {
  figure_ = std::make_unique<ParallelFigure>(chart_, FigureStyle{});
  figure_->setFocusAxis(hasFocus() ? focusAxis_ : -1);
  drawn_ = {};
  update();
}

ParallelFigure::Layout ParallelView::layoutNow() const {
  // As the figure lays itself out within its margin, in pixels of the window.
  const double scale = designScale();
  ParallelFigure::Layout layout =
      ParallelFigure(chart_, {})
          .layout(QRectF(0, 0, width() / scale, height() / scale).adjusted(12, 12, -12, -12));
  for (double& x : layout.x) x *= scale;
  layout.top *= scale;
  layout.bottom *= scale;
  return layout;
}

QPointF ParallelView::placeOf(int axis, double share) const {
  const ParallelFigure::Layout layout = layoutNow();
  return {layout.x[static_cast<std::size_t>(axis)],
          layout.bottom - share * (layout.bottom - layout.top)};
}

int ParallelView::axisAt(const QPointF& point) const {
  const ParallelFigure::Layout layout = layoutNow();
  for (std::size_t i = 0; i < layout.x.size(); ++i) {
    if (std::abs(layout.x[i] - point.x()) <= kReach * designScale()) return static_cast<int>(i);
  }
  return -1;
}

void ParallelView::paintEvent(QPaintEvent* /*event*/) {
  if (figure_ == nullptr) return;
  const double scale = devicePixelRatioF();
  if (drawn_.size() != size() * scale || figure_->style().theme != currentTheme()) {
    FigureStyle style = figure_->style();
    style.theme = currentTheme();
    figure_->setStyle(style);
    drawn_ = figure_->image(QSizeF(size()) / designScale(), scale * designScale());
    drawn_.setDevicePixelRatio(scale);
  }
  QPainter painter(this);
  painter.drawImage(QPointF(0, 0), drawn_);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(hasFocus() ? themeColors().accent : themeColors().line, 1));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), px(8), px(8));
}

bool ParallelView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && figure_ != nullptr) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), figure_->describeAt(QPointF(help->pos()) / designScale()),
                       this);
    return true;
  }
  return QWidget::event(event);
}

void ParallelView::setBrush(int axis, std::optional<std::array<double, 2>> brush) {
  ParallelAxis& one = chart_.axes[static_cast<std::size_t>(axis)];
  if (brush && (*brush)[0] > (*brush)[1]) std::swap((*brush)[0], (*brush)[1]);
  one.choice.brush = brush;
  chart_.about =
      tr("%1 of %2 runs are kept").arg(chart_.keptRuns().size()).arg(chart_.lines.size());
  redraw();
}

void ParallelView::commit() {
  std::vector<ParallelAxisChoice> axes;
  for (const ParallelAxis& axis : chart_.axes) axes.push_back(axis.choice);
  Q_EMIT axesChanged(axes);
}

void ParallelView::mousePressEvent(QMouseEvent* event) {
  draggedAxis_ = event->button() == Qt::LeftButton ? axisAt(event->position()) : -1;
  if (draggedAxis_ < 0) return;
  focusAxis_ = draggedAxis_;
  const ParallelFigure::Layout layout = layoutNow();
  dragFrom_ = (layout.bottom - event->position().y()) / (layout.bottom - layout.top);
  wasMoved_ = false;
  redraw();
}

void ParallelView::mouseMoveEvent(QMouseEvent* event) {
  if (draggedAxis_ < 0) return;
  const ParallelFigure::Layout layout = layoutNow();
  const double to = (layout.bottom - event->position().y()) / (layout.bottom - layout.top);
  if (!wasMoved_ && std::abs(to - dragFrom_) * (layout.bottom - layout.top) < 4) return;
  wasMoved_ = true;
  const ParallelAxis& axis = chart_.axes[static_cast<std::size_t>(draggedAxis_)];
  setBrush(draggedAxis_, std::array{axis.valueAt(std::clamp(dragFrom_, 0.0, 1.0)),
                                    axis.valueAt(std::clamp(to, 0.0, 1.0))});
}

void ParallelView::mouseReleaseEvent(QMouseEvent* event) {
  if (draggedAxis_ < 0 || event->button() != Qt::LeftButton) return;
  const int axis = draggedAxis_;
  draggedAxis_ = -1;
  const bool isOnLine = event->position().y() >= layoutNow().top;
  const bool hasBrush = chart_.axes[static_cast<std::size_t>(axis)].choice.brush.has_value();
  if (!wasMoved_ && (!hasBrush || !isOnLine)) return;
  if (!wasMoved_) setBrush(axis, std::nullopt);
  commit();
}

void ParallelView::mouseDoubleClickEvent(QMouseEvent* event) {
  const int axis = axisAt(event->position());
  if (axis < 0) return;
  focusAxis_ = axis;
  toggleLog();
}

void ParallelView::toggleLog() {
  if (chart_.axes.empty()) return;
  ParallelAxisChoice& choice = chart_.axes[static_cast<std::size_t>(focusAxis_)].choice;
  choice.isLog = !choice.isLog;
  commit();
}

void ParallelView::flip() {
  if (chart_.axes.empty()) return;
  ParallelAxisChoice& choice = chart_.axes[static_cast<std::size_t>(focusAxis_)].choice;
  choice.isFlipped = !choice.isFlipped;
  commit();
}

void ParallelView::clearBrushes() {
  for (ParallelAxis& axis : chart_.axes) axis.choice.brush.reset();
  commit();
}

void ParallelView::moveBrush(int axis, double by, double widen) {
  const ParallelAxis& one = chart_.axes[static_cast<std::size_t>(axis)];
  if (!one.choice.brush) {
    setBrush(axis, std::array{one.valueAt(0.5), one.valueAt(1)});
    return;
  }
  double a = one.share((*one.choice.brush)[0]), b = one.share((*one.choice.brush)[1]);
  if (a > b) std::swap(a, b);
  a = std::clamp(a + by - widen, 0.0, 1.0);
  b = std::clamp(b + by + widen, a, 1.0);
  setBrush(axis, std::array{one.valueAt(a), one.valueAt(b)});
}

void ParallelView::keyPressEvent(QKeyEvent* event) {
  const int count = static_cast<int>(chart_.axes.size());
  if (count == 0) {
    QWidget::keyPressEvent(event);
    return;
  }
  const bool isSize = event->modifiers().testFlag(Qt::ShiftModifier);
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
      focusAxis_ = (focusAxis_ + (event->key() == Qt::Key_Left ? count - 1 : 1)) % count;
      redraw();
      return;
    case Qt::Key_L:
      toggleLog();
      return;
    case Qt::Key_F:
      flip();
      return;
    case Qt::Key_B:
    case Qt::Key_Up:
    case Qt::Key_Down: {
      const double step = event->key() == Qt::Key_Down ? -0.05 : 0.05;
      moveBrush(focusAxis_, isSize ? 0 : step, isSize ? step : 0);
      commit();
      return;
    }
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
      setBrush(focusAxis_, std::nullopt);
      commit();
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

void ParallelView::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  redraw();
}

void ParallelView::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  redraw();
}

}  // namespace vitrine::ui
