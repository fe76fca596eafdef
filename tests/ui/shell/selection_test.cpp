// The selection of runs in the window: taken back with Undo, renamed with its key.
#include <QLineEdit>
#include <QTest>

#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/monitor/curve_plot.h"
#include "ui/shell/main_window.h"

namespace vitrine::ui {
namespace {

using Runs = std::vector<std::int64_t>;

QAction* actionOf(const MainWindow& window, const QString& start) {
  for (QAction* one : window.actions()) {
    if (QString(one->text()).remove(QLatin1Char('&')).startsWith(start)) return one;
  }
  ADD_FAILURE() << "no action " << start.toStdString();
  return nullptr;
}

class RunSelection : public ::testing::Test {
 protected:
  RunSelection() : window(studio.workbench) {
    window.resize(1440, 900);
    window.show();
    window.waitUntilIdle();
  }
  /// Clicks the row of a run in the list.
  void click(std::int64_t run, Qt::KeyboardModifiers keys = Qt::NoModifier) {
    QTreeView& view = only<RunsPanel>(window).view();
    const auto* shown = qobject_cast<QAbstractProxyModel*>(view.model());
    const QModelIndex at = shown->mapFromSource(only<RunsPanel>(window).model().indexOf(run));
    view.scrollTo(at);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, keys, view.visualRect(at).center());
  }

  void selectOnly(std::int64_t run) {
    click(run);
    QTest::keyClick(&only<RunsPanel>(window).view(), Qt::Key_Return);
  }
  /// The most curves that a plot of Monitor in sight has.
  std::size_t curves() {
    window.waitUntilIdle();
    std::size_t most = 0;
    for (const CurvePlot* plot : window.currentPage()->findChildren<CurvePlot*>()) {
      if (plot->isVisible()) most = std::max(most, plot->curves().size());
    }
    return most;
  }

  SampleStudio studio{SampleOptions{0, 50}};
  MainWindow window;
};

TEST_F(RunSelection, TheEndOfAComparisonIsTakenBackWithUndo) {
  const Runs before = studio.workbench.selection().runs();
  const std::int64_t current = studio.workbench.selection().current();
  ASSERT_GT(before.size(), 1U);
  selectOnly(studio.runs[1]);
  EXPECT_EQ(studio.workbench.selection().runs(), Runs{studio.runs[1]});
  QAction* undo = actionOf(window, QStringLiteral("Undo"));
  ASSERT_NE(undo, nullptr);
  EXPECT_TRUE(undo->isEnabled());
  EXPECT_EQ(undo->text().remove(QLatin1Char('&')), QStringLiteral("Undo selection"));
  undo->trigger();
  EXPECT_EQ(studio.workbench.selection().runs(), before);
  EXPECT_EQ(studio.workbench.selection().current(), current);
  QAction* redo = actionOf(window, QStringLiteral("Redo"));
  ASSERT_NE(redo, nullptr);
  redo->trigger();
  EXPECT_EQ(studio.workbench.selection().runs(), Runs{studio.runs[1]});
}

TEST_F(RunSelection, UndoSaysThatItTakesBackAZoom) {
  ASSERT_TRUE(window.showPage(QStringLiteral("monitor")));
  window.waitUntilIdle();
  CurvePlot* plot = nullptr;
  for (CurvePlot* one : window.currentPage()->findChildren<CurvePlot*>())
    if (one->isVisible() && plot == nullptr && !one->curves().empty()) plot = one;
  ASSERT_NE(plot, nullptr);
  const double whole = plot->xAxis().span();
  QTest::keyClick(plot, Qt::Key_Plus);
  ASSERT_LT(plot->xAxis().span(), whole);
  QAction* undo = actionOf(window, QStringLiteral("Undo"));
  ASSERT_NE(undo, nullptr);
  EXPECT_EQ(undo->text().remove(QLatin1Char('&')), QStringLiteral("Undo zoom"));
  undo->trigger();
  window.waitUntilIdle();
  EXPECT_NEAR(plot->xAxis().span(), whole, whole / 1000);
}

TEST_F(RunSelection, APageOpensAnotherWithAViewThatUndoTakesBack) {
  ASSERT_TRUE(window.showPage(QStringLiteral("calibration")));
  const Json before = window.currentPage()->viewState();
  ASSERT_TRUE(window.showPage(QStringLiteral("artifacts")));
  studio.workbench.showView(QStringLiteral("calibration"), {{"bins", 7}, {"cell", {1, 2}}});
  EXPECT_EQ(window.currentPage()->viewState()["bins"], 7);
  EXPECT_EQ(window.currentPage()->viewState()["cell"], Json({1, 2}));
  actionOf(window, QStringLiteral("Undo"))->trigger();
  EXPECT_EQ(window.currentPage()->viewState(), before);
}

TEST_F(RunSelection, UndoLeavesOutRunsThatWereDeletedMeanwhile) {
  const Runs before = studio.workbench.selection().runs();
  ASSERT_GT(before.size(), 1U);
  selectOnly(studio.runs[1]);
  studio.workbench.deleteRuns({before.front()});
  studio.workbench.queue().waitUntilIdle();
  QCoreApplication::processEvents();
  ASSERT_EQ(studio.workbench.run(before.front()), nullptr);
  actionOf(window, QStringLiteral("Undo"))->trigger();
  EXPECT_EQ(studio.workbench.selection().runs(), Runs(before.begin() + 1, before.end()));
}

TEST_F(RunSelection, AHiddenRunIsNotDrawnOnMonitorUntilUndo) {
  const Runs before = studio.workbench.selection().runs();
  ASSERT_GT(before.size(), 2U);
  ASSERT_TRUE(window.showPage(QStringLiteral("monitor")));
  EXPECT_EQ(curves(), before.size());
  click(before.front());
  QAction* hide = actionOf(window, QStringLiteral("Show only this run in charts"));
  ASSERT_NE(hide, nullptr);
  hide->trigger();
  EXPECT_EQ(curves(), 1U);
  EXPECT_EQ(studio.workbench.selection().runs(), before);
  actionOf(window, QStringLiteral("Hide from charts"))->trigger();
  EXPECT_EQ(curves(), 0U);
  EXPECT_EQ(actionOf(window, QStringLiteral("Show in charts"))->shortcut(),
            QKeySequence(Qt::CTRL | Qt::Key_H));
  // Choices that follow each other quickly are one step.
  QAction* undo = actionOf(window, QStringLiteral("Undo"));
  for (int step = 0; step < 3 && undo->isEnabled(); ++step) undo->trigger();
  EXPECT_TRUE(studio.workbench.selection().hidden().empty());
  EXPECT_EQ(studio.workbench.selection().runs(), before);
  EXPECT_EQ(curves(), before.size());
}

TEST_F(RunSelection, AClickBesideAComparisonLeavesTheZoomOfTheCurves) {
  ASSERT_TRUE(window.showPage(QStringLiteral("monitor")));
  window.waitUntilIdle();
  CurvePlot* plot = nullptr;
  for (CurvePlot* one : window.currentPage()->findChildren<CurvePlot*>()) {
    if (!one->curves().empty()) plot = one;
  }
  ASSERT_NE(plot, nullptr);
  for (QAction* one : window.currentPage()->tools()) {
    if (one->text() == QLatin1String("Follow")) one->trigger();
  }
  plot->showRange(20, 40);
  click(studio.runs[1]);
  window.waitUntilIdle();
  EXPECT_EQ(plot->xAxis().lower, 20);
  EXPECT_EQ(plot->xAxis().upper, 40);
}

TEST_F(RunSelection, RenameOpensALineInTheList) {
  click(studio.runs[1]);
  QAction* rename = actionOf(window, QStringLiteral("Rename run"));
  ASSERT_NE(rename, nullptr);
  EXPECT_EQ(rename->shortcut(), QKeySequence(Qt::Key_F2));
  rename->trigger();
  auto* line = only<RunsPanel>(window).view().viewport()->findChild<QLineEdit*>();
  ASSERT_NE(line, nullptr);
  line->selectAll();
  QTest::keyClicks(line, QStringLiteral("of the window"));
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_TRUE(soon([&] { return studio.writer.run(studio.runs[1]).name == "of the window"; }));
}

}  // namespace
}  // namespace vitrine::ui
