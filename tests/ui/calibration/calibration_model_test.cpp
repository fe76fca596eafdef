#include "ui/calibration/calibration_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "tests/ui/calibration/answers.h"
#include "ui/calibration/calibration_data.h"

namespace vitrine::ui {
namespace {

using ::testing::ElementsAre;

Predictions read(const Artifact& artifact) { return readPredictions(artifact.meta, artifact.data); }
Predictions four() { return read(samples::predictions(samples::fourAnswers())); }
Binning width(int bins, int target = Binning::kTopClass) {
  return {Binning::Edges::EqualWidth, bins, target};
}

/// The same answers as the form `top` has them, with two classes.
Artifact asTop(const std::vector<samples::Answer>& answers) {
  std::vector<double> inverse;
  for (int quarter = -10; quarter <= 14; ++quarter) inverse.push_back(std::exp2(quarter / 4.0));
  const std::size_t classes = answers.front().logits.size();
  std::vector<float> rows;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::vector<double>& logits = answers[i].logits;
    std::vector<std::size_t> order(classes);
    for (std::size_t k = 0; k < classes; ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
    rows.push_back(static_cast<float>(i));
    rows.push_back(static_cast<float>(answers[i].label));
    rows.push_back(static_cast<float>(logits[static_cast<std::size_t>(answers[i].label)]));
    for (const double one : inverse) {
      double sum = 0;
      for (const double logit : logits) sum += std::exp(one * (logit - logits[order[0]]));
      rows.push_back(static_cast<float>(std::log(sum)));
    }
    for (std::size_t k = 0; k < 2; ++k) rows.push_back(static_cast<float>(order[k]));
    for (std::size_t k = 0; k < 2; ++k) rows.push_back(static_cast<float>(logits[order[k]]));
  }
  Artifact artifact;
  setFloat32(artifact, rows, {std::ssize(answers), 3 + std::ssize(inverse) + 4},
             {"sample", "column"});
  artifact.meta["form"] = predictions_form::kTop;
  artifact.meta["classes"] = classes;
  artifact.meta["top"] = 2;
  artifact.meta["inverse_temperatures"] = inverse;
  return artifact;
}

TEST(CalibrationModel, ScoresFollowTheirDefinitionsByHand) {
  const CalibrationResult result = calibrationOf(four(), 1, width(10));
  const CalibrationScores& scores = result.scores;
  // (0.7, 0.8] holds two images at 0.75, one right; (0.9, 1] two at 0.95, both right.
  EXPECT_NEAR(scores.ece, 0.5 * 0.25 + 0.5 * 0.05, 1e-6);
  EXPECT_NEAR(scores.mce, 0.25, 1e-6);
  EXPECT_NEAR(scores.classwise, 0.15, 1e-6);
  EXPECT_NEAR(scores.accuracy, 0.75, 1e-12);
  EXPECT_NEAR(scores.brier, (0.125 + 1.125 + 2 * 0.005) / 4, 1e-6);
  EXPECT_NEAR(scores.nll, -(std::log(0.75) + std::log(0.25) + 2 * std::log(0.95)) / 4, 1e-6);
  EXPECT_EQ(scores.samples, 4);
  EXPECT_EQ(result.bins[7].count, 2);
  EXPECT_NEAR(result.bins[7].accuracy, 0.5, 1e-12);
  EXPECT_THAT(result.binOf, ElementsAre(7, 7, 9, 9));
}

TEST(CalibrationModel, BinsAreClosedOnTheRight) {
  Confidence confidence{.values = {0.5, 0.5000001, 1, 0, std::nan("")}, .isHit = {1, 1, 1, 1, 1}};
  std::vector<int> binOf;
  const auto bins = binsOf(confidence, width(2), &binOf);
  EXPECT_EQ(bins[0].count, 1);
  EXPECT_EQ(bins[1].count, 2);
  EXPECT_THAT(binOf, ElementsAre(0, 1, 1, -1, -1));
}

TEST(CalibrationModel, EqualMassBinsHoldAsManyAndKeepEqualConfidencesTogether) {
  Confidence confidence{.values = {0.9, 0.2, 0.4, 0.6, 0.6, 0.6}, .isHit = {1, 0, 0, 1, 1, 0}};
  const auto bins = binsOf(confidence, {Binning::Edges::EqualMass, 2, -1});
  EXPECT_EQ(bins[0].upper, 0.6);
  EXPECT_EQ(bins[0].count, 5);
  EXPECT_EQ(bins[1].count, 1);
  const auto three = binsOf(confidence, {Binning::Edges::EqualMass, 3, -1});
  EXPECT_THAT((std::vector<std::int64_t>{three[0].count, three[1].count, three[2].count}),
              ElementsAre(2, 3, 1));
}

TEST(CalibrationModel, TheProbabilityOfOneClassIsBinnedWithItsOwnFrequency) {
  const CalibrationResult result = calibrationOf(four(), 1, width(10, 0));
  EXPECT_EQ(result.bins[0].count, 2);  // 0.05 twice, never class 0
  EXPECT_NEAR(result.bins[0].accuracy, 0, 1e-12);
  EXPECT_EQ(result.bins[7].count, 2);
  EXPECT_NEAR(result.scores.ece, 0.15, 1e-6);
  EXPECT_THAT(result.confidence.predicted, ElementsAre(0, 0, 1, 1));
}

TEST(CalibrationModel, ATemperatureDividesTheLogitsAndChangesNoAnswer) {
  const CalibrationResult result = calibrationOf(four(), 2, width(10));
  EXPECT_NEAR(result.confidence.values[0], std::sqrt(3) / (1 + std::sqrt(3)), 1e-6);
  EXPECT_NEAR(result.confidence.values[2], std::sqrt(19) / (1 + std::sqrt(19)), 1e-6);
  EXPECT_NEAR(result.scores.accuracy, 0.75, 1e-12);
}

TEST(CalibrationModel, TheFittedTemperatureIsTheAnalyticOne) {
  // 1 / (1 + exp(-ln 9 / T)) = 0.75 at T = 2.
  const FittedTemperature fitted =
      fitTemperature(read(samples::predictions(samples::overconfident())));
  EXPECT_NEAR(fitted.temperature, 2, 1e-3);
  EXPECT_NEAR(fitted.nll, -(0.75 * std::log(0.75) + 0.25 * std::log(0.25)), 1e-6);
  EXPECT_FALSE(fitted.isAtEdge);
}

TEST(CalibrationModel, AnOptimumBeyondTheRangeIsSaidToBeThere) {
  const std::vector<samples::Answer> right(20, {{1, 0}, 0});
  const FittedTemperature fitted = fitTemperature(read(samples::predictions(right)));
  EXPECT_TRUE(fitted.isAtEdge);
  EXPECT_NEAR(fitted.temperature, kLeastTemperature, 1e-3);
}

TEST(CalibrationModel, TopClassesGiveTheSameNumbersAsAllLogits) {
  const auto answers = samples::mixedAnswers();
  const Predictions all = read(samples::predictions(answers)), top = read(asTop(answers));
  EXPECT_FALSE(canBinClasses(top));
  for (const double temperature : {0.25, 0.5, 1.0, 1.3, 2.0, 3.7}) {
    const CalibrationScores a = calibrationOf(all, temperature, width(15)).scores;
    const CalibrationScores b = calibrationOf(top, temperature, width(15)).scores;
    EXPECT_NEAR(a.nll, b.nll, 1e-3) << temperature;
    EXPECT_NEAR(a.brier, b.brier, 1e-3) << temperature;
    EXPECT_EQ(a.accuracy, b.accuracy);
    EXPECT_TRUE(std::isnan(b.classwise));
  }
  // On the grid they are equal but for float32.
  EXPECT_NEAR(calibrationOf(all, 2, width(15)).scores.nll,
              calibrationOf(top, 2, width(15)).scores.nll, 1e-6);
  EXPECT_NEAR(fitTemperature(all).temperature, fitTemperature(top).temperature, 5e-3);
}

TEST(CalibrationModel, ErrorsComeFirstAndTheMostConfidentOfThem) {
  const CalibrationResult result =
      calibrationOf(read(samples::predictions(samples::mixedAnswers())), 1, width(2));
  const auto listed = samplesIn(result, [&](std::size_t i) { return result.binOf[i] == 1; });
  ASSERT_FALSE(listed.empty());
  bool wasRight = false;
  double before = 2;
  for (const std::size_t i : listed) {
    const bool isRight = result.confidence.isHit[i] != 0;
    EXPECT_FALSE(wasRight && !isRight);
    if (isRight != wasRight) before = 2;
    EXPECT_LE(result.confidence.values[i], before);
    before = result.confidence.values[i];
    wasRight = isRight;
  }
}

TEST(CalibrationModel, SharesOfASampleEndWithItsOwnClassWhereItIsNotAmongTheMostProbable) {
  const Predictions predictions = read(samples::predictions({{{4, 3, 2, 1, 0}, 4}}));
  const auto shares = sharesOf(predictions, 0, 1, 3);
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_EQ(shares[0].label, 0);
  EXPECT_EQ(shares[1].label, 1);
  EXPECT_EQ(shares[2].label, 4);
  EXPECT_GT(shares[0].probability, shares[1].probability);
}

TEST(CalibrationModel, ConfusionCountsLabelsByPredictions) {
  const Predictions predictions = four();
  const Confidence confidence = confidenceAt(predictions, 1);
  EXPECT_THAT(confusionOf(predictions, confidence, {0, 1}), ElementsAre(1, 0, 1, 2));
  EXPECT_THAT(confusionOf(predictions, confidence, {1}), ElementsAre(2));
}

TEST(CalibrationModel, TheMostConfusedClassesHaveTheMostErrors) {
  const Predictions predictions = read(samples::predictions({{{4, 0, 0, 0}, 0},
                                                             {{0, 0, 4, 0}, 3},
                                                             {{0, 0, 4, 0}, 3},
                                                             {{0, 4, 0, 0}, 3}}));
  const Confidence confidence = confidenceAt(predictions, 1);
  EXPECT_THAT(mostConfused(predictions, confidence, 2), ElementsAre(2, 3));
  EXPECT_THAT(mostConfused(predictions, confidence, 4), ElementsAre(0, 1, 2, 3));
}

TEST(CalibrationModel, EceOverTemperaturesIsThatOfEachTemperature) {
  const Predictions predictions = read(samples::predictions(samples::overconfident()));
  const std::atomic<bool> isStale{false};
  const auto errors = eceOver(predictions, width(10), {1, 2}, isStale);
  EXPECT_NEAR(errors[0], 0.15, 1e-6);
  EXPECT_NEAR(errors[1], 0, 1e-6);
  const auto grid = temperatureGrid();
  EXPECT_NEAR(grid.front(), kLeastTemperature, 1e-12);
  EXPECT_NEAR(grid.back(), kMostTemperature, 1e-12);
  EXPECT_NE(std::find(grid.begin(), grid.end(), 1.0), grid.end());
}

TEST(CalibrationModel, RefusesWhatDoesNotFitItsDescription) {
  const Artifact good = samples::predictions(samples::fourAnswers());
  const auto refused = [](const Artifact& artifact) {
    try {
      (void)read(artifact);
      return false;
    } catch (const FileError&) {
      return true;
    }
  };
  EXPECT_FALSE(refused(good));
  for (const auto& [key, value] : std::vector<std::pair<std::string, Json>>{{"form", "words"},
                                                                            {"form", nullptr},
                                                                            {"form", "top"},
                                                                            {"classes", 3},
                                                                            {"classes", -1},
                                                                            {"classes", "two"},
                                                                            {"shape", {2, 8}},
                                                                            {"shape", {16}}}) {
    Artifact bad = good;
    bad.meta[key] = value;
    EXPECT_TRUE(refused(bad)) << key << " " << value;
  }
  EXPECT_TRUE(refused(samples::predictions({{{1, 0}, 2}})));
  EXPECT_TRUE(refused(samples::predictions({{{1, 0}, -1}})));
}

TEST(CalibrationData, TakesTheNewestAnswersOfASplitUpToAStep) {
  std::vector<store::ArtifactRow> rows;
  const auto add = [&](std::int64_t id, std::int64_t step, const Json& meta) {
    rows.push_back({.id = id, .step = step, .kind = artifact_kind::kPredictions, .meta = meta});
  };
  add(1, 300, {{"split", "test"}});
  add(2, 100, {{"split", "test"}});
  add(3, 200, {{"split", "validation"}});
  add(4, 300, {{"split", "test"}, {"overrides", {"data.test_samples=3"}}});
  add(5, 300, {{"split", "test"}, {"weights", "ema"}});
  const auto stored = storedAnswers(rows);
  EXPECT_EQ(stored.size(), 4u);
  EXPECT_EQ(answersAt(stored, {"test", "model"}, -1)->artifact, 1);
  EXPECT_EQ(answersAt(stored, {"test", "model"}, 250)->artifact, 2);
  EXPECT_EQ(answersAt(stored, {"test", "model"}, 50), nullptr);
  EXPECT_EQ(answersAt(stored, {"test", "ema"}, -1)->artifact, 5);
  EXPECT_EQ(textOf(AnswersOf{"test", "ema"}), "test, averaged weights");
}

TEST(CalibrationData, AFilmHasTheFirstAndTheLastStep) {
  std::vector<std::int64_t> steps;
  for (int i = 0; i < 31; ++i) steps.push_back(i * 10);
  const auto chosen = filmSteps(steps, 10);
  EXPECT_EQ(chosen.size(), 10u);
  EXPECT_EQ(chosen.front(), 0);
  EXPECT_EQ(chosen.back(), 300);
  EXPECT_THAT(filmSteps({1, 2, 3}, 10), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace vitrine::ui
