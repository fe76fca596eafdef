// `[data.pipeline]`: lists of transforms, their settings, and the fields they need.
#include <gmock/gmock.h>

#include "core/config/toml/to_toml.h"
#include "tests/core/config/sample_catalog.h"

namespace vitrine {
namespace {

using testing_support::codes, testing_support::kGoodFile, testing_support::sampleCatalog;

Catalog catalogWithTransforms() {
  Catalog catalog = sampleCatalog();
  ItemCard flip{.kind = ItemKind::Transform, .id = "flip", .needs = {"image"}};
  flip.schema.fields = {realField("probability", 0.5, "of mirroring").range(0, 1).runOnly()};
  catalog.items.push_back(flip);
  catalog.items.push_back({.kind = ItemKind::Transform,
                           .id = "mixup",
                           .offers = {"soft_label", "batch"},
                           .needs = {"image", "label"}});
  catalog.items.push_back({.kind = ItemKind::Task,
                           .id = "soft_classification",
                           .needs = {"image_classifier", "soft_label"}});
  catalog.items.push_back({.kind = ItemKind::Architecture,
                           .id = "captioner",
                           .offers = {"image_classifier"},
                           .needs = {"caption"}});
  return catalog;
}

Plan plan(const std::string& text, const std::vector<std::string>& overrides = {}) {
  static const Catalog catalog = catalogWithTransforms();
  std::vector<Override> parsed;
  for (const std::string& each : overrides) parsed.push_back(parseOverride(each));
  return planExperiment(text, "sample.toml", catalog, parsed);
}

TEST(PipelineSection, ListsHaveEverySettingOfTheirTransforms) {
  const Plan made = plan(std::string(kGoodFile) +
                         "[[data.pipeline.train]]\nname = \"flip\"\nprobability = 1\n"
                         "[[data.pipeline.train]]\nname = \"flip\"\n");
  ASSERT_EQ(codes(made), "");
  EXPECT_EQ(made.runs.at(0).config["data"]["pipeline"],
            Json({{"train",
                   {{{"name", "flip"}, {"probability", 1.0}},
                    {{"name", "flip"}, {"probability", 0.5}}}}}));
  // As a file of its own it says the same.
  const Plan again = plan(toToml(made.runs.at(0).config));
  ASSERT_EQ(codes(again), "");
  EXPECT_EQ(again.runs.at(0).config["data"], made.runs.at(0).config["data"]);
}

TEST(PipelineSection, RefusesATransformOfSamplesBehindOneOfBatches) {
  EXPECT_EQ(codes(plan(std::string(kGoodFile) +
                       "[data.pipeline]\ntrain = [{ name = \"mixup\" }, { name = \"flip\" }]\n")),
            "data.pipeline.train[1] wrong_order");
}

TEST(PipelineSection, IsAbsentWhereTheFileHasNone) {
  EXPECT_FALSE(plan(kGoodFile).runs.at(0).config["data"].contains("pipeline"));
}

TEST(PipelineSection, CanBeGivenOnTheCommandLine) {
  const Plan made = plan(kGoodFile, {"data.pipeline.evaluate=[{name = \"flip\"}]"});
  ASSERT_EQ(codes(made), "");
  EXPECT_EQ(made.runs.at(0).config["data"]["pipeline"]["evaluate"].size(), 1u);
}

TEST(PipelineSection, NamesWhatIsWrong) {
  const auto wrong = [](const std::string& value) {
    return codes(plan(std::string(kGoodFile) + "pipeline = " + value + "\n"));
  };
  EXPECT_EQ(wrong("3"), "data.pipeline wrong_type");
  EXPECT_EQ(wrong("{ trian = [] }"), "data.pipeline.trian unknown_key -> train");
  EXPECT_EQ(wrong("{ train = \"flip\" }"), "data.pipeline.train wrong_type");
  EXPECT_EQ(wrong("{ train = [\"flip\"] }"), "data.pipeline.train[0] wrong_type");
  EXPECT_EQ(wrong("{ train = [{ name = \"filp\" }] }"),
            "data.pipeline.train[0] unknown_item -> flip");
  EXPECT_EQ(wrong("{ train = [{ name = \"flip\", probability = 2 }] }"),
            "data.pipeline.train[0].probability out_of_range");
  EXPECT_EQ(wrong("{ train = [{ name = \"flip\", chance = 1 }] }"),
            "data.pipeline.train[0].chance unknown_key");
}

TEST(PipelineSection, AndTheShortFormOfItAreNotBothGiven) {
  EXPECT_EQ(
      codes(plan(std::string(kGoodFile) + "augment = { flip = 0.5 }\npipeline = { train = [] }\n")),
      "data.augment conflict");
}

TEST(PipelineSection, NeedsAreAnsweredByTheDataSetAndTheTransformsBefore) {
  const auto with = [](const std::string& task, const std::string& dataset,
                       const std::string& list) {
    return codes(plan("[model]\narchitecture = \"vit\"\nnum_classes = 10\n[task]\nname = \"" +
                      task + "\"\n[data]\ndataset = \"" + dataset + "\"\npipeline = { train = [" +
                      list + "] }\n"));
  };
  const std::string mixup = "{ name = \"mixup\" }";
  EXPECT_EQ(with("classification", "fashion_mnist", mixup), "");
  EXPECT_EQ(with("soft_classification", "fashion_mnist", mixup), "");
  EXPECT_EQ(with("soft_classification", "pictures", mixup),
            "data.pipeline.train[0] missing_capability");
  EXPECT_EQ(with("soft_classification", "fashion_mnist", ""), "task.name missing_capability");
}

TEST(PipelineSection, AModelsNeedsOfSamplesAreChecked) {
  EXPECT_EQ(codes(plan("[model]\narchitecture = \"captioner\"\n[task]\nname = "
                       "\"classification\"\n[data]\ndataset = \"fashion_mnist\"\n")),
            "model.architecture missing_capability");
}

TEST(PipelineSection, ASubsetIsACountOrAShare) {
  EXPECT_EQ(codes(plan(std::string(kGoodFile) + "train_share = 0.1\n")), "");
  EXPECT_EQ(codes(plan(std::string(kGoodFile) + "train_share = 0.1\ntrain_samples = 10\n")),
            "data.train_share conflict");
  EXPECT_EQ(codes(plan(std::string(kGoodFile) + "test_share = 0\n")),
            "data.test_share out_of_range");
}

}  // namespace
}  // namespace vitrine
