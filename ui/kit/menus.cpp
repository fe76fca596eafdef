#include "ui/kit/menus.h"

#include <QAction>
#include <QKeySequence>
#include <QMenu>
#include <QWidget>

namespace vitrine::ui {

void emptyMenu(QMenu& menu) {
  // Later: what refills the menu may have been chosen in one of them.
  for (QMenu* below : menu.findChildren<QMenu*>(Qt::FindDirectChildrenOnly)) below->deleteLater();
  menu.clear();
}

QString menuText(QString text) { return text.replace(QLatin1Char('&'), QLatin1String("&&")); }

QAction* makePageAction(const QString& text, const QString& tip, const QKeySequence& key,
                        QWidget* page) {
  auto* action = new QAction(text, page);
  action->setToolTip(
      key.isEmpty() ? tip
                    : QStringLiteral("%1 (%2)").arg(tip, key.toString(QKeySequence::NativeText)));
  action->setShortcut(key);
  action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  return action;
}

}  // namespace vitrine::ui
