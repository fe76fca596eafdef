// The layers against hand-made numbers (fact sheet of ViT and iLLaMA, part E) and their own
// definitions.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "core/base/error.h"
#include "core/nn/attention.h"
#include "core/nn/drop_path.h"
#include "core/nn/init.h"
#include "core/nn/mlp.h"
#include "core/nn/norm.h"
#include "core/nn/patch_embed.h"
#include "core/nn/position/position_embedding.h"
#include "core/nn/position/rope.h"
#include "tests/core/nn/tensors.h"
#include "tests/support/every_cpu_path.h"

namespace vitrine::nn {
namespace {

using testing::onEveryCpuPath;

/// 1 below and on the diagonal, `others` above.
at::Tensor lowerFactor(std::int64_t tokens, double others = 0) {
  return at::ones({tokens, tokens}).tril().clamp_min(others);
}

/// q, k, v whose logits are the given ones: q = logits * sqrt(headDim) and k the identity.
AttentionInput withLogits(const at::Tensor& logits, const at::Tensor& values) {
  const std::int64_t n = logits.size(0);
  const at::Tensor v = at::constant_pad_nd(values, {0, n - values.size(1)});
  AttentionInput input;
  input.query =
      at::cat({logits * std::sqrt(static_cast<double>(n)), at::eye(n), v}, 1).unsqueeze(0);
  return input;
}

TEST(Attention, SoftMaskMultipliesAfterTheSoftmaxWithoutRenormalising) {
  const double two = std::log(2.0), three = std::log(3.0);
  AttentionInput input =
      withLogits(at::stack({row({0, two, three}), row({two, 0, 0}), row({0, 0, two})}),
                 at::stack({row({1, 0}), row({0, 1}), row({1, 1})}));
  input.multiplicative = lowerFactor(3, 0.5);
  const at::Tensor softened =
      at::stack({row({.416667, .416667}), row({.625, .375}), row({.75, .75})});
  for (const AttentionPath path : {AttentionPath::Explicit, AttentionPath::Short})
    EXPECT_LT(largestDifference(attend(input, path).values[0].narrow(1, 0, 2), softened), 1e-6);
  const at::Tensor sums = attend(input, AttentionPath::Explicit).effective.sum(-1).flatten();
  EXPECT_LT(largestDifference(sums, row({.583333, .875, 1})), 1e-6);

  AttentionInput causal = input;
  causal.multiplicative = at::Tensor();
  causal.additive = lowerFactor(3).log();
  const at::Tensor hard = at::stack({row({1, 0}), row({.666667, .333333}), row({.75, .75})});
  for (const AttentionPath path :
       {AttentionPath::Explicit, AttentionPath::Short, AttentionPath::Fused}) {
    EXPECT_LT(largestDifference(attend(causal, path).values[0].narrow(1, 0, 2), hard), 1e-6);
  }
}

struct Agreement {
  at::Tensor values;
  std::vector<at::Tensor> gradients;
};

Agreement runPath(AttentionInput input, AttentionPath path) {
  std::vector<at::Tensor> leaves{input.query.detach().clone().requires_grad_(true)};
  input.query = leaves[0];
  if (input.keyValue.defined()) {
    leaves.push_back(input.keyValue.detach().clone().requires_grad_(true));
    input.keyValue = leaves[1];
  }
  Agreement result{attend(input, path).values, {}};
  result.values.backward(at::randn(result.values.sizes(), seeded(9)));
  for (const at::Tensor& leaf : leaves) result.gradients.push_back(leaf.grad());
  return result;
}

void expectShortAgrees() {
  // Lengths around the vector width, head widths that fill it and that do not.
  for (const std::int64_t tokens : {1, 15, 16, 17, 33, 64, 197}) {
    for (const std::int64_t headDim : {2, 12, 16, 40, 64}) {
      for (const bool isSplit : {false, true}) {
        SCOPED_TRACE(c10::str(tokens, " tokens, ", headDim, " channels, ",
                              isSplit ? "one query" : "all queries"));
        const std::int64_t heads = 3, width = heads * headDim;
        const at::Generator generator = seeded(static_cast<std::uint64_t>(tokens * 100 + headDim));
        AttentionInput input;
        input.heads = heads;
        input.angles = ropeAngles(at::arange(tokens), RopeSpectrum{headDim, RopeAxes::Line, 100});
        const at::Tensor factor = lowerFactor(tokens, 0.3);
        const at::Tensor causal = lowerFactor(tokens).log();
        if (isSplit) {
          input.query = at::randn({2, 1, width}, generator);
          input.keyValue = at::randn({2, tokens, 2 * width}, generator);
          input.firstQuery = tokens - 1;
          input.multiplicative = factor.narrow(0, tokens - 1, 1);
        } else {
          input.query = at::randn({2, tokens, 3 * width}, generator);
          if (headDim == 16) {
            input.additive = causal;
          } else if (headDim != 64) {
            input.multiplicative = factor;
          }
        }
        const Agreement slow = runPath(input, AttentionPath::Explicit),
                        fast = runPath(input, AttentionPath::Short);
        // Sums of up to 197 products of order one in float32.
        EXPECT_LT(largestDifference(fast.values, slow.values), 1e-5);
        for (std::size_t i = 0; i < slow.gradients.size(); ++i)
          EXPECT_LT(largestDifference(fast.gradients[i], slow.gradients[i]), 5e-5);
      }
    }
  }
}

TEST(Attention, ShortPathAgreesWithTheExplicitOneInValuesAndGradientsOnEveryCpuPath) {
  onEveryCpuPath(expectShortAgrees);
}

TEST(Attention, TakesTheLibrarysPathOnTheReferencePath) {
  AttentionInput input;
  input.heads = 2;
  input.query = at::randn({2, 17, 48}, seeded(1));
  onEveryCpuPath([&] {
    EXPECT_EQ(fastestPath(input) == AttentionPath::Short, cpuPath() != CpuPath::Reference);
  });
}

TEST(Attention, ShortPathWidensHalfTypesAndHandsThemBack) {
  AttentionInput input;
  input.heads = 2;
  input.query = at::randn({2, 17, 3 * 32}, seeded(4));
  const at::Tensor wanted = attend(input, AttentionPath::Short).values;
  input.query = input.query.to(at::kBFloat16);
  EXPECT_EQ(fastestPath(input), AttentionPath::Short);
  const at::Tensor half = attend(input).values;
  EXPECT_EQ(half.scalar_type(), at::kBFloat16);
  EXPECT_LT(largestDifference(half.to(at::kFloat), wanted), 0.05);
}

TEST(Attention, FusedPathAgreesWithTheExplicitOneInValuesAndGradients) {
  AttentionInput input;
  input.heads = 2;
  input.query = at::randn({2, 100, 3 * 32}, seeded(4));
  input.additive = lowerFactor(100).log();
  const Agreement slow = runPath(input, AttentionPath::Explicit),
                  fast = runPath(input, AttentionPath::Fused);
  EXPECT_LT(largestDifference(fast.values, slow.values), 1e-5);
  EXPECT_LT(largestDifference(fast.gradients[0], slow.gradients[0]), 5e-5);
}

TEST(Attention, ExplicitPathServesMultiplicativeMasksOfLongSequences) {
  AttentionInput input;
  input.query = at::zeros({1, 400, 3 * 8});
  EXPECT_EQ(fastestPath(input), AttentionPath::Fused);
  input.multiplicative = at::ones({400, 400});
  EXPECT_EQ(fastestPath(input), AttentionPath::Explicit);
  EXPECT_THROW((void)attend(input, AttentionPath::Fused), ShapeError);
  input.query = at::zeros({1, 17, 3 * 8});
  input.multiplicative = at::ones({17, 17});
  EXPECT_EQ(fastestPath(input), AttentionPath::Short);
}

TEST(Attention, RefusesHeadsThatDoNotDivideTheWidth) {
  AttentionInput input;
  input.query = at::zeros({1, 4, 3 * 8});
  input.heads = 3;
  EXPECT_THROW((void)attend(input), ShapeError);
}

TEST(Norm, GivesThePublishedNumbers) {
  const at::Tensor x = row({3, 4}).view({1, 2}), one = at::ones({2}), zero = at::zeros({2});
  EXPECT_LT(
      largestDifference(normalise(NormKind::Rms, x, one, {}, 1e-6)[0], row({.848528, 1.131371})),
      1e-6);
  EXPECT_LT(largestDifference(normalise(NormKind::Layer, x, one, zero, 1e-6)[0],
                              row({-.999998, .999998})),
            1e-6);
  EXPECT_THROW((void)normalise(NormKind::Rms, x, at::ones({3}), {}, 1e-6), ShapeError);
}

void expectNormsAgree() {
  for (const NormKind kind : {NormKind::Layer, NormKind::Rms}) {
    for (const std::int64_t width : {3, 16, 64, 100}) {
      SCOPED_TRACE(c10::str(kind == NormKind::Rms ? "rms " : "layer ", width));
      const auto make = [&](std::uint64_t seed) {
        return std::vector<at::Tensor>{
            at::randn({4, 37, width}, seeded(seed)).requires_grad_(true),
            at::randn({4, 37, width}, seeded(seed + 1)).requires_grad_(true),
            at::randn({width}, seeded(seed + 2)).requires_grad_(true),
            at::randn({width}, seeded(seed + 3)).requires_grad_(true)};
      };
      const auto ours = make(1), theirs = make(1);
      const at::Tensor bias = kind == NormKind::Layer ? ours[3] : at::Tensor();
      const auto [sum, normed] = addAndNormalise(kind, ours[0], ours[1], ours[2], bias, 1e-6);
      const at::Tensor plain = theirs[0] + theirs[1];
      const at::Tensor centred = kind == NormKind::Layer ? plain - plain.mean(-1, true) : plain;
      at::Tensor wanted = centred * at::rsqrt(centred.square().mean(-1, true) + 1e-6) * theirs[2];
      if (kind == NormKind::Layer) wanted = wanted + theirs[3];
      EXPECT_LT(largestDifference(sum, plain), 1e-6);
      EXPECT_LT(largestDifference(normed, wanted), 1e-5);
      const at::Tensor weight = at::randn({4, 37, width}, seeded(8));
      (sum * weight.sin() + normed * weight).sum().backward();
      (plain * weight.sin() + wanted * weight).sum().backward();
      for (std::size_t i = 0; i < (kind == NormKind::Layer ? 4U : 3U); ++i) {
        const at::Tensor reference = theirs[i].grad();
        EXPECT_LT(largestDifference(ours[i].grad(), reference),
                  1e-5 * std::max(1.0, reference.abs().max().item<double>()));
      }
    }
  }
}

void expectRmsAgrees() {
  for (const std::int64_t width : {3, 16, 100}) {
    SCOPED_TRACE(width);
    const at::Tensor slope = at::randn({4, 37, width}, seeded(8));
    const auto resultsOf = [&](at::ScalarType type) {
      // Rows that do not lie one behind the other.
      const at::Tensor x =
          at::randn({37, 4, width}, seeded(1)).transpose(0, 1).to(type).requires_grad_();
      const at::Tensor weight = at::randn({width}, seeded(2)).to(type).requires_grad_();
      const at::Tensor out = normalise(NormKind::Rms, x, weight, {}, 1e-6);
      (out * slope.to(type)).sum().backward();
      return std::vector<at::Tensor>{out, x.grad(), weight.grad()};
    };
    const auto ours = resultsOf(at::kFloat), wanted = resultsOf(at::kDouble);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_LT(largestDifference(ours[i], wanted[i]),
                1e-5 * std::max(1.0, wanted[i].abs().max().item<double>()))
          << i;
    }
  }
}

TEST(Norm, RmsWithoutASumAgreesWithItsDefinitionOnEveryCpuPath) { onEveryCpuPath(expectRmsAgrees); }

TEST(Norm, SumAndNormOfTheSumAgreeWithTheirDefinitionsOnEveryCpuPath) {
  onEveryCpuPath(expectNormsAgree);
}

TEST(Mlp, ActivationsGiveThePublishedNumbers) {
  EXPECT_NEAR(gelu(at::ones({1}), Gelu::Tanh).item<double>(), .841192, 1e-6);
  EXPECT_NEAR(gelu(at::ones({1}), Gelu::Erf).item<double>(), .841345, 1e-6);
  const at::Tensor x = row({1, -1});
  EXPECT_LT(largestDifference(swiGlu(x, 2 * x), row({1.462117, .537883})), 1e-6);
}

void expectActivationsAgree() {
  const at::Tensor grid = at::linspace(-12, 12, 4801, at::kFloat);
  for (const Gelu form : {Gelu::Erf, Gelu::Tanh}) {
    const at::Tensor ours = grid.clone().requires_grad_(true),
                     exact = grid.to(at::kDouble).requires_grad_(true);
    const at::Tensor a = gelu(ours, form),
                     b = at::gelu(exact, form == Gelu::Tanh ? "tanh" : "none");
    a.sum().backward();
    b.sum().backward();
    EXPECT_LT(largestDifference(a, b), 2e-6);
    EXPECT_LT(largestDifference(ours.grad(), exact.grad()), 2e-6);
  }
  const at::Tensor gate = grid.clone().requires_grad_(true),
                   up = grid.flip(0).clone().requires_grad_(true);
  const at::Tensor exactGate = grid.to(at::kDouble).requires_grad_(true),
                   exactUp = grid.flip(0).to(at::kDouble).requires_grad_(true);
  const at::Tensor a = swiGlu(gate, up), b = at::silu(exactGate) * exactUp;
  a.sum().backward();
  b.sum().backward();
  // Values reach 144, where neighbouring floats are 1.5e-5 apart.
  EXPECT_LT(largestDifference(a, b), 5e-5);
  EXPECT_LT(largestDifference(gate.grad(), exactGate.grad()), 5e-5);
  EXPECT_LT(largestDifference(up.grad(), exactUp.grad()), 5e-5);
}

TEST(Mlp, ActivationsAgreeWithTheLibraryInValuesAndGradientsOnEveryCpuPath) {
  onEveryCpuPath(expectActivationsAgree);
}

TEST(Mlp, SwiGluHiddenWidthsAreThoseOfTheAuthors) {
  EXPECT_EQ(swiGluHidden(192, 256), 512);
  EXPECT_EQ(swiGluHidden(384, 256), 1024);
  EXPECT_EQ(swiGluHidden(768, 256), 2048);
  EXPECT_EQ(swiGluHidden(1024, 256), 2816);
  EXPECT_EQ(swiGluHidden(48, 32), 128);
}

TEST(PatchEmbed, IsAConvolutionWhoseStrideIsItsKernel) {
  const at::Tensor images = at::randn({2, 3, 8, 12}, seeded(1)),
                   weight = at::randn({5, 3, 4, 6}, seeded(2)), bias = at::randn({5}, seeded(3));
  const at::Tensor wanted = at::conv2d(images, weight, bias, {4, 6}).flatten(2).transpose(1, 2);
  EXPECT_LT(largestDifference(patchEmbed(images, weight, bias), wanted), 1e-5);
  EXPECT_THROW((void)patchEmbed(at::zeros({1, 3, 9, 12}), weight, bias), ShapeError);
}

TEST(PatchEmbed, CutsMapsOfTokensLikeImages) {
  const auto resultOf = [](bool isMap) {
    const at::Tensor tokens = at::randn({2, 8 * 12, 6}, seeded(1)).requires_grad_(),
                     weight = at::randn({5, 6, 4, 3}, seeded(2)).requires_grad_();
    const at::Tensor map = tokens.transpose(1, 2).unflatten(-1, {8, 12}),
                     out = patchEmbed(isMap ? map : map.contiguous(), weight, {});
    (out * at::randn(out.sizes(), seeded(4))).sum().backward();
    return std::vector<at::Tensor>{out.detach(), tokens.grad(), weight.grad()};
  };
  const auto map = resultOf(true), image = resultOf(false);
  for (std::size_t i = 0; i < map.size(); ++i)
    EXPECT_LT(largestDifference(map[i], image[i]), 1e-5) << i;
}

at::Tensor resizedLine(const at::Tensor& line, std::int64_t length, ResizeRule rule) {
  return resizePositions(line.view({1, line.size(0), 1}), ClassToken::None, {1, line.size(0)},
                         {1, length}, rule)
      .flatten();
}

TEST(Positions, ResizeByTheRulesOfTwoFamilies) {
  const at::Tensor two = row({0, 1}), four = row({0, 1, 2, 3});
  EXPECT_LT(largestDifference(resizedLine(two, 3, ResizeRule::LinearCorners), row({0, .5, 1})),
            1e-6);
  EXPECT_LT(
      largestDifference(resizedLine(two, 3, ResizeRule::Bicubic), row({-.086806, .5, 1.086806})),
      1e-6);
  EXPECT_LT(largestDifference(resizedLine(two, 4, ResizeRule::Bicubic),
                              row({-.105469, .226562, .773438, 1.105469})),
            1e-6);
  EXPECT_LT(largestDifference(resizedLine(four, 6, ResizeRule::LinearCorners),
                              row({0, .6, 1.2, 1.8, 2.4, 3})),
            1e-6);
  EXPECT_LT(largestDifference(resizedLine(four, 6, ResizeRule::Bicubic),
                              row({-.086806, .406250, 1.212963, 1.787037, 2.593750, 3.086806})),
            1e-6);
}

TEST(Positions, ResizingLeavesTheClassRowAlone) {
  const at::Tensor table = at::randn({1, 10, 4}, seeded(1));
  const at::Tensor first =
      resizePositions(table, ClassToken::First, {3, 3}, {5, 2}, ResizeRule::Bicubic);
  const at::Tensor last =
      resizePositions(table, ClassToken::Last, {3, 3}, {5, 2}, ResizeRule::Bicubic);
  EXPECT_EQ(first.size(1), 11);
  EXPECT_TRUE(first[0][0].equal(table[0][0]));
  EXPECT_TRUE(last[0][10].equal(table[0][9]));
  EXPECT_THROW((void)resizePositions(table, ClassToken::None, {3, 3}, {5, 2}, ResizeRule::Bicubic),
               ShapeError);
}

TEST(Positions, SinCosTableHoldsColumnsThenRows) {
  const at::Tensor table = sinCosPositions({2, 3}, 8, ClassToken::First)[0];
  EXPECT_EQ(table.size(0), 7);
  EXPECT_EQ(table[0].abs().max().item<float>(), 0);
  const at::Tensor patch = table[1 + 1 * 3 + 2];  // row 1, column 2
  const double slow = std::pow(1e4, -0.5);
  EXPECT_LT(largestDifference(patch,
                              row({std::sin(2), std::sin(2 * slow), std::cos(2), std::cos(2 * slow),
                                   std::sin(1), std::sin(slow), std::cos(1), std::cos(slow)})),
            1e-6);
}

TEST(Layers, RefuseASecondDerivativeWhereTheirGradientIsNotAGraph) {
  const auto refuses = [](const at::Tensor& result, const at::Tensor& input) {
    try {
      (void)torch::autograd::grad({result.square().sum()}, {input}, {}, true, true);
    } catch (const Error& error) {
      return std::string(error.what()).find("cannot be differentiated again") != std::string::npos;
    }
    return false;
  };
  const at::Tensor x = at::randn({4, 16}, seeded(1)).requires_grad_(),
                   y = at::randn({4, 16}, seeded(2)).requires_grad_(), weight = at::ones({16});
  EXPECT_TRUE(refuses(gelu(x, Gelu::Erf), x));
  EXPECT_TRUE(refuses(swiGlu(x, y), x));
  EXPECT_TRUE(refuses(normalise(NormKind::Rms, x, weight, {}, 1e-6), x));
  EXPECT_TRUE(refuses(addAndNormalise(NormKind::Rms, x, y, weight, {}, 1e-6).second, x));
  AttentionInput input;
  input.heads = 2;
  input.query = at::randn({2, 17, 3 * 32}, seeded(4)).requires_grad_();
  EXPECT_TRUE(refuses(attend(input, AttentionPath::Short).values, input.query));
}

TEST(DropPath, RatesGrowLinearlyFromZero) {
  const auto rates = dropPathRates(0.4, 12);
  EXPECT_EQ(rates.front(), 0);
  EXPECT_NEAR(rates[1], 0.0363636, 1e-6);
  EXPECT_DOUBLE_EQ(rates.back(), 0.4);
  EXPECT_EQ(dropPathRates(0.4, 1), std::vector<double>{0});
}

TEST(DropPath, DropsWholeSamplesAndKeepsTheMean) {
  const at::Tensor dropped = dropPath(at::ones({4000, 3, 2}), 0.25, seeded(5)).view({4000, 6});
  EXPECT_EQ(largestDifference(dropped.amax(1), dropped.amin(1)), 0);
  EXPECT_NEAR(dropped.mean().item<double>(), 1, 0.05);
  EXPECT_NEAR(dropped.max().item<double>(), 1 / 0.75, 1e-6);
  EXPECT_THROW((void)dropPath(at::ones({2, 2}), 0.5, at::Generator()), Error);
}

TEST(DropPath, ScalesHalfTypesByOneOverTheShareThatIsKept) {
  // Rounding 1 / 0.9 to bfloat16 would be 1.6e-3 off, for every kept value alike.
  const at::Tensor branch =
      at::linspace(1, 2, 1 << 16, at::kFloat).to(at::kBFloat16).expand({16, -1});
  const auto scaleOf = [](const at::Tensor& dropped, const at::Tensor& given) {
    const at::Tensor kept = dropped.ne(0).to(at::kDouble);
    return ((dropped.to(at::kDouble)).sum() / (given.to(at::kDouble) * kept).sum()).item<double>();
  };
  const at::Tensor dropped = dropPath(branch, 0.1, seeded(5));
  EXPECT_EQ(dropped.scalar_type(), at::kBFloat16);
  EXPECT_NEAR(scaleOf(dropped, branch), 1 / 0.9, 5e-4);
  const at::Tensor sparse = dropout(branch, 0.1, seeded(5));
  EXPECT_EQ(sparse.scalar_type(), at::kBFloat16);
  EXPECT_NEAR(scaleOf(sparse, branch), 1 / 0.9, 5e-4);
}

TEST(Dropout, DrawsFromItsGeneratorAlone) {
  const at::Tensor x = at::ones({1000});
  EXPECT_TRUE(dropout(x, 0.5, seeded(7)).equal(dropout(x, 0.5, seeded(7))));
  EXPECT_FALSE(dropout(x, 0.5, seeded(7)).equal(dropout(x, 0.5, seeded(8))));
  EXPECT_NEAR(dropout(x, 0.5, seeded(7)).mean().item<double>(), 1, 0.1);
}

TEST(Init, DistributionsHaveTheirMoments) {
  const at::Tensor values = at::empty({200000});
  initialise(values, lecunNormalInit(768), "patch_embed.proj.weight", 0);
  EXPECT_NEAR(values.std().item<double>(), std::sqrt(1.0 / 768), 2e-4);
  EXPECT_LE(values.abs().max().item<double>(), 2 * std::sqrt(1.0 / 768) / 0.87962566 + 1e-6);
  initialise(values, xavierUniformInit(768, 768), "qkv", 0);
  EXPECT_NEAR(values.max().item<double>(), 0.0625, 1e-5);
  EXPECT_NEAR(values.min().item<double>(), -0.0625, 1e-5);
  EXPECT_NEAR(values.mean().item<double>(), 0, 3e-4);
  initialise(values, normalInit(0.02), "pos_embed", 0);
  EXPECT_NEAR(values.std().item<double>(), 0.02, 2e-4);
  EXPECT_NEAR((values / 0.02).pow(4).mean().item<double>(), 3, 0.1) << "kurtosis of a normal";
}

TEST(Init, ValuesDependOnSeedAndNameAlone) {
  const at::Tensor a = at::empty({1000}), b = at::empty({1000}), prefix = at::empty({10});
  initialise(a, normalInit(1), "w", 1);
  initialise(b, normalInit(1), "w", 1);
  EXPECT_TRUE(a.equal(b));
  initialise(prefix, normalInit(1), "w", 1);
  EXPECT_TRUE(prefix.equal(a.narrow(0, 0, 10)));
  initialise(b, normalInit(1), "w", 2);
  EXPECT_FALSE(a.equal(b));
  initialise(b, normalInit(1), "v", 1);
  EXPECT_FALSE(a.equal(b));
}

}  // namespace
}  // namespace vitrine::nn
