// [train] has the keys of the optimizer and the schedule that a run chooses, and of its groups of
// parameters.
#include "core/config/train_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/config/sample_catalog.h"

namespace vitrine {
namespace {

using testing::ElementsAre;
using testing_support::codes, testing_support::planMore, testing_support::sampleCatalog;
using testing_support::sentences;

Json trainOf(const std::string& more, const std::vector<std::string>& overrides = {}) {
  const Plan plan = planMore(more, overrides);
  EXPECT_EQ(sentences(plan), "");
  return plan.runs.empty() ? Json() : plan.runs[0].config["train"];
}

Problem only(const Plan& plan) {
  EXPECT_EQ(plan.problems.size(), 1u) << sentences(plan);
  return plan.problems.empty() ? Problem() : plan.problems[0];
}

std::vector<std::string> keysOf(const Json& table) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : table.items()) keys.push_back(key);
  return keys;
}

TEST(ChosenOptimizer, HasItsOwnKeysBesideThoseOfEveryOne) {
  EXPECT_THAT(keysOf(trainOf("")["optimizer"]),
              ElementsAre("name", "learning_rate", "weight_decay", "beta1", "beta2", "eps"));
  const Json sgd = trainOf("[train]\noptimizer = { name = 'sgd', momentum = 0.5 }\n")["optimizer"];
  EXPECT_THAT(keysOf(sgd),
              ElementsAre("name", "learning_rate", "weight_decay", "momentum", "nesterov"));
  EXPECT_EQ(sgd["momentum"], 0.5);
  EXPECT_EQ(sgd["learning_rate"], 1e-3);
}

TEST(ChosenOptimizer, IsFollowedThroughVariantsSweepsAndTheCommandLine) {
  const Plan plan = planMore(
      "[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n"
      "set = { 'train.optimizer' = { name = 'lars', trust_coefficient = 0.01 } }\n"
      "[sweep]\n'train.schedule.name' = ['linear', 'poly']\n");
  ASSERT_EQ(sentences(plan), "");
  ASSERT_EQ(plan.runs.size(), 4u);
  EXPECT_TRUE(plan.runs[0].config["train"]["optimizer"].contains("beta1"));
  EXPECT_EQ(plan.runs[3].config["train"]["optimizer"]["trust_coefficient"], 0.01);
  EXPECT_FALSE(plan.runs[0].config["train"]["schedule"].contains("power"));
  EXPECT_EQ(plan.runs[1].config["train"]["schedule"]["power"], 0.9);
  EXPECT_EQ(trainOf("", {"train.optimizer.name=lamb"})["optimizer"]["trust_clip"], false);
}

TEST(ChosenOptimizer, RefusesTheKeysOfAnotherOneAndNamesItsOwn) {
  const Problem problem = only(planMore("[train]\noptimizer = { name = 'sgd', beta1 = 0.8 }\n"));
  EXPECT_EQ(problem.key, "train.optimizer.beta1");
  EXPECT_EQ(problem.message,
            "is a key of optimizer adamw, lamb; 'sgd' has name, learning_rate, weight_decay, "
            "momentum, nesterov");
  const Problem misspelt =
      only(planMore("[train]\noptimizer = { name = 'sgd', momentun = 0.8 }\n"));
  EXPECT_EQ(misspelt.nearest, "momentum");
  EXPECT_EQ(misspelt.message, "there is no such key");
}

TEST(ChosenOptimizer, ThatDoesNotExistIsTheOnlyProblem) {
  const Problem problem =
      only(planMore("[train]\noptimizer = { name = 'lams', trust_clip = true, momentum = 0.5 }\n"));
  EXPECT_EQ(problem.message, "'lams' is none of adamw, sgd, lamb, lars");
  EXPECT_EQ(problem.nearest, "lamb");
  EXPECT_EQ(only(planMore("[train]\nschedule = { name = 'cosin', gamma = 0.5 }\n")).nearest,
            "cosine");
}

TEST(ChosenSchedule, RefusesTheKeysOfAnotherOne) {
  const Problem problem =
      only(planMore("[train]\nschedule = { name = 'constant', milestones = [3] }\n"));
  EXPECT_EQ(problem.key, "train.schedule.milestones");
  EXPECT_EQ(problem.code, ProblemCode::UnknownKey);
}

TEST(ChosenOptimizer, OfAPluginBringsKeysRulesAndDefaults) {
  Catalog catalog = sampleCatalog();
  ItemCard own{.kind = ItemKind::Optimizer, .id = "own"};
  own.schema.fields = {realField("learning_rate", 0.5, "its own default").runOnly(),
                       integerField("period", 4, "steps").runOnly(),
                       integerField("rest", 2, "steps").runOnly()};
  own.schema.rules = {{Rule::Kind::AtMost, {"rest", "period"}, "it rests within a period"}};
  catalog.items.push_back(own);
  const std::string file =
      std::string(testing_support::kGoodFile) + "[train]\noptimizer = { name = 'own' }\n";
  const Plan plan = planExperiment(file, "own.toml", catalog);
  ASSERT_EQ(sentences(plan), "");
  const Json& values = plan.runs[0].config["train"]["optimizer"];
  EXPECT_THAT(keysOf(values),
              ElementsAre("name", "learning_rate", "weight_decay", "period", "rest"));
  EXPECT_EQ(values["learning_rate"], 0.5);
  const Problem broken =
      only(planExperiment(file, "own.toml", catalog, {{"train.optimizer.rest", "9"}}));
  EXPECT_EQ(broken.key, "train.optimizer.rest");
  EXPECT_EQ(broken.code, ProblemCode::BrokenRule);
}

TEST(TrainSchema, WithoutAChoiceHasTheKeysOfAll) {
  const Schema all = trainSchemaWith(sampleCatalog(), "", "");
  for (const char* key : {"optimizer.beta1", "optimizer.momentum", "optimizer.trust_coefficient",
                          "schedule.minimum", "schedule.milestones"}) {
    EXPECT_NE(all.find(key), nullptr) << key;
  }
  EXPECT_EQ(all.find("optimizer.name")->choices,
            (std::vector<std::string>{"adamw", "sgd", "lamb", "lars"}));
}

TEST(StoredConfiguration, OfAnEarlierVersionLosesTheKeysOfOtherOptimizersAndIsLegalAgain) {
  const Plan plan = planMore("[train]\noptimizer = { name = 'sgd', momentum = 0.5 }\n");
  ASSERT_EQ(sentences(plan), "");
  const Json& now = plan.runs[0].config;
  Json stored = now;  // as every run was stored before
  for (const char* key : {"beta1", "beta2", "eps", "trust_coefficient"})
    stored["train"]["optimizer"][key] = 0.5;
  stored["train"]["schedule"]["milestones"] = nullptr;
  stored["train"]["schedule"]["power"] = 0.9;
  EXPECT_NE(sentences(testing_support::planText(toToml(stored))), "");
  const Json own = withOwnTrainKeys(stored);
  EXPECT_EQ(own, now);
  EXPECT_EQ(sentences(testing_support::planText(toToml(own))), "");
  EXPECT_EQ(withOwnTrainKeys(own), own);
  const Json foreign{{"train", {{"optimizer", {{"name", "of_a_plugin"}, {"beta1", 1}}}}}};
  EXPECT_EQ(withOwnTrainKeys(foreign), foreign);
}

constexpr const char* kHead = "[train.groups.head]\nmatch = ['head.*']\nlearning_rate_scale = 10\n";

TEST(ParameterGroups, AreNamedTablesWithTheirDefaults) {
  const Json train = trainOf(std::string(kHead) + "optimizer = { beta2 = 0.95 }\n");
  const Json& head = train["groups"]["head"];
  EXPECT_EQ(head["match"], Json{"head.*"});
  EXPECT_EQ(head["learning_rate_scale"], 10.0);
  EXPECT_EQ(head["weight_decay_scale"], 1.0);
  EXPECT_EQ(head["freeze"], false);
  EXPECT_EQ(head["optimizer"], (Json{{"beta2", 0.95}})) << "only what is said";
  EXPECT_FALSE(trainOf("").contains("groups"));
}

TEST(ParameterGroups, CanBeSweptAndSetFromTheCommandLine) {
  const Plan plan =
      planMore(std::string(kHead) + "[sweep]\n'train.groups.head.learning_rate_scale' = [1, 5]\n",
               {"train.groups.rest.match=['fc*']", "train.groups.rest.freeze=true"});
  ASSERT_EQ(sentences(plan), "");
  ASSERT_EQ(plan.runs.size(), 2u);
  EXPECT_EQ(plan.runs[1].config["train"]["groups"]["head"]["learning_rate_scale"], 5.0);
  EXPECT_EQ(plan.runs[1].config["train"]["groups"]["rest"]["freeze"], true);
}

TEST(ParameterGroups, HaveAnOriginForEveryValueAndSurviveTheWayThroughToml) {
  const Plan plan = planMore(std::string(kHead) + "optimizer = { beta2 = 0.95 }\n");
  ASSERT_EQ(sentences(plan), "");
  std::vector<std::string> leaves, origins;
  for (const auto& [key, leaf] : flatten(plan.runs[0].config)) leaves.push_back(key);
  for (const auto& [key, from] : plan.runs[0].origins) origins.push_back(key);
  EXPECT_EQ(leaves, origins);
  const Plan again = testing_support::planText(toToml(plan.runs[0].config));
  ASSERT_EQ(sentences(again), "");
  EXPECT_EQ(again.runs[0].config, plan.runs[0].config);
}

TEST(ParameterGroups, SayWhatIsWrongWithThem) {
  EXPECT_EQ(codes(planMore("[train.groups.head]\nlearning_rate_scale = 2\n")),
            "train.groups.head.match missing");
  const Problem key = only(planMore(std::string(kHead) + "weight_decay_scal = 0\n"));
  EXPECT_EQ(key.key, "train.groups.head.weight_decay_scal");
  EXPECT_EQ(key.nearest, "weight_decay_scale");
  EXPECT_EQ(only(planMore(std::string(kHead) + "optimizer = { beta3 = 1 }\n")).nearest, "beta1");
  EXPECT_EQ(codes(planMore(std::string(kHead) + "optimizer = { beta2 = 1.0 }\n")),
            "train.groups.head.optimizer.beta2 out_of_range");
  EXPECT_EQ(codes(planMore("[train]\ngroups = ['head.*']\n")), "train.groups wrong_type");
  EXPECT_EQ(codes(planMore("[train.groups]\nhead = 3\n")), "train.groups.head wrong_type");
}

TEST(Training, OfAveragedWeightsAloneNeedsAnAverage) {
  const Problem problem = only(planMore("[train]\nevaluate.weights = 'ema'\n"));
  EXPECT_EQ(problem.key, "train.ema.decay");
  EXPECT_EQ(trainOf("[train]\nevaluate.weights = 'ema'\nema.decay = 0.9\n")["evaluate"]["weights"],
            "ema");
}

TEST(Training, HasALayerDecayOfAtMostOne) {
  EXPECT_TRUE(trainOf("")["layer_decay"].is_null());
  EXPECT_EQ(trainOf("[train]\nlayer_decay = 0.75\n")["layer_decay"], 0.75);
  EXPECT_EQ(only(planMore("[train]\nlayer_decay = 1.5\n")).message,
            "1.5 is out of range; use more than 0 and 1 or less");
}

}  // namespace
}  // namespace vitrine
