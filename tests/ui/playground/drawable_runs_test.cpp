#include "ui/playground/drawable_runs.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/has_texts.h"
#include "tests/ui/playground/playground_fixture.h"

namespace vitrine::ui {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;

Json configOf(const char* architecture, const char* task) {
  return {{"model", {{"architecture", architecture}}}, {"task", {{"name", task}}}};
}

TEST(SamplersFor, AreThoseWhoseNeedsTheModelMeets) {
  const Catalog catalog = drawingCatalog();
  EXPECT_THAT(samplersFor(catalog, configOf("painter", "paint")), ElementsAre("slow", "quick"));
  EXPECT_THAT(samplersFor(catalog, configOf("talker", "talk")), ElementsAre("speaker"));
  EXPECT_THAT(samplersFor(catalog, configOf("judge", "choose")), IsEmpty());
  EXPECT_THAT(samplersFor(catalog, configOf("unknown", "paint")), IsEmpty());
  EXPECT_THAT(samplersFor(catalog, Json::object()), IsEmpty());
}

TEST(SamplersFor, AModelThatWasTrainedForSomethingElseAreNone) {
  EXPECT_THAT(samplersFor(drawingCatalog(), configOf("painter", "choose")), IsEmpty());
}

TEST(MakesTextOnly, IsASamplerThatAsksForALanguageModelAlone) {
  Catalog catalog = drawingCatalog();
  for (auto& card : catalog.items) {
    if (card.id == "speaker") card.needs = {"language_model"};
    if (card.id == "slow") card.needs = {"painting", "language_model"};
  }
  EXPECT_TRUE(makesTextOnly(catalog, "speaker"));
  EXPECT_FALSE(makesTextOnly(catalog, "slow")) << "it draws, too";
  EXPECT_FALSE(makesTextOnly(catalog, "quick"));
  EXPECT_FALSE(makesTextOnly(catalog, "unknown"));
}

TEST(FormEntries, BeginWithWhatIsDrawnAndLeaveTheSettingsOfThePageOut) {
  DrawableRun run{.samplers = {"slow", "quick"}};
  run.checkpoints.resize(2);
  run.checkpoints[0].step = 100;
  run.checkpoints[1].step = 50;
  run.hasAverage = true;
  const auto entries = formEntries(drawingCatalog(), run, "quick", {"Coat", "Bag"});
  const auto find = [&](const std::string& key) {
    return std::find_if(entries.begin(), entries.end(),
                        [&](const FormEntry& entry) { return entry.field.name == key; });
  };
  EXPECT_EQ(find("attention"), entries.end());
  ASSERT_NE(find("class"), entries.end());
  EXPECT_EQ(find("class")->valueTitles, (QStringList{"Coat (0)", "Bag (1)"}));
  EXPECT_EQ(find("checkpoint")->field.choices, (std::vector<std::string>{"100", "50"}));
  EXPECT_EQ(find("weights")->field.choices, (std::vector<std::string>{"ema", "model"}));
  EXPECT_FALSE(find("steps")->isRare);
  EXPECT_TRUE(find("previews")->isRare);
  EXPECT_LT(find("class") - entries.begin(), find("steps") - entries.begin());
}

TEST(FormEntries, TheSizeIsInSightWhereASamplerDrawsMoreThanOne) {
  Catalog catalog = drawingCatalog();
  for (ItemCard& card : catalog.items) {
    if (card.id == "quick")
      card.schema.fields.push_back(integerField("size", 8, "sides").titled("Size").range(8, 64));
  }
  DrawableRun run{.samplers = {"slow", "quick"}};
  run.checkpoints.resize(1);
  const auto hasSize = [&](const char* sampler) {
    for (const FormEntry& entry : formEntries(catalog, run, sampler, {})) {
      if (entry.field.name == "size") return !entry.isRare;
    }
    return false;
  };
  EXPECT_TRUE(hasSize("quick"));
  EXPECT_FALSE(hasSize("slow"));
}

TEST(FormEntries, RunsThatTheSamplerFitsAreValuesOfAGrid) {
  std::vector<DrawableRun> runs(3);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].id = static_cast<std::int64_t>(i) + 1;
    runs[i].name = QStringLiteral("a");
    runs[i].checkpoints.resize(1);
    runs[i].samplers = {i == 2 ? "speaker" : "quick"};
  }
  const auto entryOfRuns = [&](std::size_t chosen, const char* sampler) -> const FormEntry* {
    static std::vector<FormEntry> entries;
    entries = formEntries(drawingCatalog(), runs[chosen], sampler, {}, runs);
    for (const FormEntry& entry : entries) {
      if (entry.field.name == kRunKey) return &entry;
    }
    return nullptr;
  };
  const FormEntry* entry = entryOfRuns(1, "quick");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->field.choices, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(entry->field.defaultValue, "2") << "the chosen run";
  EXPECT_EQ(entry->valueTitles, (QStringList{"#1 a", "#2 a"}));
  EXPECT_EQ(entryOfRuns(2, "speaker"), nullptr) << "a grid needs two runs";
}

TEST(ProbeSettings, AreTheFewestStepsThatEverySamplerTakes) {
  DrawableRun run{.samplers = {"slow", "quick"}};
  EXPECT_EQ(probeSettings(drawingCatalog(), run), (Json{{"count", 1}, {"steps", 2}}));
  run.samplers = {"speaker"};
  EXPECT_EQ(probeSettings(drawingCatalog(), run), (Json{{"count", 1}}));
}

TEST(DrawingExperiment, NamesAModelATaskAndDataThatFitTogether) {
  const std::string text = drawingExperiment(drawingCatalog());
  EXPECT_THAT(text, test::HasTexts("architecture = \"painter\"", "name = \"paint\"",
                                   "dataset = \"clothes\""));
  EXPECT_EQ(drawingExperiment({}), "");
}

class DrawableRunsTest : public PlaygroundTest {};

TEST_F(DrawableRunsTest, HaveACheckpointAndASamplerAndTheNamesOfOtherRuns) {
  const std::int64_t painter = addRun("painter", "painter", "paint");
  addRun("judge", "judge", "choose");
  workbench_.addRun("fresh", configOf("painter", "paint"));
  nameClasses();
  const std::atomic<bool> isStale = false;
  const DrawableRuns found = readDrawableRuns(workbench_.store(), drawingCatalog(), isStale);
  ASSERT_EQ(found.runs.size(), 1U);
  EXPECT_EQ(found.runs[0].id, painter);
  EXPECT_TRUE(found.runs[0].hasAverage);
  EXPECT_EQ(found.runs[0].checkpoints.front().step, 100);
  EXPECT_EQ(found.classNames.at("clothes"), (QStringList{"Coat", "Sneaker", "Bag"}));
}

}  // namespace
}  // namespace vitrine::ui
