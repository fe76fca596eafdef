#include "ui/playground/sample_settings.h"

#include <gtest/gtest.h>

namespace vitrine::ui {
namespace {

SampleSettings settingsOf(Json values) {
  return {.model = {.run = 3, .checkpoint = "500", .use = "ema"},
          .sampler = "ode",
          .values = std::move(values)};
}

Field guidance() { return realField("guidance", 1.0, "").titled("Guidance").range(0, 10); }
Field steps() { return integerField("steps", 50, "").titled("Steps").range(2, 1000); }
Field solver() { return choiceField("solver", "heun", {"euler", "heun"}, "").titled("Solver"); }
Field prompt() { return textField("prompt", "", "").titled("Prompt"); }

TEST(SampleSettings, AGridIsTheProductOfItsAxesRowByRow) {
  SampleGrid grid{.rows = GridAxis{"class", "Class", {7, 8}, {"Sneaker", "Bag"}},
                  .columns = GridAxis{"guidance", "Guidance", {1.0, 2.0, 4.0}, {"1", "2", "4"}}};
  const auto cells = cellsOf(settingsOf({{"class", 0}, {"seed", 7}}), grid);
  ASSERT_EQ(cells.size(), 6U);
  EXPECT_EQ(cells[1].values, (Json{{"class", 7}, {"seed", 7}, {"guidance", 2.0}}));
  EXPECT_EQ(cells[3].values.at("class"), 8);
  EXPECT_EQ(cells[3].values.at("guidance"), 1.0);
}

TEST(SampleSettings, AnImageToDescribeLeavesThePromptOut) {
  const SampleSettings base = settingsOf({{"prompt", "a bag"}, {"image", "test/17"}});
  EXPECT_EQ(cellsOf(base, {})[0].values, (Json{{"image", "test/17"}}));
  const SampleSettings drawn = settingsOf({{"prompt", "a bag"}, {"image", nullptr}});
  EXPECT_EQ(cellsOf(drawn, {})[0].values, drawn.values);
}

TEST(SampleSettings, WithoutAxesThereIsOneCell) {
  EXPECT_EQ(cellsOf(settingsOf({{"seed", 7}}), {}).size(), 1U);
}

TEST(SampleSettings, CheckpointWeightsAndSamplerMayBeAxesAsWell) {
  SampleGrid grid{.rows = GridAxis{kCheckpointKey, "Checkpoint", {"100", "200"}, {}},
                  .columns = GridAxis{kWeightsKey, "Weights", {"model", "ema"}, {}}};
  const auto cells = cellsOf(settingsOf({{"seed", 7}}), grid);
  EXPECT_EQ(cells[2].model.checkpoint, "200");
  EXPECT_EQ(cells[2].model.use, "model");
  EXPECT_EQ(cells[1].model.use, "ema");
  EXPECT_EQ(cells[2].values, (Json{{"seed", 7}}));
  EXPECT_EQ(withValue(cells[0], kSamplerKey, "sde").sampler, "sde");
}

TEST(SampleSettings, AnotherRunOfAGridHasItsNewestCheckpointUnlessTheGridNamesOne) {
  SampleGrid grid{.columns = GridAxis{kRunKey, "Runs", {"3", "4"}, {}}};
  const auto cells = cellsOf(settingsOf({{"seed", 7}}), grid);
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(cells[0].model.run, 3);
  EXPECT_EQ(cells[0].model.checkpoint, "500") << "the chosen one";
  EXPECT_EQ(cells[1].model.run, 4);
  EXPECT_EQ(cells[1].model.checkpoint, "latest");
  EXPECT_EQ(cells[1].values, (Json{{"seed", 7}}));
  grid.rows = GridAxis{kCheckpointKey, "Checkpoint", {"100"}, {}};
  EXPECT_EQ(cellsOf(settingsOf({}), grid)[1].model.checkpoint, "100");
}

TEST(SampleSettings, ARequestNamesTheSamplerAndItsSettings) {
  EXPECT_EQ(settingsOf({{"seed", 7}}).request(),
            (Json{{"op", "sample"}, {"settings", {{"seed", 7}}}, {"sampler", "ode"}}));
}

TEST(SampleSettings, ComeBackFromJsonAsTheyWere) {
  const SampleSettings settings = settingsOf({{"seed", 7}, {"guidance", 2.5}});
  EXPECT_EQ(settingsFromJson(toJson(settings)), settings);
  EXPECT_EQ(settingsFromJson(Json("text")).model.run, 0);
  EXPECT_EQ(settingsFromJson(Json{{"run", "seven"}, {"values", 3}}).values, Json::object());
}

TEST(AxisValues, AreListsAndRanges) {
  EXPECT_EQ(axisValues(guidance(), "1, 1.5,2").values, (std::vector<Json>{1.0, 1.5, 2.0}));
  EXPECT_EQ(axisValues(guidance(), "0..1..0.25").values,
            (std::vector<Json>{0.0, 0.25, 0.5, 0.75, 1.0}));
  EXPECT_EQ(axisValues(steps(), "2..5").values, (std::vector<Json>{2, 3, 4, 5}));
  EXPECT_EQ(axisValues(solver(), "euler, heun").values, (std::vector<Json>{"euler", "heun"}));
}

TEST(AxisValues, OfATextStandBetweenBars) {
  EXPECT_EQ(axisValues(prompt(), "a coat, red | a bag").values,
            (std::vector<Json>{"a coat, red", "a bag"}));
}

TEST(AxisValues, AreTheTextThatTheyWereMadeOf) {
  for (const auto& [field, text] : {std::pair(guidance(), "1, 1.5, 2"), std::pair(steps(), "2, 3"),
                                    std::pair(prompt(), "a coat, red | a bag")}) {
    EXPECT_EQ(axisText(field, axisValues(field, text).values).toStdString(), text);
  }
}

TEST(AxisValues, ThatTheFieldDoesNotAllowAreNamed) {
  EXPECT_TRUE(axisValues(guidance(), "1, 11").error.contains("11"));
  EXPECT_TRUE(axisValues(steps(), "2.5").error.contains("2.5"));
  EXPECT_TRUE(axisValues(steps(), "2..4..0.5").error.contains("0.5")) << "values twice";
  EXPECT_TRUE(axisValues(solver(), "heun, rk4").error.contains("rk4"));
  const Field flag = flagField("clip", true, "");
  EXPECT_EQ(axisValues(flag, "true, No").values, (std::vector<Json>{true, false}));
  EXPECT_TRUE(axisValues(flag, "true, of").error.contains("of"));
  EXPECT_FALSE(axisValues(guidance(), "").error.isEmpty());
  EXPECT_FALSE(axisValues(guidance(), "3..1").error.isEmpty());
  EXPECT_FALSE(axisValues(steps(), "2..1000").error.isEmpty());
}

TEST(ValueProblem, NamesTheFieldAndWhatItTakes) {
  EXPECT_EQ(valueProblem(guidance(), 2.5).toStdString(), "");
  EXPECT_EQ(valueProblem(guidance(), "much").toStdString(),
            "Guidance takes a number, not \u201cmuch\u201d");
  EXPECT_FALSE(valueProblem(guidance(), std::nan("")).isEmpty());
  EXPECT_FALSE(valueProblem(steps(), Json()).isEmpty()) << "no value is not one";
  const Field patch = listField("attention", FieldType::Real, Json::array(), "").range(0, 1);
  EXPECT_EQ(valueProblem(patch, Json::array({0.5, 1.0})).toStdString(), "");
  EXPECT_TRUE(valueProblem(patch, Json::array({0.5, 2.0})).contains("Attention"));
}

TEST(ChangedKeys, NameWhatDiffers) {
  const SampleSettings before = settingsOf({{"seed", 7}, {"guidance", 2.0}});
  SampleSettings now = settingsOf({{"seed", 8}, {"guidance", 2.0}});
  EXPECT_EQ(changedKeys(before, now), (std::vector<std::string>{"seed"}));
  now.model.checkpoint = "600";
  EXPECT_EQ(changedKeys(before, now), (std::vector<std::string>{"checkpoint", "seed"}));
  EXPECT_TRUE(changedKeys(now, now).empty());
}

TEST(SampleCost, IsInStepsUntilADrawingWasTimed) {
  SamplePace pace;
  const std::vector<SampleSettings> cells(
      3, settingsOf({{"steps", 20}, {"count", 4}, {"guidance", 2.0}}));
  SampleCost cost = pace.costOf(cells);
  EXPECT_EQ(cost.images, 12);
  EXPECT_EQ(cost.steps, 20);
  EXPECT_FALSE(cost.seconds);
  EXPECT_FALSE(cost.evaluations);
  pace.learn(settingsOf({{"steps", 10}, {"count", 1}, {"guidance", 3.0}}), 0.5, 19);
  cost = pace.costOf(cells);
  EXPECT_EQ(cost.evaluations, 38);
  EXPECT_NEAR(cost.seconds.value(), 12.0, 1e-9);
}

TEST(SampleCost, ADescriptionIsATextWithoutSteps) {
  SamplePace pace;
  const SampleSettings described = settingsOf({{"steps", 50}, {"count", 2}, {"image", "test/3"}});
  const SampleSettings drawn = settingsOf({{"steps", 50}, {"count", 2}, {"image", nullptr}});
  EXPECT_EQ(costText(pace.costOf({described})), QStringLiteral("2 texts"));
  pace.learn(drawn, 8, 100);
  EXPECT_FALSE(pace.costOf({described}).seconds) << "drawing is another matter";
  pace.learn(described, 0.5, std::nullopt);
  EXPECT_NEAR(pace.costOf({described, described}).seconds.value(), 1, 1e-9);
  EXPECT_FALSE(pace.costOf({described, drawn}).areTexts);
}

TEST(SampleCost, OfTextsCountsTexts) {
  SampleCost cost{.images = 2};
  EXPECT_EQ(costText(cost, true), QStringLiteral("2 texts"));
  EXPECT_EQ(costText(cost), QStringLiteral("2 images"));
  cost.seconds = 0.01;
  EXPECT_EQ(costText(cost), QStringLiteral("2 images \u00b7 less than a second"));
}

TEST(SampleCost, OfAnotherSolverIsNotGuessed) {
  SamplePace pace;
  pace.learn(settingsOf({{"steps", 10}, {"solver", "heun"}}), 0.5, 20);
  EXPECT_TRUE(pace.costOf({settingsOf({{"steps", 10}, {"solver", "heun"}})}).seconds);
  EXPECT_FALSE(pace.costOf({settingsOf({{"steps", 10}, {"solver", "euler"}})}).seconds);
  // Guidance asks the network twice.
  EXPECT_FALSE(
      pace.costOf({settingsOf({{"steps", 10}, {"solver", "heun"}, {"guidance", 4.0}})}).seconds);
}

TEST(SampleCost, ThatDiffersFromCellToCellHasNoNumberOfSteps) {
  const SamplePace pace;
  EXPECT_FALSE(pace.costOf({settingsOf({{"steps", 10}}), settingsOf({{"steps", 20}})}).steps);
}

}  // namespace
}  // namespace vitrine::ui
