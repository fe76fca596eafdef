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

TEST(Resize, HalvingARowWeighsFourPixelsOneThreeThreeOne) {
  // Output 1 of 4 from 8: centre 3, triangle of radius 2 over pixels 1..4.
  const ResizeAxis axis(8, 4);
  const auto taps = axis.taps(1);
  EXPECT_EQ(taps.first, 1);
  ASSERT_EQ(taps.weights.size(), 4u);
  const float expected[] = {0.125f, 0.375f, 0.375f, 0.125f};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_FLOAT_EQ(taps.weights[k], expected[k]);
  // Output 0: pixel -1 is missing and its weight is shared out.
  const auto edge = axis.taps(0);
  EXPECT_EQ(edge.first, 0);
  ASSERT_EQ(edge.weights.size(), 3u);
  EXPECT_FLOAT_EQ(edge.weights[0], 3.0f / 7);
  EXPECT_FLOAT_EQ(edge.weights[2], 1.0f / 7);
}

TEST(Resize, DoublingARowMixesNeighboursThreeToOne) {
  const ResizeAxis axis(4, 8);
  EXPECT_EQ(axis.taps(0).first, 0);
  EXPECT_FLOAT_EQ(axis.taps(0).weights[0], 1.0f);
  EXPECT_FLOAT_EQ(axis.taps(3).weights[0], 0.75f);
  EXPECT_FLOAT_EQ(axis.taps(3).weights[1], 0.25f);
}

TEST(Resize, KeepsConstantsAndStraightLinesAwayFromTheEdges) {
  for (const auto& [from, to] : {std::pair<int, int>{28, 13}, {28, 28}, {28, 60}, {5, 1}, {1, 4}}) {
    const ResizeAxis axis(from, to);
    const double scale = static_cast<double>(from) / to;
    for (int i = 0; i < to; ++i) {
      const auto taps = axis.taps(i);
      double sum = 0, position = 0;
      for (std::size_t k = 0; k < taps.weights.size(); ++k) {
        sum += taps.weights[k];
        position +=
            taps.weights[k] * (static_cast<double>(taps.first) + static_cast<double>(k) + 0.5);
      }
      EXPECT_NEAR(sum, 1, 1e-6);
      const double center = (i + 0.5) * scale, radius = std::max(scale, 1.0);
      if (center - radius > 0 && center + radius < from && scale == std::round(scale)) {
        EXPECT_NEAR(position, center, 1e-5) << from << " to " << to << " at " << i;
      }
    }
  }
}

TEST(Resize, AgreesWithTorchInBothDirections) {
  const auto image = pattern(2 * 28 * 19);
  const at::Tensor input =
      at::tensor(at::ArrayRef<std::uint8_t>(image), at::kByte).to(at::kFloat).view({1, 2, 28, 19});
  for (const auto& [height, width] :
       {std::pair<std::int64_t, std::int64_t>{13, 7}, {56, 38}, {64, 5}, {28, 40}}) {
    ImageTransform transform(info(2, 28, 19), height, width, {}, {});
    const auto out = run(transform, image);
    const at::Tensor expected = at::_upsample_bilinear2d_aa(input, {height, width}, false) / 255;
    const at::Tensor actual = at::tensor(at::ArrayRef<float>(out)).view_as(expected);
    // Values up to 1, sums of up to 30 float32 products: a few ulp.
    EXPECT_LT((actual - expected).abs().max().item<float>(), 2e-6f) << height << " x " << width;
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
