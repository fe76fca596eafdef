#include "core/store/metrics/metric_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/store/run_card.h"

namespace vitrine::store {
namespace {

using ::testing::ElementsAre, ::testing::Pair;

TEST(MetricFamily, IsMadeOfTheScoresOfAnAnalysisWhoseNamesEndWithANumber) {
  const auto families =
      metricFamilies({"analysis/resolution_sweep/top1/112", "analysis/resolution_sweep/top1/28",
                      "analysis/resolution_sweep/top1/56", "analysis/resolution_sweep/top1/56@ema",
                      "analysis/resolution_sweep/fall/56", "analysis/attention_rank/rank80/layer0",
                      "analysis/attention_rank/rank80/layer1", "test/accuracy/0", "test/accuracy/1",
                      "train/loss"});
  ASSERT_EQ(families.size(), 1U) << "one point is not a curve";
  EXPECT_EQ(families[0].name, "analysis/resolution_sweep/top1");
  EXPECT_EQ(families[0].over, "resolution sweep");
  EXPECT_THAT(families[0].members, ElementsAre(Pair(28, "analysis/resolution_sweep/top1/28"),
                                               Pair(56, "analysis/resolution_sweep/top1/56"),
                                               Pair(112, "analysis/resolution_sweep/top1/112")));
}

TEST(MetricFamily, KeepsAveragedWeightsApart) {
  const auto point = numberedMetric("analysis/sweep/top1/0.5@ema");
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->family, "analysis/sweep/top1@ema");
  EXPECT_EQ(point->number, 0.5);
  for (const char* other : {"analysis/sweep/56", "analysis/sweep/top1/", "analysis/sweep/top1/5x",
                            "analysis/sweep/top1/inf", "analysis/sweep/top1/nan", "analysis/", ""})
    EXPECT_FALSE(numberedMetric(other).has_value()) << other;
}

TEST(MetricFamily, GivesItsPointsItsMeaning) {
  const MetricKinds kinds{{"*/top1", "fraction", "share", Direction::Higher, "Accuracy"}};
  const MetricKind kind = kindOf(kinds, "analysis/sweep/top1/56@ema");
  EXPECT_EQ(kind.unit, "fraction");
  EXPECT_EQ(kind.direction, Direction::Higher);
  EXPECT_EQ(kind.title, "") << "the numbers tell the points apart";
  EXPECT_EQ(kindOf(kinds, "analysis/sweep/fall/56").unit, "");
  const MetricKinds falls{{"analysis/*/fall/*", "points", "", Direction::Lower, "fall"}};
  EXPECT_EQ(kindOf(falls, "analysis/sweep/fall/56@ema").unit, "points");
  EXPECT_EQ(kindOf(falls, "analysis/sweep/fall_loss/56").unit, "");
}

}  // namespace
}  // namespace vitrine::store
