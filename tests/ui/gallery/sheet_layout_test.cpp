#include "ui/gallery/sheet_layout.h"

#include <gmock/gmock.h>

namespace vitrine::ui {
namespace {

using ::testing::Pair;

SheetLayout sheet(std::vector<int> groups, int heading = 0) {
  SheetLayout layout;
  layout.setGroups(std::move(groups), heading);
  layout.setPlace(100, 20, 4);  // four columns
  return layout;
}

TEST(SheetLayout, LaysTilesInRowsWithAGapAround) {
  const SheetLayout layout = sheet({10});
  EXPECT_EQ(layout.columns(), 4);
  EXPECT_EQ(layout.rectOf(0), QRect(4, 4, 20, 20));
  EXPECT_EQ(layout.rectOf(5), QRect(28, 28, 20, 20));
  EXPECT_EQ(layout.height(), 4 + 3 * 24);
  EXPECT_TRUE(layout.rectOf(10).isNull());
}

TEST(SheetLayout, LeavesRoomForTheWordsOfEachGroup) {
  const SheetLayout layout = sheet({5, 2}, 30);
  EXPECT_EQ(layout.headingOf(1), QRect(0, 30 + 4 + 2 * 24, 100, 30));
  EXPECT_EQ(layout.rectOf(5).top(), layout.headingOf(1).bottom() + 1 + 4);
  EXPECT_EQ(layout.groupOf(4), 0);
  EXPECT_EQ(layout.groupOf(5), 1);
}

TEST(SheetLayout, FindsTheTileUnderAPointAndNoneInAGap) {
  const SheetLayout layout = sheet({5, 2}, 30);
  for (int i = 0; i < layout.count(); ++i) EXPECT_EQ(layout.indexAt(layout.rectOf(i).center()), i);
  EXPECT_EQ(layout.indexAt({1, 40}), -1);
  EXPECT_EQ(layout.indexAt({10, 10}), -1) << "on the words";
  EXPECT_EQ(layout.indexAt(layout.rectOf(4).center() + QPoint(24, 0)), -1) << "after the last";
}

TEST(SheetLayout, KnowsWhichTilesAreInSight) {
  const SheetLayout layout = sheet({100000});
  EXPECT_THAT(layout.between(0, 50), Pair(0, 8));
  EXPECT_THAT(layout.between(240, 260), Pair(36, 44));
  const auto [first, last] = layout.between(layout.height() - 10, layout.height());
  EXPECT_EQ(last, 100000);
  EXPECT_EQ(first, 99996);
  const SheetLayout grouped = sheet({5, 2}, 30);
  EXPECT_THAT(grouped.between(0, grouped.height()), Pair(0, 7));
  EXPECT_THAT(grouped.between(grouped.rectOf(5).top(), grouped.height()), Pair(5, 7));
}

TEST(SheetLayout, MovesUpAndDownInAColumnAcrossGroups) {
  const SheetLayout layout = sheet({6, 3, 9}, 30);
  EXPECT_EQ(layout.below(1, 1), 5);
  EXPECT_EQ(layout.below(5, 1), 7);
  EXPECT_EQ(layout.below(7, 1), 10);
  EXPECT_EQ(layout.below(7, -1), 5);
  EXPECT_EQ(layout.below(3, 1), 5) << "the last of a short row";
  EXPECT_EQ(layout.below(2, -1), 2) << "nothing above";
  EXPECT_EQ(layout.below(17, 5), 17);
  EXPECT_EQ(layout.below(0, 100), 17);
  EXPECT_EQ(sheet({}).below(0, 1), -1);
}

}  // namespace
}  // namespace vitrine::ui
