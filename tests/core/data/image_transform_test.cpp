#include "core/data/image_transform.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/base/error.h"

namespace vitrine {
namespace {

DatasetInfo info(std::int64_t channels, std::int64_t height, std::int64_t width) {
  DatasetInfo out;
  out.channels = channels;
  out.height = height;
  out.width = width;
  return out;
}

std::vector<std::uint8_t> pattern(std::int64_t count) {
  std::vector<std::uint8_t> out;
  for (std::int64_t i = 0; i < count; ++i)
    out.push_back(static_cast<std::uint8_t>(i * 37 + i * i / 5 + 11));
  return out;
}

std::vector<float> run(ImageTransform& transform, const std::vector<std::uint8_t>& image,
                       const Placement& placement = {}) {
  std::vector<float> out(static_cast<std::size_t>(transform.outputSize()));
  transform.apply(image, placement, out);
  return out;
}

TEST(ImageTransform, NormalisesEachChannelWithItsOwnMeanAndDeviation) {
  ImageTransform transform(info(2, 3, 5), 0, 0, std::vector<double>{0.2, 0.6},
                           std::vector<double>{0.5, 0.25});
  const auto image = pattern(30);
  const auto out = run(transform, image);
  for (std::size_t i = 0; i < 30; ++i) {
    const double expected =
        i < 15 ? (image[i] / 255.0 - 0.2) / 0.5 : (image[i] / 255.0 - 0.6) / 0.25;
    EXPECT_FLOAT_EQ(out[i], static_cast<float>(expected)) << i;
  }
}

TEST(ImageTransform, CropsAndFlipsAsTheDefinitionSaysPixelByPixel) {
  constexpr std::int64_t kHeight = 5, kWidth = 7;
  ImageTransform transform(info(2, kHeight, kWidth), 0, 0, std::vector<double>{0.25, 0.5},
                           std::vector<double>{2, 4});
  const auto image = pattern(2 * kHeight * kWidth);
  for (const std::int64_t top : {-9, -5, -2, 0, 1, 4, 5, 9}) {
    for (const std::int64_t left : {-9, -7, -3, 0, 2, 6, 7, 9}) {
      for (const bool mirrored : {false, true}) {
        const auto out = run(transform, image, {top, left, mirrored});
        for (std::int64_t c = 0; c < 2; ++c) {
          for (std::int64_t y = 0; y < kHeight; ++y) {
            for (std::int64_t x = 0; x < kWidth; ++x) {
              const std::int64_t row = y + top;
              const std::int64_t column = (mirrored ? kWidth - 1 - x : x) + left;
              const bool inside = row >= 0 && row < kHeight && column >= 0 && column < kWidth;
              const double pixel =
                  inside ? image[static_cast<std::size_t>((c * kHeight + row) * kWidth + column)]
                         : 0;
              const double expected = c == 0 ? (pixel / 255 - 0.25) / 2 : (pixel / 255 - 0.5) / 4;
              ASSERT_FLOAT_EQ(out[static_cast<std::size_t>((c * kHeight + y) * kWidth + x)],
                              static_cast<float>(expected))
                  << top << " " << left << " " << mirrored << " at " << c << " " << y << " " << x;
            }
          }
        }
      }
    }
  }
}

TEST(ImageTransform, RefusesNormalisationThatDoesNotFit) {
  EXPECT_THROW(ImageTransform(info(3, 4, 4), 0, 0, std::vector<double>{0.5}, {}), ConfigError);
  EXPECT_THROW(ImageTransform(info(1, 4, 4), 0, 0, {}, std::vector<double>{0.0}), ConfigError);
}

TEST(ImageTransform, ResizesToWithinAGreyLevelOfTorchInBothDirections) {
  const auto image = pattern(2 * 28 * 19);
  const at::Tensor input =
      at::tensor(at::ArrayRef<std::uint8_t>(image), at::kByte).to(at::kFloat).view({1, 2, 28, 19});
  for (const auto& [height, width] :
       {std::pair<std::int64_t, std::int64_t>{13, 7}, {56, 38}, {64, 5}, {28, 40}}) {
    ImageTransform transform(info(2, 28, 19), height, width, {}, {});
    const auto out = run(transform, image);
    const at::Tensor expected = at::_upsample_bilinear2d_aa(input, {height, width}, false) / 255;
    const at::Tensor actual = at::tensor(at::ArrayRef<float>(out)).view_as(expected);
    // Torch keeps fractions; here each of the two passes rounds to a byte.
    EXPECT_LT((actual - expected).abs().max().item<float>(), 1.01f / 255)
        << height << " x " << width;
  }
}

TEST(Placement, DependsOnSeedEpochAndSampleAlone) {
  Augmentation augmentation;
  augmentation.cropPadding = 4;
  augmentation.flip = 0.5;
  const RandomStream stream(3, "augment"), same(3, "augment"), other(4, "augment");
  int differing = 0, mirrored = 0;
  std::set<std::int64_t> tops, lefts;
  for (std::int64_t id = 0; id < 400; ++id) {
    const Placement a = drawPlacement(stream, 2, id, augmentation);
    const Placement b = drawPlacement(same, 2, id, augmentation);
    EXPECT_EQ(a.top, b.top);
    EXPECT_EQ(a.left, b.left);
    EXPECT_EQ(a.isMirrored, b.isMirrored);
    const Placement c = drawPlacement(other, 2, id, augmentation),
                    d = drawPlacement(stream, 3, id, augmentation);
    differing += (c.top != a.top || c.left != a.left) && (d.top != a.top || d.left != a.left);
    mirrored += a.isMirrored;
    tops.insert(a.top);
    lefts.insert(a.left);
  }
  EXPECT_GT(differing, 350);
  EXPECT_NEAR(mirrored, 200, 50);  // five standard deviations
  EXPECT_EQ(tops.size(), 9u);
  EXPECT_EQ(*tops.begin(), -4);
  EXPECT_EQ(*lefts.rbegin(), 4);
}

}  // namespace
}  // namespace vitrine
