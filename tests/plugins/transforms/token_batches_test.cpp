#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/plugins/transforms/patterns.h"

namespace vitrine::test {
namespace {

using test::Fails;

/// Sample `id` is the tokens 10 id, 10 id + 1, ...: 1 to 4 of them.
class Sentences final : public Dataset {
 public:
  Sentences() { info_.fields = {{"tokens", FieldKind::Tokens, at::kLong, {-1}, ""}}; }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split) const override { return 8; }
  void read(Split split, std::int64_t id, Sample& sample) const override {
    requireSample(split, id);
    std::int64_t next = 10 * id;
    for (std::int64_t& token : sample["tokens"].resize<std::int64_t>({id % 4 + 1})) token = next++;
  }

 private:
  DatasetInfo info_;
};

Batch read(const Json& list, const std::vector<std::int64_t>& ids) {
  Json data = dataValues();
  data["pipeline"] = {{"evaluate", list}};
  return pipelineOf(std::make_shared<Sentences>(), data)->read(Split::Train, ids);
}

TEST(Tokens, StayRaggedWithoutATransform) {
  const Batch batch = read(Json::array(), {2, 0});
  EXPECT_TRUE(at::equal(batch.ragged.at("tokens").values, at::tensor({20, 21, 22, 0}, at::kLong)));
  EXPECT_TRUE(at::equal(batch.ragged.at("tokens").offsets, at::tensor({0, 3, 4}, at::kLong)));
}

TEST(Tokens, PadFillsRowsToTheLongestOrToALength) {
  const Batch longest = read(Json::array({{{"name", "pad"}, {"value", -1}}}), {2, 0});
  EXPECT_TRUE(
      at::equal(longest.at("tokens"), at::tensor({20, 21, 22, 0, -1, -1}, at::kLong).view({2, 3})));
  EXPECT_TRUE(at::equal(longest.at("tokens_count"), at::tensor({3, 1}, at::kLong)));
  EXPECT_TRUE(longest.ragged.empty());
  const Batch cut = read(Json::array({{{"name", "pad"}, {"length", 2}}}), {3, 0});
  EXPECT_TRUE(at::equal(cut.at("tokens"), at::tensor({30, 31, 0, 0}, at::kLong).view({2, 2})));
  EXPECT_TRUE(at::equal(cut.at("tokens_count"), at::tensor({2, 1}, at::kLong)));
}

TEST(Tokens, PackPutsWholeSamplesIntoTheFirstRowWithRoom) {
  const Batch batch = read(Json::array({{{"name", "pack"}, {"length", 5}, {"value", 99}}}),
                           {3, 2, 0, 1});                                   // 4, 3, 1, 2 tokens
  EXPECT_TRUE(at::equal(batch.at("tokens"), at::tensor({30, 31, 32, 33, 0,  //
                                                        20, 21, 22, 10, 11},
                                                       at::kLong)
                                                .view({2, 5})));
  EXPECT_TRUE(at::equal(batch.at("tokens_document"),
                        at::tensor({0, 0, 0, 0, 2, 1, 1, 1, 3, 3}, at::kLong).view({2, 5})));
  EXPECT_TRUE(at::equal(batch.at("tokens_position"),
                        at::tensor({0, 1, 2, 3, 0, 0, 1, 2, 0, 1}, at::kLong).view({2, 5})));
  const Batch lone = read(Json::array({{{"name", "pack"}, {"length", 3}, {"value", 99}}}), {3, 0});
  EXPECT_TRUE(
      at::equal(lone.at("tokens"), at::tensor({30, 31, 32, 0, 99, 99}, at::kLong).view({2, 3})))
      << "a sample longer than a row is cut";
  EXPECT_TRUE(at::equal(lone.at("tokens_document"),
                        at::tensor({0, 0, 0, 1, -1, -1}, at::kLong).view({2, 3})));
}

TEST(Tokens, PadNamesAFieldThatIsNotThere) {
  EXPECT_THAT(
      [&] {
        (void)read(Json::array({{{"name", "pad"}, {"field", "words"}}}), {0});
      },
      Fails<ConfigError>("words"));
}

}  // namespace
}  // namespace vitrine::test
