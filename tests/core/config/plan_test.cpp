// Which runs a text means, and what each is made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <clocale>
#include <fstream>
#include <locale>

#include "core/base/error.h"
#include "core/base/text.h"
#include "tests/core/config/sample_catalog.h"

namespace vitrine {
namespace {

using testing::ElementsAre;
using testing_support::kGoodFile, testing_support::names, testing_support::planMore;
using testing_support::planText, testing_support::sampleCatalog, testing_support::sentences;
using testing_support::value;

PlannedRun onlyRun(const Plan& plan) {
  const PlannedRun none;
  EXPECT_EQ(sentences(plan), "");
  EXPECT_EQ(plan.runs.size(), 1u);
  return plan.runs.empty() ? none : plan.runs[0];
}

std::string origin(const PlannedRun& run, const std::string& key) {
  for (const auto& [name, from] : run.origins) {
    if (name == key) return from.layer + (from.line ? ":" + std::to_string(from.line) : "");
  }
  return "nowhere";
}

TEST(Plan, OfOneRunIsNamedAfterTheTitle) {
  const Plan plan = planMore("");
  EXPECT_EQ(plan.title, "sample");
  EXPECT_THAT(names(plan), ElementsAre("sample"));
  EXPECT_THAT(names(planText(std::string(kGoodFile).substr(17))),
              ElementsAre("sample"));  // from sample.toml
}

TEST(Plan, HoldsEverySectionComplete) {
  const Plan plan = planMore("");
  const PlannedRun& run = onlyRun(plan);
  std::vector<std::string> sections;
  for (const auto& [name, section] : run.config.items()) sections.push_back(name);
  EXPECT_THAT(sections, ElementsAre("model", "task", "data", "train", "observe"));
  EXPECT_EQ(value(run, "model.image_size"), (Json{28, 28}));
  EXPECT_EQ(value(run, "task.label_smoothing"), 0.0);
  EXPECT_EQ(value(run, "data.folder"), "/usr/share/datasets");
  EXPECT_EQ(value(run, "data.augment.flip"), 0.0);
  EXPECT_EQ(value(run, "train.optimizer.name"), "adamw");
  EXPECT_TRUE(run.config["train"].contains("steps"));
  EXPECT_EQ(run.dependsOn, -1);
  EXPECT_FALSE(run.init.has_value());
}

TEST(Plan, KeepsTheTextItRead) {
  EXPECT_EQ(planMore("# a comment\n").sourceText, std::string(kGoodFile) + "# a comment\n");
}

TEST(Plan, EveryLeafHasAnOrigin) {
  const Plan plan = planMore("[observe]\ncalibration = true\n[init]\nweights = 'w.safetensors'\n",
                             {"model.preset=vit/tiny"});
  const PlannedRun& run = onlyRun(plan);
  std::vector<std::string> leaves, origins;
  for (const auto& [key, leaf] : flatten(run.config)) leaves.push_back(key);
  for (const auto& [key, from] : run.origins) origins.push_back(key);
  EXPECT_EQ(leaves, origins);
}

// One key, raised through every layer: the later layer wins.
TEST(Precedence, IsDefaultPresetFileVariantStageSweepCommandLine) {
  std::string text = kGoodFile;
  const auto now = [&text](const std::vector<std::string>& overrides = {}) {
    const Plan plan = planText(text, overrides);
    EXPECT_EQ(sentences(plan), "");
    return value(plan.runs.back(), "model.width").dump() + " " +
           origin(plan.runs.back(), "model.width");
  };
  EXPECT_EQ(now(), "64 default");
  text.replace(text.find("num_classes"), 0, "preset = 'vit/tiny'\n");
  EXPECT_EQ(now(), "192 preset vit/tiny:4");
  text.replace(text.find("num_classes"), 0, "width = 96\nheads = 1\n");
  EXPECT_EQ(now(), "96 file:5");
  text += "[[variant]]\nname = 'v'\nset = { 'model.width' = 97 }\n";
  EXPECT_EQ(now(), "97 variant v:14");
  text += "[[stage]]\nname = 's'\nset = { 'model.width' = 98 }\n";
  EXPECT_EQ(now(), "98 stage s:17");
  text += "[sweep]\n'model.width' = [98, 99]\n";
  EXPECT_EQ(now(), "99 sweep:19");
  EXPECT_EQ(now({"model.width=100"}), "100 command line");
}

TEST(Precedence, ATableOfTheFileMergesOverTheDefaults) {
  const PlannedRun run = onlyRun(planMore("[train]\noptimizer = { name = 'sgd' }\n"));
  EXPECT_EQ(value(run, "train.optimizer.name"), "sgd");
  EXPECT_EQ(value(run, "train.optimizer.learning_rate"), 1e-3);
}

TEST(Precedence, ATableOfTheFileMergesOverThePreset) {
  std::string text = kGoodFile;
  text.replace(text.find("num_classes"), 0, "preset = 'vit/soft'\nmask = { alpha = 0.25 }\n");
  const PlannedRun run = onlyRun(planText(text));
  EXPECT_EQ(value(run, "model.mask.kind"), "soft");
  EXPECT_EQ(value(run, "model.mask.alpha"), 0.25);
}

TEST(Precedence, ADottedKeyMergesAndAWholeTableReplaces) {
  std::string text = kGoodFile;
  text.replace(text.find("num_classes"), 0, "mask = { kind = 'soft', alpha = 0.5, epochs = 2 }\n");
  text +=
      "[[variant]]\nname = 'dotted'\nset = { 'model.mask.alpha' = 0.75 }\n"
      "[[variant]]\nname = 'bare'\nset = { model.mask.alpha = 0.75 }\n"
      "[[variant]]\nname = 'header'\n[variant.set.model.mask]\nalpha = 0.75\n"
      "[[variant]]\nname = 'whole'\nset = { 'model.mask' = { kind = 'causal' } }\n";
  const Plan plan = planText(text);
  EXPECT_EQ(sentences(plan), "");
  ASSERT_EQ(plan.runs.size(), 4u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(value(plan.runs[i], "model.mask").dump(),
              R"({"kind":"soft","alpha":0.75,"schedule":"constant","epochs":2})");
  }
  EXPECT_EQ(value(plan.runs[3], "model.mask").dump(),
            R"({"kind":"causal","alpha":1.0,"schedule":"constant","epochs":null})");
}

TEST(Precedence, AWholeTableReplacesThePresetsTableToo) {
  const Plan plan =
      planMore("[[variant]]\nname = 'v'\nset = { 'model.mask' = { kind = 'causal' } }\n",
               {"model.preset=vit/soft"});
  EXPECT_EQ(value(onlyRun(plan), "model.mask.alpha"), 1.0);
  EXPECT_EQ(origin(onlyRun(plan), "model.mask.alpha"), "default");
}

TEST(Precedence, AWholeTableOnTheCommandLineReplaces) {
  const Plan plan = planMore("[train]\noptimizer = { learning_rate = 0.5 }\n",
                             {"train.optimizer={ name = \"sgd\" }"});
  EXPECT_EQ(value(onlyRun(plan), "train.optimizer.learning_rate"), 1e-3);
  const Plan merged =
      planMore("[train]\noptimizer = { learning_rate = 0.5 }\n", {"train.optimizer.name=sgd"});
  EXPECT_EQ(value(onlyRun(merged), "train.optimizer.learning_rate"), 0.5);
}

TEST(Overrides, TakeTomlBareWordsAndNone) {
  const PlannedRun run = onlyRun(planMore(
      "[model.mask]\nepochs = 4\n",
      {"model.pool=mean", "model.drop_path=1e-1", "model.taps=[1, 2]", "model.image_size=14",
       "train.device=\"cuda:0\"", "data.folder=/data/a b", "model.mask.epochs=none",
       "train.epochs=null", "train.steps=7", "task.label_smoothing=0"}));
  EXPECT_EQ(value(run, "model.pool"), "mean");
  EXPECT_EQ(value(run, "model.drop_path"), 0.1);
  EXPECT_EQ(value(run, "model.taps"), (Json{1, 2}));
  EXPECT_EQ(value(run, "model.image_size"), (Json{14, 14}));
  EXPECT_EQ(value(run, "train.device"), "cuda:0");
  EXPECT_EQ(value(run, "data.folder"), "/data/a b");
  EXPECT_TRUE(value(run, "model.mask.epochs").is_null());
  EXPECT_TRUE(value(run, "train.epochs").is_null());
  EXPECT_TRUE(value(run, "task.label_smoothing").is_number_float());
}

TEST(Overrides, ANumberIsTextWhereTextIsAskedFor) {
  EXPECT_EQ(value(onlyRun(planMore("", {"data.folder=2024"})), "data.folder"), "2024");
  EXPECT_EQ(value(onlyRun(planMore("", {"data.folder=2024-01-01"})), "data.folder"), "2024-01-01");
}

TEST(Overrides, SetTheTitle) { EXPECT_EQ(planMore("", {"title=mine"}).title, "mine"); }

TEST(None, MeansAbsentWhereAFieldMayBe) {
  const PlannedRun run = onlyRun(planMore("[train]\nepochs = 'none'\nsteps = 5\n"));
  EXPECT_TRUE(value(run, "train.epochs").is_null());
  // Where it is a choice it is that choice.
  EXPECT_EQ(value(onlyRun(planMore("", {"data.normalize=none"})), "data.normalize"), "none");
}

TEST(Observe, TakesTrueATableOrFalse) {
  const PlannedRun run = onlyRun(planMore(
      "[observe]\nattention_rank = { every_steps = 200, images = 8 }\ncalibration = true\n"));
  EXPECT_EQ(value(run, "observe.attention_rank.every_steps"), 200);
  EXPECT_EQ(value(run, "observe.attention_rank.images"), 8);
  EXPECT_EQ(value(run, "observe.calibration.bins"), 15);
  EXPECT_EQ(value(run, "observe.calibration.weights"), "model");
  const PlannedRun off =
      onlyRun(planMore("[observe]\ncalibration = true\n", {"observe.calibration=false"}));
  EXPECT_TRUE(off.config["observe"].empty());
}

TEST(Runs, AreVariantsTimesAxesInFileOrderTimesSeeds) {
  const Plan plan = planMore(
      "[sweep]\n'train.seed' = [0, 1]\n'model.width' = [64, 128]\n'model.depth' = [2, 3]\n"
      "[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n");
  const std::vector<std::string> all = names(plan);
  ASSERT_EQ(all.size(), 16u);
  EXPECT_EQ(all[0], "a, width 64, depth 2, seed 0");
  EXPECT_EQ(all[1], "a, width 64, depth 2, seed 1");
  EXPECT_EQ(all[2], "a, width 64, depth 3, seed 0");
  EXPECT_EQ(all[4], "a, width 128, depth 2, seed 0");
  EXPECT_EQ(all[8], "b, width 64, depth 2, seed 0");
  EXPECT_EQ(plan.runs[3].seed, 1u);
  EXPECT_EQ(value(plan.runs[3], "train.seed"), 1);
  EXPECT_EQ(value(plan.runs[6], "model.width"), 128);
  EXPECT_EQ(plan.runs[8].variant, "b");
}

TEST(Runs, OrderOfAxesComesFromTheTextNotTheAlphabet) {
  EXPECT_THAT(names(planMore("[sweep]\nmodel.width = [64, 128]\nmodel.depth = [2, 3]\n")),
              ElementsAre("width 64, depth 2", "width 64, depth 3", "width 128, depth 2",
                          "width 128, depth 3"));
  EXPECT_THAT(names(planMore("[sweep]\nmodel.depth = [2, 3]\nmodel.width = [64, 128]\n")),
              ElementsAre("depth 2, width 64", "depth 2, width 128", "depth 3, width 64",
                          "depth 3, width 128"));
}

TEST(Runs, AxesOfTheSameLastPartAreToldApart) {
  EXPECT_THAT(names(planMore("[sweep]\n'train.checkpoint.every_steps' = [1, "
                             "2]\n'train.evaluate.every_steps' = [1, 2]\n")),
              ElementsAre("checkpoint.every_steps 1, evaluate.every_steps 1",
                          "checkpoint.every_steps 1, evaluate.every_steps 2",
                          "checkpoint.every_steps 2, evaluate.every_steps 1",
                          "checkpoint.every_steps 2, evaluate.every_steps 2"));
}

TEST(Runs, NamesShowOnlyWhatDiffers) {
  EXPECT_THAT(
      names(planMore(
          "[sweep]\n'model.width' = [64]\n'train.optimizer.learning_rate' = [1e-3, 1e-4]\n")),
      ElementsAre("learning_rate 0.001", "learning_rate 1e-4"));
  EXPECT_THAT(names(planMore("[sweep]\n'model.width' = [64]\n")), ElementsAre("sample"));
}

TEST(Runs, SweptTablesReplace) {
  const Plan plan =
      planMore("[sweep]\n'model.mask' = [{ kind = 'none' }, { kind = 'soft', epochs = 2 }]\n");
  EXPECT_THAT(names(plan), ElementsAre("mask {kind none}", "mask {kind soft epochs 2}"));
  EXPECT_EQ(value(plan.runs[1], "model.mask.epochs"), 2);
}

TEST(Runs, ASweptKeyThatTheCommandLineSetsIsNoAxis) {
  EXPECT_THAT(names(planMore("[sweep]\n'train.seed' = [0, 1, 2]\n", {"train.seed=5"})),
              ElementsAre("sample"));
}

TEST(Runs, SweepArchitectures) {
  std::string text = kGoodFile;
  text += "[sweep]\n'model.architecture' = ['vit', 'plain']\n";
  EXPECT_THAT(names(planText(text)), ElementsAre("architecture vit", "architecture plain"));
}

TEST(Stages, RunInOrderForEveryVariantAndSeed) {
  const Plan plan = planMore(
      "[sweep]\n'train.seed' = [0, 1]\n[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n"
      "[[stage]]\nname = 'pre-train'\n"
      "[[stage]]\nname = 'fine-tune'\ninit = 'previous'\nskip = ['head.*']\nresize_positions = "
      "'linear_corners'\n"
      "freeze = ['patch_embed.*']\nuse = 'ema'\ncheckpoint = 'best'\nset = { 'model.image_size' = "
      "56 }\n");
  EXPECT_THAT(names(plan),
              ElementsAre("a, seed 0, pre-train", "a, seed 0, fine-tune", "a, seed 1, pre-train",
                          "a, seed 1, fine-tune", "b, seed 0, pre-train", "b, seed 0, fine-tune",
                          "b, seed 1, pre-train", "b, seed 1, fine-tune"));
  for (int i = 0; i < 8; ++i) {
    const PlannedRun& run = plan.runs[static_cast<std::size_t>(i)];
    EXPECT_EQ(run.dependsOn, i % 2 ? i - 1 : -1);
    EXPECT_EQ(run.stage, i % 2 ? "fine-tune" : "pre-train");
    EXPECT_EQ(run.init.has_value(), i % 2 == 1);
  }
  const PlannedRun& fine = plan.runs[5];
  EXPECT_EQ(fine.init->plannedRun, 4);
  EXPECT_EQ(fine.init->run, "");
  EXPECT_THAT(fine.init->skip, ElementsAre("head.*"));
  EXPECT_THAT(fine.init->freeze, ElementsAre("patch_embed.*"));
  EXPECT_EQ(fine.init->resizePositions, "linear_corners");
  EXPECT_EQ(fine.init->use, "ema");
  EXPECT_EQ(fine.init->checkpoint, "best");
  EXPECT_TRUE(fine.init->strict);
  EXPECT_EQ(value(fine, "model.image_size"), (Json{56, 56}));
  EXPECT_EQ(value(plan.runs[4], "model.image_size"), (Json{28, 28}));
  EXPECT_EQ(value(fine, "init.run"), "previous");
  EXPECT_EQ(origin(fine, "model.image_size"), "stage fine-tune:25");
}

TEST(Stages, TheFirstStartsFromTheFilesInit) {
  const Plan plan = planMore(
      "[init]\nweights = 'public.safetensors'\nskip = ['head.*']\n"
      "[[stage]]\nname = 'one'\n[[stage]]\nname = 'two'\ninit = 'previous'\n");
  ASSERT_EQ(sentences(plan), "");
  EXPECT_EQ(plan.runs[0].init->weights, "public.safetensors");
  EXPECT_EQ(plan.runs[1].init->weights, "");
  EXPECT_TRUE(plan.runs[1].init->skip.empty());
  EXPECT_EQ(plan.runs[1].init->plannedRun, 0);
}

TEST(Stages, MayStartFromAnEarlierOneByName) {
  const Plan plan = planMore(
      "[[stage]]\nname = 'a'\n[[stage]]\nname = 'b'\ninit = 'previous'\n[[stage]]\nname = "
      "'c'\ninit = { run = 'stage:a' }\n");
  ASSERT_EQ(sentences(plan), "");
  EXPECT_EQ(plan.runs[2].init->plannedRun, 0);
}

TEST(Init, OfAVariantIsTheRunAtTheSamePoint) {
  const Plan plan = planMore(
      "[sweep]\n'model.depth' = [2, 3]\n'train.seed' = [0, 1]\n[[variant]]\nname = 'base'\n"
      "[[variant]]\nname = 'tuned'\nset = { 'init.run' = 'variant:base', 'init.checkpoint' = 500 "
      "}\n");
  ASSERT_EQ(sentences(plan), "");
  ASSERT_EQ(plan.runs.size(), 8u);
  for (int i = 0; i < 4; ++i) {
    const PlannedRun& run = plan.runs[static_cast<std::size_t>(4 + i)];
    EXPECT_EQ(run.init->plannedRun, i);
    EXPECT_EQ(run.dependsOn, i);
    EXPECT_EQ(run.init->checkpoint, "500");
    EXPECT_FALSE(plan.runs[static_cast<std::size_t>(i)].init.has_value());
  }
}

TEST(Init, OfAVariantWithStagesIsItsLastStage) {
  const Plan plan = planMore(
      "[[variant]]\nname = 'base'\n[[variant]]\nname = 'next'\nset = { 'init.run' = 'variant:base' "
      "}\n"
      "[[stage]]\nname = 's'\n[[stage]]\nname = 't'\ninit = 'previous'\n");
  ASSERT_EQ(sentences(plan), "");
  EXPECT_EQ(plan.runs[2].init->plannedRun, 1);
  EXPECT_EQ(plan.runs[3].init->plannedRun, 2);
}

TEST(Init, TakesAUuidAndRenames) {
  const PlannedRun run = onlyRun(planMore(
      "[init]\nrun = '01234567-89ab-4def-8123-456789abcdef'\nstrict = false\n"
      "rename = { 'module.head.weight' = 'head.weight', 'module.head.bias' = 'head.bias' }\n"));
  EXPECT_EQ(run.init->run, "01234567-89ab-4def-8123-456789abcdef");
  EXPECT_FALSE(run.init->strict);
  EXPECT_EQ(run.init->plannedRun, -1);
  using Pair = std::pair<std::string, std::string>;
  EXPECT_THAT(run.init->rename, ElementsAre(Pair("module.head.weight", "head.weight"),
                                            Pair("module.head.bias", "head.bias")));
}

TEST(ToToml, ReadsBackAsTheSameConfiguration) {
  const Plan plan = planMore(
      "[observe]\ncalibration = { every_epochs = 1 }\n[train]\noptimizer = { learning_rate = 3e-5 "
      "}\ndevice = \"a\\\"b\\\\c\\n\\u0001\u00e4\"\n"
      "[init]\nweights = 'w'\nskip = ['head.*']\nrename = { 'a.b' = 'c.d' }\n",
      {"model.preset=vit/soft", "model.layer_scale=1e-5", "model.taps=[0, 3]",
       "model.drop_path=0"});
  const PlannedRun& run = onlyRun(plan);
  const Plan again = planText(toToml(run.config));
  EXPECT_EQ(sentences(again), "") << toToml(run.config);
  ASSERT_EQ(again.runs.size(), 1u);
  EXPECT_EQ(again.runs[0].config.dump(), run.config.dump());
  EXPECT_EQ(toToml(again.runs[0].config), toToml(run.config));
}

TEST(Plan, OfTheSameTextTwiceIsEqual) {
  const std::string more =
      "[sweep]\n'train.seed' = [0, 1]\n'model.width' = [64, 128]\n[[variant]]\nname = 'a'\n";
  const Plan first = planMore(more), second = planMore(more);
  ASSERT_EQ(names(first), names(second));
  for (std::size_t i = 0; i < first.runs.size(); ++i)
    EXPECT_EQ(first.runs[i].config.dump(), second.runs[i].config.dump());
}

struct CommaFacet : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Plan, OfATextIsTheSameInAGermanLocale) {
  const std::string more =
      "[train]\noptimizer = { learning_rate = 1.5e-3 }\n[sweep]\n'model.drop_path' = [0.25, 0.5]\n";
  const std::vector<std::string> overrides = {"train.schedule.minimum=0.125", "model.width=4096"};
  const Plan plain = planMore(more, overrides);
  const std::string toml = toToml(plain.runs.at(0).config);

  const std::locale before = std::locale::global(std::locale(std::locale(), new CommaFacet));
  // Where the system has it, C's locale speaks German too.
  const std::string cBefore = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE"}) {
    if (std::setlocale(LC_ALL, name)) break;
  }
  const Plan german = planMore(more, overrides);
  const std::string germanToml = toToml(german.runs.at(0).config);
  const std::string dumped = german.runs.at(1).config.dump();
  std::setlocale(LC_ALL, cBefore.c_str());
  std::locale::global(before);

  EXPECT_EQ(names(german), names(plain));
  EXPECT_THAT(names(german), ElementsAre("drop_path 0.25", "drop_path 0.5"));
  EXPECT_EQ(dumped, plain.runs.at(1).config.dump());
  EXPECT_EQ(germanToml, toml);
  EXPECT_EQ(value(german.runs[0], "train.optimizer.learning_rate"), 1.5e-3);
  EXPECT_EQ(value(german.runs[0], "train.schedule.minimum"), 0.125);
}

TEST(PlanFile, ReadsFromDisk) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("vitrine_plan_" + std::to_string(::getpid()) + ".toml");
  std::ofstream(file) << kGoodFile;
  const Plan plan = planExperimentFile(file, sampleCatalog());
  std::filesystem::remove(file);
  EXPECT_THAT(names(plan), ElementsAre("sample"));
  EXPECT_THROW((void)planExperimentFile(file, sampleCatalog()), FileError);
  EXPECT_THROW((void)planExperimentFile(std::filesystem::temp_directory_path(), sampleCatalog()),
               FileError);
}

}  // namespace
}  // namespace vitrine
