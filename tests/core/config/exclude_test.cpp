// Which runs an [[exclude]] leaves out, and what it may not say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/core/config/sample_catalog.h"

namespace vitrine {
namespace {

using testing::ElementsAre;
using testing_support::codes, testing_support::kGoodFile, testing_support::planMore;
using testing_support::planText, testing_support::sampleCatalog, testing_support::sentences;

const char* const kTwoByThree =
    "[sweep]\n\"train.seed\" = [0, 1, 2]\n"
    "[[variant]]\nname = \"plain\"\n"
    "[[variant]]\nname = \"+ wide\"\nset = { \"model.width\" = 128 }\n";

std::vector<std::string> runNames(const Plan& plan) {
  std::vector<std::string> all;
  for (const PlannedRun& run : plan.runs) all.push_back(run.name);
  return all;
}

Plan without(const std::string& excludes, const std::vector<std::string>& overrides = {}) {
  return planMore(kTwoByThree + excludes, overrides);
}

TEST(Exclude, LeavesOutTheRunThatHasAllItNames) {
  const Plan plan = without("[[exclude]]\nvariant = \"+ wide\"\n\"train.seed\" = 1\n");
  EXPECT_EQ(sentences(plan), "");
  EXPECT_THAT(runNames(plan), ElementsAre("plain, seed 0", "plain, seed 1", "plain, seed 2",
                                          "+ wide, seed 0", "+ wide, seed 2"));
  EXPECT_EQ(plan.total, 5u);
}

TEST(Exclude, LeavesOutEveryRunWithAValueWhereItNamesNothingElse) {
  const Plan plan = without("[[exclude]]\n\"train.seed\" = 1\n[[exclude]]\nvariant = \"plain\"\n");
  EXPECT_EQ(sentences(plan), "");
  EXPECT_THAT(runNames(plan), ElementsAre("+ wide, seed 0", "+ wide, seed 2"));
}

TEST(Exclude, SaysWhichRunsAreLeftOutAndWhereTheyWouldStand) {
  const Plan plan = without("[[exclude]]\nvariant = \"plain\"\n\"train.seed\" = 1\n");
  ASSERT_EQ(plan.excluded.size(), 1u);
  EXPECT_EQ(plan.excluded[0].name, "plain, seed 1");
  EXPECT_EQ(plan.excluded[0].variant, "plain");
  EXPECT_EQ(plan.excluded[0].place, 1u);
  ASSERT_EQ(plan.excluded[0].point.size(), 1u);
  EXPECT_EQ(plan.excluded[0].point[0], (std::pair<std::string, Json>("train.seed", 1)));
  EXPECT_EQ(plan.runs[1].point[0].second, Json(2));
}

TEST(Exclude, MayStandBeforeTheSweepAndSpellItsKeysAsDottedTables) {
  const Plan plan = planMore(
      "[[exclude]]\nmodel.depth = 2\ntrain.seed = 1\n[sweep]\nmodel.depth = [2, 4]\n"
      "train.seed = [0, 1]\n");
  EXPECT_EQ(sentences(plan), "");
  EXPECT_THAT(runNames(plan), ElementsAre("depth 2, seed 0", "depth 4, seed 0", "depth 4, seed 1"));
}

TEST(Exclude, TakesSizesListsAndTablesAsTheSweepSpellsThem) {
  const Plan plan = planMore(
      "[sweep]\n\"model.image_size\" = [28, [28, 56]]\n"
      "\"model.mask\" = [{ kind = \"none\" }, { kind = \"causal\" }]\n"
      "[[exclude]]\n\"model.image_size\" = [28, 56]\n\"model.mask\" = { kind = \"causal\" }\n");
  EXPECT_EQ(sentences(plan), "");
  EXPECT_EQ(plan.runs.size(), 3u);
}

TEST(Exclude, LeavesOutAWholeChainOfStages) {
  const std::string stages =
      "[[stage]]\nname = \"a\"\n[[stage]]\nname = \"b\"\ninit = \"previous\"\n";
  const Plan plan = without("[[exclude]]\nvariant = \"plain\"\n\"train.seed\" = 0\n" + stages);
  EXPECT_EQ(sentences(plan), "");
  ASSERT_EQ(plan.runs.size(), 10u);
  EXPECT_EQ(plan.runs[0].name, "plain, seed 1, a");
  EXPECT_EQ(plan.runs[1].dependsOn, 0);
  EXPECT_EQ(plan.runs[1].init->plannedRun, 0);
  EXPECT_EQ(plan.runs[9].init->plannedRun, 8);
}

TEST(Exclude, KeepsWhatStartsFromAnEarlierVariantAtItsPlace) {
  const std::string text =
      "[sweep]\n\"train.seed\" = [0, 1, 2]\n[[variant]]\nname = \"plain\"\n"
      "[[variant]]\nname = \"after\"\nset = { \"init.run\" = \"variant:plain\" }\n";
  const Plan plan = planMore(text + "[[exclude]]\n\"train.seed\" = 0\n");
  EXPECT_EQ(sentences(plan), "");
  ASSERT_EQ(plan.runs.size(), 4u);
  EXPECT_EQ(plan.runs[2].init->plannedRun, 0);
  EXPECT_EQ(plan.runs[3].dependsOn, 1);
  EXPECT_EQ(codes(planMore(text + "[[exclude]]\nvariant = \"plain\"\n\"train.seed\" = 1\n")),
            "init.run conflict");
}

TEST(Exclude, HoldsNoLongerWhereTheCommandLineSetsItsKey) {
  const Plan plan = without("[[exclude]]\n\"train.seed\" = 1\n[[exclude]]\nvariant = \"plain\"\n",
                            {"train.seed=1"});
  EXPECT_EQ(sentences(plan), "");
  EXPECT_THAT(runNames(plan), ElementsAre("+ wide"));
}

TEST(Exclude, ThatLeavesOutNothingSaysWhy) {
  EXPECT_EQ(
      sentences(without("[[exclude]]\n\"train.seed\" = 7\n")),
      "sample.toml:17:16: exclude.train.seed: 7 is none of the swept values, so nothing is "
      "excluded; there are 0, 1, 2\n");
  EXPECT_EQ(codes(without("[[exclude]]\nvariant = \"+ wid\"\n")),
            "exclude.variant unknown_name -> + wide");
  EXPECT_EQ(codes(without("[[exclude]]\n\"model.depth\" = 4\n")),
            "exclude.model.depth unknown_key");
  EXPECT_EQ(codes(planMore("[[exclude]]\nvariant = \"plain\"\n")), "exclude.variant unknown_name");
  EXPECT_EQ(codes(planMore("[[exclude]]\n\"train.seed\" = 0\n")), "exclude.train.seed unknown_key");
}

TEST(Exclude, ThatLeavesOutNoMoreThanAnEarlierOneNamesItsLine) {
  EXPECT_EQ(codes(without("[[exclude]]\n\"train.seed\" = 1\n"
                          "[[exclude]]\nvariant = \"plain\"\n\"train.seed\" = 1\n")),
            "exclude duplicate");
}

TEST(Exclude, OfEverythingIsRefused) {
  EXPECT_EQ(codes(without("[[exclude]]\nvariant = \"plain\"\n[[exclude]]\nvariant = \"+ wide\"\n")),
            "exclude no_runs");
}

TEST(Exclude, InAnyOtherShapeIsRefusedWithASentence) {
  EXPECT_EQ(codes(without("[exclude]\nvariant = \"plain\"\n")), "exclude wrong_type");
  EXPECT_EQ(codes(planText("exclude = \"plain\"\n" + std::string(kGoodFile) + kTwoByThree)),
            "exclude wrong_type");
  EXPECT_EQ(codes(planText("exclude = [1, \"x\"]\n" + std::string(kGoodFile) + kTwoByThree)),
            "exclude wrong_type; exclude wrong_type");
  EXPECT_EQ(codes(without("[[exclude]]\n")), "exclude empty");
  EXPECT_EQ(codes(without("[[exclude]]\nvariant = [\"plain\"]\n")), "exclude.variant wrong_type");
  EXPECT_EQ(codes(without("[[exclude]]\n\"train.seed\" = [1, 2]\n")),
            "exclude.train.seed unknown_name");
  EXPECT_EQ(codes(without("[[exclude]]\n\"train.seed\" = 1\ntrain.seed = 2\n")),
            "exclude.train.seed duplicate");
  EXPECT_EQ(codes(without("[[exclude]]\n\"train.seed\" = 2026-01-01\n")),
            "exclude.train.seed unknown_name");
}

TEST(Exclude, ByTheThousandIsRefusedBeforeItIsCompared) {
  std::string many;
  for (int i = 0; i < 1001; ++i) many += "[[exclude]]\n\"train.seed\" = 1\n";
  EXPECT_EQ(codes(without(many)), "exclude too_large");
}

TEST(Exclude, AreCountedOverMoreRunsThanAreLookedAt) {
  std::string depths, seeds, excludes;
  for (int i = 0; i < 150; ++i) depths += (i > 0 ? ", " : "") + std::to_string(i + 1);
  for (int i = 0; i < 300; ++i) seeds += (i > 0 ? ", " : "") + std::to_string(i);
  for (int i = 1; i < 300; ++i)
    excludes += "[[exclude]]\n\"train.seed\" = " + std::to_string(i) + "\n";
  const Plan plan = planExperiment(std::string(kGoodFile) + "[sweep]\n\"model.depth\" = [" +
                                       depths + "]\n\"train.seed\" = [" + seeds + "]\n" + excludes,
                                   "sample.toml", sampleCatalog(), {}, {.mostRuns = 3});
  EXPECT_EQ(sentences(plan), "");
  EXPECT_EQ(plan.runs.size(), 3u);
  EXPECT_EQ(plan.total, 150u);
}

TEST(PlanLimits, LooksAtTheFirstRunsAndCountsAll) {
  const Plan plan = planExperiment(std::string(kGoodFile) + kTwoByThree, "sample.toml",
                                   sampleCatalog(), {}, {.mostRuns = 2});
  EXPECT_EQ(sentences(plan), "");
  EXPECT_THAT(runNames(plan), ElementsAre("plain, seed 0", "plain, seed 1"));
  EXPECT_EQ(plan.total, 6u);
}

TEST(PlanLimits, GivesUpWhatIsOld) {
  const std::atomic<bool> isStale = true;
  PlanLimits limits{.isStale = &isStale};
  EXPECT_TRUE(planExperiment(std::string(kGoodFile) + kTwoByThree, "sample.toml", sampleCatalog(),
                             {}, limits)
                  .runs.empty());
}

}  // namespace
}  // namespace vitrine
