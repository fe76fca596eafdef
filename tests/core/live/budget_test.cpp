// Frames are counted against a clock that the tests move.
#include "core/live/budget.h"

#include <gtest/gtest.h>

namespace vitrine::live {
namespace {

struct Shown {
  int frames = 0;
  double spent = 0;
};

/// Steps of `step` seconds for `seconds`, and a frame of `cost` seconds whenever one is due.
Shown train(Budget& budget, double seconds, double step, double cost, double rate) {
  Shown shown;
  double now = 100;
  budget.begin(now);
  while (now < 100 + seconds) {
    now += step;
    if (!budget.isDue(now, rate)) continue;
    now += cost;
    budget.spend(now, cost);
    ++shown.frames;
    shown.spent += cost;
  }
  return shown;
}

TEST(Budget, ShowsTheFirstFrameAtOnce) {
  Budget budget;
  budget.begin(5);
  EXPECT_TRUE(budget.isDue(5, 10));
}

TEST(Budget, ShowsAsManyFramesAsAreWishedForWhereTheyAreCheap) {
  Budget budget;
  // Every 0.10 s or, where a step ends later, with the next step.
  EXPECT_NEAR(train(budget, 60, 0.01, 0.001, 10).frames, 580, 40);
  EXPECT_NEAR(train(budget, 60, 0.01, 0.001, 2).frames, 119, 3);
}

TEST(Budget, NeverShowsMoreThanTenFramesASecond) {
  Budget budget;
  EXPECT_LE(train(budget, 60, 0.001, 0.0001, 1000).frames, 600);
}

TEST(Budget, SpendsItsShareAndOneFrameAtMostHoweverDearFramesAre) {
  for (const double cost : {0.002, 0.02, 0.2, 2.0}) {
    Budget budget(0.06);
    const Shown shown = train(budget, 100, 0.04, cost, 10);
    EXPECT_GE(shown.frames, 1) << cost;
    EXPECT_LE(shown.spent, 0.06 * (100 + shown.spent) + cost + 1e-9) << cost;
  }
}

TEST(Budget, UsesMostOfItsShareWhereFramesAreDear) {
  Budget budget(0.06);
  EXPECT_GT(train(budget, 100, 0.04, 0.05, 10).spent, 0.05 * 100);
}

TEST(Budget, SavesNothingUpOverAPause) {
  Budget budget(0.06);
  budget.begin(0);
  int frames = 0;
  // An evaluation of a minute, then steps: at most what one second gives, and the last frame.
  for (double now = 60; now < 61; now += 0.001) {
    if (!budget.isDue(now, 10)) continue;
    budget.spend(now, 0.06);
    ++frames;
  }
  EXPECT_LE(frames, 3);
}

TEST(Budget, TellsWhichShareItSpent) {
  Budget budget;
  budget.begin(10);
  budget.spend(11, 0.25);
  EXPECT_DOUBLE_EQ(budget.shareSpent(15), 0.05);
  EXPECT_DOUBLE_EQ(budget.lastCost(), 0.25);
}

}  // namespace
}  // namespace vitrine::live
