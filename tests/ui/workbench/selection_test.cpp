// Which runs pages draw, of those that are selected, hidden and looked at.
#include "ui/workbench/selection.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

#include "ui/workbench/drawn_runs.h"

namespace vitrine::ui {
namespace {

using Ids = std::vector<std::int64_t>;

TEST(Selection, DrawsWhatIsSelectedAndNotHidden) {
  Selection selection;
  selection.setRuns({1, 2, 3}, 2, {2, 9});
  EXPECT_EQ(selection.drawn(), (Ids{1, 3}));
  EXPECT_EQ(selection.hidden(), std::set<std::int64_t>{2}) << "9 is not selected";
  EXPECT_EQ(selection.targets(), (Ids{1, 2, 3})) << "hidden runs are acted on";
  QSignalSpy changes(&selection, &Selection::runsChanged);
  selection.setRuns({1, 2, 3}, 2, {2});
  EXPECT_EQ(changes.count(), 0);
  selection.setRuns({1, 2, 3}, 2);
  EXPECT_EQ(changes.count(), 1);
  EXPECT_EQ(selection.drawn(), (Ids{1, 2, 3}));
}

TEST(Selection, LooksAtARunBesideSeveralAndSelectsItBesideOne) {
  Selection selection;
  selection.setRuns({1, 2}, 1, {2});
  selection.look(7);
  EXPECT_EQ(selection.runs(), (Ids{1, 2}));
  EXPECT_EQ(selection.drawn(), Ids{1});
  EXPECT_EQ(selection.targets(), Ids{7});
  selection.setRuns({1}, 1);
  selection.look(7);
  EXPECT_EQ(selection.runs(), Ids{7});
}

TEST(DrawnRuns, HaveTheCurrentRunAmongThemWhereThereIsRoomForFew) {
  Selection selection;
  selection.setRuns({1, 2, 3}, 3);
  EXPECT_EQ(drawnRuns(selection, 2), (Ids{3, 1}));
  EXPECT_EQ(drawnRuns(selection, 5), (Ids{1, 2, 3}));
  EXPECT_EQ(drawnRuns(selection, 2, {2}), (Ids{3, 2}));
  selection.look(7);
  EXPECT_EQ(drawnRuns(selection, 2), (Ids{7, 1})) << "a page that looks inside shows it";
  selection.setRuns({1, 2, 3}, 3, {3});
  EXPECT_EQ(drawnRuns(selection, 2), (Ids{1, 2}));
  selection.setRuns({1, 2}, 1, {1, 2});
  EXPECT_EQ(drawnRuns(selection, 2), Ids{1}) << "it is the one that is looked at";
}

}  // namespace
}  // namespace vitrine::ui
