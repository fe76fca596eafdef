#include "ui/kit/flow_row.h"

#include <QStyle>
#include <QWidget>
#include <algorithm>
#include <vector>

#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

constexpr double kMostGrowth = 1.5;

bool isSpring(const QLayoutItem& item) {
  return const_cast<QLayoutItem&>(item).spacerItem() != nullptr;
}

bool growsInRow(const QLayoutItem& item) {
  return !isSpring(item) && (item.expandingDirections() & Qt::Horizontal) != 0;
}

}  // namespace

FlowRow::FlowRow(QWidget* parent) : QLayout(parent) { setContentsMargins(0, 0, 0, 0); }

FlowRow::~FlowRow() {
  while (QLayoutItem* item = FlowRow::takeAt(0)) delete item;
}

void FlowRow::addStretch() { addItem(new QSpacerItem(0, 0, QSizePolicy::Expanding)); }

void FlowRow::addItem(QLayoutItem* item) { items_ << item; }

QLayoutItem* FlowRow::itemAt(int index) const { return items_.value(index); }

QLayoutItem* FlowRow::takeAt(int index) {
  return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
}

int FlowRow::heightForWidth(int width) const { return arrange({0, 0, width, 0}, Place::Only); }

QSize FlowRow::sizeHint() const {
  QSize size(0, 0);
  for (const QLayoutItem* item : items_) {
    if (item->isEmpty() && !isSpring(*item)) continue;
    const QSize one = item->sizeHint();
    const int gap = size.width() > 0 && one.width() > 0 ? spacing() : 0;
    size = {size.width() + gap + one.width(), std::max(size.height(), one.height())};
  }
  return size;
}

QSize FlowRow::minimumSize() const {
  QSize size(0, 0);
  for (const QLayoutItem* item : items_) {
    if (!item->isEmpty()) size = size.expandedTo(item->minimumSize());
  }
  return size;
}

void FlowRow::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  arrange(rect, Place::AndMove);
}

int FlowRow::arrange(const QRect& rect, Place place) const {
  const bool isMirrored =
      parentWidget() != nullptr && parentWidget()->layoutDirection() == Qt::RightToLeft;
  int top = rect.top();
  for (qsizetype from = 0; from < items_.size();) {
    // As many as fit, one at least.
    std::vector<QLayoutItem*> line;
    int used = 0, height = 0;
    qsizetype next = from;
    for (; next < items_.size(); ++next) {
      QLayoutItem* item = items_[next];
      if (item->isEmpty() && !isSpring(*item)) continue;
      const int width = isSpring(*item) ? 0 : item->sizeHint().width();
      const bool isFirst = used == 0;
      const int gap = isFirst || width == 0 ? 0 : spacing();
      if (!isFirst && used + gap + width > rect.width()) break;
      used += gap + width;
      height = std::max(height, item->sizeHint().height());
      line.push_back(item);
    }
    from = next;
    if (used == 0) continue;
    double room = std::max(0, rect.width() - used);
    double growing = 0;
    int springs = 0;
    for (const QLayoutItem* item : line) {
      growing += growsInRow(*item) ? item->sizeHint().width() : 0;
      springs += isSpring(*item);
    }
    const double factor = growing > 0 ? std::min(kMostGrowth, (growing + room) / growing) : 1;
    room -= growing * (factor - 1);
    double x = 0;
    for (QLayoutItem* item : line) {
      if (isSpring(*item)) {
        x += room / springs;
        continue;
      }
      const int hint = item->sizeHint().width();
      const int width =
          std::min(rect.width(), growsInRow(*item) ? static_cast<int>(hint * factor) : hint);
      if (place == Place::AndMove) {
        const int left = isMirrored ? rect.right() + 1 - static_cast<int>(x) - width
                                    : rect.left() + static_cast<int>(x);
        item->setGeometry({left, top, width, height});
      }
      x += width + spacing();
    }
    top += height + spacing();
  }
  return std::max(0, top - spacing() - rect.top());
}

FlowBar::FlowBar(QWidget* parent) : OwnHeight<QWidget>(parent), row_(new FlowRow(this)) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  row_->setSpacing(px(8));
}

}  // namespace vitrine::ui
