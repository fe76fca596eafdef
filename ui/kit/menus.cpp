#include "ui/kit/menus.h"

#include <QMenu>

namespace vitrine::ui {

void emptyMenu(QMenu& menu) {
  // Later: what refills the menu may have been chosen in one of them.
  for (QMenu* below : menu.findChildren<QMenu*>(Qt::FindDirectChildrenOnly)) below->deleteLater();
  menu.clear();
}

}  // namespace vitrine::ui
