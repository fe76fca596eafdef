#include "core/kernels/rope.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "core/base/error.h"
#include "core/kernels/cuda_module.h"
#include "tests/core/nn/tensors.h"

namespace vitrine::kernels {
namespace {

using nn::drawn, nn::randomFloats;

/// Angles of positions on a line: n * 10000^(-2m/d).
at::Tensor lineAngles(std::int64_t tokens, std::int64_t headDim) {
  const at::Tensor ladder =
      at::pow(10000.0, -at::arange(0, headDim, 2, at::kDouble) / static_cast<double>(headDim));
  return at::outer(at::arange(tokens, at::kDouble), ladder).to(at::kFloat);
}

double worst(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kCPU, at::kDouble) - b.to(at::kCPU, at::kDouble)).abs().max().item<double>();
}

TEST(RopeKernel, TurnsTheFourNumbersOfTheFactSheet) {
  const at::Tensor x =
      at::tensor({1.0F, 2.0F, 3.0F, 4.0F}).view({1, 1, 1, 4}).expand({1, 1, 197, 4});
  const at::Tensor turned = ropeCpu(x, lineAngles(197, 4), Turn::Forward)[0][0];
  const at::Tensor at1 = at::tensor({-1.142640F, 1.922076F, 2.959851F, 4.029800F});
  const at::Tensor at196 = at::tensor({-1.536594F, 1.624463F, -4.839201F, 1.257828F});
  EXPECT_LT(worst(turned[0], x[0][0][0]), 1e-7);
  EXPECT_LT(worst(turned[1], at1), 2e-6);
  EXPECT_LT(worst(turned[196], at196), 2e-5);  // float32 angles near 196 radians
}

TEST(RopeKernel, KeepsTheNormOfEveryTokenAndIsUndoneByItsBackwardTurn) {
  const at::Tensor x = drawn({2, 3, 33, 16}, 1);
  const at::Tensor angles = drawn({33, 8}, 2);
  const at::Tensor turned = ropeCpu(x, angles, Turn::Forward);
  EXPECT_LT(worst(turned.norm(2, -1), x.norm(2, -1)), 1e-12);
  EXPECT_LT(worst(ropeCpu(turned, angles, Turn::Backward), x), 1e-12);
}

TEST(RopeKernel, ReadsAStridedViewAsItsContiguousCopy) {
  const at::Tensor qkv = randomFloats({2, 5, 3, 4, 8}, 3);  // [batch, tokens, 3, heads, headDim]
  const at::Tensor q = qkv.select(2, 0).transpose(1, 2);
  ASSERT_FALSE(q.is_contiguous());
  const at::Tensor angles = lineAngles(5, 8);
  EXPECT_EQ(
      worst(ropeCpu(q, angles, Turn::Forward), ropeCpu(q.contiguous(), angles, Turn::Forward)), 0);
}

TEST(RopeKernel, TurnsHalfPrecisionInFloat32) {
  const at::Tensor x = drawn({1, 2, 65, 32}, 4, at::kBFloat16);
  const at::Tensor angles = lineAngles(65, 32);
  const at::Tensor exact = ropeCpu(x.to(at::kFloat), angles, Turn::Forward);
  // One rounding to bfloat16, 2^-9 of the value, and nothing else.
  EXPECT_EQ(worst(ropeCpu(x, angles, Turn::Forward), exact.to(at::kBFloat16)), 0);
}

TEST(RopeKernel, GradientAgreesWithFiniteDifferencesInDouble) {
  at::Tensor q = drawn({1, 2, 3, 4}, 5).requires_grad_();
  at::Tensor k = drawn({1, 2, 3, 4}, 6).requires_grad_();
  const at::Tensor angles = drawn({3, 2}, 7);
  const at::Tensor weight = drawn({2, 1, 2, 3, 4}, 8);
  const auto score = [&](const at::Tensor& a, const at::Tensor& b) {
    const auto turned = ropePair(a, b, angles);
    return (turned[0].square() * weight[0] + turned[1] * turned[0] * weight[1]).sum();
  };
  const auto gradients = torch::autograd::grad({score(q, k)}, {q, k});
  constexpr double kStep = 1e-6;
  for (int which = 0; which < 2; ++which) {
    for (std::int64_t i = 0; i < q.numel(); ++i) {
      at::Tensor moved[2] = {q.detach().clone(), k.detach().clone()};
      moved[which].view(-1)[i] += kStep;
      const double up = score(moved[0], moved[1]).item<double>();
      moved[which].view(-1)[i] -= 2 * kStep;
      const double down = score(moved[0], moved[1]).item<double>();
      EXPECT_NEAR(gradients[which].view(-1)[i].item<double>(), (up - down) / (2 * kStep), 1e-7);
    }
  }
}

TEST(RopeKernel, GivesAGradientWhenOnlyQueriesAreUsed) {
  at::Tensor q = randomFloats({1, 1, 2, 4}, 9).requires_grad_(),
             k = randomFloats({1, 1, 2, 4}, 10).requires_grad_();
  const auto turned = ropePair(q, k, lineAngles(2, 4));
  turned[0].sum().backward();
  EXPECT_TRUE(q.grad().defined());
  EXPECT_GT(q.grad().abs().max().item<float>(), 0);
}

TEST(RopeKernel, RefusesASecondDerivative) {
  const at::Tensor q = randomFloats({1, 1, 2, 4}, 9).requires_grad_(),
                   k = randomFloats({1, 1, 2, 4}, 10);
  const at::Tensor sum = ropePair(q, k, lineAngles(2, 4))[0].square().sum();
  EXPECT_THROW((void)torch::autograd::grad({sum}, {q}, {}, true, true), Error);
  EXPECT_EQ(torch::autograd::grad({sum}, {q}).size(), 1u);
}

TEST(RopeKernel, RefusesAnglesOfAnotherLengthAndOddHeadWidths) {
  const at::Tensor x = randomFloats({1, 1, 4, 8}, 1);
  EXPECT_THROW(std::ignore = ropeCpu(x, lineAngles(5, 8), Turn::Forward), ShapeError);
  EXPECT_THROW(std::ignore = ropeCpu(x.narrow(3, 0, 7), lineAngles(4, 8), Turn::Forward),
               ShapeError);
  EXPECT_THROW(std::ignore = ropePair(x, x.expand({1, 2, 4, 8}), lineAngles(4, 8)), ShapeError);
}

TEST(CudaModule, SaysWhyThereIsNoneOrOffersADevice) {
  std::string why;
  const CudaKernels* cuda = cudaKernels(&why);
  EXPECT_EQ(cuda == nullptr, !why.empty()) << why;
}

TEST(RopeCuda, AgreesWithTheCpuFromOneTokenToManyBlocks) {
  std::string why;
  if (cudaKernels(&why) == nullptr) GTEST_SKIP() << "no CUDA device: " << why;
  struct Case {
    at::ScalarType type;
    double tolerance;
  };
  // float32: sincosf of angles up to 4097 radians differs from the CPU's by a few ulp; halves: one
  // rounding each way.
  for (const Case& item : {Case{at::kFloat, 2e-5}, Case{at::kDouble, 1e-12},
                           Case{at::kBFloat16, 4e-2}, Case{at::kHalf, 5e-3}}) {
    for (const std::int64_t tokens : {1, 31, 32, 33, 65, 4097}) {
      const at::Tensor qkv = drawn({2, tokens, 3, 3, 24}, 11, item.type);
      const at::Tensor angles = lineAngles(tokens, 24);
      at::Tensor q = qkv.select(2, 0).transpose(1, 2), k = qkv.select(2, 1).transpose(1, 2);
      at::Tensor deviceQ = q.to(at::kCUDA).requires_grad_(),
                 deviceK = k.to(at::kCUDA).requires_grad_();
      const auto turned = ropePair(deviceQ, deviceK, angles.to(at::kCUDA));
      EXPECT_LE(worst(turned[0], ropeCpu(q, angles, Turn::Forward)), item.tolerance)
          << tokens << " " << item.type;
      EXPECT_LE(worst(turned[1], ropeCpu(k, angles, Turn::Forward)), item.tolerance)
          << tokens << " " << item.type;
      const at::Tensor upstream = drawn({2, 3, tokens, 24}, 12, item.type);
      const auto gradients =
          torch::autograd::grad({turned[0]}, {deviceQ}, {upstream.to(at::kCUDA)});
      EXPECT_LE(worst(gradients[0], ropeCpu(upstream, angles, Turn::Backward)), item.tolerance)
          << tokens << " " << item.type;
    }
  }
}

}  // namespace
}  // namespace vitrine::kernels
