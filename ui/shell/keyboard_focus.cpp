#include "ui/shell/keyboard_focus.h"

#include <QAbstractScrollArea>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QTabBar>
#include <algorithm>
#include <utility>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {
namespace {

bool isStop(const QWidget& widget) {
  return (widget.focusPolicy() & Qt::TabFocus) != 0 && widget.focusProxy() == nullptr &&
         widget.isVisible() && widget.isEnabled() &&
         qobject_cast<QTabBar*>(widget.parentWidget()) == nullptr;  // arrows that scroll the tabs
}

/// Parts overlap by a margin here and there: their centres say which is above.
bool isReadBefore(const QRect& a, const QRect& b) {
  if (a.center().y() < b.top() && b.center().y() > a.bottom()) return true;
  if (b.center().y() < a.top() && a.center().y() > b.bottom()) return false;
  return a.left() != b.left() ? a.left() < b.left() : a.top() < b.top();
}

void collect(QWidget& widget, const QWidget* from, QList<QWidget*>& stops) {
  if (isStop(widget) || &widget == from) stops << &widget;
  using Part = std::pair<QRect, QList<QWidget*>>;
  QList<Part> parts;
  for (QObject* object : widget.children()) {
    auto* child = qobject_cast<QWidget*>(object);
    if (child == nullptr || child->isWindow()) continue;
    if (!child->isVisible() && child != from && !(from != nullptr && child->isAncestorOf(from)))
      continue;
    QList<QWidget*> inside;
    collect(*child, from, inside);
    if (!inside.isEmpty()) parts << Part(child->geometry(), inside);
  }
  // Not a sort: with parts of several lines, "before" is not transitive.
  while (!parts.isEmpty()) {
    const auto isFirst = [&parts](const Part& one) {
      return std::none_of(parts.begin(), parts.end(), [&one](const Part& other) {
        return &other != &one && isReadBefore(other.first, one.first);
      });
    };
    auto next = std::find_if(parts.begin(), parts.end(), isFirst);
    if (next == parts.end()) next = parts.begin();
    stops << next->second;
    parts.erase(next);
  }
}

/// The focus comes back by itself.
bool isForAWhile(Qt::FocusReason reason) {
  return reason == Qt::ActiveWindowFocusReason || reason == Qt::PopupFocusReason ||
         reason == Qt::MenuBarFocusReason;
}

}  // namespace

QList<QWidget*> tabStops(QWidget& window, const QWidget* from) {
  QList<QWidget*> stops;
  collect(window, from, stops);
  return stops;
}

void bringIntoView(QWidget& widget) {
  for (QWidget* around = widget.parentWidget(); around != nullptr; around = around->parentWidget())
    if (auto* area = qobject_cast<QScrollArea*>(around)) area->ensureWidgetVisible(&widget);
}

void FocusRing::show(QWidget& widget, const QFocusEvent& event, bool isKeyed) {
  // A dialog may have given the focus to another part than it took it from.
  for (const FocusRing* old : widget.window()->findChildren<FocusRing*>())
    if (old->parentWidget() != &widget) delete old;
  const bool isPart = qobject_cast<QAbstractScrollArea*>(&widget) != nullptr ||
                      qobject_cast<QLabel*>(&widget) != nullptr ||
                      qobject_cast<Page*>(&widget) != nullptr;
  const Qt::FocusReason reason = event.reason();
  const bool isByKey = isFromKeyboard(reason) || (isKeyed && reason == Qt::OtherFocusReason);
  if (!isPart || !isByKey) return;
  if (widget.findChild<FocusRing*>({}, Qt::FindDirectChildrenOnly) == nullptr)
    new FocusRing(widget);
}

FocusRing::FocusRing(QWidget& part) : QWidget(&part) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setGeometry(part.rect());
  part.installEventFilter(this);
  QWidget::show();
  raise();
}

void FocusRing::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setPen(QPen(themeColors().accent, 1));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

bool FocusRing::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::Resize) resize(parentWidget()->size());
  if (event->type() == QEvent::ChildAdded) raise();  // a page fills itself when it has read
  if (event->type() == QEvent::FocusOut &&
      !isForAWhile(static_cast<const QFocusEvent*>(event)->reason()))
    delete this;
  return false;
}

}  // namespace vitrine::ui
