#include "core/kernels/mlstm.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "core/base/error.h"
#include "core/kernels/block_linear.h"
#include "core/kernels/cuda_module.h"
#include "core/kernels/mlstm_walk.h"
#include "tests/core/nn/tensors.h"
#include "tests/support/every_cpu_path.h"

namespace vitrine::kernels {
namespace {

using nn::drawn;
using testing::onEveryCpuPath;

/// \param spread  of the gates: 10 makes memories that end at once beside others that never do
MlstmInput inputOf(std::int64_t tokens, std::int64_t width, double spread = 1,
                   at::ScalarType type = at::kDouble) {
  MlstmInput in;
  in.q = drawn({2, 3, tokens, width}, 1, type), in.k = drawn({2, 3, tokens, width}, 2, type);
  in.v = drawn({2, 3, tokens, width}, 3, type);
  in.inputGate = drawn({2, 3, tokens}, 4, type) * spread;
  in.forgetGate = drawn({2, 3, tokens}, 5, type) * spread;
  return in;
}

struct Pass {
  at::Tensor h;
  torch::autograd::variable_list gradients;  ///< of q, k, v, input gate, forget gate
};

Pass passOf(const MlstmInput& in, const MlstmOptions& options, const at::Tensor& upstream) {
  MlstmInput leaves = in;
  for (at::Tensor* leaf : {&leaves.q, &leaves.k, &leaves.v, &leaves.inputGate, &leaves.forgetGate})
    *leaf = leaf->detach().clone().requires_grad_(true);
  const at::Tensor h = mlstm(leaves, options).h;
  return {h.detach(), torch::autograd::grad(
                          {h}, {leaves.q, leaves.k, leaves.v, leaves.inputGate, leaves.forgetGate},
                          {upstream.to(h.scalar_type())})};
}

/// Largest difference over largest entry.
double apart(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor wide = b.to(at::kCPU, at::kDouble);
  return (a.to(at::kCPU, at::kDouble) - wide).abs().max().item<double>() /
         std::max(1e-30, wide.abs().max().item<double>());
}

MlstmOptions formed(MlstmForm form, std::int64_t chunk = 0) {
  return {.form = form, .chunk = chunk};
}

double largest(const at::Tensor& values) { return values.abs().max().item<double>(); }

/// Gradients are measured against a hundredth of the largest of them all at least: those of gates
/// that decide nothing are rounding errors of zero.
void expectSame(const Pass& a, const Pass& b, double tolerance, double gradientTolerance) {
  EXPECT_LT(apart(a.h, b.h), tolerance);
  double most = 0;
  for (const at::Tensor& each : b.gradients) most = std::max(most, largest(each));
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    const at::Tensor truth = b.gradients[i].to(at::kCPU, at::kDouble);
    const double error = largest(a.gradients[i].to(at::kCPU, at::kDouble) - truth);
    EXPECT_LT(error / std::max(largest(truth), 0.01 * most), gradientTolerance) << "gradient " << i;
  }
}

TEST(Mlstm, IsTheRecurrenceOfItsDefinition) {
  MlstmInput in = inputOf(5, 4);
  const MlstmOutput out = mlstm(in, formed(MlstmForm::Recurrent));
  const at::Tensor f = in.forgetGate.sigmoid(), i = in.inputGate.exp();
  at::Tensor memory = at::zeros({2, 3, 4, 4}, at::kDouble), sum = at::zeros({2, 3, 4}, at::kDouble);
  for (std::int64_t t = 0; t < 5; ++t) {
    const auto at = [t](const at::Tensor& x) { return x.select(2, t); };
    memory = at(f).view({2, 3, 1, 1}) * memory +
             at(i).view({2, 3, 1, 1}) * at(in.k).unsqueeze(3) * at(in.v).unsqueeze(2);
    sum = at(f).unsqueeze(2) * sum + at(i).unsqueeze(2) * at(in.k);
    const at::Tensor reading = at::matmul(at(in.q).unsqueeze(2), memory).squeeze(2) / 2;
    const at::Tensor divisor = (sum * at(in.q)).sum(2).div(2).abs().clamp_min(1);
    EXPECT_LT(apart(at(out.h), reading / divisor.unsqueeze(2)), 1e-14);
  }
}

TEST(Mlstm, FormsAgreeInDoubleFromOneTokenToManyChunks) {
  // Gradients of two tokens with gates times ten are differences of terms some 1e4 times as large.
  for (const double spread : {1.0, 10.0}) {
    for (const std::int64_t tokens : {1, 2, 17, 49, 130, 196}) {
      const std::int64_t width = tokens == 49 ? 32 : 4;
      const MlstmInput in = inputOf(tokens, width, spread);
      const at::Tensor upstream = drawn({2, 3, tokens, width}, 6);
      const Pass recurrent = passOf(in, formed(MlstmForm::Recurrent), upstream);
      expectSame(passOf(in, formed(MlstmForm::Parallel), upstream), recurrent, 1e-12, 1e-10);
      for (const std::int64_t chunk : {1L, 16L, 37L, 64L, tokens}) {
        SCOPED_TRACE(::testing::Message() << tokens << " tokens, chunks of " << chunk);
        expectSame(passOf(in, formed(MlstmForm::Chunkwise, chunk), upstream), recurrent, 1e-12,
                   1e-10);
      }
    }
  }
}

TEST(Mlstm, FormsInSingleAgreeWithTheTruthWhateverTheGatesAndChunks) {
  for (const double spread : {1.0, 10.0}) {
    for (const std::int64_t tokens : {1, 2, 17, 49, 196}) {
      const MlstmInput single = inputOf(tokens, 12, spread, at::kFloat);
      MlstmInput wide = single;
      for (at::Tensor* each : {&wide.q, &wide.k, &wide.v, &wide.inputGate, &wide.forgetGate})
        *each = each->to(at::kDouble);
      const at::Tensor truth = mlstm(wide, formed(MlstmForm::Parallel)).h;
      onEveryCpuPath([&] {
        SCOPED_TRACE(::testing::Message() << tokens << " tokens, gates times " << spread);
        EXPECT_LT(apart(mlstm(single, formed(MlstmForm::Recurrent)).h, truth), 1e-5);
        EXPECT_LT(apart(mlstm(single, formed(MlstmForm::Parallel)).h, truth), 1e-5);
        for (const std::int64_t chunk : {1L, 16L, 64L, tokens}) {
          EXPECT_LT(apart(mlstm(single, formed(MlstmForm::Chunkwise, chunk)).h, truth), 1e-5)
              << "chunks of " << chunk;
        }
      });
    }
  }
}

TEST(Mlstm, FastChunksAgreeWithTheTruthOnEveryPath) {
  for (const std::int64_t tokens : {1L, 31L, 64L, 65L, 196L, 300L}) {
    for (const std::int64_t width : {4L, 24L, 96L}) {
      if (width == 96 && tokens > 200) continue;
      const MlstmInput in = inputOf(tokens, width), single = inputOf(tokens, width, 1, at::kFloat);
      const at::Tensor upstream = drawn({2, 3, tokens, width}, 6);
      const Pass truth = passOf(in, formed(MlstmForm::Parallel), upstream);
      onEveryCpuPath([&] {
        for (const std::int64_t chunk : {0L, 24L, 64L}) {
          SCOPED_TRACE(::testing::Message()
                       << tokens << " tokens, width " << width << ", chunks of " << chunk);
          // Products of 96 random numbers round by some 1e-6, and divisors near their bound
          // amplify that.
          expectSame(passOf(single, formed(MlstmForm::Chunkwise, chunk), upstream), truth, 1e-5,
                     1e-4);
        }
      });
    }
  }
}

TEST(Mlstm, FastChunksContinueARunningStateAndHandItOver) {
  onEveryCpuPath([] {
    const MlstmInput in = inputOf(90, 16, 1, at::kFloat);
    MlstmOptions options = formed(MlstmForm::Chunkwise, 32);
    options.lastState = LastState::Keep;
    const MlstmOutput whole = mlstm(in, options);
    const auto part = [&](std::int64_t first, std::int64_t count) {
      MlstmInput some;
      some.q = in.q.narrow(2, first, count), some.k = in.k.narrow(2, first, count);
      some.v = in.v.narrow(2, first, count);
      some.inputGate = in.inputGate.narrow(2, first, count);
      some.forgetGate = in.forgetGate.narrow(2, first, count);
      return some;
    };
    const MlstmOutput first = mlstm(part(0, 41), options);
    MlstmInput rest = part(41, 49);
    rest.start = first.last;
    const MlstmOutput second = mlstm(rest, options);
    EXPECT_LT(apart(at::cat({first.h, second.h}, 2), whole.h), 1e-5);
    EXPECT_LT(apart(second.last.memory, whole.last.memory), 1e-5);
    EXPECT_LT(apart(second.last.sum, whole.last.sum), 1e-5);
  });
}

TEST(Mlstm, GradientsAgreeWithFiniteDifferencesInDouble) {
  // With a start state, and an epsilon that makes the stabiliser matter.
  MlstmInput in = inputOf(7, 3);
  in.start = {drawn({2, 3, 3, 3}, 11), drawn({2, 3, 3}, 12), drawn({2, 3}, 13)};
  const at::Tensor weight = drawn({2, 3, 7, 3}, 14);
  for (const MlstmForm form : {MlstmForm::Recurrent, MlstmForm::Parallel, MlstmForm::Chunkwise}) {
    MlstmOptions options = formed(form, 3);
    options.eps = 0.05;
    const auto score = [&](const MlstmInput& at) { return (mlstm(at, options).h * weight).sum(); };
    const auto leavesOf = [](MlstmInput& at) {
      return std::vector<at::Tensor*>{&at.q,          &at.k,
                                      &at.v,          &at.inputGate,
                                      &at.forgetGate, &at.start.memory,
                                      &at.start.sum,  &at.start.stabiliser};
    };
    MlstmInput at = in;
    std::vector<at::Tensor> leaves;
    for (at::Tensor* leaf : leavesOf(at)) {
      *leaf = leaf->clone().requires_grad_(true);
      leaves.push_back(*leaf);
    }
    const auto gradients = torch::autograd::grad({score(at)}, leaves);
    constexpr double kStep = 1e-6;
    for (std::size_t which = 0; which < leaves.size(); ++which) {
      for (std::int64_t i = 0; i < std::min<std::int64_t>(12, leaves[which].numel()); ++i) {
        double sides[2];
        for (const int side : {0, 1}) {
          MlstmInput moved = in;
          at::Tensor* leaf = leavesOf(moved)[which];
          *leaf = leaf->clone();
          leaf->view(-1)[i] += side == 0 ? -kStep : kStep;
          sides[side] = score(moved).item<double>();
        }
        EXPECT_NEAR(gradients[which].flatten()[i].item<double>(),
                    (sides[1] - sides[0]) / (2 * kStep), 2e-7)
            << "form " << static_cast<int>(form) << ", input " << which << ", element " << i;
      }
    }
  }
}

TEST(Mlstm, GradientsOfGatesAreThoseOfTheirTokensKeysAndQueries) {
  const MlstmInput in = inputOf(33, 8);
  MlstmInput leaves = in;
  for (at::Tensor* leaf : {&leaves.q, &leaves.k, &leaves.inputGate, &leaves.forgetGate})
    *leaf = leaf->clone().requires_grad_(true);
  const at::Tensor h = mlstm(leaves, formed(MlstmForm::Chunkwise, 8)).h;
  const auto d = torch::autograd::grad({(h * drawn(h.sizes(), 15)).sum()},
                                       {leaves.q, leaves.k, leaves.inputGate, leaves.forgetGate});
  const at::Tensor rows = (in.q * d[0]).sum(3), columns = (in.k * d[1]).sum(3);
  EXPECT_LT(apart(d[2], columns), 1e-12);
  EXPECT_LT(apart(rows.sum(2), columns.sum(2)), 1e-12);
  EXPECT_LT(d[3].select(2, 0).abs().max().item<double>(), 1e-12 * d[3].abs().max().item<double>())
      << "nothing comes before the first token";
}

TEST(Mlstm, IgnoringTheNormaliserHoldsItConstant) {
  MlstmInput in = inputOf(20, 4);
  MlstmOptions options = formed(MlstmForm::Chunkwise, 8);
  options.normaliserGradient = NormaliserGradient::Ignored;
  const at::Tensor upstream = drawn({2, 3, 20, 4}, 16);
  const Pass ignored = passOf(in, options, upstream);
  // The same with the divisor moved into the upstream gradient, of a cell that divides by nothing.
  const MlstmOutput out = mlstm(in, options);
  const at::Tensor divisor = at::maximum(out.signedSum.abs(), out.stabiliser.neg().exp());
  options.normaliser = Normaliser::None;
  const at::Tensor scale = out.stabiliser.neg().exp() / divisor;
  const Pass plain = passOf(in, options, upstream * scale.unsqueeze(3));
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_LT(apart(ignored.gradients[i], plain.gradients[i]), 1e-11);
  options = formed(MlstmForm::Chunkwise, 8);
  EXPECT_GT(apart(ignored.gradients[0], passOf(in, options, upstream).gradients[0]), 1e-3);
}

TEST(Mlstm, ATokenNeverReachesThoseBeforeIt) {
  onEveryCpuPath([] {
    const MlstmInput in = inputOf(70, 8, 1, at::kFloat);
    MlstmInput other = in;
    for (at::Tensor* each : {&other.q, &other.k, &other.v}) {
      *each = each->clone();
      each->select(2, 50).add_(3);
    }
    other.inputGate = in.inputGate.clone(), other.inputGate.select(2, 50).add_(2);
    for (const std::int64_t chunk : {0L, 16L}) {
      const at::Tensor a = mlstm(in, formed(MlstmForm::Chunkwise, chunk)).h,
                       b = mlstm(other, formed(MlstmForm::Chunkwise, chunk)).h;
      EXPECT_TRUE(at::equal(a.narrow(2, 0, 50), b.narrow(2, 0, 50)));
      EXPECT_FALSE(at::equal(a.narrow(2, 50, 20), b.narrow(2, 50, 20)));
    }
  });
}

TEST(Mlstm, ExtremeGatesStayFiniteAndExact) {
  MlstmInput in = inputOf(150, 16);
  // Every third gate.
  const at::Tensor isExtreme = at::arange(150).remainder(3).eq(0);
  in.inputGate = at::where(isExtreme, drawn({2, 3, 150}, 4).sign() * 80, in.inputGate);
  in.forgetGate = at::where(isExtreme, drawn({2, 3, 150}, 5).sign() * 100, in.forgetGate);
  MlstmInput single = in;
  for (at::Tensor* each : {&single.q, &single.k, &single.v, &single.inputGate, &single.forgetGate})
    *each = each->to(at::kFloat);
  const at::Tensor upstream = drawn({2, 3, 150, 16}, 6);
  const Pass truth = passOf(in, formed(MlstmForm::Parallel), upstream);
  onEveryCpuPath([&] {
    for (const std::int64_t chunk : {0L, 64L})
      expectSame(passOf(single, formed(MlstmForm::Chunkwise, chunk), upstream), truth, 1e-5, 1e-4);
  });
}

TEST(Mlstm, OneHeadAfterTheOtherGivesTheSameBits) {
  const MlstmInput in = inputOf(100, 24, 1, at::kFloat);
  const at::Tensor upstream = drawn({2, 3, 100, 24}, 6, at::kFloat);
  const Pass first = passOf(in, formed(MlstmForm::Chunkwise), upstream),
             second = passOf(in, formed(MlstmForm::Chunkwise), upstream);
  EXPECT_TRUE(at::equal(first.h, second.h));
  MlstmInput one = in;
  for (at::Tensor* each : {&one.q, &one.k, &one.v, &one.inputGate, &one.forgetGate})
    *each = each->narrow(0, 1, 1).narrow(1, 2, 1);
  const Pass alone =
      passOf(one, formed(MlstmForm::Chunkwise), upstream.narrow(0, 1, 1).narrow(1, 2, 1));
  EXPECT_TRUE(at::equal(alone.h[0][0], first.h[1][2]));
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(at::equal(first.gradients[i], second.gradients[i]));
    EXPECT_TRUE(at::equal(alone.gradients[i][0][0], first.gradients[i][1][2]));
  }
}

// A step that trains keeps its scores, any other writes them over.
TEST(Mlstm, ReadsTheSameWithAndWithoutAGradient) {
  onEveryCpuPath([] {
    const MlstmInput in = inputOf(100, 24, 1, at::kFloat);
    for (const std::int64_t chunk : {0, 64}) {
      const MlstmOptions options = formed(MlstmForm::Chunkwise, chunk);
      EXPECT_TRUE(at::equal(mlstm(in, options).h, passOf(in, options, in.v).h)) << chunk;
    }
  });
}

TEST(Mlstm, ReadsProjectionsWhereTheyLie) {
  const at::Tensor rows = drawn({2, 40, 3, 3, 8}, 7, at::kFloat);
  MlstmInput in = inputOf(40, 8, 1, at::kFloat), dense = in;
  in.q = rows.select(2, 0).transpose(1, 2), in.k = rows.select(2, 1).transpose(1, 2);
  in.v = rows.select(2, 2).transpose(1, 2);
  dense.q = in.q.contiguous(), dense.k = in.k.contiguous(), dense.v = in.v.contiguous();
  EXPECT_TRUE(at::equal(mlstm(in, {}).h, mlstm(dense, {}).h));
}

TEST(Mlstm, WeightsOfPairsReproduceWhatIsRead) {
  const MlstmInput in = inputOf(30, 8);
  const MlstmWeights weights = mlstmWeights(in, {});
  const MlstmOutput out = mlstm(in, {});
  const at::Tensor sums = weights.scores.sum(3);
  EXPECT_LT(apart(sums, out.signedSum), 1e-12);
  const at::Tensor divisor = at::maximum(sums.abs(), out.stabiliser.neg().exp());
  EXPECT_LT(apart(at::matmul(weights.scores, in.v) / divisor.unsqueeze(3), out.h), 1e-12);
  EXPECT_EQ(weights.decay.triu(1).abs().max().item<double>(), 0);
  EXPECT_NEAR(weights.decay.amax(3).min().item<double>(), 1, 1e-12);
}

TEST(Mlstm, RefusesASecondDerivativeAndShapesThatDoNotFit) {
  MlstmInput in = inputOf(4, 4);
  in.q.requires_grad_(true);
  const at::Tensor h = mlstm(in, {}).h.square().sum();
  EXPECT_THROW((void)torch::autograd::grad({h}, {in.q}, {}, true, true), Error);
  MlstmInput wrong = inputOf(4, 4);
  wrong.k = wrong.k.narrow(2, 0, 3);
  EXPECT_THROW((void)mlstm(wrong, {}), ShapeError);
  wrong = inputOf(4, 4);
  wrong.forgetGate = wrong.forgetGate.unsqueeze(3);
  EXPECT_THROW((void)mlstm(wrong, {}), ShapeError);
  wrong = inputOf(4, 4);
  wrong.start.memory = at::zeros({2, 3, 4, 4}, at::kDouble);
  EXPECT_THROW((void)mlstm(wrong, {}), ShapeError);
  MlstmOptions options{.chunk = -1};
  EXPECT_THROW((void)mlstm(inputOf(4, 4), options), ShapeError);
}

TEST(BlockLinear, GroupsOfFourAgreeWithABlockDiagonalMatrixOnEveryPath) {
  for (const std::int64_t rows : {1L, 7L, 1100L}) {
    const at::Tensor wide = drawn({rows, 2, 40}, 21, at::kFloat);
    at::Tensor x = wide.narrow(1, 1, 1).squeeze(1).detach().requires_grad_(true);
    at::Tensor weight = drawn({10, 4, 4}, 22, at::kFloat).requires_grad_(true),
               bias = drawn({40}, 23, at::kFloat).requires_grad_(true);
    const at::Tensor upstream = drawn({rows, 40}, 24, at::kFloat);
    const at::Tensor dense = at::block_diag(weight.to(at::kDouble).unbind(0));
    const at::Tensor truth = at::linear(x.to(at::kDouble), dense, bias.to(at::kDouble));
    const auto wanted =
        torch::autograd::grad({truth}, {x, weight, bias}, {upstream.to(at::kDouble)});
    onEveryCpuPath([&] {
      const at::Tensor y = blockLinear(x, weight, bias);
      const auto got = torch::autograd::grad({y}, {x, weight, bias}, {upstream});
      EXPECT_LT(apart(y, truth), 1e-6);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(apart(got[i], wanted[i]), 2e-6) << i;
    });
  }
}

TEST(BlockLinear, ABiasLearnsNextToAFrozenWeight) {
  const at::Tensor x = drawn({7, 40}, 28, at::kFloat);
  const at::Tensor weight = drawn({10, 4, 4}, 29, at::kFloat);
  const at::Tensor bias = drawn({40}, 30, at::kFloat).requires_grad_(true);
  const at::Tensor upstream = drawn({7, 40}, 31, at::kFloat);
  onEveryCpuPath([&] {
    const at::Tensor y = blockLinear(x, weight, bias);
    const auto got = torch::autograd::grad({y}, {bias}, {upstream}, {}, false, true);
    ASSERT_TRUE(got[0].defined());
    EXPECT_LT(apart(got[0], upstream.sum(0)), 1e-5);
  });
}

TEST(BlockLinear, TakesGroupsOfAnySizeAndRefusesAnotherWidth) {
  const at::Tensor x = drawn({5, 12}, 25), weight = drawn({4, 3, 3}, 26);
  const at::Tensor dense = at::block_diag(weight.unbind(0));
  EXPECT_LT(apart(blockLinear(x, weight, {}), at::linear(x, dense)), 1e-14);
  EXPECT_THROW((void)blockLinear(x, drawn({4, 4, 4}, 27), {}), ShapeError);
}

TEST(MlstmCuda, AgreesWithTheTruthFromOneTokenToManyTiles) {
  std::string why;
  if (cudaKernels(&why) == nullptr) GTEST_SKIP() << "no CUDA device: " << why;
  struct Case {
    at::ScalarType type;
    double tolerance, gradientTolerance;
  };
  for (const Case& item : {Case{at::kDouble, 1e-10, 1e-9}, Case{at::kFloat, 1e-5, 1e-4}}) {
    for (const std::int64_t tokens : {1L, 31L, 32L, 33L, 196L, 1025L}) {
      const MlstmInput in = inputOf(tokens, 40, 1, item.type);
      MlstmInput device = in;
      for (at::Tensor* each :
           {&device.q, &device.k, &device.v, &device.inputGate, &device.forgetGate})
        *each = each->to(at::kCUDA);
      const at::Tensor upstream = drawn({2, 3, tokens, 40}, 6);
      const Pass truth = passOf(inputOf(tokens, 40), formed(MlstmForm::Chunkwise, 64), upstream);
      expectSame(passOf(device, formed(MlstmForm::Chunkwise), upstream.to(at::kCUDA)), truth,
                 item.tolerance, item.gradientTolerance);
    }
  }
}

TEST(MlstmCuda, RefusesAHeadThatNoSharedMemoryHolds) {
  std::string why;
  if (cudaKernels(&why) == nullptr) GTEST_SKIP() << "no CUDA device: " << why;
  MlstmInput in = inputOf(4, 4096, 1, at::kFloat);
  for (at::Tensor* each : {&in.q, &in.k, &in.v, &in.inputGate, &in.forgetGate})
    *each = each->to(at::kCUDA);
  EXPECT_THROW((void)mlstm(in, {}), Error);
  EXPECT_NO_THROW(at::ones({1}, in.q.options()).add_(1).cpu()) << "the device still works";
}

}  // namespace
}  // namespace vitrine::kernels
