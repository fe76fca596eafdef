// The menu of a plot, opened and used as a user does.
#pragma once

#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QContextMenuEvent>
#include <QMenu>
#include <QTest>
#include <QTimer>

#include "ui/monitor/plot_card.h"

namespace vitrine::ui {

enum class MenuAsked { ByMouse, ByKey };

/// Right click, or the Menu key at the pin; then these entries, one menu after the other.
inline void chooseInMenu(PlotCard& card, QStringList entries,
                         MenuAsked asked = MenuAsked::ByMouse) {
  QTimer hand;
  QObject::connect(&hand, &QTimer::timeout, &hand, [&] {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    if (menu == nullptr) return;
    for (QAction* action : menu->actions()) {
      if (entries.isEmpty() || action->text().remove(QLatin1Char('&')) != entries.front()) continue;
      entries.removeFirst();
      menu->setActiveAction(action);
      return QTest::keyClick(menu, Qt::Key_Return);
    }
    menu->close();
  });
  hand.start(5);
  if (asked == MenuAsked::ByKey) {
    const QPoint middle = card.pin().rect().center();
    QContextMenuEvent key(QContextMenuEvent::Keyboard, middle, card.pin().mapToGlobal(middle));
    QCoreApplication::sendEvent(&card.pin(), &key);
  } else {
    QTest::mousePress(&card.plot(), Qt::RightButton, {}, QPoint(100, 60));
    QTest::mouseRelease(&card.plot(), Qt::RightButton, {}, QPoint(100, 60));
  }
  EXPECT_TRUE(entries.isEmpty()) << entries.join(QLatin1Char(' ')).toStdString();
}

}  // namespace vitrine::ui
