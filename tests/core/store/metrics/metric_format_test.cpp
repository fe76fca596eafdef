#include "core/store/metrics/metric_format.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/store/metrics/column_decimals.h"

namespace vitrine::store {
namespace {

std::string written(const std::string& metric, double value, const std::string& unit = "") {
  return metricWords(metricFormat(metric, {"", unit, "", {}, ""}), value);
}

TEST(MetricFormat, FractionsAreInPercent) {
  EXPECT_EQ(written("test/top1", 0.42317, "fraction"), "42.3 %");
  EXPECT_EQ(written("test/top1", 1, "fraction"), "100.0 %");
  EXPECT_EQ(written("test/top1", 0, "fraction"), "0.0 %");
  EXPECT_EQ(written("test/unheard_of", 0.5, "fraction"), "50.0 %");
  EXPECT_EQ(written("test/ece", 0.00524, "fraction"), "0.52 %");
  EXPECT_EQ(written("test/top1", -0.0127, "fraction"), "-1.3 %");
}

TEST(MetricFormat, DifferencesOfFractionsAreInPoints) {
  EXPECT_EQ(written("analysis/resolution_sweep/fall/56", 0.179, "points"), "17.9 points");
  EXPECT_EQ(written("analysis/resolution_sweep/fall/56", -0.0127, "points"), "-1.3 points");
  EXPECT_STREQ(metricFormat("a/fall", "points", "").unit(), "points");
  EXPECT_STREQ(metricFormat("a/top1", "fraction", "").unit(), "%");
  EXPECT_STREQ(metricFormat("a/loss", "", "").unit(), "");
}

TEST(MetricFormat, KnownMetricsHaveTheDecimalsOfTheirCard) {
  EXPECT_EQ(written("train/loss", 2.31), "2.3100");
  EXPECT_EQ(written("train/loss", 0.0051234), "0.005123");
  EXPECT_EQ(written("test/fid", 12.345), "12.35");
  EXPECT_EQ(written("system/images_per_second", 3410.4), "3,410");
  EXPECT_EQ(written("system/images_per_second", 3.42), "3.4");
  EXPECT_EQ(written("system/cpu", 0.4231, "fraction"), "42.3 %");
  EXPECT_EQ(written("system/resident_memory", 1234.567, "MiB"), "1,235");
}

TEST(MetricFormat, LearningRatesAndUnknownMetricsHaveFourDigits) {
  EXPECT_EQ(written("optimizer/learning_rate", 0.001), "0.001");
  EXPECT_EQ(written("optimizer/learning_rate", 2.5e-5), "2.5e-5");
  EXPECT_EQ(written("train/own", 1234567), "1,234,567");
  EXPECT_EQ(written("train/own", 12.34567), "12.35");
  EXPECT_EQ(written("train/own", 0), "0");
}

TEST(MetricFormat, WhatIsNotANumberIsSaid) {
  EXPECT_EQ(written("train/loss", std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(written("test/top1", std::numeric_limits<double>::infinity(), "fraction"), "inf");
}

TEST(MetricFormat, AnIntervalDecidesTheDecimalsOfANumber) {
  const MetricFormat accuracy = metricFormat("test/top1", "fraction", "");
  EXPECT_EQ(metricNumber(accuracy, 86.41), "86.4");
  EXPECT_EQ(metricNumber(accuracy, 86.41, 3), "86.410");
  EXPECT_EQ(metricNumber(accuracy, 0.024, 1), "0.0");
  EXPECT_EQ(metricNumber({}, 3410.04), "3,410");
}

TEST(ColumnDecimals, AreTheMiddleOfWhatTheIntervalsSupport) {
  const MetricFormat format{true, 1};
  EXPECT_EQ(columnDecimals({{82.45, 2}, {83.1, 1}, {84.3, 1}}, format), 1);
  EXPECT_EQ(columnDecimals({{82.45, 2}, {83.1, -1}, {84.3, -1}}, format), 2)
      << "numbers without an interval say nothing";
  EXPECT_EQ(columnDecimals({{82.45, -1}, {83.1, -1}}, format), 1) << "as the format has it";
  EXPECT_EQ(columnDecimals({{1e-9, -1}, {2.5, -1}}, {false, -1}), -1) << "with an exponent";
  EXPECT_EQ(columnDecimals({}, format), 0);
}

}  // namespace
}  // namespace vitrine::store
