// The menu of a plot, opened and used as a user does.
#pragma once

#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QMenu>
#include <QTest>
#include <QTimer>

#include "ui/monitor/plot_card.h"

namespace vitrine::ui {

/// Right click, then these entries, one menu after the other.
inline void chooseInMenu(PlotCard& card, QStringList entries) {
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
  QTest::mousePress(&card.plot(), Qt::RightButton, {}, QPoint(100, 60));
  QTest::mouseRelease(&card.plot(), Qt::RightButton, {}, QPoint(100, 60));
  EXPECT_TRUE(entries.isEmpty()) << entries.join(QLatin1Char(' ')).toStdString();
}

}  // namespace vitrine::ui
