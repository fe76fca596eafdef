#include "ui/workbench/run_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "core/store/comparison.h"

namespace vitrine::ui {
namespace {

TEST(RunFacts, MissingValuesAreDashesAndNeverZero) {
  const store::RunRow row;
  store::RunCard card{.headline = {"test/top1", "test/words_per_line"}};
  const auto facts = runFacts(row, {}, Json(), card, {});
  EXPECT_GE(facts.size(), 6U);
  for (const Fact& fact : facts)
    EXPECT_EQ(fact.value.toStdString(), "\u2013") << fact.label.toStdString();
}

TEST(RunFacts, TakeAnyEnvironmentThatAScriptLogged) {
  store::RunRow row{.device = "cuda:0"};
  const auto deviceIn = [&row](const Json& environment) {
    const auto facts = runFacts(row, {}, environment, {}, {});
    const auto found = std::find_if(facts.begin(), facts.end(), [](const Fact& fact) {
      return fact.label == QStringLiteral("Device");
    });
    return found == facts.end() ? std::string() : found->value.toStdString();
  };
  EXPECT_EQ(deviceIn({{"threads", 2}}), "cuda:0, 2 threads");
  EXPECT_EQ(deviceIn({{"threads", "many"}}), "cuda:0");
  EXPECT_EQ(deviceIn("none"), "cuda:0");
}

TEST(RunFacts, AVariantIsToldFromThoseOfItsOwnExperiment) {
  std::vector<store::ComparedRun> runs;
  const auto add = [&runs](std::int64_t experiment, const Json& config) {
    store::ComparedRun run;
    run.row.id = std::ssize(runs) + 1;
    run.row.experimentId = experiment;
    run.row.experiment = "experiment " + std::to_string(experiment);
    run.config = config;
    runs.push_back(run);
  };
  const Json seed = {{"seed", 0}};
  add(1, {{"train", seed}, {"model", {{"width", 8}, {"depth", 2}}}});
  add(2, {{"train", seed}, {"model", {{"width", 8}, {"depth", 4}}}});
  add(2, {{"train", seed}, {"model", {{"width", 16}, {"depth", 4}}}});
  Json one = {{"train", seed}}, other = {{"train", seed}};
  for (int i = 0; i < 9; ++i) {
    one["model"]["part_" + std::to_string(i)] = 0;
    other["model"]["part_" + std::to_string(i)] = 1;
  }
  add(3, one);
  add(3, other);
  std::vector<std::string> labels;
  for (const QString& label : variantLabels(runs, store::variantsOf(runs)))
    labels.push_back(label.toStdString());
  EXPECT_EQ(labels,
            (std::vector<std::string>{
                "experiment 1 \u203a all runs", "experiment 2 \u203a width 8",
                "experiment 2 \u203a width 16",
                "experiment 3 \u203a part_0 0, part_1 0, part_2 0, part_3 0, part_4 0, part_5 0, "
                "3 more",
                "experiment 3 \u203a part_0 1, part_1 1, part_2 1, part_3 1, part_4 1, part_5 1, "
                "3 more"}));
}

TEST(RunFacts, AVariantIsToldFromThoseOfItsName) {
  std::vector<store::ComparedRun> runs;
  const auto add = [&runs](const char* variant, const char* architecture, int classes) {
    store::ComparedRun run;
    run.row.id = std::ssize(runs) + 1;
    run.row.experimentId = 1;
    run.row.variant = variant;
    run.config = {{"train", {{"seed", 0}}},
                  {"model", {{"architecture", architecture}, {"num_classes", classes}}}};
    runs.push_back(run);
  };
  add("ViT", "vit", 10);
  add("iLLaMA", "illama", 10);
  add("ViT", "vit", 3);
  QStringList labels;
  for (const QString& label : variantLabels(runs, store::variantsOf(runs))) labels << label;
  EXPECT_EQ(labels.join(QLatin1String("; ")).toStdString(),
            "ViT: num_classes 10; iLLaMA; ViT: num_classes 3");
}

TEST(RunFacts, AnEndedRunHasNoRowForAScoreThatItNeverMeasured) {
  store::RunRow row{.state = store::RunState::Done};
  store::RunCard card{.headline = {"test/top1", "test/samples/agreement"}};
  store::MetricSummary top1{.name = "test/top1", .last = 0.5};
  std::vector<std::string> labels;
  for (const Fact& fact : runFacts(row, {top1}, Json(), card, {}))
    labels.push_back(fact.label.toStdString());
  EXPECT_EQ(std::count(labels.begin(), labels.end(), "Accuracy, test"), 1);
  EXPECT_EQ(std::count(labels.begin(), labels.end(), "Samples (agreement), test"), 0);
}

TEST(RunFacts, AScoreThatAnAnalysisHasTooIsOneRow) {
  store::RunRow row{.state = store::RunState::Done};
  store::RunCard card{.headline = {"test/ece"}, .morePlots = {"analysis/calibration/ece"}};
  const auto measured = [](const char* name, double value) {
    return store::MetricSummary{.name = name, .last = value};
  };
  const auto valuesOf = [&](const std::vector<store::MetricSummary>& summaries) {
    std::vector<std::string> values;
    for (const Fact& fact : runFacts(row, summaries, Json(), card, {}))
      if (fact.label.startsWith(QLatin1String("ECE"))) values.push_back(fact.value.toStdString());
    return values;
  };
  const auto ofBoth =
      valuesOf({measured("test/ece", 0.03), measured("analysis/calibration/ece", 0.04)});
  EXPECT_EQ(ofBoth.size(), 1U);
  EXPECT_EQ(valuesOf({measured("analysis/calibration/ece", 0.04)}).size(), 1U)
      << "where only the analysis has one";
  EXPECT_EQ(valuesOf({measured("test/ece", 0.03)}).size(), 1U);
}

TEST(RunFacts, TheTrainingLossIsOneRow) {
  store::RunCard card{.headline = {"train/loss", "test/top1"}};
  const auto facts = runFacts(store::RunRow(), {}, Json(), card, {});
  EXPECT_EQ(std::count_if(facts.begin(), facts.end(),
                          [](const Fact& fact) { return fact.label == "Loss, train"; }),
            1);
}

TEST(RunFacts, TheCpuIsWrittenInCapitals) {
  EXPECT_EQ(deviceText("cpu").toStdString(), "CPU");
  EXPECT_EQ(deviceText("auto").toStdString(), "automatic");
  EXPECT_EQ(deviceText("cuda:0").toStdString(), "cuda:0");
}

TEST(RunFacts, ConfigurationCanBeCutDownToWhatDiffers) {
  const Json base{{"model", {{"width", 64}, {"depth", 4}}}};
  const Json config{{"model", {{"width", 128}, {"depth", 4}}}};
  const Json origins{{"model.width", {{"layer", "file"}, {"line", 3}}},
                     {"model.depth", {{"layer", "default"}}}};
  const auto differs = configFacts(config, base, origins, ConfigFilter::Baseline);
  ASSERT_EQ(differs.size(), 1U);
  EXPECT_EQ(differs[0].label.toStdString(), "model.width");
  EXPECT_EQ(differs[0].value.toStdString(), "128");
  EXPECT_TRUE(differs[0].definition.contains(QLatin1String("64")));
  EXPECT_EQ(configFacts(config, base, origins, ConfigFilter::Default).size(), 1U);
  EXPECT_EQ(configFacts(config, base, origins, ConfigFilter::All).size(), 2U);
}

TEST(RunFacts, TheCommandToRepeatCarriesTheWholeConfiguration) {
  const QString command = repeatCommand({.id = 17, .experiment = "say \"soft\""},
                                        Json{{"model", {{"width", 64}}}, {"train", {{"seed", 3}}}});
  EXPECT_TRUE(command.contains(QLatin1String("width = 64")));
  EXPECT_TRUE(command.contains(QLatin1String("seed = 3")));
  EXPECT_TRUE(command.contains(QLatin1String("title = \"say \\\"soft\\\", repeated\"")));
  EXPECT_TRUE(command.contains(QLatin1String("vitrine train run-17.toml")));
}

TEST(RunFacts, DurationsHaveTwoUnitsUnlessTheSecondIsNone) {
  EXPECT_EQ(duration(112).toStdString(), "1\u2009min 52\u2009s");
  EXPECT_EQ(duration(47 * 60).toStdString(), "47\u2009min");
  EXPECT_EQ(duration(2 * 3600 + 20).toStdString(), "2\u2009h");
  EXPECT_EQ(duration(5400).toStdString(), "1\u2009h 30\u2009min");
  EXPECT_EQ(duration(0).toStdString(), "0\u2009s");
  EXPECT_EQ(aboutDuration(112), QStringLiteral("about ") + duration(112));
  EXPECT_EQ(aboutDuration(0.4).toStdString(), "less than a second");
}

}  // namespace
}  // namespace vitrine::ui
