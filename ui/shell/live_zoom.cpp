#include "ui/shell/live_zoom.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QHeaderView>
#include <QLayout>
#include <QMainWindow>
#include <QTabBar>
#include <QToolBar>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "ui/workbench/page.h"

namespace vitrine::ui {

int LiveZoom::scaled(Known& known, std::size_t place, int now) const {
  if (known.lengths.size() <= place) known.lengths.resize(place + 1);
  Length& length = known.lengths[place];
  if (length.pixels != now) length = {now / zoom_, now};
  const int pixels = static_cast<int>(std::lround(length.base * next_));
  length.pixels = now > 0 ? std::max(pixels, 1) : pixels;
  return length.pixels;
}

LiveZoom::Known& LiveZoom::known(QObject& object) {
  Known& known = known_[&object];
  if (known.object != &object) known = {&object, {}};
  return known;
}

void LiveZoom::rescale(QWidget& widget) {
  Known& mine = known(widget);
  auto next = [&, place = std::size_t{0}](int now) mutable { return scaled(mine, place++, now); };
  const auto nextSize = [&](QSize now) {
    const int width = next(now.width());
    return QSize(width, next(now.height()));
  };
  // The least size of window and pages is what a screen must have, whatever the zoom.
  if (qobject_cast<QMainWindow*>(&widget) == nullptr && qobject_cast<Page*>(&widget) == nullptr) {
    // Both are read first: setting the least size may move the greatest.
    const QSize least = widget.minimumSize(), most = widget.maximumSize();
    const auto limit = [&](int now) { return now >= QWIDGETSIZE_MAX ? now : next(now); };
    const QSize newLeast = nextSize(least);
    const int width = limit(most.width());
    widget.setMaximumSize(width, limit(most.height()));
    widget.setMinimumSize(newLeast);
  }
  if (auto* button = qobject_cast<QAbstractButton*>(&widget)) {
    // Those of a tool bar take the size of the bar.
    if (qobject_cast<QToolBar*>(widget.parentWidget()) == nullptr)
      button->setIconSize(nextSize(button->iconSize()));
  } else if (auto* bar = qobject_cast<QToolBar*>(&widget)) {
    bar->setIconSize(nextSize(bar->iconSize()));
  } else if (auto* view = qobject_cast<QAbstractItemView*>(&widget)) {
    if (view->iconSize().isValid()) view->setIconSize(nextSize(view->iconSize()));
    if (auto* header = qobject_cast<QHeaderView*>(&widget)) {
      if (header->count() > 0 && header->defaultSectionSize() > 0 &&
          header->orientation() == Qt::Vertical)
        header->setDefaultSectionSize(next(header->defaultSectionSize()));
    }
  }
}

void LiveZoom::apply(QWidget& root, double zoom) {
  if (zoom == zoom_) return;
  next_ = zoom;
  for (auto known = known_.begin(); known != known_.end();)
    known = known->object.isNull() ? known_.erase(known) : std::next(known);
  QList<QWidget*> widgets = root.findChildren<QWidget*>();
  widgets.append(&root);
  for (QWidget* widget : widgets) {
    if (widget != &root && widget->isWindow()) continue;  // menus, dialogs: made again
    rescale(*widget);
  }
  for (QLayout* layout : root.findChildren<QLayout*>()) {
    // The layouts of main windows and tool bars are Qt's own; the style sheet speaks for them.
    if (QWidget* owner = layout->parentWidget();
        owner == nullptr || owner->layout() == nullptr || qobject_cast<QToolBar*>(owner) ||
        qobject_cast<QMainWindow*>(owner) || qobject_cast<QTabBar*>(owner)) {
      continue;
    }
    Known& mine = known(*layout);
    const QMargins now = layout->contentsMargins();
    const int left = scaled(mine, 0, now.left()), top = scaled(mine, 1, now.top());
    const int right = scaled(mine, 2, now.right()), bottom = scaled(mine, 3, now.bottom());
    layout->setContentsMargins(left, top, right, bottom);
    if (layout->spacing() > 0) layout->setSpacing(scaled(mine, 4, layout->spacing()));
  }
  zoom_ = zoom;
}

}  // namespace vitrine::ui
