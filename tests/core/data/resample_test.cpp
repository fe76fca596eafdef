// Resizing against Pillow 12's own results (tests/golden/resize/pillow) and against its definition.
#include "core/data/resample.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>

#include "core/base/error.h"
#include "core/model/weights.h"

namespace vitrine {
namespace {

const std::map<std::string, ResampleFilter> kFilters = {
    {"nearest", ResampleFilter::Nearest},   {"box", ResampleFilter::Box},
    {"bilinear", ResampleFilter::Bilinear}, {"hamming", ResampleFilter::Hamming},
    {"bicubic", ResampleFilter::Bicubic},   {"lanczos", ResampleFilter::Lanczos}};

std::span<const std::uint8_t> bytes(const at::Tensor& image) {
  return {image.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(image.numel())};
}

/// \param image, expected  [channels, height, width] uint8
/// \returns  the largest difference in grey levels
int worst(Resampler resampler, const at::Tensor& image, const at::Tensor& expected) {
  at::Tensor out = at::empty_like(expected);
  resampler.apply(image.size(0), bytes(image.contiguous()),
                  {out.mutable_data_ptr<std::uint8_t>(), static_cast<std::size_t>(out.numel())});
  return (out.to(at::kInt) - expected.to(at::kInt)).abs().max().item<int>();
}

class PillowCase : public ::testing::Test {
 protected:
  const std::map<std::string, at::Tensor> tensors_ = readTensors(
      std::filesystem::path(VITRINE_SOURCE_DIR) / "tests/golden/resize/pillow/io.safetensors");
};

TEST_F(PillowCase, EveryFilterIsReproducedToTheGreyLevel) {
  int compared = 0;
  for (const auto& [name, image] : tensors_) {
    if (!name.starts_with("input/") || name == "input/crop_source") continue;
    for (const auto& [filterName, filter] : kFilters) {
      const std::string wanted = "output/" + filterName + "/" + name.substr(6);
      const at::Tensor& expected = tensors_.at(wanted);
      const Resampler resampler(filter, image.size(1), image.size(2), expected.size(1),
                                expected.size(2));
      EXPECT_EQ(worst(resampler, image, expected), 0) << wanted;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 48);
}

TEST_F(PillowCase, ABoxWithFractionalCornersReadsThePixelsBeyondIt) {
  const at::Tensor& image = tensors_.at("input/crop_source");
  const Resampler resampler(ResampleFilter::Bicubic, 70, 90, {2.25, 3.5, 60.5, 81.75}, 32, 40);
  EXPECT_EQ(worst(resampler, image, tensors_.at("output/box_bicubic")), 0);
}

TEST_F(PillowCase, ACropReadsNoPixelOutsideItself) {
  const at::Tensor& source = tensors_.at("input/crop_source");
  const std::int64_t crops[][4] = {{5, 7, 40, 52}, {20, 0, 50, 90}, {0, 60, 33, 30}};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [top, left, height, width] = crops[i];
    const at::Tensor part = source.narrow(1, top, height).narrow(2, left, width).contiguous();
    for (const std::string filter : {"bilinear", "bicubic"}) {
      const Resampler resampler(kFilters.at(filter), height, width, 32, 32);
      EXPECT_EQ(
          worst(resampler, part, tensors_.at("output/crop_" + filter + "_" + std::to_string(i))), 0)
          << filter << " " << i;
    }
  }
}

TEST(ResampleAxis, HalvingARowWeighsFourPixelsOneThreeThreeOne) {
  // Output 1 of 4 from 8: centre 3, triangle of radius 2 over pixels 1..4.
  const ResampleAxis axis(ResampleFilter::Bilinear, 8, 0, 8, 4);
  const auto taps = axis.taps(1);
  EXPECT_EQ(taps.first, 1);
  const std::vector<std::int32_t> expected = {1 << 19, 3 << 19, 3 << 19, 1 << 19};
  EXPECT_EQ(std::vector<std::int32_t>(taps.weights.begin(), taps.weights.end()), expected);
}

TEST(ResampleAxis, ThePixelMissingAtAnEdgeIsSharedOut) {
  const ResampleAxis axis(ResampleFilter::Bilinear, 8, 0, 8, 4);
  const auto taps = axis.taps(0);
  EXPECT_EQ(taps.first, 0);
  ASSERT_EQ(taps.weights.size(), 3u);
  EXPECT_EQ(taps.weights[0] + taps.weights[1] + taps.weights[2], 1 << ResampleAxis::kBits);
  EXPECT_EQ(taps.weights[0], 1797559);  // 3/7 of 2^22
}

TEST(Resampler, KeepsAnImageOfOneColour) {
  for (const auto& [name, filter] : kFilters) {
    const at::Tensor image = at::full({1, 13, 7}, 201, at::kByte);
    EXPECT_EQ(worst({filter, 13, 7, 5, 20}, image, at::full({1, 5, 20}, 201, at::kByte)), 0)
        << name;
  }
}

TEST(Resampler, ThePartOfOnePixelIsThatPixelForEverySize) {
  const at::Tensor image = at::tensor({3, 250}, at::kByte).view({1, 1, 2});
  EXPECT_EQ(worst({ResampleFilter::Box, 1, 2, {0, 1, 1, 2}, 9, 4}, image,
                  at::full({1, 9, 4}, 250, at::kByte)),
            0);
}

TEST(Resampler, RefusesSizesAndPartsThatAreNotInTheImage) {
  EXPECT_THROW(Resampler(ResampleFilter::Box, 0, 3, 4, 4), ConfigError);
  EXPECT_THROW(Resampler(ResampleFilter::Box, 3, 3, 4, 0), ConfigError);
  EXPECT_THROW(Resampler(ResampleFilter::Box, 3, 3, {0, 0, 3.5, 3}, 4, 4), ConfigError);
  EXPECT_THROW(Resampler(ResampleFilter::Box, 3, 3, {2, 0, 2, 3}, 4, 4), ConfigError);
}

}  // namespace
}  // namespace vitrine
