#include "ui/playground/image_board.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollArea>
#include <QToolTip>

#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

constexpr double kEdge = 4;  // around the board, for the outline

}  // namespace

ImageBoard::ImageBoard(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Images"));
  setMouseTracking(true);
}

QScrollArea* ImageBoard::area() {
  if (area_ == nullptr) {
    area_ = new QScrollArea(parentWidget());
    area_->setWidget(this);
    area_->setFrameShape(QFrame::NoFrame);
    area_->setMinimumSize(px(160), px(120));
    area_->setFocusPolicy(Qt::NoFocus);
    area_->viewport()->installEventFilter(this);
  }
  return area_;
}

void ImageBoard::setDrawing(std::shared_ptr<const Drawing> drawing) {
  drawing_ = std::move(drawing);
  progress_ = -1;
  selected_ = {};
  arrange();
}

void ImageBoard::refresh(double progress) {
  progress_ = progress;
  arrange();
}

void ImageBoard::setExpectedSize(const QSize& size) {
  expected_ = size;
  arrange();
}

void ImageBoard::setZoom(int zoom) {
  zoom_ = zoom;
  arrange();
}

void ImageBoard::arrange() {
  layout_ = {};
  if (drawing_ != nullptr) {
    const QSizeF room = area_ != nullptr ? QSizeF(area_->viewport()->size()) : QSizeF(size());
    layout_ = layoutBoard(*drawing_, room - QSizeF(2 * kEdge, 2 * kEdge),
                          imageSizeOf(*drawing_, expected_), zoom_, smallFont());
  }
  // Without a drawing there is a sentence in the middle.
  resize(drawing_ == nullptr && area_ != nullptr ? area_->viewport()->size() : sizeHint());
  update();
}

QSize ImageBoard::sizeHint() const {
  const QSizeF all = layout_.size + QSizeF(2 * kEdge, 2 * kEdge);
  return {std::max(1, static_cast<int>(all.width())), std::max(1, static_cast<int>(all.height()))};
}

void ImageBoard::select(const ImagePlace& place) {
  const BoardTile* tile = layout_.at(place);
  if (tile == nullptr || place == selected_) return;
  selected_ = place;
  if (area_ != nullptr) {
    const QPoint center = tile->rect.center().toPoint();
    area_->ensureVisible(center.x(), center.y(), static_cast<int>(tile->rect.width()),
                         static_cast<int>(tile->rect.height()));
  }
  update();
  Q_EMIT selectionChanged();
}

void ImageBoard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (drawing_ == nullptr) {
    painter.setFont(bodyFont());
    painter.setPen(themeColors().muted);
    return painter.drawText(rect(), Qt::AlignCenter, tr("Draw, and the images appear here."));
  }
  painter.translate(kEdge, kEdge);
  const ThemeColors& colors = themeColors();
  paintBoard(painter, *drawing_, layout_, colors, smallFont(), bodyFont());
  if (progress_ >= 0) {
    // The first cell that is not done is the one being drawn.
    for (const BoardTile& tile : layout_.tiles) {
      const DrawnCell& cell = drawing_->cells[static_cast<std::size_t>(tile.place.cell)];
      if (cell.isDone()) continue;
      QRectF bar(tile.rect.left(), tile.rect.bottom() - 2, tile.rect.width() * progress_, 2);
      painter.fillRect(bar, colors.accent);
      break;
    }
  }
  if (const BoardTile* tile = layout_.at(selected_); tile != nullptr) {
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(hasFocus() ? colors.accent : colors.muted, 2));
    painter.drawRect(tile->rect.adjusted(-1, -1, 1, 1));
  }
}

void ImageBoard::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  const QPointF at = event->position() - QPointF(kEdge, kEdge);
  const BoardTile* tile = layout_.at(at);
  if (tile == nullptr) return;
  if (tile->place != selected_) return select(tile->place);
  const QRectF& rect = tile->rect;
  Q_EMIT placeClicked(
      {(at.y() - rect.top()) / rect.height(), (at.x() - rect.left()) / rect.width()});
}

void ImageBoard::keyPressEvent(QKeyEvent* event) {
  const BoardTile* tile = layout_.at(selected_);
  if (tile == nullptr || event->modifiers() != Qt::NoModifier) return QWidget::keyPressEvent(event);
  const BoardTile* next = nullptr;
  switch (event->key()) {
    case Qt::Key_Left:
      next = layout_.at(tile->row, tile->column - 1);
      break;
    case Qt::Key_Right:
      next = layout_.at(tile->row, tile->column + 1);
      break;
    case Qt::Key_Up:
      next = layout_.at(tile->row - 1, tile->column);
      break;
    case Qt::Key_Down:
      next = layout_.at(tile->row + 1, tile->column);
      break;
    case Qt::Key_Home:
      next = &layout_.tiles.front();
      break;
    case Qt::Key_End:
      next = &layout_.tiles.back();
      break;
    default:
      return QWidget::keyPressEvent(event);
  }
  if (next != nullptr) select(next->place);
}

bool ImageBoard::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), wordsAt(QPointF(help->pos()) - QPointF(kEdge, kEdge)),
                       this);
    return true;
  }
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
  return QWidget::event(event);
}

bool ImageBoard::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) arrange();
  return QWidget::eventFilter(watched, event);
}

QString ImageBoard::wordsAt(const QPointF& at) const {
  if (const BoardTile* tile = layout_.at(at)) return wordsOf(*tile);
  const auto label = [&at](const std::vector<QRectF>& places, const std::optional<GridAxis>& axis) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i].contains(at))
        return axis->title + QLatin1Char(' ') + axis->labels.value(static_cast<qsizetype>(i));
    }
    return QString();
  };
  if (drawing_ == nullptr) return {};
  return label(layout_.rowLabels, drawing_->grid.rows) +
         label(layout_.columnLabels, drawing_->grid.columns);
}

QString ImageBoard::wordsOf(const BoardTile& tile) const {
  const DrawnCell& cell = drawing_->cells[static_cast<std::size_t>(tile.place.cell)];
  const auto number = static_cast<std::size_t>(tile.place.image);
  QStringList words;
  const int columns = drawing_->grid.columnCount();
  if (drawing_->grid.rows) {
    words << QStringLiteral("%1 %2").arg(
        drawing_->grid.rows->title, drawing_->grid.rows->labels.value(tile.place.cell / columns));
  }
  if (drawing_->grid.columns) {
    words << QStringLiteral("%1 %2").arg(
        drawing_->grid.columns->title,
        drawing_->grid.columns->labels.value(tile.place.cell % columns));
  }
  const QString seed = tr("seed %1").arg(cell.settings.seed() + number);
  if (!words.contains(seed, Qt::CaseInsensitive)) words << seed;
  if (number < cell.texts.size()) {
    const DrawnText& text = cell.texts[number];
    if (!text.prompt.isEmpty()) words << text.prompt;
    words << text.shown();
  }
  return words.join(QStringLiteral(", "));
}

QString ImageBoard::plotSummary() const {
  if (drawing_ == nullptr) return tr("No images");
  return tr("%1: %2").arg(drawing_->title(), drawing_->countText());
}

DescribedPlot::Table ImageBoard::plotTable() const {
  Table table{.columns = {tr("row"), tr("column"), tr("image"), tr("hash")}};
  if (drawing_ == nullptr) return table;
  for (const BoardTile& tile : layout_.tiles) {
    const DrawnCell& cell = drawing_->cells[static_cast<std::size_t>(tile.place.cell)];
    const auto number = static_cast<std::size_t>(tile.place.image);
    const QString hash = number < cell.images.size()
                             ? QString::fromStdString(cell.images[number].sha256)
                             : QString();
    table.rows.push_back(
        {QString::number(tile.row + 1), QString::number(tile.column + 1), wordsOf(tile), hash});
  }
  return table;
}

}  // namespace vitrine::ui
