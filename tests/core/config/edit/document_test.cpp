#include "core/config/edit/document.h"

#include <gtest/gtest.h>

#include "core/config/edit/toml_outline.h"
#include "core/config/toml/to_toml.h"

namespace vitrine {
namespace {

Document parsed(const std::string& text) {
  Problem problem;
  const auto document = parseDocument(text, problem);
  EXPECT_TRUE(document) << problem.message;
  return document.value_or(Document());
}

const char* const kText = R"(title = "A \"quoted\" title"
init_note = 3

[model]
architecture = "picture"
preset = "picture/demo"
width = 128
mask.kind = "soft"
mask.epochs = 3

[data]
dataset = "squares"

[train]
optimizer.learning_rate = 0.0003
clip_norm = 1.0
ema.decay = "none"

[observe]
attention_rank = {}
calibration.every_epochs = 1

[sweep]
"train.batch_size" = [64, 128]
"train.seed" = [0, 1, 2]

[[variant]]
name = "baseline"

[[variant]]
name = "+ soft mask"
set = { "model.mask" = { kind = "soft", epochs = 2 }, "train.epochs" = 5 }

[[stage]]
name = "pretrain"

[[stage]]
name = "finetune"
set = { "model.image_size" = 56 }
)";

TEST(Document, ReadsWhatItWrites) {
  const Document document = parsed(kText);
  EXPECT_EQ(document.title, "A \"quoted\" title");
  EXPECT_EQ(*document.find("model.mask.kind"), "soft");
  EXPECT_EQ(document.sweep.size(), 2U);
  EXPECT_EQ(document.variants[1].set[1].first, "train.epochs");
  const std::string written = toText(document);
  EXPECT_EQ(toText(parsed(written)), written);
  const Document again = parsed(written);
  EXPECT_EQ(again.tables, document.tables);
  EXPECT_EQ(again.rest, document.rest);
  EXPECT_EQ(again.variants[1].set, document.variants[1].set);
}

TEST(Document, KeepsTheOrderOfSweepAxesInTheFile) {
  const Document document = parsed("[sweep]\n\"z.last\" = [1]\n\"a.first\" = [2, 3]\n");
  EXPECT_EQ(document.sweep[0].key, "z.last");
  EXPECT_EQ(document.sweep[1].key, "a.first");
}

TEST(Document, TakesApartWhatAVariantOrStageSetsExceptTablesInBraces) {
  const Document document = parsed(
      "[[variant]]\nname = \"a\"\n"
      "set = { model.mask.epochs = 3, \"model.rope\" = { theta = 10 } }\n"
      "[[variant]]\nname = \"b\"\n[variant.set.model]\nwidth = 2\n"
      "[[stage]]\nname = \"s\"\nset = { model.image_size = 56 }\n");
  using Set = std::vector<std::pair<std::string, Json>>;
  ASSERT_EQ(document.variants.size(), 2U);
  EXPECT_EQ(document.variants[0].set,
            (Set{{"model.mask.epochs", 3}, {"model.rope", Json{{"theta", 10}}}}));
  EXPECT_EQ(document.variants[1].set, (Set{{"model.width", 2}}));
  EXPECT_NE(toText(document).find("set = { \"model.image_size\" = 56 }"), std::string::npos)
      << "in braces, a table [model] would replace that of the file";
}

TEST(Document, NamesTheLineOfASyntaxError) {
  Problem problem;
  EXPECT_FALSE(parseDocument("title = \"a\"\n[model\nwidth = 1\n", problem));
  EXPECT_EQ(problem.line, 2);
  EXPECT_FALSE(problem.message.empty());
}

TEST(Document, RefusesAKeyOfManyPartsWhateverStandsBeforeIt) {
  std::string deep = "a";
  for (int i = 0; i < 1'000'000; ++i) deep += ".a";
  for (const std::string& text :
       {deep + " = 1\n", "x = {k = \"\"\"y\"\"\"\", " + deep + " = 1}\n",
        "x = {k = \'\'\'y\'\'\'\', " + deep + " = 1}\n", "[" + deep + "]\n",
        "[[variant]]\nset = {\"" + deep + "\" = 1}\n"}) {
    Problem problem;
    EXPECT_FALSE(parseDocument(text, problem));
    EXPECT_NE(problem.message.find("nested deeper than 64"), std::string::npos) << problem.message;
    EXPECT_EQ(parseValue("{" + deep + " = 1}"), "{" + deep + " = 1}") << "a text";
    static_cast<void>(outlineToml(text));
  }
}

TEST(Document, ForgetsTablesThatBecameEmpty) {
  Document document;
  document.set("train.optimizer.learning_rate", 1e-3);
  document.erase("train.optimizer.learning_rate");
  EXPECT_EQ(document.find("train"), nullptr);
}

TEST(Document, KeepsAnAnalysisThatHasNoKeysLeft) {
  Document document;
  document.set("observe.calibration.every_steps", 10);
  document.erase("observe.calibration.every_steps");
  ASSERT_NE(document.find("observe.calibration"), nullptr);
  EXPECT_NE(toText(document).find("calibration = {}"), std::string::npos);
}

TEST(Document, WritesRealsAsReals) {
  EXPECT_EQ(tomlValue(Json(1.0)), "1.0");
  EXPECT_EQ(parseValue(tomlValue(Json(1e-8))), Json(1e-8));
  EXPECT_EQ(tomlValue(Json(nullptr)), "\"none\"");
  EXPECT_EQ(tomlValue(Json::array({28, 32})), "[28, 32]");
}

TEST(Document, ReadsBackCharactersThatTomlForbidsInPlace) {
  const std::string nasty =
      "a\x7F"
      "b\x01\n\t\"\\\u00e4";
  Document document;
  document.title = nasty;
  document.set("data.folder", nasty);
  document.set("init." + nasty, 1);
  document.variants.push_back({nasty, {{"data.folder", nasty}}});
  const Document again = parsed(toText(document));
  EXPECT_EQ(again.title, nasty);
  EXPECT_EQ(again.text("data.folder"), nasty);
  EXPECT_EQ(again.tables, document.tables);
  ASSERT_EQ(again.variants.size(), 1U);
  EXPECT_EQ(again.variants[0].name, nasty);
  EXPECT_EQ(parsed(toToml(document.tables)).tables, document.tables);
}

TEST(Document, StaysReadableWhenTextIsNotUtf8) {
  Document document;
  document.title = "a\xFFz";
  document.set("data.folder", "caf\xE9");
  EXPECT_EQ(parsed(toText(document)).title, "a\uFFFDz");
  EXPECT_EQ(parsed(toText(document)).text("data.folder"), "caf\uFFFD");
  EXPECT_EQ(parsed(toToml(document.tables)).text("data.folder"), "caf\uFFFD");
}

TEST(Overrides, AreOnePerLineAndBareWordsAreText) {
  std::vector<std::string> bad;
  const auto overrides =
      parseOverrides("model.mask.kind = soft\n# a remark\n\"train.epochs\" = 3\nnonsense\n", bad);
  ASSERT_EQ(overrides.size(), 2U);
  EXPECT_EQ(overrides[0], (std::pair<std::string, Json>{"model.mask.kind", "soft"}));
  EXPECT_EQ(overrides[1], (std::pair<std::string, Json>{"train.epochs", 3}));
  EXPECT_EQ(bad, std::vector<std::string>{"nonsense"});
}

}  // namespace
}  // namespace vitrine
