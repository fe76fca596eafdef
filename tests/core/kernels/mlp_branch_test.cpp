// The MLP branch of a block whose attention goes layer by layer, in single and double precision.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/function.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/kernels/cpu/cpu_layers.h"
#include "core/nn/block.h"
#include "tests/core/nn/tensors.h"
#include "tests/support/every_cpu_path.h"

namespace vitrine::nn {
namespace {

constexpr std::int64_t kImages = 8, kWidth = 24;

struct MlpCase {
  const char* name;
  BlockOptions options;
  bool isModulated = false;
  std::int64_t tokens = 150;
};

std::vector<MlpCase> mlpCases() {
  const BlockOptions plain{.width = kWidth, .heads = 3, .hidden = 36};
  BlockOptions gated = plain, tanh = plain, dropping = plain, adaptive = plain;
  gated.mlp = MlpKind::SwiGlu;
  gated.mlpBias = Bias::None;
  gated.norm = NormKind::Rms;
  gated.layerScale = 0.5;
  tanh.mlp = MlpKind::GeluTanh;
  dropping.dropout = 0.3;
  dropping.dropPath = 0.4;
  adaptive.affine = Affine::None;
  return {{"GELU", plain},
          {"more tokens than an attention may have", plain, false, 311},
          {"SwiGLU, RMS, layer scale", gated},
          {"tanh", tanh},
          {"dropout and drop path", dropping},
          {"gains of each image", adaptive, true},
          {"gains of each image, a prime number of tokens", adaptive, true, 149}};
}

struct MlpResult {
  at::Tensor out;
  std::vector<at::Tensor> gradients;  ///< of x, of the parameters, of the modulation
  std::string operation;
};

MlpResult runMlp(const MlpCase& c, at::ScalarType type) {
  Block block(c.options);
  {
    const at::NoGradGuard noGradient;
    std::uint64_t seed = 10;
    for (at::Tensor& parameter : block.parameters())
      parameter.copy_(drawn(parameter.sizes(), seed++) * 0.3 + (parameter.dim() == 1 ? 1 : 0));
  }
  block.to(type);
  std::vector<at::Tensor> variables{drawn({kImages, c.tokens, kWidth}, 1, type)};
  for (const at::Tensor& parameter : block.parameters()) variables.push_back(parameter);
  // A tap of the probabilities keeps the attention out of the fused block.
  BlockCall call{.generator = seeded(7), .tap = [](const AttentionOutput&) {}};
  if (c.isModulated) {
    Modulation& m = call.modulation;
    std::uint64_t seed = 30;
    for (at::Tensor* values : {&m.mlpShift, &m.mlpScale, &m.mlpGate}) {
      *values = drawn({kImages, kWidth}, seed++, type).requires_grad_();
      variables.push_back(*values);
    }
  }
  variables[0].requires_grad_();
  MlpResult result{.out = block.forward({variables[0], {}}, call).sum()};
  if (result.out.grad_fn()) result.operation = result.out.grad_fn()->name();
  (result.out.to(at::kDouble) * drawn(result.out.sizes(), 4)).sum().backward();
  for (const at::Tensor& variable : variables) result.gradients.push_back(variable.grad());
  return result;
}

void expectNearly(const at::Tensor& a, const at::Tensor& b, std::size_t which) {
  ASSERT_EQ(a.defined(), b.defined()) << which;
  if (!a.defined()) return;
  EXPECT_LT(largestDifference(a, b), 2e-5 * b.abs().max().item<double>()) << which;
}

TEST(MlpBranch, AsOneOperationEqualsItsLayersInDoublePrecision) {
  testing::onEveryCpuPath([] {
    for (const MlpCase& c : mlpCases()) {
      SCOPED_TRACE(c.name);
      const MlpResult single = runMlp(c, at::kFloat), exact = runMlp(c, at::kDouble);
      // A view of what the fused block made, or the sum of stream and branch.
      EXPECT_EQ(single.operation == "ViewBackward0",
                cpu::takesMlpBranch({kImages, c.tokens, kWidth}))
          << single.operation;
      expectNearly(single.out, exact.out, 0);
      for (std::size_t i = 0; i < exact.gradients.size(); ++i)
        expectNearly(single.gradients[i], exact.gradients[i], i);
    }
  });
}

TEST(MlpBranch, OfOneImageIsSharedByThreadsWithoutAGradient) {
  testing::onEveryCpuPath([] {
    const at::NoGradGuard noGradient;
    for (const bool isModulated : {false, true}) {
      const BlockOptions options{.width = kWidth, .heads = 3, .hidden = 36};
      Block block(options);
      std::uint64_t seed = 10;
      for (at::Tensor& parameter : block.parameters())
        parameter.copy_(drawn(parameter.sizes(), seed++) * 0.3);
      block.eval();
      const at::Tensor x = drawn({1, 130, kWidth}, 1), scale = drawn({1, kWidth}, 2);
      const auto outOf = [&](at::ScalarType type) {
        block.to(type);
        BlockCall call{.tap = [](const AttentionOutput&) {}};
        if (isModulated) call.modulation.mlpScale = scale.to(type);
        return block.forward({x.to(type), {}}, call).sum();
      };
      expectNearly(outOf(at::kFloat), outOf(at::kDouble), 0);
    }
  });
}

}  // namespace
}  // namespace vitrine::nn
