// The table of runs in the window: in the place of the pages, and back.
#include <QAction>
#include <QDockWidget>
#include <QLineEdit>
#include <QTest>
#include <QToolButton>

#include "tests/ui/support/soon.h"
#include "tests/ui/support/studio_window.h"
#include "ui/kit/series/run_series.h"
#include "ui/shell/layouts.h"

namespace vitrine::ui {
namespace {

class RunTableWindow : public ::testing::Test {
 protected:
  RunTableWindow() : window(studio.workbench) {
    window.resize(1440, 900);
    bringUp(window);
    window.showPage(QStringLiteral("monitor"));
    window.waitUntilIdle();
  }
  bool isTable() { return only<RunsPanel>(window).table().isShown(); }
  QDockWidget& dock() { return *window.findChild<QDockWidget*>(QStringLiteral("runsDock")); }
  void press(Qt::Key key, Qt::KeyboardModifiers keys = Qt::NoModifier) {
    QTest::keyClick(window.focusWidget(), key, keys);
  }

  SampleStudio studio{SampleOptions{0, 50}};
  MainWindow window;
};

TEST_F(RunTableWindow, ItsKeyShowsItInPlaceOfThePagesAndTheSameKeyTheListAgain) {
  const int before = dock().width();
  only<RunsPanel>(window).view().setFocus();
  press(Qt::Key_T, Qt::ControlModifier);
  EXPECT_TRUE(isTable());
  EXPECT_TRUE(only<RunsPanel>(window).isVisible());
  EXPECT_FALSE(dock().isVisible());
  EXPECT_EQ(window.currentPage(), nullptr);
  EXPECT_GT(only<RunsPanel>(window).width(), 800);
  EXPECT_TRUE(window.windowTitle().startsWith(QStringLiteral("Runs")));
  EXPECT_TRUE(only<RunsPanel>(window).view().hasFocus());
  press(Qt::Key_T, Qt::ControlModifier);
  EXPECT_FALSE(isTable());
  EXPECT_TRUE(dock().isVisible());
  EXPECT_TRUE(dock().isAncestorOf(&only<RunsPanel>(window)));
  ASSERT_NE(window.currentPage(), nullptr);
  EXPECT_TRUE(window.currentPage()->isVisible());
  EXPECT_TRUE(only<RunsPanel>(window).view().hasFocus());
  EXPECT_TRUE(inspectorDock(window).isVisible());
  EXPECT_EQ(dock().width(), before);
}

TEST_F(RunTableWindow, TheMenuColoursRunsByVariantOnEveryPage) {
  auto* colours = saying<QAction>(window, "Colour runs by variant");
  ASSERT_TRUE(colours->isCheckable());
  colours->trigger();
  EXPECT_TRUE(only<RunsPanel>(window).colours().isOn());
  EXPECT_TRUE(isSeriesShared());
  only<RunsPanel>(window).colours().setOn(false);  // from the menu of a run
  EXPECT_FALSE(colours->isChecked());
  EXPECT_FALSE(isSeriesShared());
}

TEST_F(RunTableWindow, EscapeAPageAndTheButtonLeaveIt) {
  auto* open = named<QToolButton>(dock(), "Runs as a table");
  QTest::mouseClick(open, Qt::LeftButton);
  EXPECT_TRUE(isTable());
  press(Qt::Key_Escape);
  EXPECT_FALSE(isTable());
  QTest::mouseClick(open, Qt::LeftButton);
  press(Qt::Key_2, Qt::ControlModifier);
  EXPECT_FALSE(isTable());
  EXPECT_NE(window.currentPage(), nullptr);
  QTest::mouseClick(open, Qt::LeftButton);
  ui::press(only<RunsPanel>(window), "Close table");
  EXPECT_FALSE(isTable());
}

TEST_F(RunTableWindow, ALayoutAndTheNextStartKnowTheWindowWithoutIt) {
  const QByteArray before = window.layoutNow().docks;
  window.showRunTable(true);
  EXPECT_EQ(window.layoutNow().docks, before);
  EXPECT_EQ(window.layoutNow().page, QStringLiteral("monitor"));
  const Layout layout = window.layoutNow();
  window.showLayout(layout);
  EXPECT_FALSE(isTable());
  EXPECT_TRUE(dock().isVisible());
  window.showRunTable(true);
  window.resetLayout();
  EXPECT_FALSE(isTable());
  EXPECT_TRUE(dock().isVisible());
}

TEST_F(RunTableWindow, FindAndRenameStayInIt) {
  window.showRunTable(true);
  press(Qt::Key_F, Qt::ControlModifier);
  EXPECT_TRUE(isTable());
  EXPECT_TRUE(only<RunsPanel>(window).filter().hasFocus());
  EXPECT_FALSE(dock().isVisible());
  only<RunsPanel>(window).view().setFocus();
  press(Qt::Key_F2);
  auto* line = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  ASSERT_NE(line, nullptr);
  QTest::keyClick(line, Qt::Key_Escape);
  EXPECT_TRUE(isTable()) << "Escape ends the renaming, not the table";
}

}  // namespace
}  // namespace vitrine::ui
