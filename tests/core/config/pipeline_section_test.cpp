// `[data.pipeline]`: lists of transforms, their settings, and the fields they need.
#include <gmock/gmock.h>

#include "core/config/to_toml.h"
#include "tests/core/config/sample_catalog.h"

namespace vitrine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing_support::kGoodFile;
using testing_support::sampleCatalog;

Catalog catalogWithTransforms() {
  Catalog catalog = sampleCatalog();
  ItemCard flip;
  flip.kind = ItemKind::Transform;
  flip.id = "flip";
  flip.needs = {"image"};
  flip.schema.fields = {realField("probability", 0.5, "of mirroring").range(0, 1).runOnly()};
  catalog.items.push_back(flip);
  ItemCard mixup;
  mixup.kind = ItemKind::Transform;
  mixup.id = "mixup";
  mixup.needs = {"image", "label"};
  mixup.offers = {"soft_label", "batch"};
  catalog.items.push_back(mixup);
  ItemCard soft;
  soft.kind = ItemKind::Task;
  soft.id = "soft_classification";
  soft.needs = {"image_classifier", "soft_label"};
  catalog.items.push_back(soft);
  ItemCard hungry;
  hungry.kind = ItemKind::Architecture;
  hungry.id = "captioner";
  hungry.offers = {"image_classifier"};
  hungry.needs = {"caption"};
  catalog.items.push_back(hungry);
  return catalog;
}

Plan plan(const std::string& text, const std::vector<std::string>& overrides = {}) {
  static const Catalog catalog = catalogWithTransforms();
  std::vector<Override> parsed;
  for (const std::string& each : overrides) parsed.push_back(parseOverride(each));
  return planExperiment(text, "sample.toml", catalog, parsed);
}

std::vector<std::string> sentences(const Plan& plan) {
  std::vector<std::string> out;
  for (const Problem& problem : plan.problems) out.push_back(problem.key + ": " + problem.message);
  return out;
}

TEST(PipelineSection, ListsHaveEverySettingOfTheirTransforms) {
  const Plan made = plan(std::string(kGoodFile) +
                         "[[data.pipeline.train]]\nname = \"flip\"\nprobability = 1\n"
                         "[[data.pipeline.train]]\nname = \"flip\"\n");
  ASSERT_THAT(sentences(made), IsEmpty());
  EXPECT_EQ(made.runs.at(0).config["data"]["pipeline"],
            Json({{"train",
                   {{{"name", "flip"}, {"probability", 1.0}},
                    {{"name", "flip"}, {"probability", 0.5}}}}}));
  // As a file of its own it says the same.
  const Plan again = plan(toToml(made.runs.at(0).config));
  ASSERT_THAT(sentences(again), IsEmpty());
  EXPECT_EQ(again.runs.at(0).config["data"], made.runs.at(0).config["data"]);
}

TEST(PipelineSection, RefusesATransformOfSamplesBehindOneOfBatches) {
  EXPECT_THAT(
      sentences(plan(std::string(kGoodFile) +
                     "[data.pipeline]\ntrain = [{ name = \"mixup\" }, { name = \"flip\" }]\n")),
      ElementsAre("data.pipeline.train[1]: transform 'flip' changes samples and must come before "
                  "'mixup', which changes batches"));
}

TEST(PipelineSection, IsAbsentWhereTheFileHasNone) {
  EXPECT_FALSE(plan(kGoodFile).runs.at(0).config["data"].contains("pipeline"));
}

TEST(PipelineSection, CanBeGivenOnTheCommandLine) {
  const Plan made = plan(kGoodFile, {"data.pipeline.evaluate=[{name = \"flip\"}]"});
  ASSERT_THAT(sentences(made), IsEmpty());
  EXPECT_EQ(made.runs.at(0).config["data"]["pipeline"]["evaluate"].size(), 1u);
}

TEST(PipelineSection, NamesWhatIsWrong) {
  const auto wrong = [](const std::string& value) {
    return sentences(plan(std::string(kGoodFile) + "pipeline = " + value + "\n"));
  };
  EXPECT_THAT(wrong("3"), ElementsAre(HasSubstr("data.pipeline: must be a table with lists")));
  EXPECT_THAT(wrong("{ trian = [] }"),
              ElementsAre(HasSubstr("data.pipeline.trian: there is no such key")));
  EXPECT_THAT(wrong("{ train = \"flip\" }"),
              ElementsAre(HasSubstr("data.pipeline.train: must be a list of transforms")));
  EXPECT_THAT(wrong("{ train = [\"flip\"] }"),
              ElementsAre(HasSubstr("train[0]: must be a table with the name of a transform")));
  EXPECT_THAT(wrong("{ train = [{ name = \"filp\" }] }"),
              ElementsAre(HasSubstr("train[0]: there is no transform 'filp'")));
  EXPECT_THAT(wrong("{ train = [{ name = \"flip\", probability = 2 }] }"),
              ElementsAre(HasSubstr("train[0].probability: 2 is out of range")));
  EXPECT_THAT(wrong("{ train = [{ name = \"flip\", chance = 1 }] }"),
              ElementsAre(HasSubstr("train[0].chance: there is no such key")));
}

TEST(PipelineSection, AndTheShortFormOfItAreNotBothGiven) {
  EXPECT_THAT(sentences(plan(std::string(kGoodFile) +
                             "augment = { flip = 0.5 }\npipeline = { train = [] }\n")),
              ElementsAre(HasSubstr("data.augment: is not used")));
}

TEST(PipelineSection, NeedsAreAnsweredByTheDataSetAndTheTransformsBefore) {
  const auto with = [](const std::string& task, const std::string& dataset,
                       const std::string& list) {
    return sentences(plan("[model]\narchitecture = \"vit\"\nnum_classes = 10\n[task]\nname = \"" +
                          task + "\"\n[data]\ndataset = \"" + dataset +
                          "\"\npipeline = { train = [" + list + "] }\n"));
  };
  const std::string mixup = "{ name = \"mixup\" }";
  EXPECT_THAT(with("classification", "fashion_mnist", mixup), IsEmpty());
  EXPECT_THAT(with("soft_classification", "fashion_mnist", mixup), IsEmpty());
  EXPECT_THAT(with("soft_classification", "pictures", mixup),
              ElementsAre(HasSubstr("transform 'mixup' needs samples with 'label'; here they have "
                                    "image")));
  EXPECT_THAT(with("soft_classification", "fashion_mnist", ""),
              ElementsAre(HasSubstr("task.name: task 'soft_classification' needs samples with "
                                    "'soft_label'; dataset 'fashion_mnist' offers image, label")));
}

TEST(PipelineSection, AModelsNeedsOfSamplesAreChecked) {
  EXPECT_THAT(
      sentences(plan("[model]\narchitecture = \"captioner\"\n[task]\nname = "
                     "\"classification\"\n[data]\ndataset = \"fashion_mnist\"\n")),
      ElementsAre(HasSubstr("architecture 'captioner' needs samples with 'caption'; dataset "
                            "'fashion_mnist' offers image, label")));
}

TEST(PipelineSection, ASubsetIsACountOrAShare) {
  EXPECT_THAT(sentences(plan(std::string(kGoodFile) + "train_share = 0.1\n")), IsEmpty());
  EXPECT_THAT(sentences(plan(std::string(kGoodFile) + "train_share = 0.1\ntrain_samples = 10\n")),
              ElementsAre(HasSubstr("data.train_share: data.train_samples says how many already")));
  EXPECT_THAT(sentences(plan(std::string(kGoodFile) + "test_share = 0\n")),
              ElementsAre(HasSubstr("data.test_share: 0 is out of range")));
}

}  // namespace
}  // namespace vitrine
