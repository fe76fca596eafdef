// The encoder's structure: what a token may know, what taps see, where random numbers come from,
// what it costs.
#include "core/nn/vision_transformer.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <cmath>

#include "core/base/error.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "tests/core/nn/small_encoder.h"

namespace vitrine::nn {
namespace {

VisionTransformerConfig decoder(MaskMode mode) {
  VisionTransformerConfig c = smallEncoder();
  c.classToken = ClassToken::Last;
  c.mask = std::make_shared<TestMask>(mode);
  c.norm = NormKind::Rms;
  c.mlp = MlpKind::SwiGlu;
  c.mlpBias = Bias::None;
  c.ropeTheta = 1e4;
  return c;
}

at::Tensor images(std::int64_t count = 2) {
  return at::randn({count, 2, 12, 16}, at::detail::createCPUGenerator(1));
}

/// Larger weights than at the start, so that attention is far from uniform.
void stir(Model& model) {
  const c10::NoGradGuard noGrad;
  for (const auto& [name, tensor] : namedTensors(model)) {
    if (tensor.dim() > 1) tensor.mul_(10);
  }
}

at::Tensor encoded(VisionTransformer& model, const at::Tensor& batch) {
  const c10::NoGradGuard noGrad;
  return model.encode(model.embed(batch), {});
}

TEST(Encoder, AdditiveCausalHidesLaterPatchesToTheLastBitAndMultiplicativeDoesNot) {
  const at::Tensor before = images();
  at::Tensor after = before.clone();
  after.slice(2, 8, 12).slice(3, 12, 16).add_(1);  // the last patch, token 11
  for (const MaskMode mode : {MaskMode::Additive, MaskMode::Multiplicative}) {
    VisionTransformer model(decoder(mode), 1);
    stir(model);
    const at::Tensor earlierBefore = encoded(model, before).narrow(1, 0, 11),
                     earlierAfter = encoded(model, after).narrow(1, 0, 11);
    EXPECT_EQ(earlierBefore.equal(earlierAfter), mode == MaskMode::Additive);
    EXPECT_FALSE(encoded(model, before).select(1, 11).equal(encoded(model, after).select(1, 11)));
  }
}

TEST(Encoder, CausalAttentionKnowsTheOrderOfPatchesAndAPlainOneWithoutPositionsDoesNot) {
  VisionTransformerConfig bag = smallEncoder();
  bag.positions = PositionKind::None;
  VisionTransformerConfig ordered = decoder(MaskMode::Multiplicative);
  ordered.positions = PositionKind::None;
  ordered.ropeTheta.reset();
  const at::Tensor batch = images(), shuffled = batch.roll({4, 8}, {2, 3});  // whole patches
  VisionTransformer plain(bag, 1), causal(ordered, 1);
  stir(plain);
  stir(causal);
  EXPECT_LT((plain.classify(batch) - plain.classify(shuffled)).abs().max().item<double>(),
            1e-4 * plain.classify(batch).abs().max().item<double>());
  EXPECT_GT((causal.classify(batch) - causal.classify(shuffled)).abs().max().item<double>(),
            1e-2 * causal.classify(batch).abs().max().item<double>());
}

TEST(Encoder, DropPathIsTheIdentityInEvaluationAndTheFirstBlockNeverDrops) {
  VisionTransformerConfig dropping = smallEncoder();
  dropping.dropPath = 0.9;
  VisionTransformer a(smallEncoder(), 1), b(dropping, 1);
  a.module().eval();
  b.module().eval();
  const at::Tensor batch = images(8);
  EXPECT_TRUE(a.classify(batch).equal(b.classify(batch)));
  b.module().train();
  std::vector<at::Tensor> plain, dropped;
  a.setBlockTap([&](std::int64_t, const at::Tensor& stream) { plain.push_back(stream.detach()); });
  b.setBlockTap(
      [&](std::int64_t, const at::Tensor& stream) { dropped.push_back(stream.detach()); });
  (void)a.classify(batch);
  (void)b.classify(batch);
  EXPECT_TRUE(plain[0].equal(dropped[0]));
  EXPECT_FALSE(plain[2].equal(dropped[2]));
}

TEST(Encoder, TapsSeeEveryRowAndChangeNothing) {
  VisionTransformer model(decoder(MaskMode::Multiplicative), 1);
  stir(model);
  const at::Tensor batch = images();
  const at::Tensor before = model.classify(batch);
  auto tap = std::make_shared<AttentionTap>();
  tap->layers = {2};
  int heard = 0;
  tap->receive = [&](const AttentionRecord& record) {
    EXPECT_EQ(record.layer, 2);
    EXPECT_EQ(record.weights.sizes().vec(), (std::vector<std::int64_t>{2, 3, 13, 13}));
    EXPECT_EQ(record.keyPositions[12][0].item<std::int64_t>(), -1);
    EXPECT_EQ(record.keyPositions[7][0].item<std::int64_t>(), 1);
    EXPECT_EQ(record.keyPositions[7][1].item<std::int64_t>(), 3);
    ++heard;
  };
  model.setAttentionTap(tap);
  EXPECT_LT((model.classify(batch) - before).abs().max().item<double>(),
            1e-5 * before.abs().max().item<double>());
  EXPECT_EQ(heard, 1);
  model.setAttentionTap(nullptr);
  EXPECT_TRUE(model.classify(batch).equal(before));
  EXPECT_EQ(heard, 1);
}

TEST(Encoder, TheAttentionOfOneLayerIsThatOfAllLayersTogether) {
  VisionTransformer model(smallEncoder(), 1);
  stir(model);
  const at::Tensor batch = images().repeat({4, 1, 1, 1});  // enough rows for fused blocks
  const c10::NoGradGuard noGradient;
  const auto weightsOf = [&](std::vector<std::int64_t> layers) {
    std::vector<at::Tensor> weights;
    auto tap = std::make_shared<AttentionTap>();
    tap->layers = std::move(layers);
    tap->receive = [&](const AttentionRecord& record) {
      weights.push_back(record.weights.clone());
    };
    model.setAttentionTap(tap);
    (void)model.classify(batch);
    model.setAttentionTap(nullptr);
    return weights;
  };
  const std::vector<at::Tensor> all = weightsOf({});
  ASSERT_EQ(all.size(), 3u);
  for (std::int64_t layer = 0; layer < 3; ++layer) {
    const std::vector<at::Tensor> one = weightsOf({layer});
    ASSERT_EQ(one.size(), 1u);
    EXPECT_LT((one[0] - all[static_cast<std::size_t>(layer)]).abs().max().item<double>(), 1e-5);
  }
}

TEST(Encoder, EncodingTheEmbeddedTokensGivesTheFeatures) {
  for (const auto& config : {smallEncoder(), decoder(MaskMode::Additive)}) {
    VisionTransformer model(config, 1);
    const at::Tensor batch = images();
    const std::int64_t row = config.classToken == ClassToken::Last ? 12 : 0;
    EXPECT_LT(
        (encoded(model, batch).select(1, row) - model.features(batch)).abs().max().item<double>(),
        1e-5);
  }
}

TEST(Encoder, ASubsetOfTokensKeepsItsRotaryPlaces) {
  VisionTransformerConfig config = decoder(MaskMode::Multiplicative);
  config.mask = nullptr;
  config.depth = 1;
  VisionTransformer model(config, 1);
  stir(model);
  const c10::NoGradGuard noGrad;
  const Tokens all = model.embed(images());
  const at::Tensor order = at::tensor({5, 0, 12, 3}).to(at::kLong);
  const Tokens some{all.values.index_select(1, order), all.positions.index_select(0, order)};
  // Without a causal mask the order of tokens is free as long as each keeps its position: hide the
  // others instead.
  at::Tensor hide = at::full({13, 13}, -INFINITY);
  hide.index_fill_(1, order, 0);
  const at::Tensor whole = model.encode(all, hide).index_select(1, order);
  EXPECT_LT((model.encode(some, {}) - whole).abs().max().item<double>(),
            1e-4 * whole.abs().max().item<double>());
}

TEST(Encoder, GatheredTokensOfEachSampleAreThoseOfTheWholeImageWithTheOthersHidden) {
  for (const MaskMode mode : {MaskMode::Additive, MaskMode::Multiplicative}) {
    VisionTransformerConfig config = decoder(mode);
    // A factor after the softmax hides what is not there from no one: compare without a mask.
    if (mode == MaskMode::Multiplicative) config.mask = nullptr;
    VisionTransformer model(config, 1);
    stir(model);
    const c10::NoGradGuard noGrad;
    const Tokens all = model.embed(images(3));
    // Not in the order of the image: a token is what its position says.
    const at::Tensor left =
        at::tensor(std::vector<std::int64_t>{0, 3, 7, 12, 11, 2, 5, 12, 1, 12, 4, 9}).view({3, 4});
    const Tokens some{
        at::stack({all.values[0].index_select(0, left[0]), all.values[1].index_select(0, left[1]),
                   all.values[2].index_select(0, left[2])}),
        all.positions.index_select(0, left.flatten()).view({3, 4, 2})};
    const at::Tensor gathered = model.encode(some, {});
    at::Tensor hide = at::full({3, 1, 1, 13}, -INFINITY);
    for (int sample = 0; sample < 3; ++sample) hide[sample].index_fill_(-1, left[sample], 0);
    // A token that sees none of those left would be undefined: the first of each sample sees
    // itself.
    const at::Tensor open = hide.expand({3, 1, 13, 13}).clone();
    open.diagonal(0, 2, 3).fill_(0);
    const at::Tensor whole = model.encode(all, open);
    for (int sample = 0; sample < 3; ++sample) {
      const at::Tensor wanted = whole[sample].index_select(0, left[sample]);
      EXPECT_LT((gathered[sample] - wanted).abs().max().item<double>(),
                1e-4 * wanted.abs().max().item<double>())
          << sample;
      // Alone, with one table of positions, each sample gives the same.
      const Tokens alone{some.values.narrow(0, sample, 1), some.positions[sample]};
      EXPECT_LT((model.encode(alone, {})[0] - gathered[sample]).abs().max().item<double>(), 1e-4);
    }
  }
}

TEST(Encoder, MasksGatheredTokensByTheirPlaces) {
  VisionTransformer model(decoder(MaskMode::Multiplicative), 1);
  stir(model);
  const c10::NoGradGuard noGrad;
  const Tokens all = model.embed(images());
  const at::Tensor order = at::randperm(13, at::detail::createCPUGenerator(2));
  const Tokens shuffled{all.values.index_select(1, order),
                        all.positions.index_select(0, order).expand({2, 13, 2})};
  const at::Tensor wanted = model.encode(all, {}).index_select(1, order);
  EXPECT_LT((model.encode(shuffled, {}) - wanted).abs().max().item<double>(),
            1e-4 * wanted.abs().max().item<double>());
  EXPECT_THROW((void)model.encode({all.values, all.positions.narrow(0, 0, 5)}, {}), ShapeError);
  EXPECT_THROW((void)model.encode({all.values, all.positions.expand({3, 13, 2})}, {}), ShapeError);
}

TEST(Encoder, DrawsNothingFromTorchsGlobalGenerator) {
  const at::Tensor before = at::detail::getDefaultCPUGenerator().get_state().clone();
  VisionTransformerConfig config = smallEncoder();
  config.dropPath = 0.3;
  config.dropout = 0.2;
  VisionTransformer model(config, 1);
  model.setGenerator(at::detail::createCPUGenerator(3));
  model.module().train();
  const at::Tensor first = model.classify(images());
  first.sum().backward();
  EXPECT_TRUE(at::detail::getDefaultCPUGenerator().get_state().equal(before));
  EXPECT_FALSE(model.classify(images()).equal(first)) << "dropout drew nothing";
  model.setGenerator(at::detail::createCPUGenerator(3));
  EXPECT_TRUE(model.classify(images()).equal(first))
      << "the same generator gives the same drop-outs";
}

TEST(Encoder, SameSeedSameParametersAndAnotherSeedOthers) {
  VisionTransformer a(smallEncoder(), 1), b(smallEncoder(), 1), c(smallEncoder(), 2);
  const at::Tensor batch = images();
  EXPECT_TRUE(a.classify(batch).equal(b.classify(batch)));
  EXPECT_FALSE(a.classify(batch).equal(c.classify(batch)));
}

TEST(Encoder, CountsItsParametersAndMultiplyAdds) {
  for (VisionTransformerConfig config : {smallEncoder(), decoder(MaskMode::Additive)}) {
    config.layerScale = 0.1;
    VisionTransformer model(config, 1);
    std::int64_t parameters = 0;
    double macs = 0;
    for (const BlockCost& block : model.cost()) {
      parameters += block.parameters;
      macs += block.macs;
      EXPECT_GE(block.flops, 2 * block.macs);
    }
    EXPECT_EQ(parameters, parameterCount(model));
    const double n = 13, d = 24, matrices = config.mlp == MlpKind::SwiGlu ? 3 : 2;
    EXPECT_DOUBLE_EQ(
        macs, 12 * 32 * d + 3 * (4 * n * d * d + 2 * n * n * d + matrices * n * d * 32) + d * 5);
  }
}

TEST(Encoder, CountsANormBehindThePoolingForOneToken) {
  VisionTransformerConfig config = smallEncoder();
  config.pool = Pool::Average;
  config.finalNorm = FinalNorm::AfterPool;
  const std::vector<BlockCost> cost = VisionTransformer(config, 0).cost();
  const BlockCost& norm = cost.at(cost.size() - 2);
  EXPECT_EQ(norm.name, "fc_norm");
  EXPECT_DOUBLE_EQ(norm.flops, 4 * 24);
  EXPECT_DOUBLE_EQ(norm.activationBytes, 4 * (2 * 24 + 2));
}

TEST(Encoder, NamesTheOperatorOfEveryPiece) {
  const auto kinds = [](const VisionTransformerConfig& config) {
    std::string text;
    for (const BlockCost& block : VisionTransformer(config, 0).cost()) {
      if (block.name.rfind("blocks.", 0) != 0 || block.name.rfind("blocks.0.", 0) == 0)
        text += block.name + " = " + block.kind + "\n";
    }
    return text;
  };
  EXPECT_EQ(kinds(smallEncoder()),
            "patch_embed = patch_embed:4 x 4 px to 24\n"
            "pos_embed = position:learned, 13 places, class token first\n"
            "blocks.0.norm1 = norm:LayerNorm\n"
            "blocks.0.attn = attention:softmax, 3 heads of 8\n"
            "blocks.0.norm2 = norm:LayerNorm\n"
            "blocks.0.mlp = mlp:GELU, 32 wide\n"
            "norm = norm:LayerNorm\n"
            "head = head:5 classes\n");
  const std::string roped = kinds(decoder(MaskMode::Additive));
  for (const char* piece :
       {"blocks.0.norm1 = norm:RMSNorm", "blocks.0.attn.rope = rope:1-D, along the sequence",
        "blocks.0.attn.mask = mask:causal, additive", "blocks.0.mlp = mlp:SwiGLU, 32 wide"})
    EXPECT_NE(roped.find(piece), std::string::npos) << piece << " is not in\n" << roped;
}

TEST(Encoder, BuildsAnySizeOnTheMetaDeviceInAnInstant) {
  const ScopedBuildDevice meta(at::kMeta);
  VisionTransformerConfig huge{.patchSize = {14, 14}};
  huge.width = 1280, huge.depth = 32, huge.heads = 16, huge.mlpWidth = 5120;
  VisionTransformer model(huge, 0);
  EXPECT_EQ(parameterCount(model), 632045800);
  EXPECT_TRUE(model.module().parameters().front().is_meta());
}

TEST(Encoder, RefusesSizesThatDoNotFit) {
  const auto with = [](auto change) {
    VisionTransformerConfig config = smallEncoder();
    change(config);
    VisionTransformer model(config, 0);
  };
  EXPECT_THROW(with([](auto& c) { c.patchSize = {5, 4}; }), ConfigError);
  EXPECT_THROW(with([](auto& c) { c.heads = 5; }), ConfigError);
  EXPECT_THROW(with([](auto& c) { c.classToken = ClassToken::None; }), ConfigError);
  EXPECT_THROW(with([](auto& c) { c.heads = 24, c.ropeTheta = 1e4; }), ConfigError);
  VisionTransformer model(smallEncoder(), 0);
  EXPECT_THROW((void)model.classify(at::zeros({1, 2, 16, 16})), ShapeError);
}

}  // namespace
}  // namespace vitrine::nn
