// Where the Tab key leads in the window, and what shows it.
#include <QEnterEvent>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabBar>
#include <QTest>
#include <QToolBar>
#include <QToolButton>
#include <QTreeView>

#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/figures/figure_view.h"
#include "ui/monitor/monitor_page.h"
#include "ui/shell/keyboard_focus.h"
#include "ui/shell/main_window.h"

namespace vitrine::ui {
namespace {

/// A window that was there before its runs: its parts are made in another order than they are read.
struct TabKey : ::testing::Test {
  SampleStudio studio{SampleOptions{0, 0}};
  MainWindow window{studio.workbench};

  void SetUp() override {
    window.resize(1440, 900);
    bringUp(window);
    window.showPage(QStringLiteral("monitor"));
    const auto runs = fillSampleDatabase(studio.writer, SampleOptions{0, 50});
    studio.workbench.watcher().poll();
    studio.workbench.selection().setRuns({runs[0], runs[4]}, runs[0]);
    window.waitUntilIdle();
  }
  QWidget* press(Qt::Key key = Qt::Key_Tab) {
    QTest::keyClick(QApplication::focusWidget(), key);
    return QApplication::focusWidget();
  }
  /// What the key leads to, from the first tool on and back to it.
  QList<QWidget*> walk() {
    auto* tools = window.findChild<QToolBar*>(QStringLiteral("tools"));
    QWidget* first = tools->findChild<QPushButton*>();
    first->setFocus();
    QList<QWidget*> stops{first};
    while (press() != first && stops.size() < 1000) {
      EXPECT_FALSE(QApplication::focusWidget()->visibleRegion().isEmpty())
          << QApplication::focusWidget()->accessibleName().toStdString() << " is out of sight";
      stops << QApplication::focusWidget();
    }
    return stops;
  }
};

TEST_F(TabKey, LeadsThroughTheWindowAsItIsRead) {
  const QList<QWidget*> stops = walk();
  qsizetype before = 0;  // the first tool
  const auto comesNext = [&](const QWidget* part, const char* name) {
    const qsizetype at = stops.indexOf(part);
    EXPECT_GT(at, before) << name;
    before = at;
  };
  comesNext(window.findChild<QToolBar*>(QStringLiteral("tools"))
                ->widgetForAction(window.currentPage()->tools().front()),
            "first tool of the page");
  comesNext(named<QToolButton>(window, "Runs as a table"), "table");
  comesNext(named<QLineEdit>(window, "Filter runs"), "filter");
  comesNext(&only<RunsPanel>(window).view(), "list of runs");
  comesNext(window.findChild<QTabBar*>(), "tabs");
  comesNext(named<QLineEdit>(window, "Search plots"), "search");
  const auto* monitor = qobject_cast<const MonitorPage*>(window.currentPage());
  ASSERT_NE(monitor, nullptr);
  ASSERT_GE(monitor->cards().size(), 4U);
  for (PlotCard* card : monitor->cards()) comesNext(&card->plot(), "plot");
  comesNext(named<QToolButton>(window, "Collapse the inspector to the edge"), "inspector");
  comesNext(named<QPlainTextEdit>(window, "Note on the run"), "note");
}

TEST_F(TabKey, LeadsBackTheSameWay) {
  only<RunsPanel>(window).view().setFocus();
  for (int i = 0; i < 3; ++i) press();
  for (int i = 0; i < 3; ++i) press(Qt::Key_Backtab);
  EXPECT_EQ(QApplication::focusWidget(), &only<RunsPanel>(window).view());
}

TEST_F(TabKey, LeadsOnFromAPartThatWasHiddenOrDisabled) {
  auto* filter = named<QLineEdit>(window, "Filter runs");
  filter->setFocus();
  filter->setEnabled(false);
  EXPECT_EQ(QApplication::focusWidget(), named<QToolButton>(window, "Saved filters"));
  QApplication::focusWidget()->hide();
  EXPECT_EQ(QApplication::focusWidget(), &only<RunsPanel>(window).view());
}

TEST_F(TabKey, DrawsAFrameAroundAListUntilTheFocusLeavesIt) {
  QTreeView& list = only<RunsPanel>(window).view();
  const auto ring = [&list] { return list.findChild<FocusRing*>(); };
  list.setFocus(Qt::MouseFocusReason);
  EXPECT_EQ(ring(), nullptr);
  press(Qt::Key_Backtab);
  press();
  ASSERT_EQ(QApplication::focusWidget(), &list);
  ASSERT_NE(ring(), nullptr);
  EXPECT_EQ(ring()->size(), list.size());
  QFocusEvent toDialog(QEvent::FocusOut, Qt::ActiveWindowFocusReason);
  QCoreApplication::sendEvent(&list, &toDialog);
  EXPECT_NE(ring(), nullptr) << "a dialog has the focus for a while";
  QFocusEvent elsewhere(QEvent::FocusIn, Qt::ActiveWindowFocusReason);
  QCoreApplication::sendEvent(named<QLineEdit>(window, "Filter runs"), &elsewhere);
  EXPECT_EQ(ring(), nullptr) << "it led somewhere else";
}

TEST_F(TabKey, IsSeenAtAPartThatAKeyLedToThroughTheProgram) {
  QTreeView& list = only<RunsPanel>(window).view();
  press();
  list.setFocus();  // as a page does when a picture is made small again
  EXPECT_NE(list.findChild<FocusRing*>(), nullptr);
  QTest::mousePress(named<QLineEdit>(window, "Filter runs"), Qt::LeftButton);
  list.setFocus();
  EXPECT_EQ(list.findChild<FocusRing*>(), nullptr);
}

TEST_F(TabKey, StartsInAPageThatItsKeyOpenedAndThatIsSeen) {
  QTest::keyClick(&window, Qt::Key_9, Qt::ControlModifier);  // Live takes keys itself
  Page* page = window.currentPage();
  ASSERT_EQ(QApplication::focusWidget(), page);
  EXPECT_NE(page->findChild<FocusRing*>({}, Qt::FindDirectChildrenOnly), nullptr);
  press();
  EXPECT_EQ(page->findChild<FocusRing*>({}, Qt::FindDirectChildrenOnly), nullptr);
}

TEST_F(TabKey, IsSeenAtAPictureThatTakesIt) {
  FigureView picture(&window);
  picture.resize(80, 60);
  picture.show();
  const auto edge = [&picture] { return picture.grab().toImage().pixelColor(0, 30); };
  picture.setFocus();
  const QColor plain = edge();  // of a picture that takes a click alone
  picture.clearFocus();
  picture.setFocusPolicy(Qt::StrongFocus);
  EXPECT_EQ(edge(), plain);
  picture.setFocus();
  EXPECT_NE(edge(), plain);
}

TEST_F(TabKey, IsNotTakenByAPlotThatAppearsBelowAMouseAtRest) {
  QTreeView& list = only<RunsPanel>(window).view();
  list.setFocus();
  auto* monitor = qobject_cast<MonitorPage*>(window.currentPage());
  CurvePlot& plot = monitor->cards().front()->plot();
  const QPointF place(40, 40), above = plot.mapToGlobal(place);
  QEnterEvent appears(place, above, above);
  QCoreApplication::sendEvent(&plot, &appears);
  EXPECT_EQ(QApplication::focusWidget(), &list);
  QTest::mouseMove(&plot, QPoint(60, 60));
  EXPECT_EQ(QApplication::focusWidget(), &plot);
}

}  // namespace
}  // namespace vitrine::ui
