#include "ui/kit/menus.h"

#include <QAction>
#include <QKeySequence>
#include <QMenu>
#include <QPointer>
#include <QToolButton>

namespace vitrine::ui {
namespace {

constexpr const char* kKeyOf = "keyOf";

}  // namespace

void emptyMenu(QMenu& menu) {
  // Later: what refills the menu may have been chosen in one of them.
  for (QMenu* below : menu.findChildren<QMenu*>(Qt::FindDirectChildrenOnly)) below->deleteLater();
  menu.clear();
}

QString menuText(QString text) { return text.replace(QLatin1Char('&'), QLatin1String("&&")); }

void showKeyOf(QAction* action, QWidget& widget) {
  widget.setProperty(kKeyOf, QVariant::fromValue(QPointer<QAction>(action)));
}

QString tipWithKey(const QWidget& widget) {
  const QString tip = widget.toolTip();
  const QAction* action = widget.property(kKeyOf).value<QPointer<QAction>>();
  if (const auto* button = qobject_cast<const QToolButton*>(&widget);
      action == nullptr && button != nullptr)
    action = button->defaultAction();
  if (tip.isEmpty() || action == nullptr || action->shortcut().isEmpty()) return tip;
  return QStringLiteral("%1 (%2)").arg(tip, action->shortcut().toString(QKeySequence::NativeText));
}

QAction* makePageAction(const QString& text, const QString& tip, const QKeySequence& key,
                        QWidget* page) {
  auto* action = new QAction(text, page);
  action->setToolTip(tip);
  action->setShortcut(key);
  action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  return action;
}

}  // namespace vitrine::ui
