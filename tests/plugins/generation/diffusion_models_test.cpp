// DiT, SiT and their variants with SwiGLU and rotary positions against the published code.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "plugins/baselines/diffusion_transformers.h"
#include "plugins/visionllama_diffusion/rotary_diffusion.h"
#include "tests/support/golden/case.h"
#include "tests/support/refusal.h"

namespace vitrine::generation {
namespace {

using test::Names;
using testing::expectReproduced;

const baselines::DitArchitecture kDit;
const baselines::SitArchitecture kSit;
const visionllama_diffusion::DitLlamaArchitecture kDitLlama;
const visionllama_diffusion::SitLlamaArchitecture kSitLlama;

TEST(DiffusionModelsGolden, OutputsLossesAndGradientsAreReproduced) {
  expectReproduced("dit/dit_tiny", kDit);
  expectReproduced("dit/dit_llama_p4", kDitLlama);
  expectReproduced("sit/sit_tiny", kSit);
  expectReproduced("sit/sit_llama_tiny", kSitLlama);
}

struct Published {
  const char* preset;
  std::int64_t additive, rotary;
};
/// Trainable parameters at 1000 classes; the size L of the rotary models is larger than its twin,
/// since the hidden width is a multiple of 256.
constexpr Published kPublished[] = {
    {"s2", 32865056, 32842016},    {"s4", 32920448, 32897408},    {"s8", 33142016, 33118976},
    {"b2", 130315808, 130269728},  {"b4", 130426496, 130380416},  {"b8", 130869248, 130823168},
    {"l2", 457840672, 464009248},  {"l4", 457988224, 464156800},  {"l8", 458578432, 464747008},
    {"xl2", 674834720, 674673440}, {"xl4", 675000704, 674839424}, {"xl8", 675664640, 675503360}};

std::shared_ptr<Model> built(const Architecture& architecture, const std::string& preset) {
  const ItemCard card = architecture.card();
  Json values = card.schema.preset(card.id + "/" + preset)->values;
  EXPECT_TRUE(resolveItem(card.schema, "model", values).empty());
  return architecture.build(Config(values), 0);
}

TEST(DiffusionModels, PresetsHaveThePublishedNumberOfParameters) {
  const ScopedBuildDevice meta(at::kMeta);
  for (const Published& size : kPublished) {
    for (const auto& [architecture, expected] :
         {std::pair<const Architecture*, std::int64_t>{&kDit, size.additive},
          {&kSit, size.additive},
          {&kDitLlama, size.rotary},
          {&kSitLlama, size.rotary}}) {
      const auto model = built(*architecture, size.preset);
      std::int64_t count = 0;
      for (const auto& parameter : model->module().parameters()) count += parameter.numel();
      EXPECT_EQ(count, expected) << architecture->card().id << " " << size.preset;
    }
  }
}

TEST(DiffusionModels, CountTheProductsOfTheSheet) {
  const ScopedBuildDevice meta(at::kMeta);
  const auto macs = [](const Architecture& architecture, const char* preset) {
    double sum = 0;
    for (const BlockCost& part : built(architecture, preset)->cost()) sum += part.macs;
    return sum / 1e9;
  };
  EXPECT_NEAR(macs(kDit, "s2"), 6.056, 5e-4);
  EXPECT_NEAR(macs(kDit, "xl2"), 118.621, 5e-4);
  EXPECT_NEAR(macs(kDitLlama, "l2"), 82.308, 5e-4);
  EXPECT_NEAR(macs(kSitLlama, "b4"), 5.565, 5e-4);
}

TEST(DiffusionModels, RefuseEachOthersWeights) {
  const auto golden = testing::openGoldenCase("dit/dit_tiny");
  Json values = testing::modelTable(golden, kDit.card().schema);
  for (const char* key : {"mlp", "mlp_width", "pe", "rope"}) values.erase(key);
  ASSERT_TRUE(resolveItem(kDitLlama.card().schema, "model", values).empty());
  const auto model = kDitLlama.build(Config(values), 0);
  EXPECT_THROW((void)loadWeights(*model, golden.weights()), ConfigError);
}

TEST(DiffusionModels, SayWhyWeightsOfAnotherSizeOrSidesDoNotFit) {
  const auto golden = testing::openGoldenCase("dit/dit_tiny");
  Json wider = testing::modelTable(golden, kDit.card().schema);
  const auto width = wider.at("width").get<std::int64_t>();
  wider["width"] = 2 * width;
  ASSERT_TRUE(resolveItem(kDit.card().schema, "model", wider).empty());
  const auto model = kDit.build(Config(wider), 0);
  const std::string sizes =
      test::refusal<ConfigError>([&] { (void)loadWeights(*model, golden.weights()); });
  const auto shape = [](std::int64_t channels) {
    return "[" + std::to_string(channels) + ", 4, 2, 2]";
  };
  EXPECT_THAT(sizes, Names("x_embedder.proj.weight", shape(width), shape(2 * width)));

  Json odd{{"input_size", Json{7, 8}}, {"patch_size", 2}};
  const auto problems = resolveItem(kSit.card().schema, "model", odd);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].sentence(), Names("patch_size", "input_size", "[7, 8]"));
}

TEST(DiffusionModels, RotaryOnesLoadTheUnusedTableOfAnotherGrid) {
  const auto golden = testing::openGoldenCase("sit/sit_llama_tiny");
  const auto model =
      kSitLlama.build(testing::modelConfig(golden, kSitLlama, {{"input_size", Json{12, 12}}}), 0);
  EXPECT_TRUE(loadWeights(*model, golden.weights()).unused.empty());
}

}  // namespace
}  // namespace vitrine::generation
