// Which runs an [[exclude]] leaves out, and what it may not say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/core/config/sample_catalog.h"

namespace vitrine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::kGoodFile;
using testing_support::planMore;
using testing_support::planText;
using testing_support::sampleCatalog;
using testing_support::sentences;

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
  EXPECT_THAT(
      sentences(planMore(text + "[[exclude]]\nvariant = \"plain\"\n\"train.seed\" = 1\n")),
      HasSubstr("starts from the variant 'plain', which an [[exclude]] leaves out for 'after, seed "
                "1'; leave this run out too"));
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
      "sample.toml:17:16: exclude.train.seed: 7 is none of the swept values, so nothing is left "
      "out; there are 0, 1, 2\n");
  EXPECT_THAT(
      sentences(without("[[exclude]]\nvariant = \"+ wid\"\n")),
      HasSubstr("there is no variant '+ wid', so nothing is left out; there are plain, + wide "
                "(did you mean '+ wide'?)"));
  EXPECT_THAT(sentences(without("[[exclude]]\n\"model.depth\" = 4\n")),
              HasSubstr("is not swept, so no run is told from another by it; there are variant, "
                        "train.seed"));
  EXPECT_THAT(sentences(planMore("[[exclude]]\nvariant = \"plain\"\n")),
              HasSubstr("there is no variant 'plain', so nothing is left out"));
  EXPECT_THAT(sentences(planMore("[[exclude]]\n\"train.seed\" = 0\n")),
              HasSubstr("the file has neither variants nor a [sweep]"));
}

TEST(Exclude, ThatLeavesOutNoMoreThanAnEarlierOneNamesItsLine) {
  EXPECT_THAT(sentences(without("[[exclude]]\n\"train.seed\" = 1\n"
                                "[[exclude]]\nvariant = \"plain\"\n\"train.seed\" = 1\n")),
              HasSubstr("leaves out nothing more than the [[exclude]] of line 16"));
}

TEST(Exclude, OfEverythingIsRefused) {
  EXPECT_THAT(
      sentences(without("[[exclude]]\nvariant = \"plain\"\n[[exclude]]\nvariant = \"+ wide\"\n")),
      HasSubstr("every run of the file is left out"));
}

TEST(Exclude, InAnyOtherShapeIsRefusedWithASentence) {
  EXPECT_THAT(sentences(without("[exclude]\nvariant = \"plain\"\n")), HasSubstr("[[exclude]]"));
  EXPECT_THAT(sentences(planText("exclude = \"plain\"\n" + std::string(kGoodFile) + kTwoByThree)),
              HasSubstr("[[exclude]]"));
  EXPECT_THAT(sentences(planText("exclude = [1, \"x\"]\n" + std::string(kGoodFile) + kTwoByThree)),
              HasSubstr("must be a table of what the run has"));
  EXPECT_THAT(sentences(without("[[exclude]]\n")), HasSubstr("names nothing"));
  EXPECT_THAT(sentences(without("[[exclude]]\nvariant = [\"plain\"]\n")),
              HasSubstr("must be the name of a variant"));
  EXPECT_THAT(sentences(without("[[exclude]]\n\"train.seed\" = [1, 2]\n")),
              HasSubstr("[1,2] is none of the swept values"));
  EXPECT_THAT(sentences(without("[[exclude]]\n\"train.seed\" = 1\ntrain.seed = 2\n")),
              HasSubstr("is said twice"));
  EXPECT_THAT(sentences(without("[[exclude]]\n\"train.seed\" = 2026-01-01\n")),
              HasSubstr("none of the swept values"));
}

TEST(Exclude, ByTheThousandIsRefusedBeforeItIsCompared) {
  std::string many;
  for (int i = 0; i < 1001; ++i) many += "[[exclude]]\n\"train.seed\" = 1\n";
  EXPECT_THAT(sentences(without(many)), HasSubstr("is written 1,001 times, more than 1,000"));
}

TEST(Exclude, AreCountedOverMoreRunsThanAreLookedAt) {
  std::string depths, seeds, excludes;
  for (int i = 0; i < 150; ++i) depths += (i > 0 ? ", " : "") + std::to_string(i + 1);
  for (int i = 0; i < 300; ++i) seeds += (i > 0 ? ", " : "") + std::to_string(i);
  for (int i = 1; i < 300; ++i)
    excludes += "[[exclude]]\n\"train.seed\" = " + std::to_string(i) + "\n";
  PlanLimits limits;
  limits.mostRuns = 3;
  const Plan plan = planExperiment(std::string(kGoodFile) + "[sweep]\n\"model.depth\" = [" +
                                       depths + "]\n\"train.seed\" = [" + seeds + "]\n" + excludes,
                                   "sample.toml", sampleCatalog(), {}, limits);
  EXPECT_EQ(sentences(plan), "");
  EXPECT_EQ(plan.runs.size(), 3u);
  EXPECT_EQ(plan.total, 150u);
}

TEST(PlanLimits, LooksAtTheFirstRunsAndCountsAll) {
  PlanLimits limits;
  limits.mostRuns = 2;
  const Plan plan = planExperiment(std::string(kGoodFile) + kTwoByThree, "sample.toml",
                                   sampleCatalog(), {}, limits);
  EXPECT_EQ(sentences(plan), "");
  EXPECT_THAT(runNames(plan), ElementsAre("plain, seed 0", "plain, seed 1"));
  EXPECT_EQ(plan.total, 6u);
}

TEST(PlanLimits, GivesUpWhatIsOld) {
  const std::atomic<bool> isStale = true;
  PlanLimits limits;
  limits.isStale = &isStale;
  EXPECT_TRUE(planExperiment(std::string(kGoodFile) + kTwoByThree, "sample.toml", sampleCatalog(),
                             {}, limits)
                  .runs.empty());
}

}  // namespace
}  // namespace vitrine
