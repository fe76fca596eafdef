// What VisionLLaMA's models can do, how they begin and learn, and what they refuse.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/kernels/cpu/taken_paths.h"
#include "core/model/weights.h"
#include "core/nn/position/rope.h"
#include "plugins/visionllama/architectures.h"
#include "tests/plugins/visionllama/small_models.h"
#include "tests/support/every_cpu_path.h"
#include "tests/support/golden/case.h"
#include "tests/support/refusal.h"

namespace vitrine::visionllama {
namespace {

using test::Names;
using ::testing::ElementsAreArray;
using testing::isClose;

const PlainArchitecture kPlain;
const PyramidArchitecture kPyramid;
const DensePyramidArchitecture kDense;
const VitDetArchitecture kVitDet;

at::Tensor parameterOf(Model& model, const std::string& wanted) {
  for (const auto& [name, tensor] : namedTensors(model))
    if (name == wanted) return tensor;
  ADD_FAILURE() << "there is no " << wanted;
  return {};
}

/// Makes attention depend on what it sees: new maps are so small that it is uniform.
void sharpen(Model& model) {
  const c10::NoGradGuard noGradient;
  for (const auto& [name, tensor] : namedTensors(model)) {
    const bool isOfAttention = name.find(".attn.") != std::string::npos && tensor.dim() == 2;
    if (isOfAttention) tensor.mul_(40);
    if (name.find("gamma_") != std::string::npos) tensor.fill_(1);
  }
}

at::Tensor logitsOf(Model& model, const at::Tensor& images) {
  model.module().eval();
  const c10::NoGradGuard noGradient;
  return capabilityOf<ImageClassifier>(model)->classify(images);
}

TEST(VisionLlamaModels, OfferWhatTheirCardsSay) {
  const Json vitdet{
      {"image_size", 16}, {"patch_size", 4}, {"in_channels", 1}, {"width", 16},
      {"depth", 2},       {"heads", 2},      {"window", 3},      {"window_blocks", Json{0}}};
  Json dense = pyramidTable();
  dense.erase("num_classes");
  const std::pair<const Architecture*, Json> models[] = {
      {&kPlain, plainTable()}, {&kPyramid, pyramidTable()}, {&kDense, dense}, {&kVitDet, vitdet}};
  for (const auto& [architecture, values] : models) {
    const auto model = buildWith(*architecture, values);
    EXPECT_THAT(capabilitiesOf(*model), ElementsAreArray(architecture->card().offers))
        << architecture->card().id;
  }
}

TEST(PlainModel, EncodesTokensInAnyOrderByTheirPositions) {
  const auto model = buildWith(kPlain, plainTable());
  sharpen(*model);
  model->module().eval();
  auto* encoder = capabilityOf<TokenEncoder>(*model);
  const Tokens all = encoder->embed(imagesOf(2, 16, 16));
  const at::Tensor order = at::randperm(16, at::detail::createCPUGenerator(5));
  const Tokens shuffled{all.values.index_select(1, order), all.positions.index_select(0, order)};
  EXPECT_TRUE(isClose(encoder->encode(shuffled, {}),
                      encoder->encode(all, {}).index_select(1, order), 1e-5));
  // Kept tokens turn by the rows that they had, not by those of their place among the kept.
  const Tokens kept{all.values.narrow(1, 12, 4), all.positions.narrow(0, 12, 4)};
  const Tokens moved{all.values.narrow(1, 12, 4), all.positions.narrow(0, 0, 4)};
  EXPECT_TRUE(isClose(encoder->encode(kept, {}), encoder->encode(moved, {}), 1e-4))
      << "only offsets count";
  const Tokens bent{all.values.narrow(1, 12, 4), all.positions.narrow(0, 2, 4)};
  EXPECT_FALSE(isClose(encoder->encode(kept, {}), encoder->encode(bent, {}), 1e-4));
}

TEST(PlainModel, GivesMapsOfChosenBlocksForImagesOfAnySize) {
  const auto model = buildWith(kPlain, plainTable(), Json{{"pool", "cls"}});
  model->module().eval();
  auto* pyramid = capabilityOf<FeaturePyramid>(*model);
  ASSERT_EQ(pyramid->levels({1, 0}).size(), 2U);
  EXPECT_EQ(pyramid->levels({})[0].stride, 4);
  const std::vector<at::Tensor> maps = pyramid->pyramid(imagesOf(2, 24, 32), {1, 0});
  EXPECT_EQ(maps[0].sizes(), (std::vector<std::int64_t>{2, 16, 6, 8}));
  const std::vector<at::Tensor> last = pyramid->pyramid(imagesOf(2, 24, 32), {});
  EXPECT_TRUE(at::equal(last[0], maps[0]));
  // Of the configured size they are the tokens that the blocks hand on.
  const at::Tensor image = imagesOf(1, 16, 16);
  at::Tensor stream;
  auto* encoder = capabilityOf<TokenEncoder>(*model);
  encoder->setBlockTap([&](std::int64_t block, const at::Tensor& x) {
    if (block == 1) stream = x;
  });
  (void)encoder->encode(encoder->embed(image), {});
  encoder->setBlockTap({});
  EXPECT_TRUE(isClose(pyramid->pyramid(image, {1})[0].flatten(2).transpose(1, 2),
                      stream.narrow(1, 1, 16), 1e-6));
  EXPECT_THAT([&] { (void)pyramid->levels({2}); }, test::Fails<ConfigError>("block 2", "0 to 1"));
}

TEST(PyramidModel, GivesOneMapForEachStage) {
  const auto model = buildWith(kPyramid, pyramidTable());
  model->module().eval();
  auto* pyramid = capabilityOf<FeaturePyramid>(*model);
  const auto levels = pyramid->levels({});
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[1].stride, 4);
  EXPECT_EQ(levels[1].channels, 16);
  EXPECT_EQ(pyramid->pyramid(imagesOf(1, 16, 40), {})[1].sizes(),
            (std::vector<std::int64_t>{1, 16, 4, 10}));
  EXPECT_THAT([&] { (void)pyramid->levels({0}); }, test::Fails<ConfigError>("2 stages"));
}

TEST(PyramidModel, AnglesOfAnotherGridAreNotUsedAgain) {
  // 24 x 32 and 32 x 24 have as many tokens.
  const auto fresh = [] {
    const auto model = buildWith(kPyramid, pyramidTable(), Json{{"rope", {{"scale", "as"}}}});
    sharpen(*model);
    model->module().eval();
    return model;
  };
  const at::Tensor wide = imagesOf(1, 24, 32), tall = imagesOf(1, 32, 24);
  const auto mapOf = [](Model& model, const at::Tensor& images) {
    return capabilityOf<FeaturePyramid>(model)->pyramid(images, {}).back();
  };
  const auto both = fresh();
  (void)mapOf(*both, wide);
  EXPECT_TRUE(at::equal(mapOf(*both, tall), mapOf(*fresh(), tall)));
  EXPECT_TRUE(at::equal(mapOf(*both, wide), mapOf(*fresh(), wide)));
}

/// Records of one pass over an image of that size.
std::vector<AttentionRecord> recordsOf(Model& model, const at::Tensor& images) {
  std::vector<AttentionRecord> records;
  const auto tap = std::make_shared<AttentionTap>();
  tap->receive = [&](const AttentionRecord& record) { records.push_back(record); };
  auto* source = capabilityOf<AttentionSource>(model);
  source->setAttentionTap(tap);
  (void)capabilityOf<ImageClassifier>(model)->classify(images);
  source->setAttentionTap(nullptr);
  return records;
}

TEST(PyramidAttention, WindowsAndCellsSayWhereTheirTokensAre) {
  const auto model = buildWith(kPyramid, pyramidTable());
  model->module().eval();
  const auto records = recordsOf(*model, imagesOf(2, 32, 32));
  // Stage 0: 16 x 16 tokens, 9 windows of 7, then 16 cells; stage 1: 8 x 8, 4 windows, then all.
  ASSERT_EQ(records.size(), 9U + 1 + 4 + 1);
  const AttentionRecord &inner = records[0], &edge = records[2], &cells = records[9];
  EXPECT_EQ(inner.window, 0);
  EXPECT_EQ(inner.weights.sizes(), (std::vector<std::int64_t>{2, 1, 49, 49}));
  EXPECT_TRUE(isClose(inner.weights.sum(-1), at::ones({2, 1, 49}), 1e-5));
  EXPECT_TRUE(at::equal(inner.queryPositions, inner.keyPositions));
  EXPECT_EQ(inner.queryPositions.max().item<double>(), 6);
  // The window at the right edge holds 2 of 7 columns; the others are padding.
  EXPECT_EQ(edge.window, 2);
  EXPECT_EQ(edge.weights.size(3), 14);
  EXPECT_EQ(edge.keyPositions.select(1, 1).min().item<double>(), 14);
  EXPECT_LT(edge.weights.sum(-1).max().item<double>(), 1);
  EXPECT_EQ(cells.window, -1);
  EXPECT_EQ(cells.layer, 1);
  EXPECT_EQ(cells.weights.sizes(), (std::vector<std::int64_t>{2, 1, 256, 16}));
  EXPECT_TRUE(isClose(cells.keyPositions, nn::cellPositions({4, 4}, 4), 1e-12));
  EXPECT_EQ(records.back().layer, 3);
  EXPECT_EQ(records.back().weights.sizes(), (std::vector<std::int64_t>{2, 2, 64, 64}));
  EXPECT_EQ(capabilityOf<AttentionSource>(*model)->attentionLayers(), 4);
  EXPECT_EQ(capabilityOf<AttentionSource>(*model)->attentionHeads(2), 2);
}

TEST(PyramidAttention, ATapChangesNoOutput) {
  const auto model = buildWith(kPyramid, pyramidTable());
  const at::Tensor images = imagesOf(2, 32, 32);
  const at::Tensor before = logitsOf(*model, images);
  const auto tap = std::make_shared<AttentionTap>();
  tap->receive = [](const AttentionRecord&) {};
  capabilityOf<AttentionSource>(*model)->setAttentionTap(tap);
  EXPECT_TRUE(isClose(logitsOf(*model, images), before, 1e-5));
}

/// Attention of one window over the whole grid, then of cells of 1 x 1 with the weights and the
/// input of the first. \param changes  of the model
std::vector<AttentionRecord> windowAndCells(const Json& changes) {
  const Json one{{"image_size", 28},      {"patch_size", 4},  {"in_channels", 1},
                 {"width", Json{16}},     {"depth", Json{2}}, {"heads", Json{2}},
                 {"mlp_width", Json{16}}, {"num_classes", 4}, {"gsa_reduction", Json{1}}};
  const auto model = buildWith(kPyramid, one, changes);
  sharpen(*model);
  model->module().eval();
  const c10::NoGradGuard noGradient;
  const auto set = [&](const std::string& name, const at::Tensor& value) {
    parameterOf(*model, name).copy_(value);
  };
  for (const char* kind : {"weight", "bias"}) {
    const std::string part = kind;
    const at::Tensor qkv = parameterOf(*model, "blocks.0.0.attn.qkv." + part);
    set("blocks.0.1.attn.q." + part, qkv.narrow(0, 0, 16));
    set("blocks.0.1.attn.kv." + part, qkv.narrow(0, 16, 32));
  }
  // The second block reads what the first one read.
  set("blocks.0.0.gamma_1", at::zeros({16}));
  set("blocks.0.0.gamma_2", at::zeros({16}));
  return recordsOf(*model, imagesOf(1, 28, 28));
}

TEST(PyramidModel, KeysOfSingleTokensAreFullAttention) {
  const auto records = windowAndCells(Json::object());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(isClose(records[0].weights, records[1].weights, 1e-4));
  EXPECT_GT(records[0].weights.max().item<double>(), 2.0 / 49) << "it is uniform";
}

TEST(PyramidModel, WindowsTurnByScaledPositionsWhereTheSettingSaysSo) {
  // An image of twice the anchor: every position of the grid is halved.
  const auto recordsWith = [](bool isScaled) {
    return windowAndCells(
        Json{{"rope", {{"scale", "as"}, {"anchor_pixels", 14}, {"lsa_scaled", isScaled}}}});
  };
  const auto scaled = recordsWith(true), plain = recordsWith(false);
  ASSERT_EQ(scaled.size(), 2U);
  ASSERT_EQ(plain.size(), 2U);
  EXPECT_TRUE(isClose(scaled[0].weights, scaled[1].weights, 1e-4))
      << "a window over the whole grid turns as the grid does";
  EXPECT_TRUE(isClose(plain[1].weights, scaled[1].weights, 1e-6)) << "the grid is scaled anyway";
  EXPECT_FALSE(isClose(plain[0].weights, scaled[0].weights, 1e-2));
  const auto unscaled = windowAndCells(Json::object());
  EXPECT_TRUE(isClose(plain[0].weights, unscaled[0].weights, 1e-6)) << "windows as in training";
}

TEST(PyramidModel, ScaledWindowsChangeNothingAtTheSizeOfTraining) {
  const auto logitsWith = [](bool isScaled, const at::Tensor& images) {
    const auto model = buildWith(kPyramid, pyramidTable(),
                                 Json{{"rope", {{"scale", "as"}, {"lsa_scaled", isScaled}}}});
    sharpen(*model);
    return logitsOf(*model, images);
  };
  const at::Tensor trained = imagesOf(2, 32, 32), larger = imagesOf(2, 48, 48);
  EXPECT_TRUE(at::equal(logitsWith(true, trained), logitsWith(false, trained)));
  EXPECT_FALSE(at::equal(logitsWith(true, larger), logitsWith(false, larger)));
}

/// Logits and gradients of a training step with drop path.
std::vector<std::pair<std::string, at::Tensor>> trainedOnce(const Json& changes) {
  const auto model = buildWith(kPyramid, pyramidTable(), changes);
  sharpen(*model);
  model->module().train();
  model->setGenerator(at::detail::createCPUGenerator(7));
  const at::Tensor logits = capabilityOf<ImageClassifier>(*model)->classify(imagesOf(8, 28, 28));
  (logits * at::randn({8, 4}, at::detail::createCPUGenerator(4))).sum().backward();
  std::vector<std::pair<std::string, at::Tensor>> all{{"logits", logits.detach()}};
  for (const auto& [name, tensor] : namedTensors(*model)) all.emplace_back(name, tensor.grad());
  return all;
}

TEST(PyramidModel, BlocksAsOneOperationAgreeWithTheirLayersOnEveryCpuPath) {
  // Four windows and keys of cells, then one window and keys of single tokens. Both sides are
  // float32, of attention that was sharpened.
  Json swiGlu{{"image_size", 28}, {"gsa_reduction", Json{2, 1}}, {"drop_path", 0.3}};
  Json gelu = swiGlu;
  gelu.update(Json{
      {"mlp", "gelu"}, {"norm", {{"kind", "rms"}}}, {"qkv_bias", false}, {"layer_scale", "none"}});
  for (const Json& changes : {swiGlu, gelu}) {
    SCOPED_TRACE(changes.dump());
    std::vector<std::pair<std::string, at::Tensor>> byLayers;
    const CpuPath before = cpuPath();
    setCpuPath(CpuPath::Reference);
    byLayers = trainedOnce(changes);
    setCpuPath(before);
    testing::onEveryCpuPath([&] {
      cpu::clearTakenPaths();
      const auto ours = trainedOnce(changes);
      EXPECT_EQ(cpu::takenPaths().at(0).second,
                cpuPath() == CpuPath::Reference ? "layers" : "fused 3, layers 1");
      for (std::size_t i = 0; i < ours.size(); ++i)
        EXPECT_TRUE(isClose(ours[i].second, byLayers[i].second, 5e-4)) << ours[i].first;
    });
  }
}

void train(Model& model, const at::Tensor& images, const at::Tensor& labels, int steps, double rate,
           double& first, double& last) {
  for (int step = 0; step < steps; ++step) {
    const at::Tensor loss =
        at::cross_entropy_loss(capabilityOf<ImageClassifier>(model)->classify(images), labels);
    loss.backward();
    last = loss.item<double>();
    if (step == 0) first = last;
    const c10::NoGradGuard noGrad;
    for (const auto& [name, tensor] : namedTensors(model)) {
      tensor.sub_(tensor.grad(), rate);
      tensor.mutable_grad() = at::Tensor();
    }
  }
}

TEST(VisionLlamaTraining, LearnsAHandfulOfImagesByHeart) {
  const at::Tensor labels = at::arange(8).remainder(4);
  double first = 0, last = 0;
  const Json noScale{{"layer_scale", "none"}};
  train(*buildWith(kPlain, plainTable(), noScale), imagesOf(8, 16, 16), labels, 150, 0.3, first,
        last);
  EXPECT_NEAR(first, std::log(4.0), 0.2);
  EXPECT_LT(last, 0.1);
  train(*buildWith(kPyramid, pyramidTable(), Json{{"layer_scale", "none"}, {"image_size", 16}}),
        imagesOf(8, 16, 16), labels, 120, 0.2, first, last);
  EXPECT_NEAR(first, std::log(4.0), 0.3);
  EXPECT_LT(last, 0.2);
}

TEST(VisionLlamaTraining, DropPathDrawsFromTheModelsGeneratorAlone) {
  at::manual_seed(5);
  const at::Tensor expected = at::rand({3});
  at::manual_seed(5);
  const std::pair<const Architecture*, Json> models[] = {{&kPlain, plainTable()},
                                                         {&kPyramid, pyramidTable()}};
  for (const auto& [architecture, values] : models) {
    const auto model =
        buildWith(*architecture, values, Json{{"drop_path", 0.5}, {"layer_scale", 1.0}});
    const at::Tensor images = architecture == &kPlain ? imagesOf(4, 16, 16) : imagesOf(4, 32, 32);
    auto* classifier = capabilityOf<ImageClassifier>(*model);
    const auto trained = [&](std::uint64_t seed) {
      model->module().train();
      model->setGenerator(at::detail::createCPUGenerator(seed));
      return classifier->classify(images).detach();
    };
    EXPECT_TRUE(at::equal(trained(3), trained(3)));
    EXPECT_FALSE(at::equal(trained(3), trained(4)));
    EXPECT_TRUE(at::equal(logitsOf(*model, images), logitsOf(*model, images)));
  }
  EXPECT_TRUE(at::equal(at::rand({3}), expected)) << "torch's own generator was used";
}

TEST(VisionLlamaInit, FollowsTheAuthorsWeightByWeight) {
  const auto plain = buildWith(
      kPlain, plainTable(),
      Json{{"pool", "cls"}, {"width", 128}, {"heads", 4}, {"mlp_width", 256}, {"patch_size", 8}});
  const auto deviation = [](const at::Tensor& x) { return x.std().item<double>(); };
  EXPECT_NEAR(deviation(parameterOf(*plain, "blocks.0.attn.qkv.weight")), 0.02, 5e-4);
  EXPECT_NEAR(deviation(parameterOf(*plain, "blocks.1.mlp.c_proj.weight")), 0.02, 5e-4);
  EXPECT_NEAR(deviation(parameterOf(*plain, "cls_token")), 0.02, 5e-3);
  EXPECT_EQ(parameterOf(*plain, "blocks.0.attn.qkv.bias").abs().max().item<float>(), 0);
  EXPECT_FLOAT_EQ(parameterOf(*plain, "blocks.0.gamma_1").min().item<float>(), 1e-4F);
  EXPECT_EQ(parameterOf(*plain, "norm.weight").min().item<float>(), 1);
  // Torch's own rule for convolutions: uniform in +-1 / sqrt(64).
  const at::Tensor kernel = parameterOf(*plain, "patch_embed.proj.weight");
  EXPECT_LE(kernel.abs().max().item<double>(), 0.125);
  EXPECT_NEAR(deviation(kernel), 0.125 / std::sqrt(3.0), 2e-3);

  const auto pyramid =
      buildWith(kPyramid, pyramidTable(),
                Json{{"width", Json{64, 128}}, {"heads", Json{2, 4}}, {"pe", "peg"}});
  EXPECT_NEAR(deviation(parameterOf(*pyramid, "blocks.0.1.attn.kv.weight")), 0.02, 1e-3);
  // sqrt(2 / fan-out) of a 4 x 4 kernel into 64 channels, and of a depthwise 3 x 3 one.
  EXPECT_NEAR(deviation(parameterOf(*pyramid, "blocks.0.1.attn.sr.weight")),
              std::sqrt(2.0 / (16 * 64)), 1e-3);
  EXPECT_NEAR(deviation(parameterOf(*pyramid, "pegs.0.proj.0.weight")), std::sqrt(2.0 / 9), 0.05);
  EXPECT_EQ(parameterOf(*pyramid, "blocks.0.1.attn.sr.bias").abs().max().item<float>(), 0);
}

TEST(VisionLlamaLayers, AreCountedThroughAllStages) {
  const auto model = buildWith(kPyramid, pyramidTable(), Json{{"pe", "peg"}});
  std::map<std::string, ParameterInfo> infos;
  for (const auto& [name, info] : model->parameterInfo()) infos[name] = info;
  EXPECT_EQ(infos.at("patch_embeds.0.proj.weight").layer, 0);
  EXPECT_EQ(infos.at("blocks.0.1.attn.q.weight").layer, 2);
  EXPECT_EQ(infos.at("pegs.0.proj.0.weight").layer, 2) << "behind block 0, before block 1";
  EXPECT_EQ(infos.at("patch_embeds.1.proj.weight").layer, 3);
  EXPECT_EQ(infos.at("blocks.1.1.norm1.weight").layer, 4);
  EXPECT_EQ(infos.at("head.weight").layer, 5);
  EXPECT_EQ(infos.at("head.weight").layers, 6);
  EXPECT_FALSE(infos.at("blocks.0.0.gamma_1").decays);
}

TEST(VisionLlamaAnchor, IsTheSizeOfTrainingUnlessTheTableSaysOtherwise) {
  const Config trained = resolved(kPlain, plainTable());
  EXPECT_EQ(kPlain.trainedValues(trained), (Json{{"rope", {{"anchor_pixels", {16, 16}}}}}));
  Json own = plainTable();
  own["rope"] = {{"anchor", 7}};
  EXPECT_EQ(kPlain.trainedValues(resolved(kPlain, own)), Json::object());
}

TEST(VisionLlamaSchema, RefusesSizesThatDoNotFitWithOneSentence) {
  EXPECT_THAT(refusalOf(kPlain, plainTable(), Json{{"image_size", 18}}),
              Names("patch_size", 4, "image_size", 18));
  EXPECT_THAT(refusalOf(kPlain, plainTable(), Json{{"heads", 3}}), Names("heads 3", "multiple"));
  EXPECT_THAT(refusalOf(kPlain, plainTable(), Json{{"width", 12}}), Names("rope.ratio 1", 6));
  EXPECT_EQ(refusalOf(kPlain, plainTable(),
                      Json{{"width", 18}, {"pe", "sincos"}, {"rope", {{"mode", "none"}}}}),
            "pe = \"sincos\" needs a width that is a multiple of 4, not 18");
  EXPECT_THAT(
      refusalOf(kPyramid, pyramidTable(), Json{{"image_size", 30}, {"gsa_reduction", Json{1, 1}}}),
      Names("4 x 4"));
  // As 72 x 72 pixels do at full size: cells do not tile the grid.
  EXPECT_THAT(refusalOf(kPyramid, pyramidTable(), Json{{"image_size", 36}}),
              Names("gsa_reduction", "18 x 18", 8));
  EXPECT_THAT(refusalOf(kPyramid, pyramidTable(), Json{{"depth", Json{2, 2, 2}}}),
              Names("depth", 3, "width", 2));
  EXPECT_THAT(refusalOf(kPyramid, pyramidTable(), Json{{"heads", Json{1, 3}}}),
              Names("heads", "stage 1", 3, 16));
  EXPECT_THAT(refusalOf(kPyramid, pyramidTable(), Json{{"patch_size", Json{2, 4}}}),
              Names("patch_size [2, 4] is not square"));
  EXPECT_THAT(refusalOf(kPyramid, pyramidTable(), Json{{"rope", {{"scale", "linear"}}}}),
              Names("ntk"));
  const auto model = buildWith(kPyramid, pyramidTable());
  EXPECT_THAT([&] { (void)logitsOf(*model, imagesOf(1, 36, 36)); },
              test::Fails<ShapeError>("18 x 18"));
}

TEST(VisionLlamaSchema, TakesTheValuesOfTheReferenceCasesAsTheyAre) {
  Json values = plainTable();
  values.update(Json{{"pool", "cls"},
                     {"layer_scale", true},
                     {"rope", {{"cls_pos", Json{0, "W-1"}}, {"axis_order", "row_first"}}}});
  const Config config = resolved(kPlain, values);
  EXPECT_EQ(config.real("layer_scale"), 1e-4);
  EXPECT_EQ(config.text("rope.cls_pos"), "0,W-1");
  values["layer_scale"] = false;
  EXPECT_FALSE(resolved(kPlain, values).has("layer_scale"));
  values["rope"]["cls_pos"] = Json{1, "W"};
  EXPECT_FALSE(resolveItem(kPlain.card().schema, "model", values).empty());
}

TEST(VisionLlamaWeights, AreKnownByTheirNames) {
  Registry registry;
  registry.add(std::make_unique<PlainArchitecture>());
  registry.add(std::make_unique<PyramidArchitecture>());
  registry.add(std::make_unique<VitDetArchitecture>());
  const auto familyOf = [&](const Architecture& architecture, const Json& values) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : namedTensors(*buildWith(architecture, values)))
      names.push_back(name);
    return registry.weightFamily(names);
  };
  EXPECT_EQ(familyOf(kPlain, plainTable()), "a plain VisionLLaMA (authors' names)");
  EXPECT_EQ(familyOf(kPyramid, pyramidTable()), "a pyramid VisionLLaMA (authors' names)");
  const Json vitdet{{"image_size", 16}, {"patch_size", 4}, {"in_channels", 1},        {"width", 16},
                    {"depth", 1},       {"heads", 2},      {"window_blocks", Json{0}}};
  EXPECT_EQ(familyOf(kVitDet, vitdet), "a VisionLLaMA of the MAE code");
}

TEST(VisionLlamaWeights, OfAnotherModelAreRefused) {
  const auto golden = testing::openGoldenCase("visionllama/plain_gap_rms_gelu");
  Json table = testing::modelTable(golden, kPlain.card().schema);
  table["mlp"] = "swiglu";
  table["mlp_bias"] = nullptr;
  table["norm"]["kind"] = "ln";
  const auto refusalOf = [&](const Json& values) -> std::string {
    const auto model = kPlain.build(resolved(kPlain, values), 0);
    return test::refusal<ConfigError>([&] { (void)loadWeights(*model, golden.weights()); });
  };
  EXPECT_NE(refusalOf(table), "");
  Json centred = testing::modelTable(golden, kPlain.card().schema);
  centred["norm"]["kind"] = "ln";
  EXPECT_THAT(refusalOf(centred), Names("skip", "rename", "strict = false"));
  Json wider = testing::modelTable(golden, kPlain.card().schema);
  wider["num_classes"] = 3;
  EXPECT_THAT(refusalOf(wider), Names("head.weight", "skip"));
}

}  // namespace
}  // namespace vitrine::visionllama
