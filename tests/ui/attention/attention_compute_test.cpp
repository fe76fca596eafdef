#include "ui/attention/attention_compute.h"

#include <gtest/gtest.h>

#include "tests/ui/attention/catalog.h"
#include "tests/ui/attention/maps.h"

namespace vitrine::ui {
namespace {

std::vector<std::string> waysOf(const char* architecture) {
  std::vector<std::string> names;
  for (const AttentionWay& way : attentionWays(attentionCatalog(), configOf(architecture)))
    names.push_back((way.isDrawn ? "drawn " : "") + way.series.analysis + "/" + way.series.matrix);
  return names;
}

TEST(Ways, FollowWhatTheArchitectureOffers) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(waysOf("patches"), (Names{"attention_map/effective", "attention_map/softmax"}));
  EXPECT_EQ(waysOf("tokens"), (Names{"attention_map/effective", "attention_map/softmax",
                                     "first_layer/similarity", "receptive_field/gradient"}));
  EXPECT_EQ(waysOf("memory"), (Names{"memory_weights/weights", "memory_weights/decay"}));
  EXPECT_EQ(waysOf("captions"), (Names{"attention_map/effective", "attention_map/softmax"}));
  EXPECT_EQ(waysOf("noise"), (Names{"drawn /softmax"}));
  EXPECT_EQ(waysOf("blind"), Names{});
  EXPECT_EQ(waysOf("unknown"), Names{});
  EXPECT_TRUE(attentionWays(attentionCatalog(), Json()).empty());
}

TEST(Ways, AreWhatAnAnalysisSaysThatItMakes) {
  Catalog catalog = attentionCatalog();
  catalog.items.push_back(cardWith(ItemKind::Analysis, "third_party", {"attention:own", "heatmap"},
                                   {"attention_source"}));
  catalog.items.back().schema.fields = {
      listField("place", FieldType::Real, Json::array(), "where")};
  const std::vector<AttentionWay> ways = attentionWays(catalog, configOf("patches"));
  ASSERT_EQ(ways.size(), 3U);
  EXPECT_EQ(ways[2].series, (AttentionSeries{"third_party", "own"}));
  EXPECT_TRUE(ways[2].hasPlaces);
  EXPECT_FALSE(ways[0].hasPlaces);
}

TEST(Request, AsksForEveryQueryOfOneSample) {
  AttentionWay way{{"attention_map", "softmax"}};
  way.hasQueries = way.hasMatrices = true;
  const Json request = attentionRequest({way, 42});
  EXPECT_EQ(request["op"], "analyse");
  EXPECT_EQ(request["item"], "attention_map");
  EXPECT_EQ(request["settings"], (Json{{"query", "all"}, {"attention", "softmax"}, {"ids", {42}}}));
  EXPECT_FALSE(request.contains("store"));
}

TEST(Request, LeavesSettingsOutThatAnAnalysisDoesNotHave) {
  AttentionQuestion question{{{"memory_weights", "decay"}, false}, 3};
  question.storeWithin = 1000;
  const Json request = attentionRequest(question);
  EXPECT_EQ(request["settings"], (Json{{"ids", {3}}}));
  EXPECT_EQ(request["store"], true);
  EXPECT_EQ(request["store_within"], 1000);
}

TEST(Request, NamesThePlaceOfThePatchWhereWindowsCanBeAskedFor) {
  AttentionQuestion question{{{"attention_map", "softmax"}}, 3};
  question.place = {0.25, 0.75};
  EXPECT_FALSE(attentionRequest(question)["settings"].contains("place"));
  question.way.hasPlaces = true;
  EXPECT_EQ(attentionRequest(question)["settings"]["place"], (Json{0.25, 0.75}));
}

TEST(Request, OfTheFirstLayerNamesNoImage) {
  AttentionQuestion question{{{"first_layer", "similarity"}, false, true}, 3};
  question.storeWithin = 1000;
  const Json request = attentionRequest(question);
  EXPECT_EQ(request["item"], "first_layer");
  EXPECT_TRUE(request["settings"].empty());
  EXPECT_EQ(request["store"], true);
}

TEST(Request, OfAnImageHasItsPixelsRowByRow) {
  AttentionQuestion question{{{"attention_map", "softmax"}, false}, -1};
  question.image = QImage(3, 2, QImage::Format_RGB32);
  question.image.fill(QColor(1, 2, 3));
  question.storeWithin = 1000;
  const Json request = attentionRequest(question);
  EXPECT_EQ(request["image"]["shape"], (Json{2, 3, 3}));
  EXPECT_EQ(request["image"]["bytes"].get_binary().size(), 18U);
  EXPECT_EQ(request["image"]["bytes"].get_binary()[17], 3);
  EXPECT_FALSE(request["settings"].contains("ids"));
  EXPECT_FALSE(request.contains("store"));
}

TEST(Request, OfAModelThatDrawsNamesSeedAndPatch) {
  AttentionQuestion question{{{"", "softmax"}, true}, 7};
  question.patch = {2, 3};
  const Json request = attentionRequest(question);
  EXPECT_EQ(request["op"], "sample");
  EXPECT_FALSE(request.contains("sampler"));
  EXPECT_EQ(request["settings"]["seed"], 7);
  EXPECT_EQ(request["settings"]["steps"], 50);
  EXPECT_EQ(request["settings"]["attention"], (Json{2, 3}));
  EXPECT_FALSE(request.contains("store_steps"));
  question.storeWithin = 1000;
  EXPECT_EQ(attentionRequest(question)["store_steps"], 1000);
}

Json partOf(const char* key, const Artifact& artifact) {
  std::vector<std::uint8_t> bytes;
  for (const std::byte byte : artifact.data) bytes.push_back(static_cast<std::uint8_t>(byte));
  return {{key,
           {{"name", artifact.name},
            {"kind", artifact.kind},
            {"meta", artifact.meta},
            {"bytes", Json::binary(bytes)}}}};
}

TEST(Answer, BecomesAnImageWithItsPicture) {
  AttentionResponse answer;
  answer.take({{"done", 1}, {"total", 2}});
  answer.take(partOf("artifact", samples::attentionMap(5)));
  answer.take(partOf("artifact", samples::pixels(5)));
  const auto found = answer.found({{"attention_map", "effective"}, false}, 400);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].entry.sample, 5);
  EXPECT_EQ(found[0].entry.step, 400);
  EXPECT_EQ(found[0].image->layers.size(), 2U);
  EXPECT_EQ(found[0].image->picture.size(), QSize(4, 4));
}

TEST(Answer, OfASamplerHasEveryTime) {
  AttentionResponse answer;
  for (const double time : {0.75, 0.25}) {
    Artifact map = samples::attentionMap(7, 1, "softmax");
    map.name += " at time " + std::to_string(time);
    map.meta["seed"] = 7;
    map.meta["time"] = time;
    answer.take(partOf("preview", map));
  }
  const auto found = answer.found({{"ode", "softmax"}, true}, 10);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_DOUBLE_EQ(found[0].entry.time.value(), 0.25);
  EXPECT_DOUBLE_EQ(found[1].entry.time.value(), 0.75);
}

}  // namespace
}  // namespace vitrine::ui
