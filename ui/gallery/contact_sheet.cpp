#include "ui/gallery/contact_sheet.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QToolTip>
#include <QtMath>
#include <algorithm>

#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

constexpr int kGap = 4, kHeading = 26;  // design pixels
constexpr int kMostTableRows = 200;
constexpr int kTileSteps = 8;  // of Ctrl and the wheel, from small to large

}  // namespace

void drawPairMark(QPainter& painter, const QPoint& corner, bool isFirst) {
  const ThemeColors& colors = themeColors();
  const QRect square(corner, QSize(px(14), px(14)));
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(QColor(0, 0, 0, 160), 1));
  painter.setBrush(isFirst ? colors.accent : QColor(Qt::white));
  painter.drawRoundedRect(QRectF(square).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
  QFont font = axisFont();
  font.setBold(true);
  painter.setFont(font);
  painter.setPen(isFirst ? colors.onAccent : QColor(Qt::black));
  painter.drawText(square, Qt::AlignCenter, isFirst ? QStringLiteral("A") : QStringLiteral("B"));
  painter.restore();
}

void drawStar(QPainter& painter, const QRectF& rect) {
  QPainterPath path;
  const double radius = rect.width() / 2;
  for (int i = 0; i < 10; ++i) {
    const double angle = -M_PI_2 + i * M_PI / 5, r = i % 2 == 0 ? radius : radius * 0.42;
    const QPointF point = rect.center() + QPointF(r * qCos(angle), r * qSin(angle));
    if (i == 0) {
      path.moveTo(point);
    } else {
      path.lineTo(point);
    }
  }
  path.closeSubpath();
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(QColor(0, 0, 0, 200), 1.4));
  painter.setBrush(Qt::white);
  painter.drawPath(path);
  painter.restore();
}

ContactSheet::ContactSheet(const GalleryModel& model, Thumbnails& thumbnails,
                           std::function<QString(const store::ImageEntry&)> describe,
                           QWidget* parent)
    : QAbstractScrollArea(parent),
      model_(model),
      thumbnails_(thumbnails),
      describe_(std::move(describe)) {
  setAccessibleName(tr("Contact sheet"));
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(px(160), px(120));
  connect(&thumbnails_, &Thumbnails::arrived, viewport(), qOverload<>(&QWidget::update));
}

void ContactSheet::refresh() {
  // The image at the top stays there, whatever came before it.
  const auto [first, last] = inSight();
  const int top = verticalScrollBar()->value();
  std::int64_t id = 0;
  int above = 0;
  if (top > 0 && first >= 0 && first < model_.count() && layout_.count() == model_.count()) {
    id = model_.at(first).id;
    above = layout_.rectOf(first).top() - top;
  }
  lay();
  if (const int now = id == 0 ? -1 : model_.indexOf(id); now >= 0)
    verticalScrollBar()->setValue(layout_.rectOf(now).top() - above);
  for (auto one = picked_.begin(); one != picked_.end();)
    one = model_.indexOf(*one) < 0 ? picked_.erase(one) : std::next(one);
  viewport()->update();
}

void ContactSheet::lay() {
  std::vector<int> counts;
  for (const GalleryModel::Group& group : model_.groups()) counts.push_back(group.count);
  layout_.setGroups(std::move(counts), model_.order() == ImageOrder::Step ? px(kHeading) : 0);
  layout_.setPlace(viewport()->width(), px(tile_), px(kGap));
  thumbnails_.setSide(qRound(px(tile_) * devicePixelRatioF()));
  QScrollBar* bar = verticalScrollBar();
  bar->setRange(0, std::max(0, layout_.height() - viewport()->height()));
  bar->setPageStep(std::max(1, viewport()->height() - layout_.rowHeight()));
  bar->setSingleStep(std::max(1, layout_.rowHeight() / 2));
}

void ContactSheet::setTile(int designPixels) {
  designPixels = std::clamp(designPixels, kLeastTile, kMostTile);
  if (designPixels == tile_) return;
  const int index = model_.indexOf(current_);
  tile_ = designPixels;
  lay();
  if (index >= 0) reveal(index);
  viewport()->update();
}

void ContactSheet::setCurrent(std::int64_t id, Reveal reveal) {
  if (id != current_) anchor_ = id;
  current_ = id;
  const int index = model_.indexOf(id);
  if (index >= 0 && reveal == Reveal::Yes) this->reveal(index);
  setAccessibleDescription(index < 0 ? QString() : describe_(model_.at(index)));
  viewport()->update();
}

void ContactSheet::setOther(std::int64_t id) {
  other_ = id;
  viewport()->update();
}

void ContactSheet::setPicked(std::set<std::int64_t> ids) {
  if (ids == picked_) return;
  picked_ = std::move(ids);
  viewport()->update();
  Q_EMIT pickedChanged();
}

void ContactSheet::showGroup(int group) {
  verticalScrollBar()->setValue(layout_.headingOf(group).top());
}

int ContactSheet::groupInSight() const {
  const auto [first, last] = inSight();
  return first < 0 ? -1 : layout_.groupOf(first);
}

QRect ContactSheet::placeOf(int index) const {
  return layout_.rectOf(index).translated(0, -verticalScrollBar()->value());
}

std::pair<int, int> ContactSheet::inSight() const {
  const int top = verticalScrollBar()->value();
  const auto [first, last] = layout_.between(top, top + std::max(0, viewport()->height() - 1));
  return first < last ? std::pair(first, last - 1) : std::pair(-1, -1);
}

void ContactSheet::reveal(int index) {
  const QRect rect = layout_.rectOf(index);
  QScrollBar* bar = verticalScrollBar();
  const int gap = px(kGap);
  if (rect.top() - gap < bar->value()) {
    bar->setValue(rect.top() - gap - (layout_.groupCount() > 1 ? px(kHeading) : 0));
  } else if (rect.bottom() + gap > bar->value() + viewport()->height()) {
    bar->setValue(rect.bottom() + gap - viewport()->height());
  }
}

void ContactSheet::askForSight() {
  const auto [first, last] = inSight();
  std::vector<std::int64_t> ids;
  for (int i = first; first >= 0 && i <= last && i < model_.count(); ++i) {
    if (thumbnails_.find(model_.at(i).id) == nullptr) ids.push_back(model_.at(i).id);
  }
  if (!ids.empty()) thumbnails_.want(ids);
}

void ContactSheet::paintTile(QPainter& painter, int index, const QRect& rect) {
  const std::int64_t id = model_.at(index).id;
  const ThemeColors& colors = themeColors();
  if (const QImage* picture = thumbnails_.find(id); picture != nullptr) {
    QRectF place(QPointF(), QSizeF(picture->size()) / devicePixelRatioF());
    place.moveCenter(QRectF(rect).center());
    painter.drawImage(QRectF(place.topLeft().toPoint(), place.size()), *picture);
  } else {
    painter.fillRect(rect, colors.grid);
    if (thumbnails_.isBroken(id)) {
      painter.setPen(colors.muted);
      painter.setFont(axisFont());
      painter.drawText(rect, Qt::AlignCenter, QStringLiteral("?"));
    }
  }
  if (id == current_ || picked_.count(id) > 0) {
    painter.setPen(QPen(id == current_ ? colors.accent : colors.text, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect.adjusted(-1, -1, 0, 0));
  }
  if (id == current_ && other_ != 0) drawPairMark(painter, rect.topLeft() + QPoint(2, 2), true);
  if (id == other_) drawPairMark(painter, rect.topLeft() + QPoint(2, 2), false);
  if (model_.isStarred(id)) {
    const int side = px(13);
    drawStar(painter, QRectF(rect.right() - side - 1, rect.top() + 3, side, side));
  }
}

void ContactSheet::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  const ThemeColors& colors = themeColors();
  painter.fillRect(viewport()->rect(), colors.panel);
  if (layout_.count() != model_.count()) lay();
  const int top = verticalScrollBar()->value();
  if (model_.order() == ImageOrder::Step) {
    const auto [first, last] = inSight();
    for (int group = first < 0 ? 0 : layout_.groupOf(first);
         group < layout_.groupCount() &&
         layout_.headingOf(group).top() < top + viewport()->height();
         ++group) {
      const GalleryModel::Group& one = model_.groups()[static_cast<std::size_t>(group)];
      const QRect rect = layout_.headingOf(group).translated(px(kGap), -top);
      painter.setFont(titleFont());
      painter.setPen(colors.text);
      const QString title = tr("Step %1").arg(count(one.step));
      painter.drawText(rect, Qt::AlignLeft | Qt::AlignBottom, title);
      const int width = painter.fontMetrics().horizontalAdvance(title) + px(8);
      painter.setFont(smallFont());
      painter.setPen(colors.muted);
      painter.drawText(rect.adjusted(width, 0, 0, 0), Qt::AlignLeft | Qt::AlignBottom,
                       counted(one.count, tr("image"), tr("images")));
    }
  }
  const auto [first, last] = inSight();
  for (int i = first; first >= 0 && i <= last && i < model_.count(); ++i)
    paintTile(painter, i, placeOf(i));
  if (hasFocus() && model_.indexOf(current_) < 0) {
    painter.setPen(QPen(colors.accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
  }
  askForSight();
}

void ContactSheet::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  refresh();
}

void ContactSheet::scrollContentsBy(int, int) {
  viewport()->update();
  Q_EMIT scrolled();
}

void ContactSheet::moveTo(int index, Qt::KeyboardModifiers keys) {
  if (index < 0 || index >= model_.count()) return;
  const std::int64_t id = model_.at(index).id;
  if (keys.testFlag(Qt::ShiftModifier)) {
    const int from = model_.indexOf(anchor_) < 0 ? index : model_.indexOf(anchor_);
    std::set<std::int64_t> ids;
    for (int i = std::min(from, index); i <= std::max(from, index); ++i)
      ids.insert(model_.at(i).id);
    const std::int64_t anchor = model_.at(from).id;
    setCurrent(id);
    anchor_ = anchor;
    setPicked(std::move(ids));
  } else {
    setCurrent(id);
    anchor_ = id;
    setPicked({});
  }
  Q_EMIT currentChosen(id);
}

void ContactSheet::keyPressEvent(QKeyEvent* event) {
  const int index = std::max(0, model_.indexOf(current_));
  const int rows = std::max(1, viewport()->height() / layout_.rowHeight() - 1);
  const Qt::KeyboardModifiers keys = event->modifiers() & ~Qt::KeypadModifier;
  const bool isPlain = keys == Qt::NoModifier || keys == Qt::ShiftModifier;
  if (model_.count() == 0 || !isPlain) return QAbstractScrollArea::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Left:
      return moveTo(std::max(0, index - 1), keys);
    case Qt::Key_Right:
      return moveTo(std::min(model_.count() - 1, index + 1), keys);
    case Qt::Key_Up:
      return moveTo(layout_.below(index, -1), keys);
    case Qt::Key_Down:
      return moveTo(layout_.below(index, 1), keys);
    case Qt::Key_PageUp:
      return moveTo(layout_.below(index, -rows), keys);
    case Qt::Key_PageDown:
      return moveTo(layout_.below(index, rows), keys);
    case Qt::Key_Home:
      return moveTo(0, keys);
    case Qt::Key_End:
      return moveTo(model_.count() - 1, keys);
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      Q_EMIT activated();
      return;
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

void ContactSheet::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton && event->button() != Qt::RightButton) return;
  const int index =
      layout_.indexAt(event->position().toPoint() + QPoint(0, verticalScrollBar()->value()));
  if (index < 0) return;
  const std::int64_t id = model_.at(index).id;
  if (event->button() == Qt::RightButton) {
    if (picked_.count(id) == 0) moveTo(index, Qt::NoModifier);
    return;
  }
  if (event->modifiers().testFlag(Qt::AltModifier)) {
    Q_EMIT otherChosen(id);
  } else if (event->modifiers().testFlag(Qt::ControlModifier)) {
    std::set<std::int64_t> ids = picked_;
    if (ids.empty() && model_.indexOf(current_) >= 0) ids.insert(current_);
    if (ids.erase(id) == 0) ids.insert(id);
    setCurrent(id);
    setPicked(std::move(ids));
    Q_EMIT currentChosen(id);
    // Two that were picked one by one are compared.
    if (picked_.size() == 2 && picked_.count(id) > 0)
      Q_EMIT otherChosen(*picked_.begin() == id ? *picked_.rbegin() : *picked_.begin());
  } else {
    moveTo(index, event->modifiers());
  }
}

void ContactSheet::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && model_.indexOf(current_) >= 0) Q_EMIT activated();
}

void ContactSheet::wheelEvent(QWheelEvent* event) {
  if (!event->modifiers().testFlag(Qt::ControlModifier))
    return QAbstractScrollArea::wheelEvent(event);
  const int by = event->angleDelta().y() > 0 ? 1 : -1;
  const double factor = std::pow(double{kMostTile} / kLeastTile, 1.0 / kTileSteps);
  Q_EMIT tileChosen(std::clamp(qRound(tile_ * std::pow(factor, by)), kLeastTile, kMostTile));
  event->accept();
}

bool ContactSheet::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const int index = layout_.indexAt(help->pos() + QPoint(0, verticalScrollBar()->value()));
    QToolTip::showText(help->globalPos(), index < 0 ? QString() : describe_(model_.at(index)),
                       viewport());
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

QString ContactSheet::plotSummary() const {
  const auto [first, last] = inSight();
  if (first < 0) return tr("No images");
  return tr("%1 to %2 of %3").arg(count(first + 1), count(last + 1), count(model_.count()));
}

DescribedPlot::Table ContactSheet::plotTable() const {
  Table table{.columns = {tr("Image"), tr("Description"), tr("Star"), tr("Tags")}};
  const auto [first, last] = inSight();
  for (int i = first; first >= 0 && i <= last && i < first + kMostTableRows; ++i) {
    const store::ImageEntry& image = model_.at(i);
    table.rows.push_back({QString::number(image.id), describe_(image),
                          model_.isStarred(image.id) ? tr("starred") : QString(),
                          model_.tags(image.id).join(QStringLiteral(", "))});
  }
  return table;
}

}  // namespace vitrine::ui
