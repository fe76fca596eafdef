// Shows a figure from a picture that is drawn once per size and style.
#include "ui/figures/figure_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "ui/figures/painting.h"

namespace vitrine::ui {

FigureView::FigureView(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  setFocusPolicy(Qt::ClickFocus);
  setMouseTracking(true);
  setAccessibleName(tr("Figure"));
}

FigureView::~FigureView() = default;

void FigureView::setFigure(std::unique_ptr<Figure> figure) {
  figure_ = std::move(figure);
  refresh();
  updateGeometry();
}

void FigureView::setEmptyText(const QString& text) {
  emptyText_ = text;
  refresh();
}

void FigureView::setSteered(bool isSteered) {
  isSteered_ = isSteered;
  setFocusPolicy(isSteered ? Qt::StrongFocus : Qt::ClickFocus);
}

void FigureView::setLeastRoom(QSizeF room) {
  leastRoom_ = room;
  refresh();
}

void FigureView::refresh() {
  drawn_ = QImage();
  setAccessibleDescription(figure_ ? figure_->summary() : emptyText_);
  update();
}

QSize FigureView::sizeHint() const {
  return (QSizeF(figure_ ? figure_->sizeHint() : QSize(480, 320)) * designScale()).toSize();
}
QSize FigureView::minimumSizeHint() const { return {px(160), px(140)}; }

double FigureView::drawnScale() const {
  constexpr double kLeast = 0.4;
  const double room = std::min(width() / leastRoom_.width(), height() / leastRoom_.height());
  return designScale() * std::clamp(room / designScale(), kLeast, 1.0);
}

void FigureView::drawFigure(double ratio) {
  if (drawn_.size() == (QSizeF(size()) * ratio).toSize() && drawn_.devicePixelRatio() == ratio)
    return;
  drawn_ = figure_->image(QSizeF(size()) / drawnScale(), ratio * drawnScale());
  drawn_.setDevicePixelRatio(ratio);
}

FigureTarget FigureView::targetAt(const QPointF& position) {
  drawFigure(devicePixelRatioF());
  return figure_->targetAt(position / drawnScale());
}

void FigureView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (!figure_) {
    painter.fillRect(rect(), themeColors().panel);
    painter.setFont(bodyFont());
    painter.setPen(themeColors().muted);
    painter.drawText(QRectF(rect()).adjusted(px(16), px(16), -px(16), -px(16)),
                     Qt::AlignCenter | Qt::TextWordWrap, emptyText_);
  } else {
    drawFigure(painter.device()->devicePixelRatioF());
    painter.drawImage(QPointF(0, 0), drawn_);
  }
  painter.setRenderHint(QPainter::Antialiasing);
  const bool isFocus = hasFocus() && (focusPolicy() & Qt::TabFocus) != 0;
  painter.setPen(QPen(isFocus ? themeColors().accent : themeColors().line, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), px(8), px(8));
}

void FigureView::mousePressEvent(QMouseEvent* event) {
  // Its menu speaks of it.
  if (event->button() == Qt::RightButton) setFocus(Qt::MouseFocusReason);
  if (figure_ && event->button() == Qt::LeftButton) Q_EMIT clicked(targetAt(event->position()));
  QWidget::mousePressEvent(event);
}

void FigureView::keyPressEvent(QKeyEvent* event) {
  constexpr int kPage = 10;
  const bool isPlain = (event->modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier;
  if (isSteered_ && isPlain) {
    switch (event->key()) {
      case Qt::Key_Left:
        return Q_EMIT steered(-1, 0);
      case Qt::Key_Right:
        return Q_EMIT steered(1, 0);
      case Qt::Key_Up:
        return Q_EMIT steered(0, -1);
      case Qt::Key_Down:
        return Q_EMIT steered(0, 1);
      case Qt::Key_PageUp:
        return Q_EMIT steered(0, -kPage);
      case Qt::Key_PageDown:
        return Q_EMIT steered(0, kPage);
      case Qt::Key_Return:
      case Qt::Key_Enter:
      case Qt::Key_Space:
        return Q_EMIT entered();
      default:
        break;
    }
  }
  QWidget::keyPressEvent(event);
}

bool FigureView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text =
        figure_ ? figure_->describeAt(QPointF(help->pos()) / drawnScale()) : QString();
    // It goes when the mouse leaves what it is about, of which only the place is known.
    const int reach = px(6);
    QToolTip::showText(help->globalPos(), text, this,
                       QRect(help->pos(), QSize(1, 1)).adjusted(-reach, -reach, reach, reach));
    return true;
  }
  return QWidget::event(event);
}

QString FigureView::plotSummary() const {
  return figure_ == nullptr ? emptyText_ : figure_->summary();
}

DescribedPlot::Table tableOf(const Figure* figure) {
  constexpr qsizetype kMostRead = 500;  // rows: more than a listener follows
  DescribedPlot::Table table;
  if (figure == nullptr) return table;
  for (const QString& line : csvRows(figure->csv())) {
    if (line.startsWith(QLatin1Char('#'))) continue;
    // Commas within quotes belong to their cell.
    QStringList cells{QString()};
    bool isQuoted = false;
    for (const QChar c : line) {
      if (c == QLatin1Char('"')) {
        isQuoted = !isQuoted;
      } else if (c == QLatin1Char(',') && !isQuoted) {
        cells << QString();
      } else {
        cells.back() += c;
      }
    }
    if (table.columns.isEmpty()) {
      table.columns = cells;
    } else {
      table.rows.push_back(cells);
    }
    if (static_cast<qsizetype>(table.rows.size()) == kMostRead) break;
  }
  return table;
}

}  // namespace vitrine::ui
