// What a terminal shows of a run that trains in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "app/vitrine/run/progress_sink.h"

namespace vitrine::test {
namespace {

using ::testing::HasSubstr;

TEST(ProgressLine, CountsInTheUnitOfTheTask) {
  ProgressRecord record;
  record.step = 10;
  record.totalSteps = 40;
  record.loss = 2.31;
  record.imagesPerSecond = 412;
  record.memoryBytes = 1'200'000'000;
  record.remainingSeconds = 60;
  EXPECT_THAT(app::progressText(record, "tokens"),
              HasSubstr("step 10/40 25.0 % | loss 2.31 | 412 tokens/s | mem 1.2 GB"));
}

TEST(ProgressLine, DrawsTheLossAsACurveThatFits) {
  EXPECT_EQ(app::curveText({3, 2, 1, 0}, 8), "█▆▃▁");
  EXPECT_EQ(app::curveText({4, 2, 1, 1, 0, 0}, 3), "█▃▁") << "means of two each";
  EXPECT_EQ(app::curveText({std::nan(""), 1, 0}, 8), "█▁");
  EXPECT_EQ(app::curveText({5, 5}, 8), "▁▁");
  EXPECT_EQ(app::curveText({}, 8), "");
  EXPECT_EQ(app::curveText({1, 2}, 0), "");
}

}  // namespace
}  // namespace vitrine::test
