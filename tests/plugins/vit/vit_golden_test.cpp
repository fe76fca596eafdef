// ViT against tensors of timm and transformers, and its structure against the paper.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "core/nn/vision_transformer.h"
#include "plugins/vit/vit.h"
#include "tests/support/golden/case.h"

namespace vitrine::vit {
namespace {

using testing::expectParameters, testing::expectReproduced, testing::isClose;
using testing::openGoldenCase;

const VitArchitecture kVit;

class VitGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(VitGolden, OutputsAndGradientsAreReproduced) {
  expectReproduced(std::string("vit/") + GetParam(), kVit);
}

INSTANTIATE_TEST_SUITE_P(Cases, VitGolden,
                         ::testing::Values("vit_cls_gelu_erf", "vit_cls_gelu_tanh_gray",
                                           "vit_gap_fc_norm", "vit_gap_no_class_token",
                                           "vit_no_position_no_qkv_bias", "vit_nonsquare",
                                           "vit_huggingface_names"));

TEST(VitResize, ThreeRulesGiveTheTablesAndLogitsOfThreeGrids) {
  expectReproduced("vit/vit_resize_positions", kVit);
}

TEST(VitResize, NoRuleRefusesAnotherGrid) {
  const auto golden = openGoldenCase("vit/vit_resize_positions");
  const auto model = kVit.build(modelConfig(golden, kVit, Json{{"image_size", Json{48, 48}}}), 0);
  LoadOptions options{.resizePositions = "none"};
  EXPECT_THROW((void)loadWeights(*model, golden.weights(), options), ConfigError);
}

TEST(VitStructure, WithoutPositionsTheOrderOfPatchesDoesNotMatter) {
  const auto golden = openGoldenCase("vit/vit_no_position_no_qkv_bias");
  const auto model = kVit.build(modelConfig(golden, kVit), 0);
  (void)loadWeights(*model, golden.weights());
  const at::Tensor image = golden.io.at("input/image");
  // Patches are 8 px: rolling by a patch permutes them.
  const at::Tensor rolled = image.roll({8, 16}, {2, 3});
  auto* classifier = capabilityOf<ImageClassifier>(*model);
  EXPECT_TRUE(isClose(classifier->classify(rolled), classifier->classify(image), 1e-5));
}

TEST(VitPresets, HaveThePublishedParameters) {
  const Schema schema = kVit.card().schema;
  const std::tuple<const char*, const char*, std::int64_t> models[] = {
      {"b16", "B/16@224", 224},   {"b32", "B/32@224", 224}, {"l16", "L/16@224", 224},
      {"l32", "L/32@224", 224},   {"h14", "H/14@224", 224}, {"s16", "S/16@224", 224},
      {"ti16", "Ti/16@224", 224}, {"b16", "B/16@384", 384}, {"l16", "L/16@512", 512},
      {"h14", "H/14@518", 518}};
  for (const auto& [preset, entry, side] : models) {
    Json values = schema.preset(std::string("vit/") + preset)->values;
    values["image_size"] = Json{side, side};
    expectParameters("vit/parameters.json", std::string(entry) + " 1000 classes", kVit, values);
  }
}

TEST(VitPresets, HalvedAndFigureEightModelsHaveTheirBackbones) {
  // Fact sheet A.1.1, without the head.
  const std::pair<const char*, double> backbones[] = {{"b32_half", 22493952},
                                                      {"figure8_centre", 70400000}};
  for (const auto& [preset, wanted] : backbones) {
    const Json values = kVit.card().schema.preset(std::string("vit/") + preset)->values;
    nn::VisionTransformerConfig config;
    config.patchSize = {values["patch_size"][0], values["patch_size"][1]};
    config.width = values["width"], config.depth = values["depth"], config.heads = values["heads"];
    config.mlpWidth = values["mlp_width"];
    const ScopedBuildDevice meta(at::kMeta);
    double count = 0;
    for (const BlockCost& block : nn::VisionTransformer(config, 0).cost())
      count += block.name == "head" ? 0 : static_cast<double>(block.parameters);
    EXPECT_NEAR(count, wanted, preset == std::string("b32_half") ? 0 : 1e5) << preset;
  }
}

Json smallTable() {
  return Json{{"image_size", 14}, {"patch_size", 7}, {"in_channels", 1}, {"width", 16},
              {"depth", 2},       {"heads", 2},      {"mlp_width", 32},  {"num_classes", 4}};
}

std::shared_ptr<Model> buildWith(Json values) {
  for (const Problem& problem : resolveItem(kVit.card().schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  return kVit.build(Config(values), 0);
}

TEST(VitSchema, RefusesWhatComesLaterWithASentence) {
  for (const Json& change :
       {Json{{"pos_embed", "relative"}}, Json{{"pos_embed", "2d"}}, Json{{"stem", "hybrid"}},
        Json{{"attention", "axial"}}, Json{{"pre_logits", true}}}) {
    Json values = smallTable();
    values.update(change);
    const auto problems = resolveItem(kVit.card().schema, "model", values);
    ASSERT_EQ(problems.size(), 1U) << change;
    EXPECT_NE(problems[0].message.find("later version"), std::string::npos)
        << problems[0].sentence();
  }
}

TEST(VitSchema, PatchesMustTileTheImageAndHeadsTheWidth) {
  Json values = smallTable();
  values["patch_size"] = 5;
  EXPECT_EQ(resolveItem(kVit.card().schema, "model", values).size(), 1U);
  values = smallTable();
  values["heads"] = 3;
  EXPECT_EQ(resolveItem(kVit.card().schema, "model", values).size(), 1U);
  values = smallTable();
  values["class_token"] = "none";
  EXPECT_EQ(resolveItem(kVit.card().schema, "model", values).size(), 1U)
      << "pool = cls needs a class token";
}

TEST(VitInit, FirstLossIsThatOfAUniformGuess) {
  const auto model = buildWith(smallTable());
  const at::Tensor images = at::randn({5, 1, 14, 14}, at::detail::createCPUGenerator(3));
  const at::Tensor loss = at::cross_entropy_loss(
      capabilityOf<ImageClassifier>(*model)->classify(images), at::arange(5).remainder(4));
  EXPECT_FLOAT_EQ(loss.item<float>(), static_cast<float>(std::log(4.0)));
}

TEST(VitTraining, LearnsAHandfulOfImagesByHeart) {
  const auto model = buildWith(smallTable());
  const at::Tensor images = at::randn({8, 1, 14, 14}, at::detail::createCPUGenerator(1));
  const at::Tensor labels = at::arange(8).remainder(4);
  double last = 0;
  for (int step = 0; step < 150; ++step) {
    const at::Tensor loss =
        at::cross_entropy_loss(capabilityOf<ImageClassifier>(*model)->classify(images), labels);
    loss.backward();
    last = loss.item<double>();
    const c10::NoGradGuard noGrad;
    for (const auto& [name, tensor] : namedTensors(*model)) {
      tensor.sub_(tensor.grad(), 0.3);
      tensor.mutable_grad() = at::Tensor();
    }
  }
  EXPECT_LT(last, 0.1);
}

}  // namespace
}  // namespace vitrine::vit
