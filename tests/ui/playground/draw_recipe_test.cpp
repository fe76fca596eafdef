#include "ui/playground/draw_recipe.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"

namespace vitrine::ui {
namespace {

Json recipe() {
  return {{"run", "uuid"},
          {"step", 1200},
          {"weights", "ema"},
          {"weights_sha256", std::string(64, 'a')},
          {"sampler", "ode"},
          {"settings", {{"class", nullptr}, {"steps", 20}, {"guidance", 4.0}}},
          {"seed", 9},
          {"device", "cpu"},
          {"precision", "bf16"},
          {"class", 7},
          {"batch", {{"first_seed", 8}, {"size", 4}}}};
}

const RecipeFact* factOf(const std::vector<RecipeFact>& facts, const QString& label) {
  const auto found = std::find_if(facts.begin(), facts.end(),
                                  [&](const RecipeFact& fact) { return fact.label == label; });
  return found == facts.end() ? nullptr : &*found;
}

TEST(RecipeFacts, BeginWithTheRunAndNameTheClassThatWasDrawn) {
  const auto facts = recipeFacts(recipe(), Json(), "#3 sneakers");
  EXPECT_EQ(facts.front().value, QStringLiteral("#3 sneakers"));
  EXPECT_EQ(factOf(facts, "class")->value, QStringLiteral("7"));
  EXPECT_EQ(factOf(facts, "guidance")->value, QStringLiteral("4"));
  EXPECT_FALSE(std::any_of(facts.begin(), facts.end(),
                           [](const RecipeFact& fact) { return fact.isDifferent; }));
}

TEST(RecipeFacts, NameTheClassAndLeaveOutWhatWasNotSet) {
  Json wide = recipe();
  wide["settings"]["attention"] = Json::array();
  wide["settings"]["prompt"] = nullptr;
  QStringList names(10, QStringLiteral("other"));
  names[7] = QStringLiteral("Sneaker");
  const auto facts = recipeFacts(wide, Json(), {}, names);
  EXPECT_EQ(factOf(facts, "class")->value, QStringLiteral("Sneaker (7)"));
  EXPECT_EQ(std::count_if(facts.begin(), facts.end(),
                          [](const RecipeFact& fact) { return fact.key == "class"; }),
            1);
  EXPECT_EQ(factOf(facts, "attention"), nullptr);
  EXPECT_EQ(factOf(facts, "prompt"), nullptr);
  EXPECT_EQ(factOf(facts, "weights hash")->value.size(), 13);
  EXPECT_EQ(recipeFacts(wide, Json(), {}, {"Coat"})[3].value, QStringLiteral("7"));
}

TEST(RecipeFacts, ShowTheHashOfEachNetwork) {
  Json judged = recipe();
  judged["networks"] = {{"judge", std::string(64, 'a')}};
  Json other = recipe();
  other["networks"] = {{"judge", std::string(64, 'b')}};
  const auto facts = recipeFacts(judged, other, {});
  ASSERT_NE(factOf(facts, "judge hash"), nullptr);
  EXPECT_EQ(factOf(facts, "judge hash")->value,
            QString(12, QLatin1Char('a')) + QChar(0x2026));
  EXPECT_TRUE(factOf(facts, "judge hash")->isDifferent);
  EXPECT_EQ(factOf(facts, "networks"), nullptr);
}

TEST(RecipeFacts, MarkWhatDiffersFromAnotherRecipe) {
  Json other = recipe();
  other["settings"]["guidance"] = 2.0;
  const auto facts = recipeFacts(recipe(), other, {});
  EXPECT_TRUE(factOf(facts, "guidance")->isDifferent);
  EXPECT_FALSE(factOf(facts, "seed")->isDifferent);
}

TEST(RecipeFacts, ListWhatOnlyTheOtherRecipeHas) {
  Json other = recipe();
  other["settings"]["solver"] = "heun";
  other["settings"]["churn"] = 0.5;
  other["settings"]["prompt"] = nullptr;
  const auto facts = recipeFacts(recipe(), other, {});
  const RecipeFact* solver = factOf(facts, "solver");
  ASSERT_NE(solver, nullptr);
  EXPECT_EQ(solver->value, QStringLiteral("\u2013"));
  EXPECT_EQ(solver->compared, QStringLiteral("heun"));
  EXPECT_TRUE(solver->isDifferent);
  EXPECT_LT(solver, factOf(facts, "guidance")) << "in the order of all";
  EXPECT_EQ(&facts.back(), factOf(facts, "churn"));
  EXPECT_EQ(factOf(facts, "prompt"), nullptr) << "it is not set there either";
}

TEST(SettingsAgain, MakeTheWholeBatchOfTheImage) {
  const SampleSettings again = settingsAgain(recipe(), 3);
  EXPECT_EQ(again.model.run, 3);
  EXPECT_EQ(again.model.checkpoint, "1200");
  EXPECT_EQ(again.model.use, "ema");
  EXPECT_EQ(again.model.request().at("precision"), "bf16");
  EXPECT_EQ(again.sampler, "ode");
  EXPECT_EQ(again.values.at("seed"), 8);
  EXPECT_EQ(again.values.at("count"), 4);
  EXPECT_EQ(again.values.at("guidance"), 4.0);
}

TEST(SettingsAgain, NeedACompleteRecipe) {
  Json broken = recipe();
  broken.erase("weights");
  EXPECT_THROW((void)settingsAgain(broken, 3), RefusedError);
  EXPECT_THROW((void)settingsAgain(Json(), 3), RefusedError);
}

TEST(Recall, TakesTheSeedTheSubjectOrEverything) {
  SampleSettings now{.model = {.run = 3, .checkpoint = "100"},
                     .values = {{"seed", 1}, {"class", 2}, {"guidance", 1.0}}};
  SampleSettings cell = now;
  cell.model.checkpoint = "200";
  cell.values = {{"seed", 5}, {"class", 7}, {"guidance", 4.0}};
  EXPECT_EQ(recalled(now, cell, 6, Recall::Seed).values,
            (Json{{"seed", 6}, {"class", 2}, {"guidance", 1.0}}));
  EXPECT_EQ(recalled(now, cell, 6, Recall::Prompt).values,
            (Json{{"seed", 1}, {"class", 7}, {"guidance", 1.0}}));
  EXPECT_EQ(recalled(now, cell, 6, Recall::All), cell);
  const SampleSettings remixed = recalled(now, cell, 6, Recall::AllButSeed);
  EXPECT_EQ(remixed.values, (Json{{"seed", 1}, {"class", 7}, {"guidance", 4.0}}));
  EXPECT_EQ(remixed.model.checkpoint, "200");
}

TEST(SampleCommand, HasWhatIsNotTheDefaultInWordsOfAShell) {
  SampleSettings settings;
  settings.model = {.run = 57, .checkpoint = "1200", .use = "ema"};
  settings.sampler = "ode";
  settings.values = {{"seed", 7}, {"count", 1}, {"guidance", 4.0}, {"steps", 50},
                     {"prompt", "a coat; it's red"}, {"class", nullptr}};
  Schema schema;
  schema.fields = {integerField("steps", 50, ""), realField("guidance", 1.0, ""),
                   integerField("class", nullptr, "").orNone(), textField("prompt", "", "")};
  EXPECT_EQ(sampleCommand(settings, schema, "/data/my lab.sqlite").toStdString(),
            "vitrine sample 57 --db '/data/my lab.sqlite' --checkpoint 1200 --use ema --with ode "
            "seed=7 count=1 guidance=4.0 'prompt=a coat; it'\\''s red'");
}

TEST(SampleCommand, QuotesATextThatWouldBeReadAsANumber) {
  SampleSettings settings;
  settings.model.run = 1;
  settings.values = {{"prompt", "7"}};
  const QString command = sampleCommand(settings, {}, {});
  EXPECT_TRUE(command.endsWith(QStringLiteral("'prompt=\"7\"'")));
  // The command would take averaged weights by itself.
  EXPECT_TRUE(command.contains(QStringLiteral("--use model")));
}

HashedImage imageOf(const std::string& hash, int grey) {
  HashedImage image;
  image.sha256 = hash;
  image.image = QImage(4, 4, QImage::Format_Grayscale8);
  image.image.fill(grey);
  return image;
}

TEST(Verdict, IsExactWhereTheHashesAreEqual) {
  const HashedImage image = imageOf("a", 10);
  EXPECT_TRUE(verdictOf(image, image).isExact);
}

TEST(Verdict, NamesTheLargestDifferenceOfThePixels) {
  const HashedImage stored = imageOf("a", 10), again = imageOf("b", 13);
  const Verdict verdict = verdictOf(stored, again);
  EXPECT_FALSE(verdict.isExact);
  EXPECT_TRUE(verdict.sentence.contains(QStringLiteral("16 pixels")));
  EXPECT_TRUE(verdict.sentence.contains(QStringLiteral("3 of 255")));
  EXPECT_FALSE(verdictOf(stored, std::nullopt).isExact);
}

}  // namespace
}  // namespace vitrine::ui
