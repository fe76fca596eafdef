// Sizes and crops against timm, torchvision and Pillow (tests/golden/augmentation/crop_boxes).
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <set>

#include "core/base/error.h"
#include "tests/plugins/transforms/patterns.h"
#include "tests/support/golden/compare.h"

namespace vitrine::transforms {
namespace {

using test::dataValues, test::Fails, test::Patterns, test::pipelineOf;

/// `parameters` of the reference case; its pixels are compared in augment_golden_test.cpp.
Json cropParameters() {
  return testing::readGoldenCase(VITRINE_SOURCE_DIR "/tests/golden/augmentation/crop_boxes")
      .settings();
}
Size sizeOf(const Json& pair) { return {pair[0], pair[1]}; }

TEST(CropBoxes, FromGivenNumbersAreTheReferences) {
  const Json parameters = cropParameters();
  int refused = 0;
  for (const Json& row : parameters["rows"]) {
    const Window window = drawCrop(
        sizeOf(row["image"]),
        {.area = {row["area_range"][0], row["area_range"][1]},
         .aspect = {parameters["aspect_range"][0], parameters["aspect_range"][1]}},
        [&](std::uint32_t draw) { return row["numbers"].at(draw / 4).at(draw % 4).get<double>(); });
    EXPECT_EQ(Json({window.top, window.left, window.height, window.width}),
              row["box_top_left_height_width"])
        << row.dump();
    refused += !row["accepted"].get<bool>();
  }
  EXPECT_EQ(parameters["rows"].size(), 48u);
  EXPECT_GT(refused, 0) << "the fallback is part of the case";
}

TEST(CropBoxes, OfAThinImageHaveAPixel) {
  const auto drawn = [](Size image, double least, double most) {
    const Window window = drawCrop(image, {.area = {1, 1}, .aspect = {least, most}},
                                   [](std::uint32_t) { return 0.5; });
    return Json({window.top, window.left, window.height, window.width});
  };
  EXPECT_EQ(drawn({100, 1}, 4, 8), Json({49, 0, 1, 1}));
  EXPECT_EQ(drawn({1, 100}, 0.1, 0.2), Json({0, 49, 1, 1}));
}

TEST(CropBoxes, EvaluationGeometryIsTorchvisions) {
  const Json parameters = cropParameters();
  for (const Json& row : parameters["evaluation_geometry"]) {
    const Size resized = withShortSide(sizeOf(row["image"]), row["resize_short_side"]);
    EXPECT_EQ(Json({resized.height, resized.width}), row["resized"]) << row.dump();
    const Window window = centred(resized, {row["crop"], row["crop"]});
    EXPECT_EQ(Json({window.top, window.left}), row["top_left"]) << row.dump();
  }
}

TEST(CenterCrop, OfProportionsIsTheLargestWindowOrAShareOfIt) {
  const auto shown = [](const Window& window) {
    return Json({window.top, window.left, window.height, window.width});
  };
  EXPECT_EQ(shown(centredProportions({4, 12}, {4, 4}, 1)), Json({0, 4, 4, 4}));
  EXPECT_EQ(shown(centredProportions({4, 12}, {1, 3}, 1)), Json({0, 0, 4, 12}));
  EXPECT_EQ(shown(centredProportions({8, 8}, {2, 2}, 0.5)), Json({2, 2, 4, 4}));
  EXPECT_EQ(shown(centredProportions({1, 100}, {10, 10}, 0.1)), Json({0, 49, 1, 1}));
  EXPECT_EQ(shown(centred({3, 3}, {5, 6})), Json({-1, -1, 5, 6})) << "black outside the image";
}

Json listOf(Json list) {
  Json data = dataValues();
  data["pipeline"] = {{"train", std::move(list)}};
  return data;
}

TEST(RandomCrop, StaysWithinTheBorderAndReachesIt) {
  const auto set = std::make_shared<Patterns>(1, 6, 5, 400);
  const auto pipeline =
      pipelineOf(set, listOf({{{"name", "random_crop"}, {"padding", 2}, {"size", {4, 4}}}}), 3);
  EXPECT_EQ(pipeline->field("image", Phase::Train).shape, (std::vector<std::int64_t>{1, 4, 4}));
  const auto stream = pipeline->stream(Split::Train, {.batchSize = 400, .isTraining = true});
  const Batch batch = stream->next();
  EXPECT_EQ(batch.at("image").sizes(), (std::vector<std::int64_t>{400, 1, 4, 4}));
  // Every window is found in the image with its border, at one of 7 x 6 places.
  std::set<std::pair<std::int64_t, std::int64_t>> places;
  for (std::int64_t i = 0; i < 400; ++i) {
    std::vector<std::uint8_t> image(30);
    (void)set->readImage(Split::Train, batch.sampleIds[static_cast<std::size_t>(i)], image);
    const at::Tensor whole = at::constant_pad_nd(
        at::tensor(at::ArrayRef<std::uint8_t>(image)).view({6, 5}), {2, 2, 2, 2}, 0);
    int found = 0;
    for (std::int64_t top = 0; top < 7; ++top) {
      for (std::int64_t left = 0; left < 6; ++left) {
        if (!at::equal(whole.narrow(0, top, 4).narrow(1, left, 4), batch.at("image")[i][0]))
          continue;
        places.emplace(top, left);
        ++found;
      }
    }
    ASSERT_GE(found, 1) << i;
  }
  EXPECT_EQ(places.size(), 42u);
}

TEST(RandomResizedCrop, GivesOneSizeAndDiffersByEpoch) {
  const auto set = std::make_shared<Patterns>(3, 20, 30, 16);
  const auto pipeline = pipelineOf(
      set, listOf({{{"name", "random_resized_crop"}, {"filter", "bicubic"}}}), 3, {{8, 8}, 3});
  const auto stream = pipeline->stream(Split::Train, {.batchSize = 16, .isTraining = true});
  const Batch first = stream->next(), second = stream->next();
  EXPECT_EQ(first.at("image").sizes(), (std::vector<std::int64_t>{16, 3, 8, 8}));
  EXPECT_FALSE(at::equal(first.at("image"), second.at("image")));
  EXPECT_THAT(
      [&] {
        (void)pipelineOf(
            set, listOf({{{"name", "random_resized_crop"}, {"size", 8}, {"area", {0.5, 0.1}}}}));
      },
      Fails<ConfigError>("area"));
}

TEST(Resize, WithoutASizeNeedsThatOfTheModelAndWorksOnBytes) {
  const auto set = std::make_shared<Patterns>(1, 6, 5, 4);
  EXPECT_THAT(
      [&] {
        (void)pipelineOf(set, listOf({{{"name", "resize"}}}));
      },
      Fails<ConfigError>("resize"));
  EXPECT_THAT(
      [&] {
        (void)pipelineOf(set, listOf({{{"name", "normalize"}}, {{"name", "resize"}, {"size", 3}}}));
      },
      Fails<ConfigError>("resize", "normalize"));
  const auto pipeline =
      pipelineOf(set, listOf({{{"name", "resize"}, {"size", 10}, {"mode", "short_side"}}}));
  EXPECT_EQ(pipeline->field("image", Phase::Train).shape, (std::vector<std::int64_t>{1, 12, 10}));
}

}  // namespace
}  // namespace vitrine::transforms
