// What the planner says about a text that is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/config/sample_catalog.h"
#include "tests/support/refusal.h"

namespace vitrine {
namespace {

using test::Names;
using testing_support::codes, testing_support::kGoodFile, testing_support::planMore;
using testing_support::planText, testing_support::sampleCatalog, testing_support::sentences;

Problem sole(const Plan& plan) {
  const Problem none;
  EXPECT_EQ(plan.problems.size(), 1u) << sentences(plan);
  return plan.problems.empty() ? none : plan.problems[0];
}

TEST(Problems, AGoodFileHasNone) { EXPECT_EQ(sentences(planMore("")), ""); }

TEST(Problems, UnknownKeyNamesItsPlaceAndTheNearestKey) {
  const Plan plan = planMore("[train]\n  epocs = 3\n");
  const Problem& problem = sole(plan);
  EXPECT_EQ(problem.file, "sample.toml");
  EXPECT_EQ(problem.line, 10);
  EXPECT_EQ(problem.column, 3);
  EXPECT_EQ(problem.key, "train.epocs");
  EXPECT_EQ(problem.nearest, "epochs");
  EXPECT_EQ(problem.sentence(),
            "sample.toml:10:3: train.epocs: there is no such key (did you mean 'epochs'?)");
}

TEST(Problems, AKeyAtTheWrongLevelIsShownItsPlace) {
  EXPECT_EQ(sole(planMore("[train]\nlearning_rate = 1e-3\n")).nearest,
            "train.optimizer.learning_rate");
  EXPECT_EQ(sole(planText(std::string("epochs = 3\n") + testing_support::kGoodFile)).nearest,
            "train.epochs");
}

TEST(Problems, ATableOfTheFileIsNoKeyOfTheCommandLine) {
  for (const std::string table : {"variant", "stage", "exclude", "sweep"}) {
    const Problem problem = sole(planMore("", {table + "=x"}));
    EXPECT_EQ(problem.key, table);
    EXPECT_EQ(problem.nearest, "");
    EXPECT_EQ(problem.message, "cannot be given here; write it in the experiment file as " +
                                   (table == "sweep" ? "[sweep]" : "[[" + table + "]]"));
  }
  EXPECT_EQ(sole(planMore("", {"varant=x"})).nearest, "variant");
}

TEST(Problems, AKeyLikeNoOtherGetsTheListOfLegalOnes) {
  const Problem& problem = sole(planMore("[data.augment]\nzzz = 3\n"));
  EXPECT_EQ(problem.nearest, "");
  EXPECT_THAT(problem.message, Names("crop_padding", "flip"));
}

TEST(Problems, WrongTypesAreNamed) {
  const auto message = [](const std::string& more) { return sole(planMore(more)).message; };
  EXPECT_EQ(message("[train]\nepochs = 'ten'\n"), "must be an integer, not 'ten'");
  EXPECT_EQ(message("[train]\nepochs = 3.5\n"), "must be an integer, not 3.5");
  EXPECT_EQ(message("[train]\nclip_norm = true\n"), "must be a number, not true");
  EXPECT_EQ(message("[train]\ndevice = 3\n"), "must be text, not 3");
  EXPECT_EQ(message("[train]\noptimizer = 'sgd'\n"), "must be a table, not 'sgd'");
  EXPECT_EQ(message("[train]\nseed = [0, 1, 2]\n"),
            "must be an integer, not [0, 1, 2]; values to try belong in [sweep]");
  EXPECT_EQ(message("[train]\nseed = 2026-01-01\n"), "must be an integer, not a date or time");
  EXPECT_EQ(message("[train]\nepochs = { a = 1 }\n"), "must be an integer, not a table");
  EXPECT_EQ(message("[train]\ncheckpoint.best = 'yes'\n"), "must be true or false, not 'yes'");
  EXPECT_EQ(message("[train]\noptimizer.learning_rate = nan\n"),
            "must be a finite number, not nan");
}

TEST(Problems, OutOfRangeNamesTheRangeAndUnit) {
  EXPECT_EQ(sole(planMore("[train]\nbatch_size = 0\n")).message,
            "0 is out of range; use 1 to 65536 images");
  for (const char* key : {"epochs", "checkpoint.every_epochs", "evaluate.every_epochs"}) {
    EXPECT_EQ(sole(planMore(std::string("[train]\n") + key + " = 2000000000\n")).message,
              "2e9 is out of range; use 1 to 1e9 epochs");
  }
  EXPECT_EQ(sole(planMore("[train]\noptimizer.beta1 = 1\n")).message,
            "1 is out of range; use 0 or more and less than 1");
  EXPECT_EQ(sole(planMore("[train]\nclip_norm = 0.0\n")).message,
            "0 is out of range; use more than 0");
}

TEST(Problems, UnknownChoiceNamesTheLegalOnesAndTheNearest) {
  const Plan plan = planMore("[train]\noptimizer = { name = \"adamv\" }\n");
  EXPECT_EQ(sole(plan).message, "'adamv' is none of adamw, sgd, lamb, lars");
  EXPECT_EQ(sole(plan).nearest, "adamw");
  EXPECT_EQ(sole(plan).column, 22);
}

TEST(Problems, UnknownItemsNameTheNearest) {
  EXPECT_EQ(codes(planMore("", {"model.architecture=vti"})),
            "model.architecture unknown_item -> vit");
  EXPECT_EQ(sole(planMore("", {"model.architecture=vti"})).item, "architecture/vti");
  EXPECT_EQ(sole(planMore("", {"task.name=classificaton"})).nearest, "classification");
  EXPECT_EQ(sole(planMore("", {"data.dataset=fashion-mnist"})).nearest, "fashion_mnist");
  EXPECT_EQ(sole(planMore("[observe]\ncalibraton = true\n")).nearest, "calibration");
  EXPECT_EQ(sole(planMore("", {"model.preset=vit/tinny"})).nearest, "vit/tiny");
}

TEST(Problems, MissingKeysAreNamed) {
  const Plan plan = planText("[model]\narchitecture = 'vit'\n");
  EXPECT_EQ(codes(plan), "task.name missing; data.dataset missing; model.num_classes missing");
  EXPECT_EQ(plan.problems.at(0).message, "must be given: tasks here are classification");
  EXPECT_EQ(codes(planText("")),
            "model.architecture missing; task.name missing; data.dataset missing");
}

TEST(Problems, SyntaxErrorsHaveLineAndColumn) {
  const Plan plan = planMore("[train]\nepochs = = 3\n");
  EXPECT_EQ(sole(plan).line, 10);
  EXPECT_EQ(sole(plan).column, 10);
  EXPECT_EQ(sole(plan).code, ProblemCode::BadSyntax);
  EXPECT_TRUE(plan.runs.empty());
}

TEST(Problems, SayWhatIsNotClosed) {
  const auto said = [](const std::string& text) { return sole(planText(text)).message; };
  EXPECT_EQ(said("title = \"open\n[model]\n"), "not valid TOML: this string is not closed");
  EXPECT_EQ(said("title = 'open\r\n[model]\r\n"), "not valid TOML: this string is not closed");
  EXPECT_EQ(said("title = \"\u00fcber\n"), "not valid TOML: this string is not closed");
  EXPECT_EQ(said("title = \"\"\"open\n"), "not valid TOML: this string is not closed");
  EXPECT_EQ(said("[model\nwidth = 1\n"), "not valid TOML: this table header is not closed");
  EXPECT_EQ(said("x = [1, 2\n"), "not valid TOML: this list is not closed");
  EXPECT_EQ(said("x = { a = 1\n"), "not valid TOML: this table is not closed on its line");
  EXPECT_EQ(said("x =\n"), "not valid TOML: a value is missing");
  // A control character within a string is another mistake.
  EXPECT_THAT(said("title = \"a\x01z\"\n"), Names("control characters"));
}

TEST(Problems, AreAllReportedAtOnceInTheOrderOfTheText) {
  const Plan plan = planMore(
      "[train]\nepocs = 3\nbatch_size = 'x'\noptimizer = { name = 'adam', lr = 1 }\n[obsrve]\n"
      "[[variant]]\nname = 'a'\nset = { 'model.widht' = 3 }\n",
      {"train.epochs=-1"});
  std::vector<std::string> keys;
  for (const Problem& problem : plan.problems) keys.push_back(problem.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"train.epocs", "train.batch_size",
                                            "train.optimizer.name", "train.optimizer.lr", "obsrve",
                                            "model.widht", "train.epochs"}))
      << sentences(plan);
  EXPECT_EQ(plan.problems[4].nearest, "observe");
  EXPECT_EQ(plan.problems[5].line, 16);
  EXPECT_EQ(plan.problems[6].file, "command line");
}

TEST(Problems, ThatRepeatInEveryRunAreReportedOnce) {
  const Plan plan =
      planMore("[train]\nepochs = 0\n[sweep]\n'train.seed' = [0, 1, 2]\n'model.depth' = [1, 2]\n");
  EXPECT_EQ(sole(plan).key, "train.epochs");
}

TEST(Problems, OfASweepStandAtTheValue) {
  const Plan plan = planMore("[sweep]\n'model.depth' = [1, 0, 2]\n'model.dept' = [1, 2]\n");
  ASSERT_EQ(plan.problems.size(), 3u) << sentences(plan);
  EXPECT_EQ(plan.problems[0].line, 10);
  EXPECT_EQ(plan.problems[0].column, 21);
  EXPECT_EQ(plan.problems[0].key, "model.depth");
  EXPECT_EQ(plan.problems[1].line, 11);
  EXPECT_EQ(plan.problems[1].nearest, "depth");
}

TEST(Problems, OfSweepsThemselves) {
  const auto told = [](const std::string& more) { return codes(planMore(more)); };
  EXPECT_EQ(told("sweep = 3\n[train]\n"), "data.sweep unknown_key");  // still in [data]
  EXPECT_EQ(told("[sweep]\n'train.seed' = 3\n"), "sweep.train.seed wrong_type");
  EXPECT_EQ(told("[sweep]\n'train.seed' = []\n"), "sweep.train.seed empty");
  EXPECT_EQ(told("[sweep]\n'train.seed' = [1, 2, 1]\n"), "sweep.train.seed duplicate");
  EXPECT_EQ(told("[sweep]\n'trian.seed' = [1, 2]\n"), "trian.seed unknown_key -> train");
}

TEST(Problems, OfVariantsAndStages) {
  const auto told = [](const std::string& more) { return codes(planMore(more)); };
  EXPECT_EQ(told("[variant]\nname = 'a'\n"), "variant wrong_type");
  EXPECT_EQ(told("[[variant]]\nset = { 'model.depth' = 2 }\n"), "variant.name missing");
  EXPECT_EQ(told("[[variant]]\nname = 'a'\n[[variant]]\nname = 'a'\n"), "variant.name duplicate");
  EXPECT_EQ(told("[[variant]]\nname = 'a'\nset = 3\n"), "variant.set wrong_type");
  EXPECT_EQ(sole(planMore("[[variant]]\nname = 'a'\nsets = {}\n")).nearest, "set");
  EXPECT_EQ(sole(planMore("[[variant]]\nname = 'a'\nmodel.depth = 3\n")).nearest, "set.model");
  EXPECT_EQ(told("[[stage]]\nname = 'a'\ninit = 'previous'\n"), "init.run wrong_order");
  EXPECT_EQ(told("[[stage]]\nname = 'a'\n[[stage]]\nname = 'b'\ninit = 'prev'\n"),
            "stage.init wrong_type");
}

TEST(Problems, OfDivisionNameBothFieldsAndTheLegalValues) {
  const Plan plan = planMore("", {"model.patch_size=5"});
  EXPECT_EQ(sole(plan).key, "model.patch_size");
  EXPECT_EQ(sole(plan).message,
            "patch_size 5 does not divide image_size 28; use 1, 2, 4, 7, 14 or 28 (patches tile "
            "the image)");
}

TEST(Problems, OfDivisionLookAtEachSide) {
  EXPECT_EQ(sentences(planMore("", {"model.patch_size=[7,10]", "model.image_size=[28,30]"})), "");
  EXPECT_EQ(
      sole(planMore("", {"model.image_size=[28,30]"})).message,
      "patch_size 7 does not divide image_size [28, 30]; use 1 or 2 (patches tile the image)");
}

TEST(Problems, OfMultiplesOfferTheNeighbours) {
  const Plan plan = planMore("", {"model.heads=3"});
  EXPECT_EQ(sole(plan).message,
            "width 64 is not a multiple of heads 3; use 63 or 66 (heads share the width)");
  EXPECT_EQ(sole(plan).file, "command line");
}

TEST(Problems, OfRequirementsNameWhatIsMissing) {
  EXPECT_EQ(sole(planMore("", {"model.mask.kind=soft"})).message,
            "mask.kind 'soft' needs mask.epochs to be given");
  EXPECT_EQ(sole(planMore("", {"model.mask.kind=causal", "model.pool=mean"})).message,
            "mask.kind 'causal' needs pool to be 'class_token', not 'mean'");
}

TEST(Problems, ARuleIsSilentAboutValuesThatAreWrongThemselves) {
  EXPECT_EQ(codes(planMore("", {"model.patch_size=0"})), "model.patch_size out_of_range");
}

TEST(Problems, RefusedValuesGiveTheirSentence) {
  EXPECT_EQ(sole(planMore("", {"model.pos_embed=axial"})).message,
            "axial positions are not offered yet; use learned or sincos");
}

TEST(Problems, OfCapabilitiesNameBothItems) {
  const Plan plan = planMore("[observe]\nattention_rank = true\n", {"model.architecture=plain"});
  EXPECT_EQ(sole(plan).key, "observe.attention_rank");
  EXPECT_EQ(sole(plan).message,
            "analysis 'attention_rank' needs a model with attention probabilities; architecture "
            "'plain' offers scores of classes");
  EXPECT_EQ(sole(planMore("", {"data.dataset=pictures"})).message,
            "task 'classification' needs samples with label; dataset 'pictures' offers image");
}

TEST(Problems, RefuseTheAttentionOfAnImageForAModelThatReadsNone) {
  Catalog catalog = sampleCatalog();
  ItemCard noise = *catalog.find(ItemKind::Architecture, "plain");
  noise.id = "noise";
  noise.offers = {"denoiser", "attention_source", "text_image_model"};
  ItemCard drawing = *catalog.find(ItemKind::Task, "classification");
  drawing.id = "drawing";
  drawing.needs = {"denoiser"};
  ItemCard pairs = drawing;
  pairs.id = "pairs";
  pairs.needs = {"text_image_model"};
  for (const ItemCard& card : {noise, drawing, pairs}) catalog.items.push_back(card);
  const auto planned = [&](const std::string& task) {
    return planExperiment(std::string(kGoodFile) + "[observe]\nattention_rank = true\n",
                          "sample.toml", catalog,
                          parseOverrides({"model.architecture=noise", "task.name=" + task}));
  };
  EXPECT_EQ(sole(planned("drawing")).message,
            "analysis 'attention_rank' looks at the attention of an image, and architecture "
            "'noise' does not classify or encode images");
  EXPECT_EQ(sole(planned("drawing")).key, "observe.attention_rank");
  EXPECT_EQ(codes(planned("pairs")), "") << "its samples are texts with images";
}

TEST(Problems, OfInit) {
  const auto told = [](const std::string& more) { return codes(planMore(more)); };
  EXPECT_EQ(told("[init]\nfreeze = ['a']\n"), "init missing");
  EXPECT_EQ(told("[init]\nweights = 'w'\nrun = '01234567-89ab-4def-8123-456789abcdef'\n"),
            "init conflict");
  EXPECT_EQ(told("[init]\nrun = 'seven'\n"), "init.run unknown_name");
  EXPECT_EQ(told("[init]\nrun = 7\n"), "init.run wrong_type");
  EXPECT_EQ(told("[init]\nrun = 'none'\n"), "init missing");
  EXPECT_EQ(told("[init]\nweights = 'w'\ncheckpoint = 'bset'\n"),
            "init.checkpoint unknown_name -> best");
  EXPECT_EQ(told("[init]\nrun = 'variant:a'\n[[variant]]\nname = 'a'\n"), "init.run wrong_order");
  EXPECT_EQ(sole(planMore("[[variant]]\nname = 'abc'\n[[variant]]\nname = 'b'\nset = {'init.run' = "
                          "'variant:abd'}\n"))
                .nearest,
            "variant:abc");
  EXPECT_EQ(told("[init]\nweights = 'w'\nrename = { 'head.weight' = 3 }\n"),
            "init.rename.head.weight wrong_type");
}

TEST(Problems, OfAnotherKindOfFileNameTheVerbThatReadsIt) {
  const auto told = [](const std::string& text) { return sole(planText(text)).message; };
  EXPECT_THAT(told("paper = 'x'\n[[result]]\ntable = 'Table 5'\nvalue = 1\n"),
              Names("published numbers", "vitrine report"));
  EXPECT_THAT(told("[[claim]]\nname = 'x'\nseeds = 3\n"), Names("claims", "vitrine compare"));
  EXPECT_THAT(told("title = 'x'\nminutes = 3\nexperiments = ['a.toml']\n"),
              Names("tour", "vitrine demo --tour"));
  EXPECT_THAT(told(std::string("experiments = 3\n") + kGoodFile), Names("no such key"));
}

TEST(Problems, OfOverridesSayCommandLine) {
  const Plan plan = planMore("", {"train.epocs=3"});
  EXPECT_EQ(sole(plan).sentence(),
            "command line: train.epocs: there is no such key (did you mean 'epochs'?)");
  EXPECT_EQ(sole(planMore("", {"epochs=3"})).nearest, "train.epochs");
  EXPECT_EQ(codes(planMore("", {"train.epochs="})), "train.epochs bad_syntax");
  EXPECT_EQ(codes(planMore("", {"train.optimizer={name="})), "train.optimizer bad_syntax");
}

TEST(Problems, AnOverrideNeedsAnEqualsSign) {
  EXPECT_THROW((void)parseOverride("train.epochs"), ConfigError);
  EXPECT_THROW((void)parseOverride("=3"), ConfigError);
  EXPECT_THROW((void)parseOverride(" = 3"), ConfigError);
  EXPECT_EQ(parseOverride("a = b=c").key, "a");
  EXPECT_EQ(parseOverride("\"train.epochs\" = 3").key, "train.epochs");
  EXPECT_EQ(parseOverride("a = b=c").value, "b=c");
}

TEST(Problems, BecomeJson) {
  const Plan plan = planMore("[train]\nepocs = 3\n");
  const Json json = problemsJson(plan.problems);
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["file"], "sample.toml");
  EXPECT_EQ(json[0]["line"], 10);
  EXPECT_EQ(json[0]["column"], 1);
  EXPECT_EQ(json[0]["key"], "train.epocs");
  EXPECT_EQ(json[0]["nearest"], "epochs");
  EXPECT_EQ(json[0]["code"], "unknown_key");
  EXPECT_EQ(problemsJson(planMore("", {"model.depth=0"}).problems)[0]["item"], "architecture/vit");
}

TEST(ResolveItem, CompletesTheValuesOfAnItem) {
  const Catalog catalog = sampleCatalog();
  const Schema& schema = catalog.find(ItemKind::Architecture, "vit")->schema;
  Json values = {{"num_classes", 10},
                 {"image_size", 32},
                 {"patch_size", {8, 4}},
                 {"layer_scale", "none"},
                 {"drop_path", 0}};
  EXPECT_TRUE(resolveItem(schema, "model", values).empty());
  EXPECT_EQ(values["image_size"], (Json{32, 32}));
  EXPECT_EQ(values["patch_size"], (Json{8, 4}));
  EXPECT_EQ(values["width"], 64);
  EXPECT_TRUE(values["layer_scale"].is_null());
  EXPECT_TRUE(values["drop_path"].is_number_float());
  EXPECT_EQ(values["mask"]["alpha"], 1.0);
}

TEST(ResolveItem, TakesNoneAsTheChoiceOfThatName) {
  Schema schema;
  schema.fields = {choiceField("token", "first", {"first", "none"}, "a token"),
                   choiceField("rule", nullptr, {"none", "linear"}, "a rule").orNone(),
                   choiceField("place", nullptr, {"left", "right"}, "a place").orNone()};
  Json values = {{"token", "none"}, {"rule", "none"}, {"place", "none"}};
  EXPECT_TRUE(resolveItem(schema, "model", values).empty());
  EXPECT_EQ(values["token"], "none");
  EXPECT_EQ(values["rule"], "none");
  EXPECT_TRUE(values["place"].is_null());
  values = {{"token", nullptr}, {"rule", nullptr}};
  EXPECT_EQ(resolveItem(schema, "model", values).at(0).message, "must have a value, not null");
  EXPECT_TRUE(values["rule"].is_null()) << "JSON has a word of its own for what is absent";
}

TEST(ResolveItem, TakesTrueAndFalseForANumberThatMayBeAbsent) {
  Schema schema;
  schema.fields = {realField("gain", 1e-4, "a gain").orNone(),
                   integerField("cut", nullptr, "a cut").orNone(),
                   realField("rate", 0.5, "a rate")};
  Json values = {{"gain", true}, {"cut", false}};
  EXPECT_TRUE(resolveItem(schema, "model", values).empty());
  EXPECT_EQ(values["gain"], 1e-4);
  EXPECT_TRUE(values["cut"].is_null());
  values = {{"gain", false}, {"cut", true}};
  EXPECT_EQ(resolveItem(schema, "model", values).at(0).key, "model.cut") << "true has no value";
  EXPECT_TRUE(values["gain"].is_null());
  values = {{"rate", false}};
  EXPECT_EQ(resolveItem(schema, "model", values).size(), 1u);
}

TEST(ResolveItem, TakesAListForTheChoiceThatItsWordsMake) {
  Schema schema{.fields = {choiceField("place", "none", {"none", "-1,W-1"}, "a place")}};
  Json values = {{"place", {-1, "W-1"}}};
  EXPECT_TRUE(resolveItem(schema, "model", values).empty());
  EXPECT_EQ(values["place"], "-1,W-1");
  values = {{"place", {0, "W-1"}}};
  EXPECT_EQ(resolveItem(schema, "model", values).size(), 1u);
  values = {{"place", {0.5}}};
  EXPECT_EQ(resolveItem(schema, "model", values).size(), 1u);
}

TEST(ResolveItem, ReportsKeysWithThePrefix) {
  const Catalog catalog = sampleCatalog();
  Json values = {{"num_classes", 10}, {"mask", {{"alpah", 1}}}};
  const std::vector<Problem> problems =
      resolveItem(catalog.find(ItemKind::Architecture, "vit")->schema, "model", values);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].key, "model.mask.alpah");
  EXPECT_EQ(problems[0].nearest, "alpha");
  EXPECT_EQ(problems[0].line, 0);
  EXPECT_EQ(problems[0].file, "");
}

// `run`, `infer`, `analyse` and `sample` take the same words and say the same of a wrong one.
TEST(Override, IsReadAlikeByEveryVerb) {
  const Catalog catalog = sampleCatalog();
  const Schema& schema = catalog.find(ItemKind::Architecture, "vit")->schema;
  Json depth = {{"num_classes", 10}};
  EXPECT_TRUE(resolveItem(schema, "model", depth,
                          parseOverrides({"depth=7", "mask.kind=none", "layer_scale=none",
                                          "patch_size=[7, 4]", "taps=[0, 2]", "pool='mean'"}))
                  .empty());
  EXPECT_EQ(depth["depth"], 7);
  EXPECT_EQ(depth["mask"]["kind"], "none");
  EXPECT_TRUE(depth["layer_scale"].is_null());
  EXPECT_EQ(depth["patch_size"], (Json{7, 4}));
  EXPECT_EQ(depth["pool"], "mean");
  Schema text{.fields = {textField("prompt", "", "what is asked for")}};
  Json prompt = Json::object();
  EXPECT_TRUE(resolveItem(text, "ode", prompt, parseOverrides({"prompt=7"})).empty());
  EXPECT_EQ(prompt["prompt"], "7") << "a text is what was typed";

  for (const char* word : {"depth={a=", "depth=", "depth=[[2026"}) {
    const std::string inFile = planMore("", {std::string("model.") + word}).problems.at(0).message;
    Json values = {{"num_classes", 10}}, tables = Json::object(), model;
    const std::vector<Override> given = parseOverrides({word});
    const Problem ofItem = resolveItem(schema, "model", values, given).at(0);
    EXPECT_EQ(ofItem.message, inFile) << word;
    EXPECT_EQ(ofItem.file, "command line");
    EXPECT_EQ(
        planModel(catalog,
                  parseOverrides({"model.architecture=plain", std::string("model.") + word}), model)
            .at(0)
            .message,
        inFile);
    EXPECT_EQ(test::refusal<ConfigError>([&] { layOverrides(tables, given); }),
              "command line: depth: " + inFile)
        << word;
  }
}

TEST(Override, TakesThePlaceOfAResolvedValue) {
  Json tables = {{"data", {{"folder", "/a"}, {"test_samples", nullptr}}}};
  layOverrides(tables, parseOverrides({"data.folder=7", "data.test_samples=5",
                                       "data.normalize=none", "model.image_size=[56, 28]"}));
  EXPECT_EQ(tables, (Json{{"data", {{"folder", "7"}, {"test_samples", 5}, {"normalize", "none"}}},
                          {"model", {{"image_size", {56, 28}}}}}));
}

TEST(Override, WritesAValueThatReadsBack) {
  EXPECT_EQ(overrideValue("a coat; it's red"), "a coat; it's red");
  EXPECT_EQ(overrideValue("7"), "\"7\"");
  EXPECT_EQ(overrideValue(nullptr), "none");
  const std::vector<Json> values{7,     4.0, true,  Json::array({1, 2}), "a = b", "7",  "1e5",
                                 "inf", "",  "nan", "none",              "null",  " a", "a\nb",
                                 "[a",  "{", "'a'", "true # b",          "a # b", "2026-01-02"};
  for (const Json& value : values) {
    Json tables = Json::object();
    layOverrides(tables, {parseOverride("key=" + overrideValue(value))});
    EXPECT_EQ(tables.at("key"), value) << overrideValue(value);
  }
}

TEST(PlanModel, ResolvesTheModelFromOverridesAlone) {
  Json model;
  const auto problems = planModel(
      sampleCatalog(),
      {{"model.architecture", "vit"}, {"model.preset", "vit/tiny"}, {"model.num_classes", "5"}},
      model);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(model["architecture"], "vit");
  EXPECT_EQ(model["width"], 192);
  EXPECT_EQ(model["num_classes"], 5);
}

TEST(PlanModel, TakesNoneAsTheChoiceOfThatName) {
  Json model;
  const auto problems = planModel(
      sampleCatalog(),
      {{"model.architecture", "vit"}, {"model.num_classes", "5"}, {"model.mask.kind", "none"}},
      model);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(model["mask"]["kind"], "none");
}

TEST(Plan, TakesNoneAsTheChoiceOfThatNameWhereverItIsSaid) {
  const auto normalize = [](const std::string& more, const std::vector<std::string>& words = {}) {
    const Plan plan = planMore(more, words);
    EXPECT_EQ(sentences(plan), "");
    return plan.runs.empty() ? Json() : plan.runs.back().config["data"]["normalize"];
  };
  EXPECT_EQ(normalize("", {"data.normalize=none"}), "none");
  EXPECT_EQ(normalize("", {"data.normalize=\"none\""}), "none");
  EXPECT_EQ(normalize("[sweep]\n'data.normalize' = ['half', 'none']\n"), "none");
  EXPECT_EQ(normalize("[[variant]]\nname = 'plain'\nset = { 'data.normalize' = 'none' }\n"),
            "none");
}

}  // namespace
}  // namespace vitrine
