// Augmentations against timm, torchvision, Pillow, mmsegmentation and mmdetection, their random
// numbers given (tests/golden/augmentation), and what transforms draw themselves.
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "plugins/transforms/color_transforms.h"
#include "plugins/transforms/rand_augment.h"
#include "plugins/transforms/scene_crops.h"
#include "tests/plugins/transforms/patterns.h"
#include "tests/support/golden/augment.h"

namespace vitrine::transforms {
namespace {

using test::dataValues, test::Fails, test::Names, test::Patterns, test::pipelineOf;

/// \param compared  how many tensors the case expects
void expectReproduced(const std::string& name, int compared) {
  SCOPED_TRACE(name);
  const testing::GoldenCase golden =
      testing::readGoldenCase(VITRINE_SOURCE_DIR "/tests/golden/augmentation/" + name);
  int found = 0;
  for (const testing::Compared& line :
       testing::compareCase(golden, testing::runAugmentationCase(golden))) {
    EXPECT_TRUE(line.isMapped) << line.tensor << " was not compared";
    EXPECT_FALSE(line.isMiss()) << line.tensor << ": error " << line.error << ", allowed "
                                << line.allowed << " " << line.problem;
    ++found;
  }
  EXPECT_EQ(found, compared);
}

TEST(AugmentGolden, OperationsOfRandAugmentAreTimms) { expectReproduced("randaugment_ops", 45); }
TEST(AugmentGolden, GreySolarizedAndBlurredAreDeits) { expectReproduced("three_augment", 20); }
TEST(AugmentGolden, ColorJitterIsTorchvisions) { expectReproduced("color_jitter", 19); }
TEST(AugmentGolden, PhotometricDistortionIsMmsegmentations) {
  expectReproduced("photometric_distortion", 10);
}
TEST(AugmentGolden, ErasedBoxesAreTimms) { expectReproduced("random_erasing", 8); }
TEST(AugmentGolden, RepeatedOrdersOfReplicasAreDeits) {
  expectReproduced("repeated_augmentation", 5);
}
TEST(AugmentGolden, CropsWithSeveralClassesAreMmsegmentations) {
  expectReproduced("cat_max_ratio_crop", 8);
}
TEST(AugmentGolden, LargeScaleJitterIsMmdetections) { expectReproduced("large_scale_jitter", 18); }
TEST(AugmentGolden, CropsAreTimms) { expectReproduced("crop_boxes", 24); }
TEST(AugmentGolden, MixedBatchesAreTimms) { expectReproduced("mixup_cutmix", 20); }

Json trainList(Json list) {
  Json data = dataValues();
  data["pipeline"] = {{"train", std::move(list)}};
  return data;
}

Batch firstBatch(const Pipeline& pipeline, int workers = 1) {
  return pipeline.stream(Split::Train, {.batchSize = 32, .workers = workers, .isTraining = true})
      ->next();
}

TEST(Augment, EveryTransformDrawsFromSeedEpochAndSampleAlone) {
  const auto set = std::make_shared<Patterns>(3, 24, 20, 64);
  for (const Json& item : std::vector<Json>{{{"name", "rand_augment"}},
                                            {{"name", "three_augment"}},
                                            {{"name", "color_jitter"}, {"hue", 0.1}},
                                            {{"name", "photometric_distortion"}},
                                            {{"name", "large_scale_jitter"}, {"size", 16}}}) {
    const Json list = Json::array({item});
    const auto pipeline = pipelineOf(set, trainList(list), 3);
    const Batch one = firstBatch(*pipeline), other = firstBatch(*pipeline, 0);
    EXPECT_TRUE(at::equal(one.at("image"), other.at("image"))) << item;
    const auto plain = pipelineOf(set, trainList(Json::array()), 3);
    EXPECT_FALSE(at::equal(one.at("image"), firstBatch(*plain).at("image"))) << item;
    // Another seed brings another order: the same samples compared.
    const auto seeded = pipelineOf(set, trainList(list), 4);
    const Batch second =
        seeded->stream(Split::Train, {.batchSize = 64, .isTraining = true})->next();
    const Batch first =
        pipeline->stream(Split::Train, {.batchSize = 64, .isTraining = true})->next();
    int differ = 0;
    for (std::size_t i = 0; i < 64; ++i) {
      const auto at =
          std::find(second.sampleIds.begin(), second.sampleIds.end(), first.sampleIds[i]);
      differ += !at::equal(first.at("image")[static_cast<std::int64_t>(i)],
                           second.at("image")[at - second.sampleIds.begin()]);
    }
    EXPECT_GT(differ, 20) << item;
  }
}

TEST(Augment, RandomErasingChangesItsShareOfTheImages) {
  const auto set = std::make_shared<Patterns>(1, 16, 16, 512);
  const auto pipeline =
      pipelineOf(set,
                 trainList({{{"name", "normalize"}},
                            {{"name", "random_erasing"}, {"probability", 0.25}, {"fill", "mean"}}}),
                 1);
  const auto plain = pipelineOf(set, trainList({{{"name", "normalize"}}}), 1);
  const StreamOptions all{.batchSize = 512, .isTraining = true};
  const at::Tensor erased = pipeline->stream(Split::Train, all)->next().at("image");
  const at::Tensor before = plain->stream(Split::Train, all)->next().at("image");
  const at::Tensor changed = erased.ne(before).flatten(1).any(1);
  EXPECT_NEAR(changed.sum().item<double>(), 128, 49) << "five standard deviations";
  EXPECT_EQ(erased.masked_select(erased.ne(before)).abs().max().item<double>(), 0);
  EXPECT_THAT(
      [&] {
        (void)pipelineOf(set, trainList({{{"name", "random_erasing"}}}));
      },
      Fails<ConfigError>("random_erasing", "normalize"));
  EXPECT_THAT(
      [&] {
        (void)pipelineOf(set, trainList({{{"name", "normalize"}}, {{"name", "rand_augment"}}}));
      },
      Fails<ConfigError>("normalize"));
}

TEST(Augment, RepeatsComeInARowAndDifferInWhatIsDrawn) {
  const auto set = std::make_shared<Patterns>(1, 16, 16, 60);
  Json data = trainList({{{"name", "random_crop"}, {"padding", 6}}});
  data["augment"]["repeats"] = 3;
  const auto pipeline = pipelineOf(set, data, 1);
  const auto stream = pipeline->stream(Split::Train, {.batchSize = 20, .isTraining = true});
  EXPECT_EQ(stream->batchesPerEpoch(), 3);
  std::set<std::int64_t> ids;
  int equal = 0;
  std::int64_t place = 0;
  std::int64_t last = -1;
  at::Tensor before;
  for (int i = 0; i < 3; ++i) {
    const Batch batch = stream->next();
    for (std::size_t s = 0; s < 20; ++s, ++place) {
      const at::Tensor image = batch.at("image")[static_cast<std::int64_t>(s)].clone();
      if (place % 3 != 0) {
        EXPECT_EQ(batch.sampleIds[s], last);
        equal += at::equal(image, before);
      }
      last = batch.sampleIds[s];
      ids.insert(last);
      before = image;
    }
  }
  EXPECT_EQ(ids.size(), 20u) << "an epoch is as long as without repeats";
  EXPECT_LT(equal, 6) << "of 40 pairs, 169 places each";
  // Evaluation reads each sample once.
  const auto test = pipeline->stream(Split::Test, {.batchSize = 60});
  const std::vector<std::int64_t> read = test->next().sampleIds;
  EXPECT_EQ(std::set<std::int64_t>(read.begin(), read.end()).size(), 60u);
}

/// One white square in a mask, an image and a box.
class Square final : public Dataset {
 public:
  Square() {
    info_.classes = {"square"};
    info_.channels = 1;
    info_.mean = {0};
    info_.fields = {{"image", FieldKind::Image, at::kByte, {1, 32, 32}, ""},
                    {"mask", FieldKind::Mask, at::kByte, {32, 32}, ""},
                    {"masks", FieldKind::Mask, at::kByte, {1, 32, 32}, ""},
                    {"boxes", FieldKind::Boxes, at::kFloat, {1, 4}, ""}};
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split) const override { return 64; }
  void read(Split split, std::int64_t id, Sample& sample) const override {
    requireSample(split, id);
    const auto image = sample["image"].resize<std::uint8_t>({1, 32, 32});
    const auto mask = sample["mask"].resize<std::uint8_t>({32, 32});
    const auto masks = sample["masks"].resize<std::uint8_t>({1, 32, 32});
    for (std::size_t i = 0; i < 32 * 32; ++i) {
      const bool isInside = i / 32 >= 10 && i / 32 < 20 && i % 32 >= 12 && i % 32 < 22;
      image[i] = isInside ? 255 : 0;
      mask[i] = masks[i] = isInside ? 1 : 0;
    }
    const auto box = sample["boxes"].resize<float>({1, 4});
    const std::array<float, 4> sides = {12, 10, 22, 20};
    std::copy(sides.begin(), sides.end(), box.begin());
  }

 private:
  DatasetInfo info_;
};

TEST(Augment, MasksAndBoxesFollowTheImage) {
  const auto set = std::make_shared<Square>();
  for (const Json& item : std::vector<Json>{
           {{"name", "rand_augment"}, {"probability", 1}, {"operations", 1}, {"fill", {0}}},
           {{"name", "large_scale_jitter"}, {"size", 24}, {"padding", 0}},
           {{"name", "segment_crop"}, {"size", 24}}}) {
    SCOPED_TRACE(item.dump());
    const auto pipeline = pipelineOf(set, trainList(Json::array({item})), 2);
    const Batch batch =
        pipeline->stream(Split::Train, {.batchSize = 64, .isTraining = true})->next();
    int moved = 0;
    for (std::int64_t i = 0; i < 64; ++i) {
      const at::Tensor mask = batch.at("mask")[i];
      const at::Tensor box = batch.at("boxes")[i][0];
      EXPECT_TRUE(at::equal(mask, batch.at("masks")[i][0]));
      const at::Tensor rows = mask.any(1).nonzero(), columns = mask.any(0).nonzero();
      if (rows.numel() == 0) continue;
      // The box holds every pixel of the mask.
      EXPECT_LE(box[0].item<float>(), columns.min().item<float>() + 0.51F);
      EXPECT_LE(box[1].item<float>(), rows.min().item<float>() + 0.51F);
      EXPECT_GE(box[2].item<float>(), columns.max().item<float>() + 0.49F);
      EXPECT_GE(box[3].item<float>(), rows.max().item<float>() + 0.49F);
      moved += box[0].item<float>() != 12;
    }
    EXPECT_GT(moved, 5);
  }
}

TEST(Augment, RotationTurnsCounterClockwiseAroundTheMiddle) {
  std::array<std::uint8_t, 25> image{}, out{};
  image[2] = 200;  // in the middle of the top row
  warpPixels({image.data(), 1, 5, 5}, rotation({5, 5}, 90), WarpFilter::Nearest, {9},
             {out.data(), 1, 5, 5});
  EXPECT_EQ(out[10], 200) << "in the middle of the left column";
  std::array<float, 4> box = {2, 0, 3, 1};
  warpBox(rotation({5, 5}, 90), {5, 5}, box.data());
  EXPECT_NEAR(box[0], 0, 1e-5);
  EXPECT_NEAR(box[1], 2, 1e-5);
  EXPECT_NEAR(box[2], 1, 1e-5);
  EXPECT_NEAR(box[3], 3, 1e-5);
}

TEST(Augment, SettingsThatCannotBeAreRefused) {
  const auto set = std::make_shared<Patterns>(3, 8, 8, 8);
  const auto refusal = [&](const Json& item) {
    return test::refusal<ConfigError>(
        [&] { (void)pipelineOf(set, trainList(Json::array({item}))); });
  };
  EXPECT_THAT(refusal({{"name", "large_scale_jitter"}}), Names("large_scale_jitter"));
  EXPECT_THAT(refusal({{"name", "large_scale_jitter"}, {"size", 8}, {"least", 3}}),
              Names("least", "most"));
  EXPECT_THAT(refusal({{"name", "segment_crop"}, {"size", 8}}), Names("mask"));
  EXPECT_THAT(refusal({{"name", "three_augment"}, {"least_radius", 3}}),
              Names("least_radius", "most_radius"));
}

}  // namespace
}  // namespace vitrine::transforms
