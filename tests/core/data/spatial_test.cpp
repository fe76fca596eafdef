#include "core/data/spatial.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/support/refusal.h"

namespace vitrine {
namespace {

using ::testing::ElementsAre;

const std::vector<SampleField> kFields = {
    {"image", FieldKind::Image, at::kByte, {2, -1, -1}, ""},
    {"mask", FieldKind::Mask, at::kByte, {-1, -1}, ""},
    {"boxes", FieldKind::Boxes, at::kFloat, {-1, 4}, ""},
    {"label", FieldKind::Label, at::kLong, {}, ""},
};

/// Pixel 1 + x + 10 y of plane 0, 101 + x + 10 y of plane 1; the mask is plane 0; one box.
Sample sampleOf(std::int64_t height, std::int64_t width, std::array<float, 4> box) {
  Sample sample;
  sample.begin(3);
  const auto image = sample["image"].resize<std::uint8_t>({2, height, width});
  const auto mask = sample["mask"].resize<std::uint8_t>({height, width});
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const auto at = static_cast<std::size_t>(y * width + x);
      const auto pixel = static_cast<std::uint8_t>(1 + x + 10 * y);
      image[at] = mask[at] = pixel;
      image[at + static_cast<std::size_t>(height * width)] = static_cast<std::uint8_t>(100 + pixel);
    }
  }
  const auto boxes = sample["boxes"].resize<float>({1, 4});
  std::copy(box.begin(), box.end(), boxes.begin());
  sample["label"].resize<std::int64_t>({})[0] = 4;
  return sample;
}

TEST(SpatialFields, CropImagesMasksAndBoxesTogetherWithBlackOutside) {
  Sample sample = sampleOf(3, 4, {1, 1, 3, 2});
  SpatialFields(kFields).crop(sample, {-1, 2, 3, 3});
  EXPECT_THAT(sample.at("image").get<std::uint8_t>(),
              ElementsAre(0, 0, 0, 3, 4, 0, 13, 14, 0, 0, 0, 0, 103, 104, 0, 113, 114, 0));
  EXPECT_THAT(sample.at("mask").get<std::uint8_t>(), ElementsAre(0, 0, 0, 3, 4, 0, 13, 14, 0));
  EXPECT_THAT(sample.at("boxes").get<float>(), ElementsAre(0, 2, 1, 3));
  EXPECT_EQ(sample.at("label").get<std::int64_t>()[0], 4);
}

TEST(SpatialFields, ABoxOutsideTheWindowBecomesEmptyAndKeepsItsPlace) {
  Sample sample = sampleOf(4, 4, {0, 0, 1, 1});
  SpatialFields(kFields).crop(sample, {2, 2, 2, 2});
  EXPECT_THAT(sample.at("boxes").get<float>(), ElementsAre(0, 0, 0, 0));
}

TEST(SpatialFields, MirrorTwiceIsTheSameSample) {
  SpatialFields spatial(kFields);
  Sample sample = sampleOf(2, 3, {0, 0, 1, 2});
  spatial.mirror(sample);
  EXPECT_THAT(sample.at("mask").get<std::uint8_t>(), ElementsAre(3, 2, 1, 13, 12, 11));
  EXPECT_THAT(sample.at("boxes").get<float>(), ElementsAre(2, 0, 3, 2));
  spatial.mirror(sample);
  const Sample before = sampleOf(2, 3, {0, 0, 1, 2});
  EXPECT_TRUE(std::ranges::equal(sample.at("image").get<std::uint8_t>(),
                                 before.at("image").get<std::uint8_t>()));
  EXPECT_THAT(sample.at("boxes").get<float>(), ElementsAre(0, 0, 1, 2));
}

TEST(SpatialFields, ResizeKeepsTheClassesOfAMaskAndScalesBoxes) {
  SpatialFields spatial(kFields);
  Sample sample = sampleOf(2, 2, {0, 1, 2, 2});
  spatial.resize(sample, {4, 6}, ResampleFilter::Bilinear);
  EXPECT_THAT(sample.at("mask").get<std::uint8_t>(),
              ElementsAre(1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 11, 11, 11, 12, 12, 12, 11, 11, 11,
                          12, 12, 12));
  EXPECT_THAT(sample.at("boxes").get<float>(), ElementsAre(0, 2, 6, 4));
  Resampler alone(ResampleFilter::Bilinear, 2, 2, 4, 6);
  std::vector<std::uint8_t> expected(48);
  alone.apply(2, std::vector<std::uint8_t>{1, 2, 11, 12, 101, 102, 111, 112}, expected);
  EXPECT_THAT(sample.at("image").get<std::uint8_t>(), ::testing::ElementsAreArray(expected));
}

TEST(SpatialFields, AMaskOfAnotherSizeIsRefused) {
  Sample sample = sampleOf(2, 2, {0, 0, 1, 1});
  sample["mask"].resize<std::uint8_t>({3, 2});
  SpatialFields spatial(kFields);
  EXPECT_THAT([&] { spatial.mirror(sample); },
              test::Fails<ShapeError>("sample 3", "image", "mask"));
  EXPECT_THROW(SpatialFields({kFields[3]}), ConfigError);
}

}  // namespace
}  // namespace vitrine
