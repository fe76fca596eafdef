// A paper's printed numbers beside those of the runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <tuple>

#include "tests/ui/compare/ablation.h"
#include "tests/ui/compare/compare_fixture.h"
#include "ui/compare/compare_figures.h"
#include "ui/compare/published_table.h"

namespace vitrine::ui {
namespace {

TEST(PublishedNumbersFile, IsReadWithItsConditions) {
  std::vector<Problem> problems;
  const PublishedNumbers numbers = readPublished(
      "paper = \"P\"\n[[result]]\ntable = \"Table 1\"\nmodel = \"M\"\nstep = \"+ better\"\n"
      "dataset = \"CIFAR-10\"\nresolution = 384\nmetric = \"top1\"\nvalue = 84.5\n"
      "[[result]]\nmodel = \"M\"\nmetric = \"top1\"\nvalue = \"high\"\n",
      "published.toml", problems);
  EXPECT_EQ(numbers.paper, "P");
  ASSERT_EQ(numbers.results.size(), 2u);
  EXPECT_EQ(numbers.results[0].place, "Table 1");
  EXPECT_EQ(numbers.results[0].condition("resolution"), "384");
  EXPECT_EQ(numbers.results[0].value, 84.5);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].line, 13);
}

TEST(PublishedNumbersFile, OfEveryPaperHereIsRead) {
  for (const char* paper : {"vit", "illama"}) {
    std::ifstream file(std::string(VITRINE_SOURCE_DIR "/experiments/") + paper + "/published.toml");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    std::vector<Problem> problems;
    EXPECT_GT(readPublished(text, "published.toml", problems).results.size(), 70u);
    EXPECT_TRUE(problems.empty());
  }
}

TEST(PublishedVerdict, NeedsAnIntervalAndMatchesWithinIt) {
  const auto of = [](double printed, const std::vector<double>& ours) {
    return toString(compareWithPrinted(printed, 1, statisticsOf(ours))).toStdString();
  };
  EXPECT_EQ(of(82.1, {82.0, 82.2, 82.1}), "matches");
  EXPECT_EQ(of(85.0, {82.0, 82.2, 82.1}), "differs");
  EXPECT_EQ(of(82.4, {82.0, 82.2, 82.12}), "matches") << "half a unit of the last digit: 82.35";
  EXPECT_EQ(of(82.4, {82.0, 82.2, 82.1}), "differs");
  EXPECT_EQ(of(82.1, {81.0, 83.0, 82.3}), "undecided") << "82.1 +- 2.5 would match anything";
  EXPECT_EQ(of(82.1, {10, 90}), "undecided");
  EXPECT_EQ(of(0.1, {0.09, 0.12, 0.11}), "matches") << "+- 0.04 is below half a unit: 0.05";
  EXPECT_EQ(of(82.1, {82.1}), "not comparable");
  EXPECT_EQ(of(82.1, {82.1, std::nan("")}), "not comparable");
}

class PublishedBeside : public CompareValues {
 protected:
  void SetUp() override {
    const std::filesystem::path paper = folder_.filePath(QStringLiteral("e/paper")).toStdString();
    std::filesystem::create_directories(paper);
    std::ofstream(paper / "roadmap.toml")
        << "title = \"Roadmap\"\n[train]\nepochs = 2\n[[variant]]\nname = \"base\"\n"
           "[[variant]]\nname = \"+ better\"\nset = { model.mlp = \"swiglu\" }\n";
    std::ofstream published(paper / "published.toml");
    published << "paper = \"P\"\n";
    for (const auto& [step, data, value] :
         {std::tuple{"base", "ImageNet-1k", 70.0}, std::tuple{"+ Better", "ImageNet-1k", 71.0},
          std::tuple{"+ worse", "ImageNet-1k", 71.5}, std::tuple{"other", "ImageNet-1k", 7.0},
          std::tuple{"base", "Fashion-MNIST", 82.3}, std::tuple{"+ better", "Fashion-MNIST", 95.0}})
      published << "[[result]]\ntable = \"T\"\nmodel = \"tiny\"\nstep = \"" << step
                << "\"\ndataset = \"" << data
                << "\"\nepochs = 2\nmetric = \"top1\"\nvalue = " << value << "\n";
    std::ofstream(paper / "claims.toml")
        << "[[claim]]\nname = \"better is better\"\nsource = \"T\"\nexperiment = \"roadmap.toml\"\n"
           "metric = \"test/top1\"\nbetter = \"+ better\"\nworse = \"base\"\nmargin = 0.01\nseeds "
           "= "
           "3\n";
  }
  std::vector<std::filesystem::path> folders() {
    return {folder_.filePath(QStringLiteral("e")).toStdString()};
  }
};

TEST_F(PublishedBeside, SaysWhatMatchesWhatDiffersAndWhatCannotBeCompared) {
  const auto add = [&](const std::string& name, const std::string& mlp, double shift) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const double last = 0.82 + shift + 0.002 * static_cast<double>(seed);
      addAblationRun(store_,
                     {name, {{"preset", "vit/tiny"}, {"mlp", mlp}}, seed, {last - 0.1, last}});
    }
  };
  add("base", "gelu", 0);
  add("+ better", "swiglu", 0.02);
  add("+ worse", "none", -0.05);
  const auto data = read();
  const PublishedTable table = readPublishedTable(query(), *data, {}, folders());
  EXPECT_EQ(table.error.toStdString(), "");
  EXPECT_EQ(table.total, 6u);
  ASSERT_EQ(table.rows.size(), 5u) << "'other' does not name a variant";
  EXPECT_EQ(table.rows[0].verdict, PublishedVerdict::NotComparable);
  EXPECT_EQ(table.rows[0].reasons.join(QLatin1Char(';')).toStdString(),
            "other data: fashion_mnist, not ImageNet-1k");
  EXPECT_EQ(table.rows[0].model.toStdString(), "tiny");
  EXPECT_EQ(table.rows[0].conditions.toStdString().find("tiny"), std::string::npos);
  EXPECT_EQ(table.rows[1].order.toStdString(), "order kept");
  EXPECT_EQ(table.rows[2].order.toStdString(), "order reversed");
  EXPECT_EQ(table.rows[3].verdict, PublishedVerdict::Matches) << "82.2 +- 0.5, printed 82.3";
  EXPECT_NEAR(table.rows[3].ours.mean, 82.2, 1e-9);
  EXPECT_EQ(table.rows[4].verdict, PublishedVerdict::Differs);
  ASSERT_EQ(table.claims.size(), 1u);
  EXPECT_EQ(table.claims[0].judgement.verdict, Verdict::Reproduced);
  EXPECT_EQ(measuredText(table.claims[0]).toStdString(), "2.0 \u00b1 0.0\u2009points");
  EXPECT_EQ(thresholdText(table.claims[0]).toStdString(), "1\u2009points");
  EXPECT_EQ(table.rows[3].format, (store::MetricFormat{false, 1})) << "as the metric's card says";
  std::vector<store::RunRow> runs;
  for (const store::ComparedRun& run : data->runs) runs.push_back(run.row);
  const auto claimsAbout = [&](const std::string& metric) {
    const auto isMeant = [&](const Claim& claim) { return claim.metric == metric; };
    return readClaimRows(query(), runs, folders().front() / "paper", isMeant).size();
  };
  EXPECT_EQ(claimsAbout("test/top1"), 1u);
  EXPECT_EQ(claimsAbout("test/loss"), 0u) << "the claim is about another metric";
}

TEST_F(PublishedBeside, CsvHasNoNumberOfOursWhereNothingIsMeasured) {
  addAblationRun(store_, {"base", {{"width", 48}}, 0, {0.8}});
  PublishedRow row;
  row.metric = QStringLiteral("top1");
  row.value = 70;
  PublishedTable table;
  table.rows = {row};
  const QString csv = makePublishedFigure(table, *read())->csv();
  EXPECT_THAT(csv.toStdString(), ::testing::HasSubstr(",top1,70,,,,0,")) << "not a measured 0";
}

TEST_F(PublishedBeside, NamesEveryReasonThatSpeaksAgainst) {
  PublishedResult result;
  result.conditions = {{"model", "ViT-B/16"},
                       {"dataset", "CIFAR-10"},
                       {"resolution", "384"},
                       {"epochs", "300"},
                       {"soft_mask", "linear, 50 epochs"},
                       {"pretrained_on", "JFT"}};
  const Json config = {
      {"model",
       {{"preset", "vit/demo"},
        {"image_size", {28, 28}},
        {"mask", {{"kind", "soft"}, {"schedule", "constant"}, {"epochs", 25}}}}},
      {"data", {{"dataset", "cifar10"}, {"train_samples", 12800}, {"test_samples", 2000}}},
      {"train", {{"epochs", 6}, {"steps", nullptr}}}};
  EXPECT_EQ(incomparableReasons(result, config).join(QStringLiteral("; ")).toStdString(),
            "a part of the data: 12800 samples; a part of the test data: 2000 samples; 28 pixels, "
            "not 384; another model: vit/demo, not ViT-B/16; 6 epochs, not 300; another soft mask: "
            "constant, 25 epochs, not linear, 50 epochs; not pre-trained on JFT");
}

TEST(PublishedReasons, NameSharesOfTheData) {
  PublishedResult result;
  result.conditions = {{"model", "tiny"}, {"dataset", "cifar10"}, {"epochs", "6"}};
  const Json config = {
      {"model", {{"preset", "vit/tiny"}}},
      {"data",
       {{"dataset", "cifar10"}, {"train_share", 0.1}, {"test_share", 1.0}, {"holdout", 0.25}}},
      {"train", {{"epochs", 6}}}};
  EXPECT_EQ(incomparableReasons(result, config).join(QStringLiteral("; ")).toStdString(),
            "10\u2009% of the data; 25\u2009% of the data held out");
}

TEST_F(PublishedBeside, WhatARunTrainsAndStartsFromMustBeThePapers) {
  const auto reasons = [](std::vector<std::pair<std::string, std::string>> conditions,
                          Json config) {
    PublishedResult result{.conditions = {{"model", "tiny"}, {"dataset", "cifar10"}}};
    result.conditions.insert(result.conditions.end(), conditions.begin(), conditions.end());
    config["model"]["preset"] = "vit/tiny";
    config["data"] = {{"dataset", "cifar10"}};
    return incomparableReasons(result, config).join(QStringLiteral("; ")).toStdString();
  };
  const Json plain = {{"train", {{"epochs", 6}}}};
  EXPECT_EQ(reasons({{"epochs", "6"}}, plain), "");
  EXPECT_EQ(reasons({}, plain), "the paper's epochs are not stated");
  EXPECT_EQ(reasons({{"epochs", "6"}}, {{"train", {{"epochs", 6}, {"steps", 50}}}}),
            "50 steps, not 6 epochs");
  const Json soft = {{"train", {{"epochs", 6}}},
                     {"model", {{"mask", {{"kind", "soft"}, {"epochs", 25}}}}}};
  EXPECT_EQ(reasons({{"epochs", "6"}}, soft), "training ends before the soft mask does");
  Json tuned = plain;
  tuned["init"] = {{"weights", "/w/vit_b16_imagenet21k.safetensors"}, {"run", nullptr}};
  EXPECT_EQ(reasons({{"epochs", "6"}, {"pretrained_on", "ImageNet-21k"}}, tuned), "");
  EXPECT_EQ(reasons({{"epochs", "6"}}, tuned), "starts from trained weights; the paper's does not");
  EXPECT_EQ(
      reasons({{"epochs", "6"}, {"pretrained_on", "JFT"}, {"pretraining_epochs", "7"}}, tuned),
      "pre-training on JFT not confirmed for /w/vit_b16_imagenet21k.safetensors; pre-training for "
      "7 epochs not confirmed");
}

TEST_F(PublishedBeside, AFileThatIsBrokenIsASentence) {
  fillAblation(store_);
  CompareChoice choice{.publishedFile = folder_.filePath(QStringLiteral("none.toml"))};
  const auto data = read();
  EXPECT_TRUE(
      readPublishedTable(query(), *data, choice, folders()).error.contains(choice.publishedFile));
  EXPECT_TRUE(publishedFileOf("another title", folders()).empty());
}

}  // namespace
}  // namespace vitrine::ui
