// Selected and drawn are two things: clicks, keys, eyes and the menu of the list of runs.
#include <QMenu>
#include <QSignalSpy>
#include <QTest>

#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/kit/theme.h"
#include "ui/runs/runs_delegate.h"
#include "ui/runs/runs_panel.h"

namespace vitrine::ui {
namespace {

using Ids = std::vector<std::int64_t>;
using Hidden = std::set<std::int64_t>;

class RunVisibility : public ::testing::Test {
 protected:
  RunVisibility() : panel(studio.workbench), runs(studio.runs) {
    panel.resize(300, 900);
    panel.show();
    panel.select({runs[0], runs[1]}, runs[0]);
  }
  QRect rowOf(std::int64_t run) {
    const auto* shown = qobject_cast<QAbstractProxyModel*>(panel.view().model());
    const QModelIndex at = shown->mapFromSource(panel.model().indexOf(run));
    panel.view().scrollTo(at);
    return panel.view().visualRect(at);
  }
  void click(std::int64_t run, Qt::KeyboardModifiers keys = Qt::NoModifier,
             Qt::MouseButton button = Qt::LeftButton) {
    QTest::mouseClick(panel.view().viewport(), button, keys, rowOf(run).center());
  }
  void clickEye(std::int64_t run) {
    QTest::mouseClick(panel.view().viewport(), Qt::LeftButton, {}, eyeRect(rowOf(run)).center());
  }
  void press(int key, Qt::KeyboardModifiers keys = Qt::NoModifier) {
    QTest::keyClick(&panel.view(), static_cast<Qt::Key>(key), keys);
  }
  /// The entry of the context menu whose text begins so.
  QAction* entry(QMenu& menu, const QString& start) {
    panel.fillMenu(menu);
    for (QAction* one : menu.actions()) {
      if (QString(one->text()).remove(QLatin1Char('&')).startsWith(start)) return one;
    }
    return nullptr;
  }
  void choose(const QString& start) {
    QMenu menu;
    QAction* one = entry(menu, start);
    ASSERT_NE(one, nullptr) << start.toStdString();
    one->trigger();
  }
  Selection& selection() { return studio.workbench.selection(); }

  SampleStudio studio{SampleOptions{0, 50}};
  RunsPanel panel;
  const Ids& runs;
};

TEST_F(RunVisibility, AClickBesideAComparisonLooksAtTheRunAndLeavesTheComparison) {
  QSignalSpy changes(&selection(), &Selection::runsChanged);
  QSignalSpy offers(&studio.workbench, &StudioWorkbench::offered);
  click(runs[4]);
  EXPECT_EQ(selection().runs(), (Ids{runs[0], runs[1]}));
  EXPECT_EQ(selection().current(), runs[4]);
  EXPECT_EQ(selection().targets(), Ids{runs[4]}) << "actions concern what is looked at";
  EXPECT_EQ(changes.count(), 1) << "the pages show a click once";
  ASSERT_EQ(offers.count(), 1);
  EXPECT_EQ(offers[0][1].toString(), QStringLiteral("Select only this run"));
  const auto words = [this](std::int64_t run) {
    return QStringLiteral("\u201c%1\u201d is outlined; the selected runs stay in the charts.")
        .arg(QString::fromStdString(studio.workbench.run(run)->name));
  };
  EXPECT_EQ(offers[0][0].toString(), words(runs[4]));
  QSignalSpy amended(&studio.workbench, &StudioWorkbench::amended);
  click(runs[3]);
  ASSERT_EQ(amended.count(), 1);
  EXPECT_EQ(amended[0][0].toString(), words(runs[4]));
  EXPECT_EQ(amended[0][1].toString(), words(runs[3]));
  click(runs[1]);
  EXPECT_EQ(selection().runs(), (Ids{runs[0], runs[1]}));
  EXPECT_EQ(selection().current(), runs[1]);
  EXPECT_EQ(selection().targets(), (Ids{runs[0], runs[1]}));
  ASSERT_EQ(amended.count(), 2);
  EXPECT_EQ(amended[1][1].toString(), QString()) << "no run is outlined beside them";
  click(runs[5]);
  EXPECT_EQ(offers.count(), 1) << "explained once";
  click(runs[5], Qt::NoModifier, Qt::RightButton);
  EXPECT_EQ(selection().runs().size(), 2U);
}

TEST_F(RunVisibility, TheRunBesideAComparisonIsOutlinedWhereverTheKeysAre) {
  const auto isOutlined = [this](std::int64_t run) {
    const QRect row = rowOf(run);
    const QImage image = panel.view().viewport()->grab().toImage();
    const QPoint edge(row.center().x(), row.top());
    return image.pixelColor(edge * image.devicePixelRatio()) == themeColors().accent;
  };
  click(runs[4]);
  panel.view().clearFocus();
  EXPECT_TRUE(isOutlined(runs[4]));
  EXPECT_FALSE(isOutlined(runs[3]));
  panel.select({runs[0], runs[1]}, runs[0]);
  EXPECT_FALSE(isOutlined(runs[4])) << "it is not looked at any more";
}

TEST_F(RunVisibility, AClickSelectsItsRunWhileOneIsSelected) {
  panel.select({runs[0]}, runs[0]);
  QSignalSpy changes(&selection(), &Selection::runsChanged);
  click(runs[4]);
  EXPECT_EQ(selection().runs(), Ids{runs[4]});
  EXPECT_EQ(selection().current(), runs[4]);
  EXPECT_EQ(changes.count(), 1);
}

TEST_F(RunVisibility, ControlAndAClickTakesRunsInAndOut) {
  click(runs[4], Qt::ControlModifier);
  EXPECT_EQ(selection().runs(), (Ids{runs[4], runs[0], runs[1]})) << "in the order of the list";
  EXPECT_EQ(selection().current(), runs[4]);
  click(runs[4], Qt::ControlModifier);
  EXPECT_EQ(selection().runs(), (Ids{runs[0], runs[1]}));
  EXPECT_EQ(selection().current(), runs[0]) << "what was taken out is not acted on";
}

TEST_F(RunVisibility, TheKeysLookTakeInAndEndTheComparison) {
  panel.view().setFocus();
  press(Qt::Key_Down);
  EXPECT_EQ(selection().current(), runs[1]);
  press(Qt::Key_Down);
  EXPECT_EQ(selection().current(), runs[2]);
  EXPECT_EQ(selection().runs(), (Ids{runs[0], runs[1]}));
  press(Qt::Key_Space);
  EXPECT_EQ(selection().runs(), (Ids{runs[0], runs[1], runs[2]}));
  press(Qt::Key_Space);
  EXPECT_EQ(selection().runs(), (Ids{runs[0], runs[1]}));
  press(Qt::Key_Down);
  press(Qt::Key_Return);
  EXPECT_EQ(selection().runs(), Ids{runs[3]});
  press(Qt::Key_Up);
  EXPECT_EQ(selection().runs(), Ids{runs[2]}) << "one is selected: the arrow selects";
}

TEST_F(RunVisibility, ADoubleClickSelectsOnlyItsRun) {
  const QPoint place = rowOf(runs[4]).center();
  QTest::mouseClick(panel.view().viewport(), Qt::LeftButton, {}, place);
  QTest::mouseDClick(panel.view().viewport(), Qt::LeftButton, {}, place);
  EXPECT_EQ(selection().runs(), Ids{runs[4]});
}

TEST_F(RunVisibility, TheRowOfAnExperimentFoldsAndSelectsNothing) {
  panel.select({runs[4]}, runs[4]);
  QTreeView& view = panel.view();
  const QModelIndex group = view.model()->index(0, 0);
  ASSERT_TRUE(view.isExpanded(group));
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(group).center());
  EXPECT_FALSE(view.isExpanded(group));
  EXPECT_EQ(selection().runs(), Ids{runs[4]});
  EXPECT_EQ(selection().current(), runs[4]);
}

TEST_F(RunVisibility, SpaceFoldsTheRowOfAnExperimentAsAClickDoes) {
  QTreeView& view = panel.view();
  const QModelIndex group = view.model()->index(0, 0);
  view.selectionModel()->setCurrentIndex(group, QItemSelectionModel::NoUpdate);
  press(Qt::Key_Space);
  EXPECT_FALSE(view.isExpanded(group));
  press(Qt::Key_Space);
  EXPECT_TRUE(view.isExpanded(group));
  EXPECT_EQ(selection().runs(), (Ids{runs[0], runs[1]}));
}

TEST_F(RunVisibility, HidingConcernsTheOutlinedRunAndLeavesTheOutlineThere) {
  bringUp(panel);
  QTreeView& view = panel.view();
  view.setFocus();
  panel.select({runs[0]}, runs[0]);
  press(Qt::Key_Down, Qt::ControlModifier);
  ASSERT_EQ(selection().runs(), Ids{runs[0]});
  const auto outlined = [&] { return view.currentIndex().data(RunsModel::IdRole).toLongLong(); };
  ASSERT_EQ(outlined(), runs[1]);
  choose(QStringLiteral("Show in charts"));
  EXPECT_EQ(selection().drawn(), (Ids{runs[0], runs[1]}));
  EXPECT_EQ(outlined(), runs[1]);
  view.selectionModel()->setCurrentIndex(view.model()->index(0, 0), QItemSelectionModel::NoUpdate);
  choose(QStringLiteral("Hide from charts"));
  EXPECT_TRUE(selection().drawn().empty());
  EXPECT_FALSE(view.currentIndex().parent().isValid());
}

TEST_F(RunVisibility, TheEyeHidesARunThatStaysSelected) {
  clickEye(runs[1]);
  EXPECT_EQ(selection().runs(), (Ids{runs[0], runs[1]}));
  EXPECT_EQ(selection().hidden(), Hidden{runs[1]});
  EXPECT_EQ(selection().drawn(), Ids{runs[0]});
  EXPECT_EQ(selection().current(), runs[0]) << "the eye is not a click on the run";
  EXPECT_EQ(panel.summary().toStdString(), "12 runs, 2 selected, 1 hidden");
  const QModelIndex row = panel.model().indexOf(runs[1]);
  EXPECT_TRUE(row.data(RunsModel::HiddenRole).toBool());
  EXPECT_TRUE(row.data(Qt::AccessibleTextRole).toString().contains(QStringLiteral("hidden")));
  clickEye(runs[1]);
  EXPECT_EQ(selection().drawn(), (Ids{runs[0], runs[1]}));
  EXPECT_FALSE(row.data(RunsModel::HiddenRole).toBool());
}

TEST_F(RunVisibility, TheEyeOfAnotherRunTakesItIn) {
  clickEye(runs[4]);
  EXPECT_EQ(selection().drawn(), (Ids{runs[4], runs[0], runs[1]}));
  EXPECT_EQ(selection().current(), runs[0]);
}

TEST_F(RunVisibility, TheMenuHidesAndShowsAllThatIsSelected) {
  choose(QStringLiteral("Hide from charts"));
  EXPECT_TRUE(selection().drawn().empty());
  EXPECT_EQ(selection().runs().size(), 2U);
  choose(QStringLiteral("Show in charts"));
  EXPECT_EQ(selection().drawn().size(), 2U);
  click(runs[1]);
  choose(QStringLiteral("Show only this run in charts"));
  EXPECT_EQ(selection().drawn(), Ids{runs[1]});
  choose(QStringLiteral("Show hidden runs"));
  EXPECT_EQ(selection().drawn(), (Ids{runs[0], runs[1]}));
  QMenu menu;
  EXPECT_FALSE(entry(menu, QStringLiteral("Show hidden runs"))->isEnabled());
}

TEST_F(RunVisibility, ARunThatIsSelectedAgainIsDrawn) {
  clickEye(runs[1]);
  click(runs[1], Qt::ControlModifier);
  click(runs[1], Qt::ControlModifier);
  EXPECT_EQ(selection().drawn(), (Ids{runs[0], runs[1]}));
}

TEST_F(RunVisibility, WhatTheFilterLeavesOutStaysInTheComparison) {
  panel.filter().setText(QStringLiteral("demo"));
  click(runs[4]);
  EXPECT_EQ(selection().runs(), (Ids{runs[0], runs[1]}));
  EXPECT_EQ(selection().current(), runs[4]);
  click(runs[5], Qt::ControlModifier);
  EXPECT_EQ(selection().runs(), (Ids{runs[5], runs[0], runs[1]}));
  panel.view().selectAll();
  panel.select({runs[0]}, runs[0]);
  click(runs[4]);
  EXPECT_EQ(selection().runs(), Ids{runs[4]}) << "of one, another is selected in its place";
}

}  // namespace
}  // namespace vitrine::ui
