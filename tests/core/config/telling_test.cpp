// Which differences a narrow column begins with.
#include "core/config/telling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vitrine {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> keysOf(const std::vector<Json>& variants, std::size_t variant) {
  std::vector<const Json*> configs;
  for (const Json& one : variants) configs.push_back(&one);
  std::vector<std::string> keys;
  const auto changes = tellingDifferences(configs, 0);
  for (const Difference& change : changes[variant]) keys.push_back(change.key);
  return keys;
}

TEST(TellingDifferences, BeginWithWhatTheFewestVariantsShare) {
  const std::vector<Json> roadmap = {
      {{"model", {{"mlp", "gelu"}, {"norm", "layer"}, {"pool", "first"}}}},
      {{"model", {{"mlp", "swiglu"}, {"norm", "layer"}, {"pool", "first"}}}},
      {{"model", {{"mlp", "swiglu"}, {"norm", "rms"}, {"pool", "first"}}}},
      {{"model", {{"mlp", "swiglu"}, {"norm", "rms"}, {"pool", "last"}}}}};
  EXPECT_THAT(keysOf(roadmap, 1), ElementsAre("model.mlp"));
  EXPECT_THAT(keysOf(roadmap, 2), ElementsAre("model.norm", "model.mlp"));
  EXPECT_THAT(keysOf(roadmap, 3), ElementsAre("model.pool", "model.norm", "model.mlp"));
}

TEST(TellingDifferences, LeaveOutKeysThatOnlyOneArchitectureHas) {
  const std::vector<Json> variants = {
      {{"model", {{"architecture", "a"}, {"width", 4}, {"heads", 2}}}, {"train", {{"steps", 5}}}},
      {{"model", {{"architecture", "b"}, {"width", 8}, {"window", 7}}}, {"train", {{"stop", 3}}}},
      {{"model", {{"architecture", "a"}, {"width", 4}, {"dropout", 0.1}}}}};
  EXPECT_THAT(keysOf(variants, 1),
              ::testing::UnorderedElementsAre("model.architecture", "model.width", "train.steps",
                                              "train.stop"));
  EXPECT_THAT(keysOf(variants, 2),
              ::testing::UnorderedElementsAre("model.heads", "model.dropout", "train.steps"))
      << "of one architecture every key counts";
}

TEST(TellingText, NamesFourChangesAndCountsTheOthers) {
  EXPECT_EQ(tellingText({}), "");
  std::vector<Difference> changes{{"model.mlp", "gelu", "swiglu"}, {"train.stop", 3, nullptr}};
  EXPECT_EQ(tellingText(changes), "model.mlp = swiglu, train.stop = none");
  for (const char* key : {"a", "b", "c"}) changes.push_back({key, 0, 1.5});
  EXPECT_EQ(tellingText(changes),
            "model.mlp = swiglu, train.stop = none, a = 1.5, b = 1.5, and 1 more");
  EXPECT_EQ(tellingText({{"words", "", std::string(400, 'w')}}),
            "words = " + std::string(37, 'w') + "...");
}

}  // namespace
}  // namespace vitrine
