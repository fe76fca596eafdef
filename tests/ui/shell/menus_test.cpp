#include <gtest/gtest.h>

#include <QHelpEvent>
#include <QListWidget>
#include <QMenu>
#include <QMouseEvent>
#include <QPointer>
#include <QToolTip>

#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"

namespace vitrine::ui {
namespace {

/// Every menu of the window is filled, as if it were opened. \returns  how many there are
qsizetype fillMenus(MainWindow& window) {
  QList<QPointer<QMenu>> menus;
  for (QMenu* menu : window.findChildren<QMenu*>()) menus << menu;
  for (const QPointer<QMenu>& menu : menus)
    if (menu != nullptr) Q_EMIT menu->aboutToShow();
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  return window.findChildren<QMenu*>().size();
}

TEST(Menus, ThatAreFilledAgainLeaveNoneBehind) {
  SampleStudio studio(SampleOptions{0, 300});
  studio.workbench.selection().setRuns({studio.runs[0], studio.runs[1]}, studio.runs[0]);
  MainWindow window(studio.workbench);
  window.show();
  for (const PageFactory& page : pages()) {
    window.showPage(page.id);
    window.waitUntilIdle();
  }
  window.showPage(QStringLiteral("monitor"));
  const qsizetype menus = fillMenus(window);
  EXPECT_GT(menus, 15);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(fillMenus(window), menus);
}

TEST(ToolTips, OfARowGoWhenThePointerLeavesIt) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  QListWidget list;
  list.addItems({QStringLiteral("one"), QStringLiteral("two")});
  list.item(0)->setToolTip(QStringLiteral("word ").repeated(40).trimmed());
  list.resize(300, 200);
  list.show();
  const QPoint at = list.visualItemRect(list.item(0)).center();
  QHelpEvent help(QEvent::ToolTip, at, list.viewport()->mapToGlobal(at));
  QCoreApplication::sendEvent(list.viewport(), &help);
  ASSERT_TRUE(QToolTip::isVisible());
  const QPoint beyond = list.visualItemRect(list.item(1)).center();
  QMouseEvent move(QEvent::MouseMove, beyond, list.viewport()->mapToGlobal(beyond), Qt::NoButton,
                   Qt::NoButton, Qt::NoModifier);
  QCoreApplication::sendEvent(list.viewport(), &move);
  EXPECT_TRUE(soon([] { return !QToolTip::isVisible(); }));
}

}  // namespace
}  // namespace vitrine::ui
