// [select]: a grid on a held-out part, then runs on all of the training set with the best values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/config/selection.h"
#include "tests/core/config/sample_catalog.h"

namespace vitrine {
namespace {

using ::testing::ElementsAre;
using testing_support::codes, testing_support::names, testing_support::planMore;
using testing_support::sentences, testing_support::value;

constexpr const char* kSelect =
    "[select]\ngrid = { 'train.optimizer.learning_rate' = [1e-3, 3e-4] }\n"
    "metric = 'validation/top1'\nholdout = 0.2\nrefit_seeds = [0, 7]\n";

TEST(Select, PlansAGridOnAHeldOutPartAndARunForEverySeed) {
  const Plan plan = planMore(kSelect);
  EXPECT_THAT(names(plan), ElementsAre("grid, learning_rate 0.001", "grid, learning_rate 3e-4",
                                       "refit, seed 0", "refit, seed 7"));
  EXPECT_EQ(plan.total, 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const PlannedRun& run = plan.runs[i];
    const bool isGrid = i < 2;
    EXPECT_EQ(run.part, isGrid ? RunPart::Grid : RunPart::Refit);
    EXPECT_EQ(value(run, "data.holdout"), isGrid ? Json(0.2) : Json());
    EXPECT_EQ(value(run, "data.evaluate_splits"), isGrid ? Json::array({"validation"}) : Json());
    EXPECT_FALSE(run.config.contains("select"));
    EXPECT_EQ(run.selection.is_null(), isGrid);
    EXPECT_EQ(run.selectedFrom, isGrid ? std::vector<int>() : (std::vector<int>{0, 1}));
  }
  EXPECT_EQ(plan.runs[0].seed, 0u);
  EXPECT_EQ(plan.runs[3].seed, 7u);
  EXPECT_EQ(value(plan.runs[1], "train.optimizer.learning_rate"), 3e-4);
  EXPECT_EQ(plan.runs[1].point.at(0).second, 3e-4);
  const Json& selection = plan.runs[3].selection;
  EXPECT_EQ(selection.at("metric"), "validation/top1");
  EXPECT_EQ(selection.at("direction"), "higher");
  EXPECT_TRUE(selection.at("chosen").is_null());
  ASSERT_EQ(selection.at("candidates").size(), 2u);
  EXPECT_EQ(selection.at("candidates")[1].dump(),
            R"({"set":{"train.optimizer.learning_rate":0.0003},"unset":[],)"
            R"("values":{"train.optimizer.learning_rate":0.0003},)"
            R"("runs":["grid, learning_rate 3e-4"]})");
}

TEST(Select, TheChosenValuesAreThoseThatTheRefitWouldHaveHadFromTheFile) {
  // A table that appears, a preset with many values, a list: whatever a grid may vary.
  const Plan plan = planMore(
      "[select]\ngrid = { 'model.preset' = ['vit/tiny', 'vit/soft'], 'model.mask' = [ { kind = "
      "'none' }, { kind = 'soft', epochs = 2 } ] }\n");
  ASSERT_EQ(sentences(plan), "");
  const PlannedRun& refit = plan.runs.back();
  for (std::size_t i = 0; i < 4; ++i) {
    const Json expected = plan.runs[i].config;
    Json actual = withCandidate(refit.config, refit.selection, i);
    EXPECT_EQ(difference(actual.at("model"), expected.at("model")).size(), 0u) << i;
    EXPECT_TRUE(actual.at("data").at("holdout").is_null());
  }
}

TEST(Select, GoesThroughVariantsSweepsAndStages) {
  const Plan plan =
      planMore(std::string(kSelect) +
               "[sweep]\n'model.depth' = [2, 3]\n[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n"
               "set = { 'init.run' = 'variant:a' }\n"
               "[[stage]]\nname = 'one'\n[[stage]]\nname = 'two'\ninit = 'previous'\n");
  ASSERT_EQ(sentences(plan), "");
  ASSERT_EQ(plan.runs.size(), 2u * 2 * 4 * 2);
  EXPECT_EQ(plan.runs[0].name, "a, depth 2, grid, learning_rate 0.001, one");
  EXPECT_EQ(plan.runs[7].name, "a, depth 2, refit, seed 7, two");
  // Every stage of a refit waits for the scores, which are those of the last stages.
  EXPECT_EQ(plan.runs[4].selectedFrom, (std::vector<int>{1, 3}));
  EXPECT_EQ(plan.runs[5].selectedFrom, (std::vector<int>{1, 3}));
  EXPECT_EQ(plan.runs[5].dependsOn, 4);
  EXPECT_EQ(plan.runs[4].selection.at("candidates")[0].at("runs")[0],
            "a, depth 2, grid, learning_rate 0.001, two");
  // A run of the grid starts from one of the grid, a refit from a refit: no image that is held out
  // has been learned from before.
  EXPECT_EQ(plan.runs[16].init->plannedRun, 1);
  EXPECT_EQ(plan.runs[16 + 6].init->plannedRun, 7);
}

TEST(Select, SeedsInTheGridAreAveraged) {
  const Plan plan = planMore(
      "[select]\ngrid = { 'train.seed' = [3, 4], 'model.depth' = [2, 5] }\ndirection = 'lower'\n"
      "metric = 'validation/loss'\n");
  ASSERT_EQ(sentences(plan), "");
  ASSERT_EQ(plan.runs.size(), 5u);
  EXPECT_EQ(plan.runs[0].name, "grid, depth 2, seed 3");
  EXPECT_EQ(plan.runs[4].name, "refit");
  EXPECT_EQ(plan.runs[4].seed, 0u);
  const Json& selection = plan.runs[4].selection;
  ASSERT_EQ(selection.at("candidates").size(), 2u);
  EXPECT_EQ(selection.at("candidates")[1].at("runs").dump(),
            R"(["grid, depth 5, seed 3","grid, depth 5, seed 4"])");
  EXPECT_EQ(selection.at("candidates")[1].at("set").dump(), R"({"model.depth":5})")
      << "the seed is not chosen";
  const auto means = candidateScores(selection, {{"grid, depth 2, seed 3", 1.0},
                                                 {"grid, depth 2, seed 4", 3.0},
                                                 {"grid, depth 5, seed 3", 1.5},
                                                 {"grid, depth 5, seed 4", 1.5}});
  EXPECT_THAT(means, ElementsAre(2.0, 1.5));
  EXPECT_EQ(bestCandidate(selection, means), 1u);
}

TEST(Select, WhatHasNoScoreCannotBeTheBestAndTheFirstOfEqualsIs) {
  const Json selection = planMore(kSelect).runs.back().selection;
  const std::string one = "grid, learning_rate 0.001", two = "grid, learning_rate 3e-4";
  const auto best = [&](const std::map<std::string, double>& scores) {
    return bestCandidate(selection, candidateScores(selection, scores));
  };
  EXPECT_EQ(best({{one, 0.5}, {two, 0.6}}), 1u);
  EXPECT_EQ(best({{one, 0.6}, {two, 0.6}}), 0u);
  EXPECT_EQ(best({{one, std::nan("")}, {two, 0.1}}), 1u);
  EXPECT_EQ(best({{two, 0.1}}), 1u);
  EXPECT_EQ(best({}), std::nullopt);
  EXPECT_EQ(candidateText(selection.at("candidates")[0]), "train.optimizer.learning_rate 0.001");
}

TEST(Select, TheCommandLineTakesAnAxisOrTheSeedsAway) {
  EXPECT_THAT(names(planMore(kSelect, {"train.optimizer.learning_rate=1e-2"})),
              ElementsAre("grid", "refit, seed 0", "refit, seed 7"));
  EXPECT_THAT(names(planMore(kSelect, {"train.seed=5"})),
              ElementsAre("grid, learning_rate 0.001", "grid, learning_rate 3e-4", "refit"));
  EXPECT_EQ(planMore(kSelect, {"train.seed=5"}).runs.back().seed, 5u);
  EXPECT_EQ(value(planMore(kSelect, {"select.holdout=0.3"}).runs[0], "data.holdout"), 0.3);
}

TEST(Select, IsRefusedWithItsPlace) {
  const auto told = [](const std::string& text, const std::vector<std::string>& overrides = {}) {
    return codes(planMore(text, overrides));
  };
  EXPECT_EQ(told("[select]\n"), "select.grid missing");
  EXPECT_EQ(told("[select]\ngrid = 3\n"), "select.grid wrong_type");
  EXPECT_EQ(told("[select]\ngrid = { 'model.depth' = [] }\n"), "select.grid.model.depth empty");
  EXPECT_EQ(told("[select]\ngrid = { 'modle.depth' = [1] }\n"), "modle.depth unknown_key -> model");
  EXPECT_EQ(told(std::string(kSelect) + "metrc = 'x'\n"), "select.metrc unknown_key -> metric");
  EXPECT_EQ(told("[select]\ngrid = { 'model.depth' = [1, 2] }\nmetric = 'test/top1'\n"),
            "select.metric unknown_name");
  EXPECT_EQ(told(std::string(kSelect) + "[sweep]\n'train.seed' = [0, 1]\n"),
            "sweep.train.seed conflict");
  EXPECT_EQ(told(std::string(kSelect) + "[sweep]\n'train.optimizer.learning_rate' = [1]\n"),
            "select.grid.train.optimizer.learning_rate duplicate");
  EXPECT_EQ(told("[select]\ngrid = { 'init.use' = ['ema', 'model'] }\n"),
            "select.grid.init.use misplaced; init missing; init missing");
  EXPECT_EQ(told("[select]\ngrid = { 'data.holdout' = [0.1, 0.2] }\n"),
            "select.grid.data.holdout misplaced; data.holdout conflict; data.holdout conflict");
  EXPECT_EQ(told("[select]\ngrid = { 'model.depth' = [1] }\nholdout = 1.5\n"),
            "select.holdout out_of_range");
  EXPECT_EQ(told("[select]\ngrid = { 'model.depth' = [1] }\nrefit_seeds = []\n"),
            "select.refit_seeds empty");
  EXPECT_EQ(told("[select]\ngrid = { 'model.depth' = [1] }\nrefit_seeds = [1, 1]\n"),
            "select.refit_seeds duplicate");
  EXPECT_EQ(told(kSelect, {"data.holdout=0.5"}), "data.holdout conflict");
  EXPECT_EQ(told("", {"select.holdout=0.5"}), "select.holdout misplaced");
  std::string values, seeds;
  for (int i = 1; i <= 400; ++i) {
    values += std::to_string(i) + ", ";
    seeds += std::to_string(i) + ", ";
  }
  const std::string large = "[select]\ngrid = { 'model.depth' = [" + values + "]";
  EXPECT_EQ(told(large + ", 'model.width' = [" + values + "] }\n"), "sweep too_large");
  EXPECT_EQ(told(large + " }\nrefit_seeds = [" + seeds + "]\n"), "select too_large");
  // A value that only a candidate has is checked as those of every run are.
  EXPECT_EQ(told("[select]\ngrid = { 'model.patch_size' = [7, 5] }\n"),
            "model.patch_size broken_rule");
}

}  // namespace
}  // namespace vitrine
