#include "core/data/collate.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/support/refusal.h"

namespace vitrine {
namespace {

using ::testing::ElementsAre;

const std::vector<SampleField> kCollated = {
    {"image", FieldKind::Image, at::kByte, {1, 2, 2}, ""},
    {"label", FieldKind::Label, at::kLong, {}, ""},
    {"tokens", FieldKind::Tokens, at::kLong, {-1}, ""},
    {"boxes", FieldKind::Boxes, at::kFloat, {-1, 4}, ""},
    {"native", FieldKind::Image, at::kByte, {1, -1, -1}, ""},
    {"caption", FieldKind::Text, at::kByte, {-1}, ""},
};

void fill(Sample& sample, std::int64_t id) {
  sample.begin(id);
  for (std::uint8_t& pixel : sample["image"].resize<std::uint8_t>({1, 2, 2}))
    pixel = static_cast<std::uint8_t>(id);
  sample["label"].resize<std::int64_t>({})[0] = 10 * id;
  for (std::int64_t& token : sample["tokens"].resize<std::int64_t>({id})) token = id;
  for (float& side : sample["boxes"].resize<float>({id % 2, 4})) side = static_cast<float>(id);
  for (std::uint8_t& pixel : sample["native"].resize<std::uint8_t>({1, id, 2})) pixel = 9;
  sample["caption"].resizeTexts(1)[0] = "sample " + std::to_string(id);
}

Batch batchOf(const std::vector<std::int64_t>& ids, std::int64_t batchSize) {
  Collator collator(kCollated, batchSize, std::make_shared<TensorPool>());
  Sample sample;
  collator.begin();
  for (const std::int64_t id : ids) {
    fill(sample, id);
    collator.add(sample);
  }
  return collator.finish();
}

TEST(Collator, PutsEqualShapesIntoOneTensor) {
  const Batch batch = batchOf({1, 2, 3}, 3);
  EXPECT_EQ(batch.size(), 3);
  EXPECT_EQ(batch.at("image").sizes(), (std::vector<std::int64_t>{3, 1, 2, 2}));
  EXPECT_EQ(batch.at("image")[2][0][1][1].item<int>(), 3);
  EXPECT_TRUE(at::equal(batch.at("label"), at::tensor({10, 20, 30}, at::kLong)));
}

TEST(Collator, KeepsOtherShapesOneAfterAnother) {
  const Batch batch = batchOf({1, 2, 3}, 4);
  const Ragged& tokens = batch.ragged.at("tokens");
  EXPECT_TRUE(at::equal(tokens.values, at::tensor({1, 2, 2, 3, 3, 3}, at::kLong)));
  EXPECT_TRUE(at::equal(tokens.offsets, at::tensor({0, 1, 3, 6}, at::kLong)));
  const Ragged& boxes = batch.ragged.at("boxes");
  EXPECT_EQ(boxes.values.sizes(), (std::vector<std::int64_t>{2, 4})) << "sample 2 has none";
  EXPECT_TRUE(at::equal(boxes.offsets, at::tensor({0, 1, 1, 2}, at::kLong)));
  const Ragged& native = batch.ragged.at("native");
  EXPECT_EQ(native.values.sizes(), (std::vector<std::int64_t>{12}));
  EXPECT_TRUE(at::equal(native.offsets, at::tensor({0, 2, 6, 12}, at::kLong)));
  EXPECT_TRUE(at::equal(native.shapes[2], at::tensor({1, 3, 2}, at::kLong)));
  EXPECT_THAT(
      batch.texts.at("caption"),
      ElementsAre(ElementsAre("sample 1"), ElementsAre("sample 2"), ElementsAre("sample 3")));
}

TEST(Collator, ABatchThatIsNotFullIsAsLongAsItsSamples) {
  const Batch batch = batchOf({1, 2}, 8);
  EXPECT_EQ(batch.at("image").size(0), 2);
  EXPECT_EQ(batch.at("label").size(0), 2);
}

TEST(Collator, ForgetsABatchThatWasNotFinished) {
  Collator collator(kCollated, 2, std::make_shared<TensorPool>());
  Sample sample;
  for (int round = 0; round < 3; ++round) {
    collator.begin();
    fill(sample, 5);
    collator.add(sample);
  }
  EXPECT_EQ(collator.finish().sampleIds, std::vector<std::int64_t>{5});
}

TEST(Collator, AShapeThatIsNotTheFieldsIsNamed) {
  Collator collator(kCollated, 2, std::make_shared<TensorPool>());
  Sample sample;
  collator.begin();
  fill(sample, 4);
  sample["image"].resize<std::uint8_t>({1, 3, 2});
  EXPECT_THAT([&] { collator.add(sample); },
              test::Fails<ShapeError>("image", "sample 4", "[1, 3, 2]", "[1, 2, 2]"));
}

TEST(Batch, MovesAllItsTensors) {
  const Batch batch = batchOf({1, 2, 3}, 3);
  const Batch moved = batch.to(at::kMeta);
  EXPECT_TRUE(moved.at("image").is_meta());
  EXPECT_TRUE(moved.ragged.at("tokens").values.is_meta());
  EXPECT_TRUE(moved.ragged.at("boxes").offsets.is_meta());
  EXPECT_EQ(moved.texts, batch.texts);
  EXPECT_EQ(moved.sampleIds, batch.sampleIds);
  EXPECT_THROW((void)batch.at("mask"), ConfigError);
}

}  // namespace
}  // namespace vitrine
