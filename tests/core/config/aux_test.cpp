// [aux.NAME]: trained models that a run uses and does not train.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/config/sample_catalog.h"

namespace vitrine {
namespace {

using ::testing::IsEmpty;
using testing_support::codes, testing_support::planMore, testing_support::sentences;

constexpr const char* kUuid = "0f8fad5b-d9cb-469f-a165-70867728950e";

TEST(Aux, NamesRunsAndFilesInTheOrderOfTheFile) {
  const Plan plan =
      planMore(std::string("[aux.teacher]\nrun = '") + kUuid +
               "'\nuse = 'ema'\ncheckpoint = 500\n"
               "[aux.codec]\nweights = 'codec.safetensors'\n"
               "model = { architecture = 'vit', preset = 'vit/tiny', num_classes = 3 }\n"
               "[aux.judge]\nweights = 'runs/step-000000500'\n");
  ASSERT_EQ(sentences(plan), "");
  const PlannedRun& run = plan.runs.at(0);
  ASSERT_EQ(run.auxiliaries.size(), 3u);
  EXPECT_EQ(run.auxiliaries[0].name, "teacher");
  EXPECT_EQ(run.auxiliaries[0].run, kUuid);
  EXPECT_EQ(run.auxiliaries[0].plannedRun, -1);
  EXPECT_EQ(run.auxiliaries[0].use, "ema");
  EXPECT_EQ(run.auxiliaries[0].checkpoint, "500");
  EXPECT_EQ(run.auxiliaries[1].weights, "codec.safetensors");
  EXPECT_EQ(run.auxiliaries[2].weights, "runs/step-000000500");
  EXPECT_TRUE(run.config["aux"]["teacher"]["model"].is_null());
  EXPECT_TRUE(run.config["aux"]["judge"]["model"].is_null());
  // Its model is complete, with a preset of its own.
  const Json& model = run.config["aux"]["codec"]["model"];
  EXPECT_EQ(model["width"], 192);
  EXPECT_EQ(model["patch_size"], (Json{7, 7}));
  EXPECT_EQ(run.config["model"]["width"], 64);
  std::vector<std::string> leaves, origins;
  for (const auto& [key, leaf] : flatten(run.config)) leaves.push_back(key);
  for (const auto& [key, from] : run.origins) origins.push_back(key);
  EXPECT_EQ(leaves, origins);
  EXPECT_EQ(sentences(planMore("")), "");
  EXPECT_FALSE(planMore("").runs[0].config.contains("aux"));
}

TEST(Aux, OfAnotherRunOfTheFileIsTheOneAtTheSamePoint) {
  const Plan plan = planMore(
      "[sweep]\n'train.seed' = [0, 1]\n[[variant]]\nname = 'codec'\n"
      "[[variant]]\nname = 'model'\nset = { 'aux.codec.run' = 'variant:codec' }\n");
  ASSERT_EQ(sentences(plan), "");
  ASSERT_EQ(plan.runs.size(), 4u);
  EXPECT_THAT(plan.runs[0].auxiliaries, IsEmpty());
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(plan.runs[2 + i].auxiliaries.size(), 1u);
    EXPECT_EQ(plan.runs[2 + i].auxiliaries[0].plannedRun, static_cast<int>(i));
    EXPECT_EQ(plan.runs[2 + i].auxiliaries[0].run, "");
    EXPECT_EQ(plan.runs[2 + i].dependsOn, -1) << "it does not start from it";
    EXPECT_FALSE(plan.runs[2 + i].init.has_value());
  }
  const Plan stages = planMore(
      "[[stage]]\nname = 'codec'\n[[stage]]\nname = 'model'\nset = { 'aux.codec.run' = "
      "'stage:codec' }\n");
  ASSERT_EQ(sentences(stages), "");
  EXPECT_EQ(stages.runs[1].auxiliaries.at(0).plannedRun, 0);
}

TEST(Aux, IsWrittenBackAsItWasRead) {
  const Plan plan =
      planMore(std::string("[aux.teacher]\nrun = '") + kUuid +
               "'\n[aux.codec]\nweights = 'c.safetensors'\nmodel = { architecture = 'plain' }\n");
  ASSERT_EQ(sentences(plan), "");
  const Plan again = testing_support::planText(toToml(plan.runs[0].config));
  ASSERT_EQ(sentences(again), "");
  EXPECT_EQ(again.runs.at(0).config, plan.runs[0].config);
}

TEST(Aux, IsRefusedWithItsPlace) {
  const auto told = [](const std::string& text) { return codes(planMore(text)); };
  const int first =
      1 +
      static_cast<int>(std::count(
          testing_support::kGoodFile,
          testing_support::kGoodFile + std::string_view(testing_support::kGoodFile).size(), '\n'));
  EXPECT_EQ(planMore("[aux.codec]\n").problems.at(0).line, first);
  EXPECT_EQ(told("[aux.codec]\n"), "aux.codec missing");
  EXPECT_EQ(told("[aux.codec]\nrun = 'variant:x'\nweights = 'd'\n"),
            "aux.codec conflict; aux.codec.run unknown_name");
  EXPECT_EQ(told("[aux.codec]\nweights = 'w.safetensors'\n"), "aux.codec.model missing");
  EXPECT_EQ(
      told(std::string("[aux.codec]\nrun = '") + kUuid + "'\nmodel = { architecture = 'plain' }\n"),
      "aux.codec.model conflict");
  EXPECT_EQ(told("[aux.Codec]\nweights = 'd'\n"), "aux.Codec bad_name");
  EXPECT_EQ(told("[aux]\ncodec = 'd'\n"), "aux.codec wrong_type");
  EXPECT_EQ(told("[aux.codec]\nweights = 'd'\ncheckpoint = 'lates'\n"),
            "aux.codec.checkpoint unknown_name -> latest");
  EXPECT_EQ(told("[aux.codec]\nweight = 'd'\n"),
            "aux.codec missing; aux.codec.weight unknown_key -> weights");
  EXPECT_EQ(told("[aux.codec]\nrun = 'codec'\n"), "aux.codec.run unknown_name");
  EXPECT_EQ(told("[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\nset = { 'aux.c.run' = "
                 "'variant:d' }\n"),
            "aux.c.run unknown_name");
  EXPECT_EQ(told("[aux.codec]\nweights = 'w.safetensors'\nmodel = { architecture = 'vit', "
                 "num_classes = 2, patch_size = 5 }\n"),
            "aux.codec.model.patch_size broken_rule");
  EXPECT_EQ(told("[aux.codec]\nweights = 'w.safetensors'\nmodel = { architecture = 'vitt' }\n"),
            "aux.codec.model.architecture unknown_item -> vit");
}

}  // namespace
}  // namespace vitrine
