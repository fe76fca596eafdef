// The layers as a library: what each computes, a small model made of them from outside, what they
// cost.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/model/build_device.h"
#include "core/nn/init.h"
#include "core/nn/layers.h"
#include "core/nn/multi_head_attention.h"
#include "core/nn/residual.h"
#include "tests/core/nn/tensors.h"

namespace vitrine::nn {
namespace {

/// Every parameter far from zero and one.
void stir(torch::nn::Module& module) {
  initialise(
      module, [](const std::string&, const at::Tensor&) { return normalInit(0.5); }, 7);
}

std::vector<std::string> namesOf(const torch::nn::Module& module) {
  std::vector<std::string> names;
  for (const auto& item : module.named_parameters()) names.push_back(item.key());
  return names;
}

std::int64_t countOf(const torch::nn::Module& module) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : module.parameters()) count += parameter.numel();
  return count;
}

TEST(Library, ALayerComputesSomethingDefinedBeforeItIsInitialised) {
  const at::Tensor x = randomFloats({2, 3, 8}, 1);
  EXPECT_TRUE(Linear(8, 4).forward(x).equal(at::zeros({2, 3, 4})));
  EXPECT_LT(largestDifference(Norm(NormKind::Layer, 8, 1e-6).forward(x),
                              Norm(NormKind::Layer, 8, 1e-6, Affine::None).forward(x)),
            1e-6);
  EXPECT_TRUE(LayerScale(8, 0.25).forward(x).equal(x * 0.25));
  EXPECT_TRUE(LearnedPositions(3, 8).forward(x).equal(x));
}

TEST(Library, InitialisingARuleGivesEveryParameterByItsName) {
  Mlp one({8, 16}), two({8, 16});
  const auto rule = [](const std::string& name, const at::Tensor& value) {
    return name == "fc1.weight" ? normalInit(1) : constantInit(value.dim() == 1 ? 3 : 2);
  };
  initialise(one, rule, 1);
  initialise(two, rule, 1);
  EXPECT_TRUE(one.in->weight.equal(two.in->weight));
  EXPECT_NEAR(one.in->weight.std().item<double>(), 1, 0.2);
  EXPECT_TRUE(one.out->weight.equal(at::full({8, 16}, 2)));
  EXPECT_TRUE(one.out->bias.equal(at::full({8}, 3)));
  initialise(two, rule, 2);
  EXPECT_FALSE(one.in->weight.equal(two.in->weight));
}

TEST(Library, ConvolutionsAndGroupNormsFollowTheirDefinitions) {
  Conv2d convolution({6, 4, {3, 3}, {2, 1}, {1, 1}, 2});
  stir(convolution);
  const at::Tensor x = randomFloats({2, 6, 5, 7}, 1);
  const at::Tensor y = convolution.forward(x);
  EXPECT_TRUE(y.equal(at::conv2d(x, convolution.weight, convolution.bias, {2, 1}, {1, 1},
                                 at::IntArrayRef({1, 1}), 2)));
  const BlockCost cost = convolution.cost({y.size(2), y.size(3)});
  EXPECT_EQ(cost.parameters, countOf(convolution));
  EXPECT_EQ(cost.macs, 3 * 7 * 4 * 3 * 9);
  GroupNorm norm(3, 6, 1e-5);
  stir(norm);
  const at::Tensor groups = x.view({2, 3, -1});
  const at::Tensor centred = groups - groups.mean(-1, true);
  const at::Tensor scaled = centred * at::rsqrt(centred.square().mean(-1, true) + 1e-5);
  EXPECT_LT(
      largestDifference(norm.forward(x), scaled.view(x.sizes()) * norm.weight.view({6, 1, 1}) +
                                             norm.bias.view({6, 1, 1})),
      1e-5);
  EXPECT_THROW(GroupNorm(4, 6, 1e-5), ShapeError);
  EXPECT_THROW(Conv2d({6, 4, {1, 1}, {1, 1}, {0, 0}, 4}), ShapeError);
}

TEST(Library, MlpsCarryTheNamesTheyAreGiven) {
  MlpOptions options{8, 12, MlpKind::SwiGlu, Bias::None, 0, {"w1", "w2", "w3"}};
  Mlp gated(options);
  EXPECT_EQ(namesOf(gated), (std::vector<std::string>{"w1.weight", "w2.weight", "w3.weight"}));
  stir(gated);
  const at::Tensor x = randomFloats({2, 8}, 1);
  const at::Tensor wanted =
      at::linear(at::silu(at::linear(x, gated.in->weight)) * at::linear(x, gated.up->weight),
                 gated.out->weight);
  EXPECT_LT(largestDifference(gated.forward(x), wanted), 1e-5);
  for (const MlpKind kind : {MlpKind::GeluErf, MlpKind::GeluTanh}) {
    Mlp plain({8, 12, kind});
    stir(plain);
    const at::Tensor hidden = at::gelu(at::linear(x, plain.in->weight, plain.in->bias),
                                       kind == MlpKind::GeluTanh ? "tanh" : "none");
    EXPECT_LT(
        largestDifference(plain.forward(x), at::linear(hidden, plain.out->weight, plain.out->bias)),
        1e-5);
    EXPECT_EQ(plain.cost(5).parameters, countOf(plain));
  }
}

TEST(Library, LearnedPositionsFollowTheTokensThatAreLeft) {
  LearnedPositions positions(4, 6, "pos");
  EXPECT_EQ(namesOf(positions), std::vector<std::string>{"pos"});
  stir(positions);
  const at::Tensor x = randomFloats({2, 4, 6}, 1);
  const at::Tensor places = at::tensor(std::vector<std::int64_t>{3, 0, 1, 1}).view({2, 2});
  const at::Tensor some =
      at::stack({x[0].index_select(0, places[0]), x[1].index_select(0, places[1])});
  const at::Tensor all = positions.forward(x), left = positions.forward(some, places);
  for (int sample = 0; sample < 2; ++sample)
    EXPECT_TRUE(left[sample].equal(all[sample].index_select(0, places[sample])));
  EXPECT_THROW((void)positions.forward(some), ShapeError);
}

TEST(Library, SinesAndCosinesOfALineAndOfAGridInBothOrders) {
  const at::Tensor line = sinCosPositions(at::tensor({0.0, 2.5}, at::kDouble), 4);
  EXPECT_LT(largestDifference(line[1], at::tensor({std::sin(2.5), std::sin(0.025), std::cos(2.5),
                                                   std::cos(0.025)})
                                           .to(at::kFloat)),
            1e-6);
  const at::Tensor columns = sinCosPositions({2, 3}, 8, ClassToken::None)[0],
                   rows = sinCosPositions({2, 3}, 8, ClassToken::None, GridOrder::RowFirst)[0];
  EXPECT_TRUE(rows.equal(at::cat({columns.narrow(1, 4, 4), columns.narrow(1, 0, 4)}, 1)));
  EXPECT_FALSE(rows.equal(columns));
  EXPECT_THROW((void)sinCosPositions(at::arange(2), 3), ShapeError);
}

MultiHeadOptions heads(Projections projections, std::int64_t keyHeads) {
  return {.width = 12, .heads = 4, .keyHeads = keyHeads, .projections = projections};
}

/// The rows of every map of `from`, whatever its maps hold together, in `to`.
void copyMaps(const MultiHeadAttention& from, const MultiHeadAttention& to) {
  const auto part = [](const at::Tensor& whole, std::int64_t first, std::int64_t count) {
    return whole.narrow(0, first, count);
  };
  const c10::NoGradGuard noGrad;
  const std::int64_t q = from.options().heads * 3, k = from.options().keyHeads * 3;
  const auto take = [&](const std::shared_ptr<Linear>& map, std::int64_t first) {
    if (!map) return;
    map->weight.copy_(part(from.all->weight, first, map->weight.size(0)));
    map->bias.copy_(part(from.all->bias, first, map->bias.size(0)));
  };
  take(to.query, 0);
  take(to.key, q);
  take(to.keyValue, q);
  take(to.value, q + k);
  to.out->weight.copy_(from.out->weight);
  to.out->bias.copy_(from.out->bias);
}

TEST(Library, AttentionIsTheSameHoweverItsMapsArePacked) {
  for (const std::int64_t keyHeads : {4, 2}) {
    MultiHeadAttention one(heads(Projections::One, keyHeads));
    stir(one);
    const at::Tensor x = randomFloats({2, 7, 12}, 1);
    AttentionCall call;
    RopeSpectrum spectrum;
    spectrum.channels = 2;  // of 3 in a head
    call.options.queryAngles = call.options.keyAngles = ropeAngles(at::arange(7), spectrum);
    call.options.bias = randomFloats({7, 7}, 2);
    const at::Tensor wanted = one.forward(x, call);
    for (const Projections projections : {Projections::KeyValue, Projections::Separate}) {
      MultiHeadAttention other(heads(projections, keyHeads));
      copyMaps(one, other);
      EXPECT_LT(largestDifference(other.forward(x, call), wanted), 1e-5);
      EXPECT_EQ(other.cost(7, 7).macs, one.cost(7, 7).macs);
      EXPECT_EQ(other.cost(7, 7).parameters, countOf(other));
    }
    call.row = 4;
    EXPECT_LT(largestDifference(one.forward(x, call), wanted.narrow(1, 4, 1)), 1e-5);
    call.row = -1;
    at::Tensor seen;
    call.tap = [&](const AttentionOutput& output) { seen = output.softmax; };
    EXPECT_LT(largestDifference(one.forward(x, call), wanted), 1e-5);
    EXPECT_EQ(seen.sizes().vec(), (std::vector<std::int64_t>{2, 4, 7, 7}));
  }
}

TEST(Library, AttentionOverAContextAndOverACacheOfItsOwnKeys) {
  MultiHeadOptions options = heads(Projections::Separate, 2);
  options.names.query = "wq", options.names.key = "wk", options.names.value = "wv";
  options.names.out = "wo";
  options.inBias = options.outBias = Bias::None;
  MultiHeadAttention attention(options);
  EXPECT_EQ(namesOf(attention),
            (std::vector<std::string>{"wq.weight", "wk.weight", "wv.weight", "wo.weight"}));
  stir(attention);
  const at::Tensor x = randomFloats({1, 5, 12}, 1);
  AttentionCall call;
  call.options.isCausal = true;
  const at::Tensor whole = attention.forward(x, call);
  // Token by token, keys and values kept: the same.
  at::Tensor keys, values;
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto parts = attention.project(x.narrow(1, i, 1));
    keys = i == 0 ? parts.key : at::cat({keys, parts.key}, 1);
    values = i == 0 ? parts.value : at::cat({values, parts.value}, 1);
    const at::Tensor next = attention.join(attend(parts.query, keys, values).values);
    EXPECT_LT(largestDifference(next, whole.narrow(1, i, 1)), 1e-5) << i;
  }
  call = {};
  call.context = randomFloats({1, 3, 12}, 2);
  EXPECT_EQ(attention.forward(x, call).sizes().vec(), (std::vector<std::int64_t>{1, 5, 12}));
  options.heads = 5;
  EXPECT_THROW(MultiHeadAttention{options}, ShapeError);
}

TEST(Library, AResidualBranchIsItsFormula) {
  auto norm = std::make_shared<Norm>(NormKind::Rms, 6, 1e-6);
  auto scale = std::make_shared<LayerScale>(6, 0.5);
  stir(*norm);
  const Residual residual({.norm = norm, .scale = scale});
  const auto mixer = [](const at::Tensor& y, const at::Tensor& samples) {
    EXPECT_FALSE(samples.defined());
    return y.flip(1);
  };
  const at::Tensor x = randomFloats({3, 4, 6}, 1), branch = randomFloats({3, 4, 6}, 2);
  const auto wanted = [&](const at::Tensor& from) {
    return from + norm->forward(from).flip(1) * 0.5;
  };
  EXPECT_LT(largestDifference(residual.forward(x, mixer, false), wanted(x)), 1e-6);
  const Stream chained = residual.advance({x, branch}, mixer, false);
  EXPECT_LT(largestDifference(chained.sum(), wanted(x + branch)), 1e-5);
}

TEST(Library, DroppingByBatchSubsetRunsTheMixerOnTheKeptSamplesAlone) {
  const Residual residual({.dropPath = {0.25, DropPath::Kind::Subset}});
  at::Tensor ran;
  const auto mixer = [&](const at::Tensor& y, const at::Tensor& samples) {
    ran = samples;
    EXPECT_EQ(y.size(0), samples.size(0));
    return at::ones_like(y);
  };
  const at::Tensor x = at::zeros({8, 3});
  const at::Tensor out = residual.forward(x, mixer, true, seeded(1));
  ASSERT_EQ(ran.size(0), 6);
  EXPECT_EQ(std::get<0>(at::_unique(ran)).size(0), 6) << "no sample twice";
  const at::Tensor wanted = at::zeros({8, 3}).index_fill(0, ran, 8.0 / 6);
  EXPECT_LT(largestDifference(out, wanted), 1e-6);
  const at::Tensor first = ran;
  (void)residual.forward(x, mixer, true, seeded(1));
  EXPECT_TRUE(ran.equal(first)) << "the same generator, the same samples";
  (void)residual.forward(x, mixer, true, seeded(2));
  EXPECT_FALSE(ran.equal(first));
  EXPECT_TRUE(
      residual
          .forward(
              x, [](const at::Tensor& y, const at::Tensor&) { return at::ones_like(y); }, false)
          .equal(at::ones({8, 3})));
  EXPECT_THROW((void)residual.forward(x, mixer, true), Error) << "no generator";
}

TEST(Library, ASubsetThatMissesTheRateFallsBackToSamples) {
  // Of 3 samples 0.75 cannot be kept to within a hundredth.
  EXPECT_FALSE(keptSamples(3, 0.25, seeded(1), at::kCPU).defined());
  EXPECT_EQ(keptSamples(4, 0.25, seeded(1), at::kCPU).size(0), 3);
  EXPECT_FALSE(keptSamples(4, 0, {}, at::kCPU).defined());
  EXPECT_EQ(keptSamples(100, 0.333, seeded(1), at::kCPU).size(0), 66);
  Residual::Options options{.dropPath = {0.25, DropPath::Kind::Subset}};
  const at::Tensor out = Residual(options).forward(
      at::zeros({3, 2}), [](const at::Tensor& y, const at::Tensor&) { return at::ones_like(y); },
      true, seeded(3));
  EXPECT_TRUE(out.eq(0).logical_or(out.sub(1 / 0.75).abs().lt(1e-6)).all().item<bool>());
}

/// A model as a plugin would write one: patches, positions, two kinds of mixers, a head.
struct Mixed final : torch::nn::Module {
  Mixed() {
    patches = register_module(
        "patches", std::make_shared<PatchEmbed>(2, std::array<std::int64_t, 2>{2, 2}, 12));
    places = register_module("places", std::make_shared<LearnedPositions>(12, 12));
    attention = register_module(
        "attention", std::make_shared<MultiHeadAttention>(heads(Projections::KeyValue, 2)));
    convolution = register_module("convolution", std::make_shared<Conv2d>(ConvolutionOptions{
                                                     12, 12, {3, 3}, {1, 1}, {1, 1}, 12}));
    mlp = register_module("mlp",
                          std::make_shared<Mlp>(MlpOptions{12, 24, MlpKind::SwiGlu, Bias::None}));
    for (std::size_t i = 0; i < 3; ++i) {
      Residual::Options options;
      options.norm = norms[i] = register_module(
          "norm" + std::to_string(i),
          std::make_shared<Norm>(i == 0 ? NormKind::Rms : NormKind::Layer, 12, 1e-6));
      if (i == 2)
        options.scale = scale = register_module("scale", std::make_shared<LayerScale>(12, 0.1));
      options.dropPath = {0.25, DropPath::Kind::Subset};
      residuals[i] = Residual(options);
    }
    head = register_module("head", std::make_shared<Linear>(12, 5));
  }

  at::Tensor forward(const at::Tensor& images, const at::Generator& generator) const {
    RopeSpectrum spectrum{.channels = 2};
    AttentionCall call;
    call.options.queryAngles = call.options.keyAngles = ropeAngles(at::arange(12), spectrum);
    Stream stream{places->forward(patches->forward(images)), {}};
    const auto run = [&](std::size_t index, const Mixer& mixer) {
      stream = residuals[index].advance(stream, mixer, is_training(), generator);
    };
    run(0, [&](const at::Tensor& y, const at::Tensor&) { return attention->forward(y, call); });
    run(1, [&](const at::Tensor& y, const at::Tensor&) {
      return convolution->forward(y.transpose(1, 2).unflatten(2, {3, 4}))
          .flatten(2)
          .transpose(1, 2);
    });
    run(2, [&](const at::Tensor& y, const at::Tensor&) { return mlp->forward(y); });
    return head->forward(stream.sum().mean(1));
  }

  [[nodiscard]] std::vector<BlockCost> cost() const {
    return {patches->cost(12),  places->cost(12),
            norms[0]->cost(12), residuals[0].branchCost(attention->cost(12, 12), 12, 12),
            norms[1]->cost(12), residuals[1].branchCost(convolution->cost({3, 4}), 12, 12),
            norms[2]->cost(12), residuals[2].branchCost(mlp->cost(12), 12, 12),
            head->cost(1)};
  }

  std::shared_ptr<PatchEmbed> patches;
  std::shared_ptr<LearnedPositions> places;
  std::shared_ptr<MultiHeadAttention> attention;
  std::shared_ptr<Conv2d> convolution;
  std::shared_ptr<Mlp> mlp;
  std::shared_ptr<Norm> norms[3];
  std::shared_ptr<LayerScale> scale;
  Residual residuals[3];
  std::shared_ptr<Linear> head;
};

TEST(Library, AModelMadeOfItLearns) {
  Mixed model;
  initialise(
      model,
      [](const std::string& name, const at::Tensor& value) {
        if (name.find("norm") != std::string::npos) return constantInit(name.ends_with("weight"));
        if (name == "scale.gamma") return constantInit(0.1);
        return value.dim() < 2 ? constantInit(0) : normalInit(0.2);
      },
      3);
  const at::Tensor images = randomFloats({8, 2, 6, 8}, 1);
  const at::Tensor labels = at::arange(8).remainder(5);
  const at::Generator generator = seeded(5);
  const auto loss = [&] {
    return at::cross_entropy_loss(model.forward(images, generator), labels);
  };
  model.eval();
  const double before = loss().item<double>();
  model.train();
  for (int step = 0; step < 60; ++step) {
    model.zero_grad();
    loss().backward();
    const c10::NoGradGuard noGrad;
    for (at::Tensor& parameter : model.parameters()) parameter.sub_(parameter.grad(), 0.1);
  }
  model.eval();
  EXPECT_LT(loss().item<double>(), 0.5 * before);
}

TEST(Library, PiecesOfAModelCostWhatItsParametersAndProductsSay) {
  const Mixed model;
  std::int64_t parameters = 0;
  double macs = 0;
  for (const BlockCost& piece : model.cost()) {
    parameters += piece.parameters;
    macs += piece.macs;
    EXPECT_GE(piece.flops, 2 * piece.macs) << piece.kind;
    EXPECT_NE(piece.kind, "");
  }
  EXPECT_EQ(parameters, countOf(model));
  const double n = 12, d = 12, keyRows = 6;
  const double attention = 2 * n * d * d + 2 * n * d * keyRows + 2 * n * n * d;
  EXPECT_EQ(macs, n * 8 * d + attention + n * d * 9 + 3 * n * d * 24 + d * 5);
}

TEST(Library, StandsOnTheBuildDevice) {
  const ScopedBuildDevice meta(at::kMeta);
  const Mixed model;
  for (const at::Tensor& parameter : model.parameters()) EXPECT_TRUE(parameter.is_meta());
  EXPECT_EQ(model.cost().front().parameters, 12 * 8 + 12);
}

}  // namespace
}  // namespace vitrine::nn
