// Means, deviations and intervals against values of published tables.
#include "core/base/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace vitrine {
namespace {

TEST(Statistics, KnowStudentsQuantiles) {
  // Two-sided 95 %, from the printed tables of the t distribution.
  EXPECT_NEAR(studentQuantile(1), 12.706, 5e-4);
  EXPECT_NEAR(studentQuantile(2), 4.303, 5e-4);
  EXPECT_NEAR(studentQuantile(9), 2.262, 5e-4);
  EXPECT_NEAR(studentQuantile(10), 2.228, 5e-4);
  EXPECT_NEAR(studentQuantile(15), 2.131, 5e-4);
  EXPECT_NEAR(studentQuantile(30), 2.042, 5e-4);
  EXPECT_NEAR(studentQuantile(120), 1.980, 5e-4);
}

TEST(Statistics, GiveTheMeanWithItsInterval) {
  const std::array<double, 3> values = {0.80, 0.82, 0.84};
  const SampleStatistics s = statisticsOf(values);
  EXPECT_EQ(s.count, 3u);
  EXPECT_NEAR(s.mean, 0.82, 1e-12);
  EXPECT_NEAR(s.deviation, 0.02, 1e-12);
  EXPECT_NEAR(s.interval.lower, 0.82 - 4.3027 * 0.02 / std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(s.interval.upper, 0.82 + 4.3027 * 0.02 / std::sqrt(3.0), 1e-12);
}

TEST(Statistics, OfOneValueHaveNoInterval) {
  const std::array<double, 1> one = {0.5};
  const SampleStatistics s = statisticsOf(one);
  EXPECT_EQ(s.mean, 0.5);
  EXPECT_EQ(s.deviation, 0);
  EXPECT_TRUE(std::isinf(s.interval.lower) && std::isinf(s.interval.upper));
  EXPECT_TRUE(std::isnan(statisticsOf(std::vector<double>()).mean));
}

}  // namespace
}  // namespace vitrine
