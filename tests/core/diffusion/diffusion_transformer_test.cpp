// The denoising transformer: how it begins, what it refuses, what its taps see.
#include "core/diffusion/diffusion_transformer.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/diffusion/diffusion_schema.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "core/nn/denoising_transformer.h"
#include "core/nn/init.h"
#include "tests/support/refusal.h"

namespace vitrine::diffusion {
namespace {


at::Tensor drawn(at::IntArrayRef shape, std::uint64_t seed) {
  return at::randn(shape, at::detail::createCPUGenerator(seed), at::kFloat);
}

DiffusionTransformerOptions tiny() {
  return {.inputSize = {8, 8}, .width = 32, .depth = 2, .heads = 2, .mlpWidth = 64, .classes = 5};
}

DiffusionTransformerOptions rotary() {
  DiffusionTransformerOptions o = tiny();
  o.mlp = nn::MlpKind::SwiGlu;
  o.addsPositions = false;
  o.rope.mode = RotaryChoice::Mode::Grid;
  return o;
}

TEST(Unpatchify, FeaturesAreRowColumnChannelAndComeBack) {
  at::Tensor tokens = at::empty({1, 4, 8});
  for (std::int64_t t = 0; t < 4; ++t) {
    for (std::int64_t f = 0; f < 8; ++f) tokens[0][t][f] = static_cast<double>(100 * t + f);
  }
  const at::Tensor image = nn::unpatchify(tokens, {2, 2}, {2, 2});
  const at::Tensor first = at::tensor({0., 2., 100., 102., 4., 6., 104., 106., 200., 202., 300.,
                                       302., 204., 206., 304., 306.})
                               .view({4, 4});
  EXPECT_TRUE(at::equal(image[0][0], first.to(at::kFloat)));
  EXPECT_TRUE(at::equal(image[0][1], first.to(at::kFloat) + 1));
  for (const std::int64_t patch : {2, 4, 8}) {
    for (const std::int64_t channels : {1, 3, 4, 8}) {
      const at::Tensor x = drawn({2, channels, 16, 8}, 1);
      const at::Tensor cut = x.view({2, channels, 16 / patch, patch, 8 / patch, patch})
                                 .permute({0, 2, 4, 3, 5, 1})
                                 .reshape({2, 128 / (patch * patch), patch * patch * channels});
      const at::Tensor back = nn::unpatchify(cut, {16 / patch, 8 / patch}, {patch, patch});
      EXPECT_TRUE(at::equal(back, x)) << patch << " " << channels;
    }
  }
  EXPECT_THROW((void)nn::unpatchify(drawn({1, 3, 8}, 1), {2, 2}, {2, 2}), ShapeError);
}

TEST(AdaptiveBlock, BeginsAsTheIdentityBitForBit) {
  for (const nn::MlpKind kind : {nn::MlpKind::GeluTanh, nn::MlpKind::SwiGlu}) {
    const nn::AdaptiveBlock block(
        {.width = 32, .heads = 2, .hidden = 64, .mlp = kind, .affine = nn::Affine::None});
    nn::initialise(
        *block.block,
        [](const std::string& name, const at::Tensor& value) -> std::optional<nn::Init> {
          if (name.starts_with("adaLN_modulation.") || value.dim() < 2) return std::nullopt;
          return nn::normalInit(0.5);
        },
        3);
    const at::Tensor x = drawn({3, 6, 32}, 1);
    EXPECT_TRUE(at::equal(block.forward(x, drawn({3, 32}, 2), {}), x));
  }
}

TEST(DiffusionTransformer, BeginsWithAPredictionOfZeroAndTheWeightsOfItsSheet) {
  for (const DiffusionTransformerOptions& options : {tiny(), rotary()}) {
    DiffusionTransformer model(options, 7);
    const at::Tensor out = model.denoise(drawn({2, 4, 8, 8}, 1), at::tensor({3.0, 900.0}),
                                         {.label = at::tensor({0, 5}, at::kLong)});
    EXPECT_EQ(out.abs().max().item<float>(), 0);
    EXPECT_EQ(out.sizes(), (std::vector<std::int64_t>{2, 8, 8, 8}));
    int normal = 0, zero = 0;
    for (const auto& [name, tensor] : namedTensors(model)) {
      const double most = tensor.abs().max().item<double>();
      if (name.ends_with("attn.qkv.weight")) {
        const double bound = std::sqrt(6.0 / (32 + 96));
        EXPECT_LE(most, bound) << name;
        EXPECT_GT(most, 0.98 * bound) << name;
      }
      if (name == "t_embedder.mlp.0.weight") {
        EXPECT_NEAR(tensor.std().item<double>(), 0.02, 1e-3);
        ++normal;
      }
      if (name.starts_with("final_layer.") || name.find("adaLN_modulation") != std::string::npos) {
        EXPECT_EQ(most, 0) << name;
        ++zero;
      }
    }
    EXPECT_EQ(normal, 1);
    EXPECT_GT(zero, 2);
  }
}

TEST(DiffusionTransformer, AFlowKeepsTheFirstHalfOfItsHead) {
  DiffusionTransformerOptions options = tiny();
  options.time = GuidedDenoiser::Time::Flow;
  DiffusionTransformer model(options, 7);
  EXPECT_EQ(model.denoiserSizes().outputs, 4);
  Condition condition;
  EXPECT_EQ(model.denoise(drawn({1, 4, 8, 8}, 1), at::tensor({0.5}), condition).size(1), 4);
}

TEST(DiffusionTransformer, TapsSeeEveryLayerWithItsTime) {
  DiffusionTransformer model(rotary(), 7);
  std::vector<std::int64_t> layers;
  auto tap = std::make_shared<AttentionTap>();
  tap->receive = [&](const AttentionRecord& record) {
    layers.push_back(record.layer);
    EXPECT_EQ(record.time, 250);
    EXPECT_EQ(record.weights.sizes(), (std::vector<std::int64_t>{1, 2, 16, 16}));
    EXPECT_NEAR(record.weights[0][0][3].sum().item<double>(), 1, 1e-5);
    EXPECT_EQ(record.queryPositions[5][0].item<std::int64_t>(), 1);
    EXPECT_EQ(record.queryPositions[5][1].item<std::int64_t>(), 1);
  };
  const auto run = [&] { (void)model.denoise(drawn({1, 4, 8, 8}, 1), at::tensor({250.0}), {}); };
  model.setAttentionTap(tap);
  run();
  EXPECT_EQ(layers, (std::vector<std::int64_t>{0, 1}));
  model.setAttentionTap(nullptr);
  run();
  EXPECT_EQ(layers.size(), 2U);
}

std::string refusalOf(const Json& changes) {
  const Schema schema = diffusionSchema(BlockStyle::Rotary, "tiny");
  Json values{
      {"input_size", Json{28, 28}}, {"patch_size", Json{4, 4}}, {"width", 96}, {"heads", 4}};
  values.update(changes);
  const std::vector<Problem> problems = resolveItem(schema, "model", values);
  if (!problems.empty()) return problems.front().sentence();
  return test::refusal<ConfigError>(
      [&] { (void)diffusionOptions(Config(values), GuidedDenoiser::Time::Flow); });
}

TEST(DiffusionSchema, RefusesSizesThatDoNotFitWithASentence) {
  EXPECT_EQ(refusalOf(Json::object()), "");
  EXPECT_THAT(refusalOf({{"patch_size", 5}}),
              test::Names("patch_size 5 does not divide input_size 28"));
  EXPECT_THAT(refusalOf({{"heads", 5}}), test::Names("width 96 is not a multiple of heads 5"));
  EXPECT_THAT(refusalOf({{"width", 24}, {"heads", 4}}),
              test::Names("6 channels of a head", "multiple of 4"));
  EXPECT_EQ(
      refusalOf({{"width", 30}, {"heads", 5}, {"pe", "sincos"}, {"rope", {{"mode", "none"}}}}),
      "pe = \"sincos\" needs a width that is a multiple of 4, not 30");
  EXPECT_NE(refusalOf({{"depths", 4}}), "");
}

TEST(DiffusionTransformer, WithoutLabelDropHasNoLabelForNothing) {
  DiffusionTransformerOptions options = tiny();
  options.labelDrop = 0;
  DiffusionTransformer model(options, 7);
  EXPECT_THROW((void)model.denoise(drawn({1, 4, 8, 8}, 1), at::tensor({1.0}), {}), ConfigError);
  try {
    (void)model.denoise(drawn({1, 3, 8, 8}, 1), at::tensor({1.0}), {});
    FAIL();
  } catch (const Error&) {
  }
}

TEST(DiffusionTransformer, CountsEveryParameterAndProductOfItsBlocks) {
  const ScopedBuildDevice meta(at::kMeta);
  for (const DiffusionTransformerOptions& options : {tiny(), rotary()}) {
    DiffusionTransformer model(options, 0);
    std::int64_t parameters = 0, counted = 0;
    for (const auto& parameter : model.module().parameters()) parameters += parameter.numel();
    double macs = 0;
    for (const BlockCost& part : model.cost()) {
      counted += part.parameters;
      macs += part.macs;
    }
    EXPECT_EQ(counted, parameters);
    const double d = 32, t = 16, hidden = 64, maps = options.mlp == nn::MlpKind::SwiGlu ? 3 : 2;
    EXPECT_DOUBLE_EQ(macs,
                     16 * d * t + 256 * d + d * d +
                         2 * (4 * t * d * d + 2 * t * t * d + maps * t * d * hidden + 6 * d * d) +
                         2 * d * d + 32 * t * d);
  }
}

}  // namespace
}  // namespace vitrine::diffusion
