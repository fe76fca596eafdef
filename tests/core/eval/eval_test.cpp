#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/eval/accuracy.h"
#include "core/eval/calibration.h"
#include "core/model/weights.h"

namespace vitrine::eval {
namespace {

const std::string kGolden = VITRINE_SOURCE_DIR "/tests/golden/analysis/";
// The golden values were computed in float64 and stored as float32: 6e-8 relative, far below 1e-5.
constexpr double kTolerance = 1e-5;

TEST(TopK, AgreesWithTheReferenceOnTwoThousandSamples) {
  const auto io = readTensors(kGolden + "calibration/io.safetensors");
  const at::Tensor& logits = io.at("input/logits");
  const at::Tensor& labels = io.at("input/labels");
  EXPECT_NEAR(static_cast<double>(topKCorrect(logits, labels, 1)) / 2000,
              io.at("output/top1").item<double>(), kTolerance);
  EXPECT_NEAR(static_cast<double>(topKCorrect(logits, labels, 5)) / 2000,
              io.at("output/top5").item<double>(), kTolerance);
}

TEST(TopK, EqualLogitsRankByClassAsArgmaxDoes) {
  const at::Tensor logits = at::zeros({4, 4});
  const at::Tensor labels = at::arange(4, at::kLong);
  for (std::int64_t k = 1; k <= 5; ++k)
    EXPECT_EQ(topKCorrect(logits, labels, k), std::min<std::int64_t>(k, 4));
  EXPECT_EQ(topKCorrect(logits, labels, 1), logits.argmax(1).eq(labels).sum().item<std::int64_t>());
}

TEST(TopK, ANanLogitIsNeverRight) {
  at::Tensor logits = at::tensor({3.0f, 1.0f, 0.0f}).view({1, 3});
  EXPECT_EQ(topKCorrect(logits, at::tensor({0}, at::kLong), 1), 1);
  logits[0][0] = NAN;
  for (std::int64_t k = 1; k <= 3; ++k)
    EXPECT_EQ(topKCorrect(logits, at::tensor({0}, at::kLong), k), 0) << k;
  EXPECT_EQ(topKCorrect(logits, at::tensor({1}, at::kLong), 1), 0);
  EXPECT_EQ(topKCorrect(logits, at::tensor({1}, at::kLong), 2), 1);
}

TEST(TopK, RefusesShapesThatDoNotFit) {
  EXPECT_THROW((void)topKCorrect(at::zeros({2, 3}), at::zeros({3}, at::kLong), 1), ShapeError);
  EXPECT_THROW((void)topKCorrect(at::zeros({6}), at::zeros({6}, at::kLong), 1), ShapeError);
}

TEST(Confusion, CountsLabelsInRowsAndPredictionsInColumns) {
  ClassCounts counts(3);
  const at::Tensor predictions = at::tensor({0, 2, 2, 1}, at::kLong);
  counts.add(at::one_hot(predictions, 3).to(at::kFloat), at::tensor({0, 0, 2, 0}, at::kLong));
  counts.add(at::one_hot(predictions, 3).to(at::kFloat), at::tensor({0, 0, 2, 0}, at::kLong));
  EXPECT_EQ(counts.matrix(), (std::vector<std::int64_t>{2, 2, 2, 0, 0, 0, 0, 0, 2}));
  EXPECT_EQ(counts.samples(), (std::vector<std::int64_t>{6, 0, 2}));
  const std::vector<double> accuracy = counts.accuracy();
  EXPECT_NEAR(accuracy[0], 1.0 / 3, 1e-12);
  EXPECT_TRUE(std::isnan(accuracy[1]));
  EXPECT_EQ(accuracy[2], 1.0);
  EXPECT_THROW(counts.add(at::zeros({1, 4}), at::zeros({1}, at::kLong)), ShapeError);
  EXPECT_THROW(counts.add(at::zeros({1, 3}), at::full({1}, 3, at::kLong)), ShapeError);
}

TEST(Confusion, OfManyClassesIsLeftOutAndTheAccuracyOfEachStays) {
  EXPECT_EQ(ClassCounts(kMostMatrixClasses).matrix().size(), 1'000'000u);
  const std::int64_t classes = 16'000;
  ClassCounts counts(classes);
  EXPECT_TRUE(counts.matrix().empty());
  at::Tensor logits = at::zeros({2, classes});
  logits[0][15'999] = 1;
  logits[1][3] = 1;
  counts.add(logits, at::tensor({15'999, 15'999}, at::kLong));
  EXPECT_EQ(counts.accuracy()[15'999], 0.5);
  EXPECT_EQ(counts.samples()[15'999], 2);
}

TEST(Calibration, BinsErrorAndGapsAreThoseOfTheReference) {
  const auto io = readTensors(kGolden + "calibration/io.safetensors");
  const Confidences samples = confidencesOf(io.at("input/logits"), io.at("input/labels"));
  for (const std::string bins : {"15", "10"}) {
    const auto found = reliabilityBins(samples, std::stoi(bins));
    for (std::size_t k = 0; k < found.size(); ++k) {
      const auto at = static_cast<std::int64_t>(k);
      EXPECT_EQ(found[k].count, io.at("output/bin_count_" + bins)[at].item<std::int64_t>()) << k;
      EXPECT_NEAR(found[k].accuracy, io.at("output/bin_accuracy_" + bins)[at].item<double>(),
                  kTolerance)
          << k;
      EXPECT_NEAR(found[k].confidence, io.at("output/bin_confidence_" + bins)[at].item<double>(),
                  kTolerance)
          << k;
      EXPECT_NEAR(found[k].gapMidpoint(), io.at("output/gap_midpoint_" + bins)[at].item<double>(),
                  kTolerance)
          << k;
    }
    EXPECT_NEAR(calibrationError(found, 2000), io.at("output/ece_" + bins).item<double>(),
                kTolerance);
  }
  const double temperature = io.at("output/temperature").item<double>();
  const Confidences cooled =
      confidencesOf(io.at("input/logits"), io.at("input/labels"), temperature);
  EXPECT_NEAR(calibrationError(reliabilityBins(cooled, 15), 2000),
              io.at("output/ece_15_at_temperature").item<double>(), 1e-3);
}

TEST(Calibration, FiveSamplesByHandGiveAThird) {
  const Confidences samples{{0.95, 0.85, 0.85, 0.65, 0.55}, {1, 1, 0, 1, 0}};
  EXPECT_NEAR(calibrationError(reliabilityBins(samples, 10), 5), 0.33, 1e-12);
  EXPECT_NEAR(calibrationError(reliabilityBins(samples, 15), 5), 0.33, 1e-12);
}

TEST(Calibration, AConfidenceOnAnEdgeBelongsToTheBinBelow) {
  const Confidences samples{{0.2, 0.2, 0.4, 0.4, 0.6, 0.8, 1, 1}, {0, 1, 0, 1, 1, 1, 1, 0}};
  const auto bins = reliabilityBins(samples, 5);
  EXPECT_NEAR(calibrationError(bins, 8), 0.30, 1e-12);  // [low, high) would give 0.25
  EXPECT_EQ(bins[0].count, 2);
  EXPECT_EQ(bins[4].count, 2);
}

TEST(Calibration, ConfidenceThatRoundingLiftsAboveOneFallsInTheLastBin) {
  EXPECT_EQ(reliabilityBins({{std::nextafter(1.0, 2.0)}, {1}}, 2)[1].count, 1);
}

TEST(Calibration, ZeroAndNanConfidencesFallInNoBin) {
  const auto bins = reliabilityBins({{0.0, NAN, 0.5}, {1, 1, 1}}, 2);
  EXPECT_EQ(bins[0].count + bins[1].count, 1);
  EXPECT_NEAR(calibrationError(bins, 3), 0.5 / 3, 1e-12);
}

TEST(Calibration, AnEmptyBinHasNoAccuracyAndShowsItsMiddleAsGap) {
  const auto bins = reliabilityBins({{0.9}, {1}}, 2);
  EXPECT_EQ(bins[0].confidence, 0);
  EXPECT_EQ(bins[0].accuracy, 0);
  EXPECT_DOUBLE_EQ(bins[0].gapMidpoint(), 0.25);
  EXPECT_EQ(calibrationError({}, 0), 0);
}

TEST(Calibration, EqualMassBinsHoldNearlyEqualNumbers) {
  Confidences samples;
  for (int i = 1; i <= 103; ++i) {
    samples.confidence.push_back(0.5 + 0.5 * std::pow(i / 103.0, 3));
    samples.isCorrect.push_back(i % 2 == 0);
  }
  std::int64_t total = 0;
  for (const ReliabilityBin& bin : reliabilityBins(samples, 10, Binning::EqualMass)) {
    EXPECT_GE(bin.count, 10);
    EXPECT_LE(bin.count, 11);
    EXPECT_LE(bin.lower, bin.confidence);
    EXPECT_LE(bin.confidence, bin.upper);
    total += bin.count;
  }
  EXPECT_EQ(total, 103);
}

TEST(Calibration, EqualMassKeepsEqualConfidencesTogether) {
  const auto bins =
      reliabilityBins({{0.3, 0.3, 0.3, 0.3, 0.9}, {1, 1, 0, 0, 1}}, 5, Binning::EqualMass);
  std::vector<std::int64_t> counts;
  for (const auto& bin : bins) counts.push_back(bin.count);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{4, 0, 0, 0, 1}));
}

}  // namespace
}  // namespace vitrine::eval
