// Maps of blocks that are packed once.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/base/cpu_path.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "tests/core/nn/tensors.h"
#include "tests/support/every_cpu_path.h"

namespace vitrine::cpu {
namespace {

using nn::randomFloats;

/// A block of 4 images with 20 tokens of 32 channels.
BlockInput blockOf(std::uint64_t seed) {
  constexpr std::int64_t kWidth = 32, kHidden = 48;
  BlockInput input{.x = randomFloats({4, 20, kWidth}, 1)};
  input.mlp = MlpKind::GeluTanh;
  input.heads = 2;
  const auto set = [&](BlockParameter which, at::IntArrayRef shape) {
    input.parameters[which] = randomFloats(shape, seed + which) * 0.3;
  };
  set(kNorm1Weight, {kWidth}), set(kNorm1Bias, {kWidth});
  set(kQkvWeight, {3 * kWidth, kWidth}), set(kProjWeight, {kWidth, kWidth});
  set(kNorm2Weight, {kWidth}), set(kNorm2Bias, {kWidth});
  set(kFc1Weight, {kHidden, kWidth}), set(kFc2Weight, {kWidth, kHidden});
  return input;
}

at::Tensor result(const BlockInput& input) {
  EXPECT_TRUE(takesBlock(input));
  return runBlock(input);
}

TEST(ConstantParameters, GiveTheSameResultsForBlocksInTurn) {
  testing::onEveryCpuPath([] {
    if (cpuPath() == CpuPath::Reference) return;  // which has no blocks
    const c10::NoGradGuard noGradient;
    const BlockInput first = blockOf(10), second = blockOf(50);
    const at::Tensor wanted[] = {result(first), result(second)};
    const ConstantParameters constant;
    for (int turn = 0; turn < 3; ++turn) {
      EXPECT_TRUE(at::equal(result(first), wanted[0]));
      EXPECT_TRUE(at::equal(result(second), wanted[1]));
    }
  });
}

TEST(ConstantParameters, ArePackedOnceAndAgainBehindTheLastScope) {
  const c10::NoGradGuard noGradient;
  BlockInput input = blockOf(10);
  const at::Tensor before = result(input);
  {
    const ConstantParameters constant;
    const ConstantParameters within;
    EXPECT_TRUE(at::equal(result(input), before));
    input.parameters[kFc1Weight].mul_(2);  // what a caller must not do: it is not seen
    EXPECT_TRUE(at::equal(result(input), before));
  }
  EXPECT_FALSE(at::equal(result(input), before));
}

TEST(ConstantParameters, MapsThatAreMadeForEachCallAreNeverTakenForEachOther) {
  const c10::NoGradGuard noGradient;
  constexpr std::uint64_t kMaps = 5;
  BlockInput input = blockOf(10);
  const auto resultOf = [&](std::uint64_t map) {
    input.parameters[kFc1Weight].reset();  // the next one may lie where this one did
    input.parameters[kFc1Weight] = randomFloats({48, 32}, 100 + map);
    return result(input);
  };
  std::vector<at::Tensor> wanted;
  for (std::uint64_t map = 0; map < kMaps; ++map) wanted.push_back(resultOf(map));
  const ConstantParameters constant;
  for (std::uint64_t map = 0; map < kMaps; ++map)
    EXPECT_TRUE(at::equal(resultOf(map), wanted[map])) << map;
}

TEST(ConstantParameters, ABlockWithAGradientIsPackedAtEachCall) {
  const ConstantParameters constant;
  BlockInput input = blockOf(10);
  input.x = input.x.repeat({4, 1, 1}).requires_grad_();
  const at::Tensor before = result(input);
  input.parameters[kFc1Weight].mul_(2);
  EXPECT_FALSE(at::equal(result(input), before));
}

}  // namespace
}  // namespace vitrine::cpu
