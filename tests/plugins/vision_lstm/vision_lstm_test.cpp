// Vision-LSTM's structure against the paper, and what it refuses.
#include "plugins/vision_lstm/vision_lstm.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <cmath>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "core/plugin/registry.h"
#include "tests/support/golden/case.h"
#include "tests/support/refusal.h"

namespace vitrine::vision_lstm {
namespace {

using test::Names;

const VisionLstmArchitecture kVisionLstm;

Json smallTable() {
  return Json{{"image_size", 16}, {"patch", 4}, {"in_channels", 1}, {"dim", 16},
              {"depth", 2},       {"heads", 2}, {"num_classes", 4}};
}

Json with(Json values, const Json& changes) {
  values.update(changes);
  return values;
}

Config resolved(Json values) {
  for (const Problem& problem : resolveItem(kVisionLstm.card().schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  return Config(values);
}

std::shared_ptr<VisionLstm> buildWith(const Json& changes = Json::object(),
                                      std::uint64_t seed = 0) {
  auto model = std::dynamic_pointer_cast<VisionLstm>(
      kVisionLstm.build(resolved(with(smallTable(), changes)), seed));
  model->module().eval();
  return model;
}

at::Tensor images(std::int64_t count, std::uint64_t seed = 3, std::int64_t side = 16) {
  return at::randn({count, 1, side, side}, at::detail::createCPUGenerator(seed));
}

/// Weights that make every part matter: at its start the memory hardly does.
void stir(VisionLstm& model) {
  const c10::NoGradGuard noGradient;
  auto generator = at::detail::createCPUGenerator(9);
  for (const auto& [name, tensor] : namedTensors(model))
    tensor.add_(at::randn(tensor.sizes(), generator), tensor.dim() > 1 ? 0.2 : 0.3);
}

at::Tensor parameter(VisionLstm& model, const std::string& name) {
  for (const auto& [own, tensor] : namedTensors(model)) {
    if (own == name) return tensor;
  }
  ADD_FAILURE() << "no parameter " << name;
  return {};
}

TEST(VisionLstmStart, IsThatOfTheAuthorsCode) {
  const Json wide{{"dim", 192}, {"heads", 4}};
  const auto model = buildWith(wide), fixed = buildWith(with(wide, {{"init", "original-fixed"}}));
  const std::string block = "blocks.0.rowwise_from_top_left.layer.";
  const auto deviation = [](const at::Tensor& values) { return values.std().item<double>(); };
  const auto expectDeviation = [&](const std::string& name, double wanted) {
    EXPECT_NEAR(deviation(parameter(*model, name)), wanted, 0.05 * wanted) << name;
  };
  expectDeviation(block + "proj_up.weight", std::sqrt(2 / (5 * 192.0)));
  expectDeviation(block + "q_proj.weight", std::sqrt(2 / (5 * 192.0)));
  expectDeviation(block + "proj_down.weight", 2 / std::sqrt(192.0));
  expectDeviation(block + "conv.weight", 1 / 3.0 / std::sqrt(3.0));
  expectDeviation("pos_embed.embed", 0.02);
  expectDeviation("head.weight", 2e-5);
  EXPECT_NEAR(deviation(parameter(*fixed, block + "proj_down.weight")), 1 / std::sqrt(192.0),
              0.05 / std::sqrt(192.0));
  const at::Tensor forget = parameter(*model, block + "mlstm_cell.fgate.bias");
  EXPECT_TRUE(at::equal(forget, at::tensor({3.0F, 4.0F, 5.0F, 6.0F})));
  EXPECT_EQ(parameter(*model, block + "mlstm_cell.fgate.weight").abs().max().item<float>(), 0);
  EXPECT_EQ(parameter(*model, block + "learnable_skip").min().item<float>(), 1);
  EXPECT_EQ(parameter(*model, "norm.weight").abs().max().item<float>(), 0);
}

TEST(VisionLstmStart, FirstLossIsThatOfAUniformGuess) {
  const auto model = buildWith();
  const at::Tensor loss =
      at::cross_entropy_loss(model->classify(images(5)), at::arange(5).remainder(4));
  EXPECT_NEAR(loss.item<float>(), std::log(4.0), 1e-3);
}

TEST(VisionLstmStructure, TheFormsOfTheCellGiveTheSameLogits) {
  const auto wanted = buildWith();
  stir(*wanted);
  const at::Tensor input = images(2), logits = wanted->classify(input);
  for (const Json& change : {Json{{"cell_backend", "recurrent"}},
                             Json{{"cell_backend", "parallel"}}, Json{{"chunk", 5}}}) {
    const auto model = buildWith(change);
    stir(*model);
    EXPECT_LT((model->classify(input) - logits).abs().max().item<double>(),
              1e-4 * logits.abs().max().item<double>())
        << change;
  }
}

TEST(VisionLstmStructure, PatchesLoseNothingButTheirRounding) {
  // 768 pixels a patch: in float32 their sums lose some ten times as much.
  const auto model = buildWith({{"image_size", 32}, {"patch", 16}, {"in_channels", 3}});
  stir(*model);
  at::Tensor input =
      at::randn({4, 3, 32, 32}, at::detail::createCPUGenerator(3)).requires_grad_(true);
  const at::Tensor weight = parameter(*model, "patch_embed.proj.weight").detach(),
                   bias = parameter(*model, "patch_embed.proj.bias").detach(),
                   table = parameter(*model, "pos_embed.embed").detach().flatten(1, 2);
  const at::Tensor patches =
      at::conv2d(input.detach().to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble), 16)
          .flatten(2)
          .transpose(1, 2);
  const at::Tensor wanted = patches + table.to(at::kDouble);
  const at::Tensor values = model->embed(input).values;
  EXPECT_EQ(values.scalar_type(), at::kFloat);
  // Two roundings to float32: of the patch, and of its sum with the position.
  const at::Tensor allowed = (patches.abs() + wanted.abs()) * 0x1p-24 * 1.001;
  EXPECT_LE((values.detach().to(at::kDouble) - wanted).abs().sub(allowed).max().item<double>(), 0);
  values.sum().backward();
  EXPECT_TRUE(input.grad().defined()) << "images and patches take part in the graph";
  EXPECT_GT(parameter(*model, "patch_embed.proj.weight").grad().abs().max().item<float>(), 0);
}

TEST(VisionLstmStructure, OneDirectionIsCausalAndTwoAreNot) {
  const auto streamOf = [](VisionLstm& model, const at::Tensor& input) {
    return model.encode(model.embed(input), {});
  };
  at::Tensor input = images(1), other = input.clone();
  other.narrow(2, 8, 4).add_(1);  // the third row of patches: tokens 8 to 11
  for (const char* convolution : {"none", "causal1d"}) {
    const auto uni = buildWith({{"directions", "uni"}, {"conv", convolution}});
    stir(*uni);
    const at::Tensor moved = (streamOf(*uni, input) - streamOf(*uni, other)).abs().amax({0, 2});
    EXPECT_EQ(moved.narrow(0, 0, 8).max().item<float>(), 0) << convolution;
    EXPECT_GT(moved.narrow(0, 8, 8).min().item<float>(), 0) << convolution;
  }
  const auto bi = buildWith({{"conv", "none"}});
  stir(*bi);
  EXPECT_GT((streamOf(*bi, input) - streamOf(*bi, other)).abs().amax({0, 2}).min().item<float>(),
            0);
}

TEST(VisionLstmStructure, DropPathLeavesOutAPartOfTheBatch) {
  const auto model = buildWith({{"depth", 1}, {"directions", "uni"}, {"drop_path", 0.25}});
  stir(*model);
  model->module().train();
  model->setGenerator(at::detail::createCPUGenerator(5));
  const at::Tensor before = model->embed(images(8)).values;
  at::Tensor after;
  model->setBlockTap([&](std::int64_t, const at::Tensor& stream) { after = stream; });
  (void)model->features(images(8));
  const at::Tensor isKept = (after - before).abs().amax({1, 2}).gt(0);
  EXPECT_EQ(isKept.sum().item<int>(), 6) << "floor(8 x 0.75) samples go through the block";
}

TEST(VisionLstmStructure, MapsOfOtherSizesHaveTheirOwnGrid) {
  const auto model = buildWith();
  const auto maps = model->pyramid(images(2, 3, 24), {0, 1});
  ASSERT_EQ(maps.size(), 2U);
  for (const at::Tensor& map : maps) EXPECT_EQ(map.sizes(), at::IntArrayRef({2, 16, 6, 6}));
  const auto last = model->pyramid(images(2), {});
  EXPECT_EQ(last.at(0).sizes(), at::IntArrayRef({2, 16, 4, 4}));
  EXPECT_EQ(model->levels({}).at(0).stride, 4);
}

TEST(VisionLstmStructure, FeatureModelsAreNoClassifiers) {
  const auto model = buildWith({{"num_classes", 0}, {"pooling", "to_image"}});
  EXPECT_EQ(capabilityOf<ImageClassifier>(*model), nullptr);
  EXPECT_NE(capabilityOf<FeaturePyramid>(*model), nullptr);
  EXPECT_THROW((void)model->head(at::zeros({1, 16})), RefusedError);
}

TEST(VisionLstmCost, TinyModelCostsWhatThePaperAndItsDefinitionSay) {
  const auto macsOf = [](const char* convention) {
    Json values = kVisionLstm.card().schema.preset("vision_lstm/t")->values;
    values["flops_convention"] = convention;
    const ScopedBuildDevice meta(at::kMeta);
    double macs = 0;
    for (const BlockCost& part : kVisionLstm.build(resolved(values), 0)->cost()) macs += part.macs;
    return macs / 1e9;
  };
  EXPECT_NEAR(macsOf("paper"), 1.281, 5e-4);
  EXPECT_NEAR(macsOf("exact"), 1.613, 5e-4);
}

std::string refusalOf(const Json& changes) {
  Json values = with(smallTable(), changes);
  const auto problems = resolveItem(kVisionLstm.card().schema, "model", values);
  if (!problems.empty()) return problems.front().sentence();
  return test::refusal<ConfigError>([&] { (void)kVisionLstm.build(Config(values), 0); });
}

TEST(VisionLstmRefuses, ValuesThatDoNotFitTogetherWithASentence) {
  EXPECT_THAT(refusalOf({{"heads", 3}}), Names("heads 3", "2 x dim = 32"));
  EXPECT_THAT(refusalOf({{"qkv_block", 5}}), Names("qkv_block 5"));
  EXPECT_THAT(refusalOf({{"patch", 5}}), Names(5));
  EXPECT_THAT(refusalOf({{"stride", 5}}), Names("every 5 px"));
  EXPECT_THAT(refusalOf({{"conv_kernel", 4}}), Names("conv_kernel 4"));
  EXPECT_THAT(refusalOf({{"pooling", "cls_mid"}}), Names("conv2d"));
  EXPECT_THAT(refusalOf({{"pooling", "cls_mid"}, {"conv", "none"}, {"directions", "quad"}}),
              Names("directions"));
  EXPECT_THAT(refusalOf({{"concurrency", "parallel"}, {"depth", 3}}),
              Names("concurrency", "depth is 3"));
  EXPECT_THAT(refusalOf({{"pooling", "none"}}), Names("num_classes = 0"));
  EXPECT_THAT(refusalOf({{"pooling", "center_avg"}, {"center", 9}}), Names("center 9"));
  EXPECT_THAT(refusalOf({{"directions", "hex"}}), Names("directions"));
}

TEST(VisionLstmRefuses, OtherImagesSubsetsAndMasks) {
  const auto model = buildWith();
  EXPECT_THROW((void)model->classify(images(1, 3, 24)), ShapeError);
  EXPECT_THROW((void)model->classify(at::zeros({1, 3, 16, 16})), ShapeError);
  const Tokens tokens = model->embed(images(1));
  EXPECT_THROW(
      (void)model->encode({tokens.values.narrow(1, 0, 9), tokens.positions.narrow(0, 0, 9)}, {}),
      RefusedError);
  EXPECT_THROW((void)model->encode(tokens, at::zeros({16, 16})), RefusedError);
  EXPECT_THROW((void)model->levels({2}), ConfigError);
}

/// The sentence with which the weights of a reference case are refused.
std::string weightRefusal(const char* name, const Json& changes) {
  const auto golden = testing::openGoldenCase(std::string("vision_lstm/") + name);
  Registry registry;
  registry.add(std::make_unique<VisionLstmArchitecture>());
  LoadOptions options;
  options.family = [&](const auto& names) { return registry.weightFamily(names); };
  const Json table = testing::modelTable(golden, kVisionLstm.card().schema);
  const auto model = kVisionLstm.build(resolved(with(table, changes)), 0);
  const at::Tensor before = namedTensors(*model).front().second.clone();
  const std::string refusal =
      test::refusal<ConfigError>([&] { (void)loadWeights(*model, golden.weights(), options); });
  EXPECT_TRUE(at::equal(namedTensors(*model).front().second, before)) << "nothing was written";
  return refusal;
}

TEST(VisionLstmRefuses, WeightsOfTheFirstVersionInAModelOfTheSecond) {
  const std::string first = "a Vision-LSTM of the first version";
  EXPECT_THAT(weightRefusal("v1_stride", {{"conv", "conv2d"}, {"conv_kernel", 3}}), Names(first));
  // What the two versions share, in two shapes.
  EXPECT_THAT(weightRefusal("v1_stride", {{"pooling", "bilateral_concat"}}), Names(first));
}

TEST(VisionLstmRefuses, WeightsOfAnotherSizeWithBothSizes) {
  for (const Json& change : {Json{{"dim", 64}}, Json{{"num_classes", 3}}}) {
    const std::string refusal = weightRefusal("directions_quad_nonsquare", change);
    EXPECT_THAT(refusal, Names("skip")) << change;
  }
  EXPECT_THAT(weightRefusal("directions_quad_nonsquare", {{"depth", 8}}),
              Names("no tensor for", "strict = false"));
}

TEST(VisionLstmRefuses, AttentionRolloutForLackOfRowsThatSumToOne) {
  const auto model = buildWith();
  EXPECT_THAT([&] { (void)requireCapability(*model, "attention_source", "attention_rollout"); },
              test::Fails<ConfigError>("attention_source", "signed_memory_weights"));
}

TEST(VisionLstmTraining, LearnsAHandfulOfImagesByHeart) {
  const auto model = buildWith();
  model->module().train();
  const at::Tensor input = images(8), labels = at::arange(8).remainder(4);
  double first = 0, last = 0;
  std::map<std::string, at::Tensor> squares;
  for (int step = 0; step < 80; ++step) {
    const at::Tensor loss = at::cross_entropy_loss(model->classify(input), labels);
    loss.backward();
    last = loss.item<double>();
    if (step == 0) first = last;
    const c10::NoGradGuard noGradient;
    for (const auto& [name, tensor] : namedTensors(*model)) {
      at::Tensor& square = squares[name];
      if (!square.defined()) square = at::zeros_like(tensor);
      square.mul_(0.9).addcmul_(tensor.grad(), tensor.grad(), 0.1);
      tensor.addcdiv_(tensor.grad(), square.sqrt().add_(1e-6), -3e-3);
      tensor.mutable_grad() = at::Tensor();
    }
  }
  EXPECT_NEAR(first, std::log(4.0), 0.01);
  EXPECT_LT(last, 0.1);
}

}  // namespace
}  // namespace vitrine::vision_lstm
