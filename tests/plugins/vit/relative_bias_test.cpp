// The ViT with a relative position bias: nothing but the plain one until its tables are trained.
#include "core/nn/position/relative_bias.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "plugins/vit/vit.h"
#include "tests/support/every_cpu_path.h"
#include "tests/support/golden/case.h"
#include "tests/support/temporary_folder.h"

namespace vitrine::vit {
namespace {

/// 2 x 2 patches and a class token: 3 * 3 + 3 rows of 2 heads.
Json biasedTable(bool hasBias) {
  return Json{{"image_size", 14}, {"patch_size", 7},  {"in_channels", 1},
              {"width", 16},      {"depth", 2},       {"heads", 2},
              {"mlp_width", 32},  {"num_classes", 4}, {"relative_position_bias", hasBias}};
}

std::shared_ptr<Model> modelOf(Json values) {
  const VitArchitecture architecture;
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  return architecture.build(Config(values), 3);
}

at::Tensor drawnOf(at::IntArrayRef sizes, std::uint64_t seed) {
  return at::randn(sizes, at::detail::createCPUGenerator(seed));
}

bool isTable(const std::string& name) { return name.ends_with(nn::kRelativeTable); }

/// A model whose every parameter matters, but for its tables: those stay at zero.
std::shared_ptr<Model> stirred(bool hasBias) {
  auto model = modelOf(biasedTable(hasBias));
  const c10::NoGradGuard noGradient;
  std::uint64_t seed = 10;
  for (const auto& [name, tensor] : namedTensors(*model)) {
    if (!isTable(name)) tensor.add_(drawnOf(tensor.sizes(), seed++), 0.2);
  }
  return model;
}

at::Tensor classified(Model& model, const at::Tensor& images) {
  return capabilityOf<ImageClassifier>(model)->classify(images);
}

TEST(VitRelativeBias, ZeroTablesGiveThePlainModelToTheLastBit) {
  testing::onEveryCpuPath([] {
    // Two images go layer by layer, 64 as whole blocks.
    for (const std::int64_t count : {2, 64}) {
      SCOPED_TRACE(count);
      const auto plain = stirred(false), biased = stirred(true);
      const at::Tensor images = drawnOf({count, 1, 14, 14}, 1);
      const auto expectSame = [](const at::Tensor& ours, const at::Tensor& wanted) {
        // A library's attention takes a mask in another way than none.
        if (cpuPath() == CpuPath::Reference) {
          EXPECT_TRUE(testing::isClose(ours, wanted, 1e-4));
        } else {
          EXPECT_TRUE(at::equal(ours, wanted));
        }
      };
      {
        const c10::NoGradGuard noGradient;
        expectSame(classified(*biased, images), classified(*plain, images));
      }
      const at::Tensor wanted = classified(*plain, images), ours = classified(*biased, images);
      expectSame(ours, wanted);
      const at::Tensor upstream = drawnOf({count, 4}, 2);
      (wanted * upstream).sum().backward();
      (ours * upstream).sum().backward();
      const auto parameters = plain->module().named_parameters();
      int tables = 0;
      for (const auto& item : biased->module().named_parameters()) {
        SCOPED_TRACE(item.key());
        if (isTable(item.key())) {
          EXPECT_GT(item.value().grad().abs().max().item<double>(), 0);
          ++tables;
        } else {
          expectSame(item.value().grad(), parameters[item.key()].grad());
        }
      }
      EXPECT_EQ(tables, 2);
    }
  });
}

TEST(VitRelativeBias, ThePlainModelHasNoTable) {
  for (const auto& [name, tensor] : namedTensors(*modelOf(biasedTable(false))))
    EXPECT_FALSE(isTable(name)) << name;
  // Runs from before the option do not have it in their configuration.
  Json values = biasedTable(false);
  EXPECT_TRUE(resolveItem(VitArchitecture().card().schema, "model", values).empty());
  values.erase("relative_position_bias");
  const auto before = VitArchitecture().build(Config(values), 3);
  EXPECT_EQ(parameterCount(*before), parameterCount(*modelOf(biasedTable(false))));
}

TEST(VitRelativeBias, ARowOfTheTableIsADistanceOrOneOfThreeWithTheClassToken) {
  const at::Tensor places = at::tensor({-1, -1, 0, 0, 0, 1, 1, 0, 1, 1}, at::kLong).view({5, 2});
  const at::Tensor wanted = at::tensor({11, 9, 9, 9, 9,  //
                                        10, 4, 3, 1, 0,  //
                                        10, 5, 4, 2, 1,  //
                                        10, 7, 6, 4, 3,  //
                                        10, 8, 7, 5, 4},
                                       at::kLong)
                                .view({5, 5});
  EXPECT_TRUE(at::equal(nn::relativeIndex(places, {2, 2}), wanted));
  EXPECT_TRUE(
      at::equal(nn::relativeIndex(places.expand({3, 5, 2}), {2, 2}), wanted.expand({3, 5, 5})));
  EXPECT_EQ(nn::relativeRows({2, 2}, nn::ClassToken::First), 12);
  EXPECT_EQ(nn::relativeRows({3, 5}, nn::ClassToken::None), 45);
}

/// Of block 0.
at::Tensor attentionOf(Model& model, const at::Tensor& images) {
  const c10::NoGradGuard noGradient;
  at::Tensor weights;
  auto tap = std::make_shared<AttentionTap>();
  tap->layers = {0};
  tap->receive = [&](const AttentionRecord& record) { weights = record.weights; };
  auto& source = *capabilityOf<AttentionSource>(model);
  source.setAttentionTap(tap);
  (void)classified(model, images);
  source.setAttentionTap(nullptr);
  return weights;
}

TEST(VitRelativeBias, AttentionMapsShowTheBiasedWeights) {
  const auto plain = stirred(false), biased = stirred(true);
  {
    const c10::NoGradGuard noGradient;
    const auto parameters = biased->module().named_parameters();
    // Head 0: each patch attends itself, the class token nothing but patches.
    const at::Tensor table = parameters["blocks.0.attn.relative_position_bias_table"];
    table.select(1, 0)[4].fill_(100);
    table.select(1, 0)[9].fill_(100);
  }
  const at::Tensor images = drawnOf({3, 1, 14, 14}, 1);
  const at::Tensor before = attentionOf(*plain, images), after = attentionOf(*biased, images);
  const at::Tensor first = after.select(1, 0);
  for (std::int64_t patch = 1; patch < 5; ++patch)
    EXPECT_GT(first.select(1, patch).select(1, patch).min().item<double>(), 0.999);
  EXPECT_LT(first.select(1, 0).select(1, 0).max().item<double>(), 0.001);
  EXPECT_TRUE(at::equal(after.select(1, 1), before.select(1, 1)));
  EXPECT_FALSE(testing::isClose(classified(*biased, images), classified(*plain, images), 1e-3));
}

TEST(VitRelativeBias, AddsATableToEachBlockThatTakesNoWeightDecay) {
  const VitArchitecture architecture;
  const ScopedBuildDevice meta(at::kMeta);
  Json values = architecture.card().schema.preset("vit/b16")->values;
  values["relative_position_bias"] = true;
  const auto model = modelOf(values);
  // 27 distances along each axis of 14 patches.
  EXPECT_EQ(parameterCount(*model), 86567656 + 12 * (27 * 27 + 3) * 12);
  std::int64_t counted = 0;
  for (const BlockCost& part : model->cost()) counted += part.parameters;
  EXPECT_EQ(counted, parameterCount(*model));
  int tables = 0;
  for (const auto& [name, info] : model->parameterInfo()) {
    if (!isTable(name)) continue;
    EXPECT_FALSE(info.decays) << name;
    EXPECT_EQ(info.layer, ++tables) << name;
  }
  EXPECT_EQ(tables, 12);
}

TEST(VitRelativeBias, TablesOfAnotherGridAreResizedButForTheClassToken) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "small.safetensors";
  const auto small = modelOf(biasedTable(true));
  {
    const c10::NoGradGuard noGradient;
    for (const auto& [name, tensor] : namedTensors(*small)) {
      if (!isTable(name)) continue;
      tensor.fill_(0.25);
      tensor.narrow(0, 9, 3).copy_(at::arange(6, at::kFloat).view({3, 2}));
    }
  }
  writeTensors(file, namedTensors(*small));
  Json values = biasedTable(true);
  values["image_size"] = 28;
  const auto large = modelOf(values);
  EXPECT_EQ(loadWeights(*large, file).resized.size(), 3U) << "two tables and the positions";
  const at::Tensor table =
      large->module().named_parameters()["blocks.1.attn.relative_position_bias_table"].detach();
  ASSERT_EQ(table.size(0), 7 * 7 + 3);
  EXPECT_LT((table.narrow(0, 0, 49) - 0.25).abs().max().item<double>(), 1e-6);
  EXPECT_TRUE(at::equal(table.narrow(0, 49, 3), at::arange(6, at::kFloat).view({3, 2})));
  LoadOptions none{.resizePositions = "none"};
  EXPECT_THROW((void)loadWeights(*modelOf(values), file, none), ConfigError);
}

TEST(VitRelativeBias, BeginsFromAPlainModelsWeights) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "plain.safetensors";
  const auto plain = stirred(false), biased = modelOf(biasedTable(true));
  writeTensors(file, namedTensors(*plain));
  EXPECT_THROW((void)loadWeights(*biased, file), ConfigError) << "tables are not in the file";
  LoadOptions options{.skip = {"*.relative_position_bias_table"}};
  EXPECT_TRUE(loadWeights(*biased, file, options).unused.empty());
  const c10::NoGradGuard noGradient;
  const at::Tensor images = drawnOf({2, 1, 14, 14}, 1);
  EXPECT_TRUE(testing::isClose(classified(*biased, images), classified(*plain, images), 1e-6));
}

TEST(VitRelativeBias, TakesImagesOfItsOwnSizeOnly) {
  Json values = biasedTable(true);
  values["pos_embed"] = "none";
  const auto model = modelOf(values);
  const c10::NoGradGuard noGradient;
  auto& pyramid = *capabilityOf<FeaturePyramid>(*model);
  EXPECT_EQ(pyramid.pyramid(at::zeros({1, 1, 14, 14}), {}).size(), 1U);
  EXPECT_THROW((void)pyramid.pyramid(at::zeros({1, 1, 28, 28}), {}), ShapeError);
}

}  // namespace
}  // namespace vitrine::vit
