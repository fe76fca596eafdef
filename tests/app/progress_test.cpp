// What a terminal shows of a run that trains in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "app/vitrine/run/progress_sink.h"

namespace vitrine::test {
namespace {


TEST(ProgressLine, CountsInTheUnitOfTheTask) {
  ProgressRecord record;
  record.step = 10;
  record.totalSteps = 40;
  record.loss = 2.31;
  record.imagesPerSecond = 412;
  record.memoryBytes = 1'200'000'000;
  record.remainingSeconds = 60;
  EXPECT_TRUE(app::progressText(record, "tokens")
                  .starts_with("step 10/40 25.0 % | loss 2.31 | 412 tokens/s | mem 1.2 GB"));
}

TEST(ProgressLine, DrawsTheLossAsACurveThatFits) {
  EXPECT_EQ(app::curveText({3, 2, 1, 0}, 8), "█▆▃▁");
  EXPECT_EQ(app::curveText({4, 2, 1, 1, 0, 0}, 3), "█▃▁") << "means of two each";
  EXPECT_EQ(app::curveText({5, 5}, 8), "▁▁");
  EXPECT_EQ(app::curveText({}, 8), "");
  EXPECT_EQ(app::curveText({1, 2}, 0), "");
}

TEST(ProgressLine, KeepsTheCurveOfALongRunInBoundedMemory) {
  constexpr std::size_t kMost = app::RunningCurve::kMostMeans;
  app::RunningCurve curve;
  curve.add(std::nan(""));
  EXPECT_TRUE(curve.means().empty());
  std::size_t count = 0;
  const auto addUntil = [&](std::size_t last) {
    for (; count < last; ++count) curve.add(static_cast<double>(count));
  };
  addUntil(kMost);
  EXPECT_EQ(curve.means().size(), kMost);
  EXPECT_EQ(curve.means().back(), kMost - 1);
  addUntil(1000 * kMost);
  EXPECT_LE(curve.means().size(), kMost);
  const double each = curve.means()[1] - curve.means()[0];
  EXPECT_DOUBLE_EQ(curve.means()[0], (each - 1) / 2);
  EXPECT_DOUBLE_EQ(curve.means()[100], 100 * each + (each - 1) / 2);
}

}  // namespace
}  // namespace vitrine::test
