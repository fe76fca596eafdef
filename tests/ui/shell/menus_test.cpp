#include <gtest/gtest.h>

#include <QMenu>
#include <QPointer>

#include "tests/ui/support/qt_test.h"
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

TEST(Menus, ThatAreFilledAnewLeaveNoneBehind) {
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

}  // namespace
}  // namespace vitrine::ui
