#include "core/config/schema.h"

#include <gtest/gtest.h>

#include <functional>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/config/lookup.h"
#include "tests/core/config/sample_catalog.h"
#include "tests/support/refusal.h"

namespace vitrine {
namespace {

using testing_support::sampleCatalog;

TEST(Schema, SurvivesTheWayThroughJson) {
  const Catalog catalog = sampleCatalog();
  const Json once = toJson(catalog);
  const Json twice = toJson(catalogFromJson(Json::parse(once.dump())));
  EXPECT_EQ(once, twice);
  EXPECT_EQ(once.dump(), twice.dump());
}

TEST(Schema, BuiltInOnesSurviveTheWayThroughJson) {
  for (const Schema* schema : {&trainSchema(), &dataSchema(), &observeSchema()}) {
    const Json once = toJson(*schema);
    EXPECT_EQ(once.dump(), toJson(schemaFromJson(Json::parse(once.dump()))).dump());
  }
}

TEST(Schema, ComesBackWithEveryProperty) {
  Field field = realField("rate", 1, "a rate")
                    .range(0, 2)
                    .moreThan(-1)
                    .lessThan(3)
                    .withUnit("1/step")
                    .orNone()
                    .runOnly();
  field.required = true;
  field.refuse({1.5, "old"}, "not offered");
  Schema schema;
  schema.fields = {field,
                   choiceField("kind", "a", {"a", "b"}, "kind").withChoiceDocs({"first", "second"}),
                   listField("list", FieldType::Bool, Json::array(), "flags")};
  const Schema back = schemaFromJson(toJson(schema));
  const Field& rate = back.fields[0];
  EXPECT_EQ(rate.type, FieldType::Real);
  EXPECT_TRUE(rate.defaultValue.is_number_float());
  EXPECT_EQ(rate.minimum, 0.0);
  EXPECT_EQ(rate.maximum, 2.0);
  EXPECT_EQ(rate.above, -1.0);
  EXPECT_EQ(rate.below, 3.0);
  EXPECT_EQ(rate.unit, "1/step");
  EXPECT_TRUE(rate.nullable);
  EXPECT_TRUE(rate.required);
  EXPECT_EQ(rate.affects, Affects::Run);
  EXPECT_EQ(rate.refusedValues, (std::vector<Json>{1.5, "old"}));
  EXPECT_EQ(rate.refusal, "not offered");
  EXPECT_EQ(back.fields[1].choiceDocs, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(back.fields[2].elements, FieldType::Bool);
}

TEST(Schema, RefusesJsonThatIsNone) {
  EXPECT_THROW((void)schemaFromJson(Json::object()), ConfigError);
  EXPECT_THROW((void)schemaFromJson(nullptr), ConfigError);
  Json json = toJson(trainSchema());
  json["fields"][0]["type"] = "quaternion";
  EXPECT_THROW((void)schemaFromJson(json), ConfigError);
  json = toJson(trainSchema());
  json["version"] = 2;
  EXPECT_THROW((void)schemaFromJson(json), ConfigError);
  EXPECT_THROW((void)catalogFromJson({{"version", 1}, {"items", {{{"kind", "spoon"}}}}}),
               ConfigError);
}

TEST(Schema, FindsFieldsByDottedKey) {
  const Schema& schema = trainSchema();
  ASSERT_NE(schema.find("optimizer.learning_rate"), nullptr);
  EXPECT_EQ(schema.find("optimizer.learning_rate")->type, FieldType::Real);
  EXPECT_EQ(schema.find("optimizer")->type, FieldType::Table);
  EXPECT_EQ(schema.find("optimizer.nothing"), nullptr);
  EXPECT_EQ(schema.find("epochs.nothing"), nullptr);
  EXPECT_EQ(schema.find(""), nullptr);
}

TEST(Schema, ListsLeafKeysInOrder) {
  const std::vector<std::string> keys = dataSchema().keys();
  EXPECT_EQ(keys, (std::vector<std::string>{"train_samples", "test_samples", "train_share",
                                            "test_share", "subset", "subset_seed", "holdout",
                                            "evaluate_splits", "augment.crop_padding",
                                            "augment.flip", "augment.repeats", "normalize"}));
}

TEST(Schema, ResolvesSizesInItsDefaults) {
  const Catalog catalog = sampleCatalog();
  const Json defaults = catalog.find(ItemKind::Architecture, "vit")->schema.defaults();
  EXPECT_EQ(defaults["image_size"], (Json{28, 28}));
  EXPECT_EQ(defaults["mask"]["kind"], "none");
  EXPECT_TRUE(defaults["layer_scale"].is_null());
}

TEST(Schema, OfATableMarksItsFieldsAsRunOnlyToo) {
  EXPECT_EQ(trainSchema().find("optimizer.learning_rate")->affects, Affects::Run);
}

TEST(JsonSchema, SaysWhatEachFieldTakes) {
  const Catalog catalog = sampleCatalog();
  const Json json = jsonSchema(catalog.find(ItemKind::Architecture, "vit")->schema, "vit");
  EXPECT_EQ(json["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(json["title"], "vit");
  EXPECT_EQ(json["additionalProperties"], false);
  EXPECT_EQ(json["required"], Json{"num_classes"});
  const Json& fields = json["properties"];
  EXPECT_EQ(fields["width"]["type"], "integer");
  EXPECT_EQ(fields["width"]["maximum"], 65536);
  EXPECT_EQ(fields["width"]["default"], 64);
  EXPECT_EQ(fields["pool"]["enum"], (Json{"class_token", "mean"}));
  EXPECT_EQ(fields["image_size"]["oneOf"][1]["prefixItems"].size(), 2u);
  EXPECT_EQ(fields["layer_scale"]["anyOf"][0]["exclusiveMinimum"], 0);
  EXPECT_EQ(fields["mask"]["properties"]["alpha"]["maximum"], 1);
  EXPECT_EQ(fields["image_size"]["x-unit"], "px");
  EXPECT_EQ(json["x-rules"].size(), 4u);
}

TEST(Config, IsReadByDottedKey) {
  const Config config(Json::parse(R"({"a": {"n": 3, "x": 0.5, "t": "text", "f": true, "none": null},
                                      "size": [2, 3], "list": [1, 2], "words": ["u", "v"]})"));
  EXPECT_EQ(config.integer("a.n"), 3);
  EXPECT_EQ(config.real("a.x"), 0.5);
  EXPECT_EQ(config.real("a.n"), 3.0);
  EXPECT_EQ(config.text("a.t"), "text");
  EXPECT_EQ(config.text("a.none"), "");
  EXPECT_TRUE(config.flag("a.f"));
  EXPECT_EQ(config.size("size"), (std::array<std::int64_t, 2>{2, 3}));
  EXPECT_EQ(config.integers("list"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(config.reals("list"), (std::vector<double>{1, 2}));
  EXPECT_EQ(config.texts("words"), (std::vector<std::string>{"u", "v"}));
  EXPECT_EQ(config.table("a").integer("n"), 3);
  EXPECT_TRUE(config.table("nothing").json().empty());
  EXPECT_FALSE(config.has("a.none"));
  EXPECT_TRUE(config.has("a.n"));
  EXPECT_EQ(config.maybeInteger("a.none"), std::nullopt);
  EXPECT_EQ(config.maybeReal("a.x"), 0.5);
  EXPECT_TRUE(config.at("a.b.c").is_null());
}

TEST(Config, NamesTheKeyThatIsAskedForWrongly) {
  const Config config(Json{{"n", 3}, {"t", "x"}});
  for (const auto& ask : std::vector<std::function<void()>>{
           [&] { (void)config.integer("missing"); }, [&] { (void)config.flag("n"); },
           [&] { (void)config.text("n"); }, [&] { (void)config.real("t"); },
           [&] { (void)config.size("t"); }, [&] { (void)config.reals("n"); },
           [&] { (void)config.table("n"); }}) {
    EXPECT_THROW(ask(), ConfigError);
  }
  EXPECT_THAT([&] { (void)config.integer("mask.epochs"); },
              test::Fails<ConfigError>("mask.epochs"));
}

TEST(Config, ATextIsFoundByItsDottedKey) {
  const Json tables = {{"model", {{"name", "vit"}, {"width", 64}}}, {"title", "a"}};
  EXPECT_EQ(textAt(tables, "model.name"), "vit");
  EXPECT_EQ(textAt(tables, "title"), "a");
  for (const char* key : {"model.width", "model", "model.depth", "title.name", "data.dataset"})
    EXPECT_EQ(textAt(tables, key), "") << key;
  EXPECT_EQ(textAt(Json(), "title"), "");
}

TEST(Config, AValueOfAnotherTypeIsCutBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 60; ++i) name += "\u00e9";
  const Config config(Json{{"name", name}});
  const std::string text = test::refusal<ConfigError>([&] { (void)config.integer("name"); });
  EXPECT_TRUE(text.find("...") != std::string::npos && isUtf8(text)) << text;
}

TEST(Config, DifferencesNameKeysAndBothValues) {
  const Json before = {{"a", 1}, {"t", {{"x", 1}, {"y", {1, 2}}}}, {"gone", 5}};
  const Json after = {{"a", 1}, {"t", {{"x", 2}, {"y", {1, 2}}}}, {"here", true}};
  const std::vector<Difference> found = difference(before, after);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].key, "t.x");
  EXPECT_EQ(found[0].before, 1);
  EXPECT_EQ(found[0].after, 2);
  EXPECT_EQ(found[1].key, "gone");
  EXPECT_TRUE(found[1].after.is_null());
  EXPECT_EQ(found[2].key, "here");
  EXPECT_TRUE(difference(before, before).empty());
}

}  // namespace
}  // namespace vitrine
