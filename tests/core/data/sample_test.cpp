#include "core/data/sample.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/support/refusal.h"

namespace vitrine {
namespace {

using ::testing::ElementsAre;

TEST(Sample, KeepsItsMemoryWhereShapesRepeatOrShrink) {
  Sample sample;
  sample.begin(1);
  const void* place = sample["image"].resize<std::uint8_t>({3, 8, 8}).data();
  for (std::int64_t id = 2; id < 6; ++id) {
    sample.begin(id);
    EXPECT_EQ(sample["image"].resize<std::uint8_t>({3, 10 - id, 8}).data(), place);
  }
  EXPECT_EQ(sample["image"].bytes().size(), 3u * 5 * 8);
  EXPECT_EQ(sample.id(), 5);
}

TEST(Sample, OfTheLastReadLeavesNothingToTheNext) {
  Sample sample;
  sample.begin(1);
  sample["label"].resize<std::int64_t>({})[0] = 7;
  EXPECT_EQ(sample.at("label").get<std::int64_t>()[0], 7);
  sample.begin(2);
  sample["image"].resize<std::uint8_t>({1});
  EXPECT_FALSE(sample.has("label"));
  EXPECT_THAT([&] { (void)sample.at("label"); },
              test::Fails<ConfigError>("sample 2", "label", "image"));
}

TEST(Sample, HoldsTextsAndNumbersOfThreeTypes) {
  Sample sample;
  sample.begin(0);
  SampleValue& value = sample["caption"];
  const auto texts = value.resizeTexts(2);
  texts[0] = "a red square";
  texts[1] = "a square";
  EXPECT_THAT(value.texts(), ElementsAre("a red square", "a square"));
  (void)value.resizeTexts(1);
  EXPECT_THAT(value.texts(), ElementsAre("a red square"));
  value.resize<float>({2, 2})[3] = 1.5F;
  EXPECT_TRUE(value.texts().empty());
  EXPECT_EQ(value.type(), at::kFloat);
  EXPECT_EQ(value.get<float>()[3], 1.5F);
  EXPECT_THROW((void)value.get<std::int64_t>(), ShapeError);
  EXPECT_THROW((void)value.resize<float>({-1}), ShapeError);
}

TEST(SampleField, IsRaggedWhereASideIsOpen) {
  const SampleField image{"image", FieldKind::Image, at::kByte, {3, -1, -1}, ""};
  const SampleField label{"label", FieldKind::Label, at::kLong, {}, ""};
  EXPECT_TRUE(image.isRagged());
  EXPECT_FALSE(label.isRagged());
  EXPECT_EQ(findField({image, label}, "label")->kind, FieldKind::Label);
  EXPECT_EQ(findField({image, label}, "mask"), nullptr);
}

}  // namespace
}  // namespace vitrine
