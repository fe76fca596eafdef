// Blocks whose tokens are of two kinds, each with parameters of its own, against their definition
// in double precision.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/kernels/cpu/cpu_layers.h"
#include "tests/core/nn/tensors.h"
#include "tests/support/every_cpu_path.h"

namespace vitrine::cpu {
namespace {

constexpr std::int64_t kBatch = 12, kTokens = 31, kFirstOther = 13, kWidth = 24, kHeads = 3,
                       kHidden = 36;

struct KindsCase {
  const char* name;
  NormKind norm = NormKind::Layer;
  MlpKind mlp = MlpKind::GeluErf;
  bool hasBiases = true, drops = false;
  std::int64_t constantTokens = 0;
};

/// One kind's parameters in double precision.
BlockParameters drawnParameters(const KindsCase& c, std::uint64_t seed, bool isTrained) {
  BlockParameters all;
  const auto draw = [&](BlockParameter which, at::IntArrayRef shape, double begin) {
    all[which] = (nn::drawn(shape, seed++) * 0.3 + begin).requires_grad_(isTrained);
  };
  const bool isGated = c.mlp == MlpKind::SwiGlu;
  draw(kNorm1Weight, {kWidth}, 1);
  draw(kNorm2Weight, {kWidth}, 1);
  draw(kQkvWeight, {3 * kWidth, kWidth}, 0);
  draw(kProjWeight, {kWidth, kWidth}, 0);
  draw(kFc1Weight, {kHidden, kWidth}, 0);
  draw(kFc2Weight, {kWidth, kHidden}, 0);
  if (isGated) draw(kFc3Weight, {kHidden, kWidth}, 0);
  if (!c.hasBiases) return all;
  if (c.norm == NormKind::Layer) {
    draw(kNorm1Bias, {kWidth}, 0);
    draw(kNorm2Bias, {kWidth}, 0);
  }
  draw(kQkvBias, {3 * kWidth}, 0);
  draw(kProjBias, {kWidth}, 0);
  draw(kFc1Bias, {kHidden}, 0);
  draw(kFc2Bias, {kWidth}, 0);
  if (isGated) draw(kFc3Bias, {kHidden}, 0);
  return all;
}

/// apply(rows, parameters) of each kind's tokens, in the order of the tokens.
template <class Apply>
at::Tensor byKind(const at::Tensor& x, const BlockInput& input, const Apply& apply) {
  const auto parts = x.split_with_sizes({kFirstOther, kTokens - kFirstOther}, 1);
  return at::cat({apply(parts[0], input.parameters), apply(parts[1], input.others)}, 1);
}

at::Tensor normed(const KindsCase& c, const at::Tensor& x, const at::Tensor& weight,
                  const at::Tensor& bias) {
  if (c.norm == NormKind::Layer) return at::layer_norm(x, {kWidth}, weight, bias, 1e-6);
  return x * (x.square().mean(-1, true) + 1e-6).rsqrt() * weight;
}

at::Tensor defined(const KindsCase& c, const BlockInput& input) {
  const at::Tensor qkv = byKind(input.x, input, [&](const at::Tensor& rows, const auto& p) {
    return at::linear(normed(c, rows, p[kNorm1Weight], p[kNorm1Bias]), p[kQkvWeight], p[kQkvBias]);
  });
  const auto heads = qkv.view({kBatch, kTokens, 3, kHeads, -1}).permute({2, 0, 3, 1, 4}).unbind(0);
  const double scale = 1 / std::sqrt(static_cast<double>(kWidth / kHeads));
  const at::Tensor logits = heads[0].matmul(heads[1].transpose(-2, -1)) * scale;
  const at::Tensor attended = at::softmax(logits + input.additive.unsqueeze(1), -1)
                                  .matmul(heads[2])
                                  .transpose(1, 2)
                                  .flatten(2);
  at::Tensor branch = byKind(attended, input, [](const at::Tensor& rows, const auto& p) {
    return at::linear(rows, p[kProjWeight], p[kProjBias]);
  });
  if (c.drops) branch = branch * input.attentionDropout * input.attentionGain.view({-1, 1, 1});
  const at::Tensor sum = input.x + branch;
  return sum + byKind(sum, input, [&](const at::Tensor& rows, const auto& p) {
           const at::Tensor in = normed(c, rows, p[kNorm2Weight], p[kNorm2Bias]),
                            hidden = at::linear(in, p[kFc1Weight], p[kFc1Bias]);
           const at::Tensor activated =
               c.mlp == MlpKind::SwiGlu
                   ? at::silu(hidden) * at::linear(in, p[kFc3Weight], p[kFc3Bias])
                   : at::gelu(hidden);
           return at::linear(activated, p[kFc2Weight], p[kFc2Bias]);
         });
}

struct KindsResult {
  at::Tensor out;
  std::vector<at::Tensor> gradients;  ///< of x and of all parameters; undefined where none is
};

KindsResult runKinds(const KindsCase& c, at::ScalarType type) {
  const auto leaf = [type](at::Tensor& values) {
    if (!values.defined()) return;
    const bool isTrained = values.requires_grad();
    values = values.detach().to(type).requires_grad_(isTrained);
  };
  BlockInput input{.x = nn::drawn({kBatch, kTokens, kWidth}, 1).requires_grad_()};
  input.parameters = drawnParameters(c, 10, c.constantTokens == 0);
  input.others = drawnParameters(c, 40, true);
  leaf(input.x);
  for (BlockParameters* kind : {&input.parameters, &input.others}) {
    for (at::Tensor& parameter : *kind) leaf(parameter);
  }
  input.firstOther = kFirstOther;
  input.constantTokens = c.constantTokens;
  input.norm = c.norm;
  input.mlp = c.mlp;
  input.heads = kHeads;
  // Of each image its own. Tokens see those before them, and other tokens of their kind in part.
  const at::Tensor place = at::arange(kTokens, at::kLong);
  at::Tensor isHidden = place.unsqueeze(0).gt(place.unsqueeze(1)).expand({kBatch, -1, -1}).clone();
  isHidden.slice(0, 0, kBatch, 2).slice(1, kFirstOther).slice(2, kFirstOther).fill_(false);
  input.additive = at::zeros(isHidden.sizes(), at::TensorOptions(type))
                       .masked_fill(isHidden, -std::numeric_limits<double>::infinity());
  if (c.drops) {
    input.attentionDropout = nn::drawn({kBatch, kTokens, kWidth}, 2).gt(-0.5).to(type).div(0.7);
    input.attentionGain = nn::drawn({kBatch}, 3, type);
  }
  if (type == at::kFloat && !takesBlock(input)) return {};
  KindsResult result{.out = type == at::kFloat ? runBlock(input) : defined(c, input)};
  (result.out.to(at::kDouble) * nn::drawn(result.out.sizes(), 4)).sum().backward();
  result.gradients.push_back(input.x.grad());
  for (const BlockParameters* kind : {&input.parameters, &input.others}) {
    for (const at::Tensor& parameter : *kind)
      result.gradients.push_back(parameter.defined() ? parameter.grad() : at::Tensor());
  }
  return result;
}

TEST(TokenKinds, OfOneBlockEqualTheirDefinitionInDoubleOnEveryCpuPath) {
  const KindsCase cases[] = {
      {.name = "norms and maps with biases"},
      {.name = "SwiGLU, RMS", .norm = NormKind::Rms, .mlp = MlpKind::SwiGlu, .hasBiases = false},
      {.name = "SwiGLU with biases", .mlp = MlpKind::SwiGlu},
      {.name = "dropout and drop path", .drops = true},
      {.name = "constant tokens",
       .norm = NormKind::Rms,
       .mlp = MlpKind::SwiGlu,
       .constantTokens = 9},
      {.name = "a kind of constant tokens", .constantTokens = kFirstOther}};
  testing::onEveryCpuPath([&] {
    for (const KindsCase& c : cases) {
      SCOPED_TRACE(c.name);
      const KindsResult single = runKinds(c, at::kFloat);
      EXPECT_EQ(single.out.defined(), takesBlock(BlockShape{kBatch, kTokens, kWidth, kHeads}));
      if (!single.out.defined()) continue;
      KindsResult exact = runKinds(c, at::kDouble);
      exact.gradients[0].narrow(1, 0, c.constantTokens).zero_();  // those are not computed
      EXPECT_LT(nn::largestDifference(single.out, exact.out),
                2e-5 * exact.out.abs().max().item<double>());
      for (std::size_t i = 0; i < exact.gradients.size(); ++i) {
        const at::Tensor &ours = single.gradients[i], &wanted = exact.gradients[i];
        ASSERT_EQ(ours.defined(), wanted.defined()) << i;
        if (!ours.defined()) continue;
        EXPECT_LT(nn::largestDifference(ours, wanted), 2e-5 * wanted.abs().max().item<double>())
            << i;
      }
    }
  });
}

TEST(TokenKinds, OfOtherSizesOrWithTrainedConstantsAreLeftToTheLayers) {
  const KindsCase c{.name = "plain"};
  BlockInput input{.x = nn::drawn({kBatch, kTokens, kWidth}, 1, at::kFloat), .heads = kHeads};
  input.parameters = drawnParameters(c, 10, true);
  for (at::Tensor& parameter : input.parameters) {
    if (parameter.defined()) parameter = parameter.detach().to(at::kFloat).requires_grad_();
  }
  input.others = input.parameters;
  input.firstOther = kFirstOther;
  if (!takesBlock(input)) GTEST_SKIP() << "this path goes layer by layer";
  const auto isTakenWith = [&](const auto& change) {
    BlockInput changed = input;
    change(changed);
    return takesBlock(changed);
  };
  EXPECT_FALSE(isTakenWith([](BlockInput& i) { i.firstOther = kTokens; }));
  EXPECT_FALSE(isTakenWith([](BlockInput& i) { i.firstOther = 0; }));
  EXPECT_FALSE(isTakenWith([](BlockInput& i) { i.constantTokens = 3; }));
  EXPECT_FALSE(isTakenWith([](BlockInput& i) { i.row = 0; }));
  EXPECT_FALSE(isTakenWith([](BlockInput& i) { i.others[kFc1Bias] = at::Tensor(); }));
  EXPECT_FALSE(isTakenWith([](BlockInput& i) {
    i.others[kFc1Weight] = at::zeros({2 * kHidden, kWidth});
  }));
  EXPECT_FALSE(isTakenWith([](BlockInput& i) {
    i.parameters[kNorm1Weight] = i.others[kNorm1Weight] = at::ones({kBatch, kWidth});
  }));
}

}  // namespace
}  // namespace vitrine::cpu
