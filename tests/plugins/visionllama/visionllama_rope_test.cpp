// Rotary positions of VisionLLaMA: properties of equations 2 to 4, and the drawing of Figure 3 as
// numbers.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/base/error.h"
#include "core/nn/position/rope.h"
#include "plugins/visionllama/rope_settings.h"
#include "tests/plugins/visionllama/small_models.h"
#include "tests/support/refusal.h"

namespace vitrine::visionllama {
namespace {

using Base = HeadRotation::Base;
constexpr std::array<double, 2> kUnscaled{1, 1};

at::Tensor place(double row, double column) {
  return at::tensor(std::vector<double>{row, column}, at::kDouble).view({1, 2});
}

/// The products of q and k, by heads, after turning. \param query, key  [heads, channels]
at::Tensor logits(const HeadRotation& heads, const at::Tensor& query, const at::Tensor& at,
                  const at::Tensor& key, const at::Tensor& keyAt,
                  std::array<double, 2> scale = kUnscaled, std::int64_t columns = 64) {
  const auto turned = [&](const at::Tensor& x, const at::Tensor& where) {
    return nn::applyRope(x.view({1, x.size(0), 1, x.size(1)}),
                         heads.angles(where, scale, columns, Base::Scaled));
  };
  return (turned(query, at) * turned(key, keyAt)).sum(-1).flatten();
}

RopeSettings settingsWith(const std::function<void(RopeSettings&)>& change) {
  RopeSettings settings;
  change(settings);
  return settings;
}

TEST(VisionLlamaRope, ScoresDependOnlyOnTheOffsetBetweenPatches) {
  const std::pair<const char*, RopeSettings> kinds[] = {
      {"2-D", {}},
      {"row first", settingsWith([](RopeSettings& s) { s.axes = nn::RopeAxes::RowFirst; })},
      {"1-D", settingsWith([](RopeSettings& s) {
         s.mode = RopeMode::Line;
         s.axes = nn::RopeAxes::Line;
       })},
      {"independent", settingsWith([](RopeSettings& s) { s.isShared = false; })},
      {"partial", settingsWith([](RopeSettings& s) { s.ratio = 0.25; })},
      {"base 100", settingsWith([](RopeSettings& s) { s.base = 100; })},
      {"NTK", settingsWith([](RopeSettings& s) {
         s.scale = RopeScale::Ntk;
         s.ntkAlpha = 5;
       })}};
  for (const auto& [name, settings] : kinds) {
    for (const std::int64_t width : {16, 32, 64, 72}) {
      const HeadRotation heads(settings, 2, width == 72 && settings.ratio < 1 ? 64 : width);
      const std::int64_t channels = width == 72 && settings.ratio < 1 ? 64 : width;
      const at::Generator generator = at::detail::createCPUGenerator(7);
      const auto unit = [&] {
        const at::Tensor x = at::randn({2, channels}, generator);
        return x / x.norm(2, -1, true);
      };
      const at::Tensor q = unit(), k = unit();
      for (const auto& [row, column] :
           {std::pair(0.0, 11.0), std::pair(9.0, 0.0), std::pair(4.0, 3.0)}) {
        const at::Tensor here = logits(heads, q, place(5, 2), k, place(3, 9));
        const at::Tensor there =
            logits(heads, q, place(5 + row, 2 + column), k, place(3 + row, 9 + column));
        EXPECT_LT((here - there).abs().max().item<double>(), 1e-5) << name << " " << width;
      }
    }
  }
}

TEST(VisionLlamaRope, KeepsTheNormOfEveryTokenAndTheOriginAsItIs) {
  const HeadRotation heads({}, 1, 32);
  const at::Tensor x = at::randn({1, 1, 3, 32}, at::detail::createCPUGenerator(3));
  const at::Tensor places = at::tensor(std::vector<double>{0, 0, 2, 5, 13, 1}).view({3, 2});
  const at::Tensor turned = nn::applyRope(x, heads.angles(places, kUnscaled, 14, Base::Scaled));
  EXPECT_LT((turned.norm(2, -1) - x.norm(2, -1)).abs().max().item<double>(), 1e-5);
  EXPECT_TRUE(at::equal(turned.select(2, 0), x.select(2, 0)));
  EXPECT_FALSE(at::allclose(turned.select(2, 1), x.select(2, 1)));
}

TEST(VisionLlamaRope, TheScoreOfTheFactSheetComesOutAtBothResolutions) {
  RopeSettings settings{.axes = nn::RopeAxes::RowFirst,
                        .scale = RopeScale::Anchor,
                        .anchorPixels = {14 * 16, 14 * 16}};
  const HeadRotation heads(settings, 1, 8);
  const at::Tensor q = at::tensor(std::vector<double>{.1, .2, .3, .4, .5, .6, .7, .8}).view({1, 8});
  const at::Tensor k =
      at::tensor(std::vector<double>{.8, -.7, .6, -.5, .4, -.3, .2, -.1}).view({1, 8});
  const auto score = [&](Sides image, const at::Tensor& a, const at::Tensor& b) {
    return logits(heads, q, a, k, b, settings.scaleOf(image)).item<double>();
  };
  // An anchor of 14 x 14 patches.
  EXPECT_NEAR(score({224, 224}, place(5, 3), place(2, 10)), 0.3523213469, 1e-6);
  EXPECT_NEAR(score({448, 448}, place(10, 6), place(4, 20)), 0.3523213469, 1e-6);
  EXPECT_NEAR(score({224, 224}, place(5, 2), place(3, 9)), 0.1451135655, 1e-6);
  EXPECT_NEAR(score({224, 224}, place(12, 5), place(10, 12)), 0.1451135655, 1e-6);
}

TEST(VisionLlamaRope, AnAnchorOfTheImagesOwnSizeIsPlainToTheLastBit) {
  RopeSettings plain, scaled;
  scaled.scale = RopeScale::Anchor;
  scaled.anchorPixels = {56, 84};
  scaled.isPerAxis = true;
  const at::Tensor places = nn::gridPositions({14, 21});
  const at::Tensor a =
      HeadRotation(plain, 2, 16).angles(places, plain.scaleOf({56, 84}), 21, Base::Scaled);
  const at::Tensor b =
      HeadRotation(scaled, 2, 16).angles(places, scaled.scaleOf({56, 84}), 21, Base::Scaled);
  EXPECT_TRUE(at::equal(a, b));
}

TEST(VisionLlamaRope, ImagesThatAreNotSquareAreScaledByTheRowsOrPerAxis) {
  RopeSettings settings{.scale = RopeScale::Anchor, .anchorPixels = {64, 64}};
  EXPECT_EQ(settings.scaleOf({48, 64}), (std::array<double, 2>{64.0 / 48, 64.0 / 48}));
  settings.isPerAxis = true;
  EXPECT_EQ(settings.scaleOf({48, 64}), (std::array<double, 2>{64.0 / 48, 1}));
}

TEST(VisionLlamaRope, ThreeFormsOfNtkHaveTheBasesOfTheFactSheet) {
  const std::pair<nn::NtkRule, double> forms[] = {{nn::NtkRule::Plain, 20000},
                                                  {nn::NtkRule::LowestLine, 20452.2287},
                                                  {nn::NtkRule::LowestGrid, 20945.8825}};
  for (const auto& [rule, base] : forms) {
    const HeadRotation heads({.scale = RopeScale::Ntk, .ntkAlpha = 2, .ntkRule = rule}, 1, 64);
    // The second quad turns by base^(-4 / 64) for each column.
    const at::Tensor angles = heads.angles(place(0, 1), kUnscaled, 4, Base::Scaled);
    EXPECT_NEAR(std::pow(angles[0][2].item<double>(), -16), base, base * 1e-4);
    const at::Tensor training = heads.angles(place(0, 1), kUnscaled, 4, Base::Training);
    EXPECT_NEAR(std::pow(training[0][2].item<double>(), -16), 10000, 5);
  }
}

TEST(VisionLlamaRope, HeadsOfTheirOwnTakeSlicesOfOneSpectrum) {
  const at::Tensor angles =
      HeadRotation({.isShared = false}, 2, 8).angles(place(0, 1), kUnscaled, 4, Base::Scaled);
  ASSERT_EQ(angles.sizes(), (std::vector<std::int64_t>{1, 2, 1, 4}));
  // D = 16: head 0 turns by {1, 0.1}, head 1 by {0.01, 0.001}.
  EXPECT_NEAR(angles[0][0][0][2].item<double>(), 0.1, 1e-6);
  EXPECT_NEAR(angles[0][1][0][0].item<double>(), 0.01, 1e-7);
  EXPECT_NEAR(angles[0][1][0][2].item<double>(), 0.001, 1e-8);
}

TEST(VisionLlamaRope, OnlyTheShareOfTheChannelsTurnsAndItsSpectrumIsSpreadAgain) {
  RopeSettings settings{.ratio = 0.25};
  const at::Tensor angles =
      HeadRotation(settings, 1, 64).angles(place(0, 1), kUnscaled, 4, Base::Scaled);
  ASSERT_EQ(angles.size(1), 8);
  for (std::int64_t quad = 0; quad < 4; ++quad)
    EXPECT_NEAR(angles[0][2 * quad].item<double>(), std::pow(10, -quad), 1e-6);
  settings.ratio = 0.4;
  EXPECT_THAT([&] { (void)HeadRotation(settings, 2, 16); },
              test::Fails<ConfigError>("rope.ratio 0.4", 16, 6));
}

TEST(VisionLlamaRope, TheClassTokenLiesWhereItIsPut) {
  const auto angleOf = [](nn::ClassPlace where) {
    const PlainRotation rotation({}, 1, 8, {4, 4}, where);
    return rotation.angles(at::tensor(std::vector<std::int64_t>{-1, -1, 1, 2}).view({2, 2}),
                           {3, 3});
  };
  const at::Tensor before = angleOf(nn::ClassPlace::BeforeGrid),
                   row0 = angleOf(nn::ClassPlace::FirstRow),
                   origin = angleOf(nn::ClassPlace::Origin);
  // (row, column) = (-1, 2) and (0, 2) on a 3 x 3 grid; columns turn even pairs.
  EXPECT_FLOAT_EQ(before[0][0].item<float>(), 2);
  EXPECT_FLOAT_EQ(before[0][1].item<float>(), -1);
  EXPECT_FLOAT_EQ(row0[0][0].item<float>(), 2);
  EXPECT_FLOAT_EQ(row0[0][1].item<float>(), 0);
  EXPECT_EQ(origin[0].abs().max().item<float>(), 0);
  EXPECT_TRUE(at::equal(before[1], origin[1])) << "patches are left alone";
}

std::vector<std::vector<double>> listOf(const at::Tensor& places) {
  std::vector<std::vector<double>> list;
  for (std::int64_t i = 0; i < places.size(0); ++i)
    list.push_back({places[i][0].item<double>(), places[i][1].item<double>()});
  return list;
}

TEST(KeyPositions, AreTheMeansOfTheCellsOfFigure3) {
  using List = std::vector<std::vector<double>>;
  EXPECT_EQ(listOf(keyPositions(KeyPlaces::Calibrated, {2, 2}, 2, 4)),
            (List{{.5, .5}, {.5, 2.5}, {2.5, .5}, {2.5, 2.5}}));
  EXPECT_EQ(listOf(keyPositions(KeyPlaces::Calibrated, {2, 3}, 2, 6)),
            (List{{.5, .5}, {.5, 2.5}, {.5, 4.5}, {2.5, .5}, {2.5, 2.5}, {2.5, 4.5}}));
  const at::Tensor first = keyPositions(KeyPlaces::Calibrated, {7, 7}, 8, 56);
  EXPECT_EQ(listOf(first).front(), (std::vector<double>{3.5, 3.5}));
  EXPECT_EQ(listOf(first).back(), (std::vector<double>{51.5, 51.5}));
  EXPECT_EQ(listOf(keyPositions(KeyPlaces::Calibrated, {7, 7}, 4, 28)).back(),
            (std::vector<double>{25.5, 25.5}));
  EXPECT_EQ(listOf(keyPositions(KeyPlaces::Calibrated, {7, 7}, 2, 14)).back(),
            (std::vector<double>{12.5, 12.5}));
}

TEST(KeyPositions, OfTheReleasedCodeLoseTheRowOfTheKeys) {
  using List = std::vector<std::vector<double>>;
  EXPECT_EQ(listOf(keyPositions(KeyPlaces::Released, {2, 2}, 2, 4)),
            (List{{.5, .5}, {.5, 2.5}, {.5, 4.5}, {.5, 6.5}}));
  EXPECT_EQ(listOf(keyPositions(KeyPlaces::Released, {2, 2}, 4, 8)),
            (List{{.75, .75}, {.75, 4.75}, {.75, 8.75}, {.75, 12.75}}));
  const at::Tensor wide = keyPositions(KeyPlaces::Released, {7, 7}, 8, 56);
  EXPECT_EQ(wide.select(1, 0).min().item<double>(), 0.875);
  EXPECT_EQ(wide.select(1, 0).max().item<double>(), 0.875);
  EXPECT_EQ(listOf(wide).back(), (std::vector<double>{.875, 384.875}));
  EXPECT_TRUE(
      at::equal(keyPositions(KeyPlaces::Released, {3, 4}, 1, 4), nn::gridPositions({3, 4})));
}

TEST(KeyPositions, OnALineAreTheMeanIndexOfTheCell) {
  const HeadRotation heads({.mode = RopeMode::Line, .axes = nn::RopeAxes::Line}, 1, 8);
  const at::Tensor angles =
      heads.angles(keyPositions(KeyPlaces::Calibrated, {2, 2}, 2, 4), kUnscaled, 4, Base::Scaled);
  // Cells of indices {0, 1, 4, 5} and {10, 11, 14, 15} of a 4 x 4 grid.
  EXPECT_FLOAT_EQ(angles[0][0].item<float>(), 2.5F);
  EXPECT_FLOAT_EQ(angles[3][0].item<float>(), 12.5F);
}

TEST(RopeSettingsOfATable, RefuseTwoAnchorsThatDiffer) {
  RopeSettings settings;
  Schema schema{.fields = {ropeField(RopeUse::Plain)}};
  const auto settingsOf = [&](const Json& rope) {
    Json values{{"rope", rope}};
    for (const Problem& problem : resolveItem(schema, "model", values))
      ADD_FAILURE() << problem.sentence();
    return ropeSettingsOf(Config(values), {56, 56}, {8, 8});
  };
  EXPECT_EQ(settingsOf(Json::object()).anchorPixels, (Sides{56, 56}));
  EXPECT_EQ(settingsOf({{"anchor", 4}}).anchorPixels, (Sides{32, 32}));
  EXPECT_EQ(settingsOf({{"anchor", 4}, {"anchor_pixels", 32}}).anchorPixels, (Sides{32, 32}));
  EXPECT_THAT(
      [&] {
        (void)settingsOf({{"anchor", 4}, {"anchor_pixels", 40}});
      },
      test::Fails<ConfigError>("anchor", "anchor_pixels"));
}

}  // namespace
}  // namespace vitrine::visionllama
