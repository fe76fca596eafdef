// Rotary positions: frequencies, positions, angles and the turn, against published numbers and the
// formulas.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/nn/position/rope.h"
#include "tests/core/nn/tensors.h"
#include "tests/support/every_cpu_path.h"
#include "tests/support/golden/case.h"

namespace vitrine::nn {
namespace {

RopeSpectrum line(std::int64_t channels, double theta = 1e4) {
  return {channels, RopeAxes::Line, theta, 0};
}

/// One head of one sample at the given positions.
at::Tensor turned(const at::Tensor& x, const at::Tensor& angles, RopePairs pairs) {
  return applyRope(x.view({1, 1, 1, -1}).expand({1, 1, angles.size(0), -1}), angles, pairs)[0][0];
}

TEST(Rope, TurnsInterleavedPairsByThePublishedNumbers) {
  const at::Tensor wanted =
      at::stack({row({1, 2, 3, 4}), row({-1.142640, 1.922076, 2.959851, 4.029800}),
                 row({-2.234742, 0.077004, 2.919405, 4.059196}),
                 row({-1.536594, 1.624463, -4.839201, 1.257828})});
  EXPECT_LT(
      largestDifference(turned(row({1, 2, 3, 4}), ropeAngles(at::tensor({0, 1, 2, 196}), line(4)),
                               RopePairs::Interleaved),
                        wanted),
      5e-6);
}

TEST(Rope, TurnsBothKindsOfPairsByThePublishedNumbers) {
  const at::Tensor angles = ropeAngles(at::tensor({3}), line(4));
  EXPECT_LT(largestDifference(turned(row({1, 2, 3, 4}), angles, RopePairs::Interleaved)[0],
                              row({-1.27223251, -1.83886499, 2.87866810, 4.08818664})),
            1e-6);
  EXPECT_LT(largestDifference(turned(row({1, 2, 3, 4}), angles, RopePairs::HalfSplit)[0],
                              row({-1.41335252, 1.87911807, -2.82885748, 4.05819114})),
            1e-6);
}

TEST(Rope, HalfSplitIsInterleavedWithItsChannelsReordered) {
  const at::Tensor x = at::randn({2, 3, 5, 12}, seeded(1));
  const at::Tensor angles = ropeAngles(at::arange(5), line(8));  // 4 of 12 channels pass
  const at::Tensor order = at::tensor({0, 4, 1, 5, 2, 6, 3, 7, 8, 9, 10, 11}).to(at::kLong);
  EXPECT_TRUE(applyRope(x.index_select(3, order), angles)
                  .equal(applyRope(x, angles, RopePairs::HalfSplit).index_select(3, order)));
}

TEST(Rope, KeepsTheNormOfEveryToken) {
  const at::Tensor x = at::randn({2, 3, 50, 8}, seeded(1));
  const at::Tensor after = applyRope(x, ropeAngles(at::arange(50), line(8)));
  EXPECT_LT(largestDifference(after.norm(2, -1), x.norm(2, -1)), 1e-5);
  EXPECT_GT(largestDifference(after, x), 0.1);
}

TEST(Rope, ScoresDependOnlyOnTheOffsetBetweenTokens) {
  const at::Tensor q = row({1, 2, 3, 4}).view({1, 1, 1, 4}),
                   k = row({0.5, -1, 2, 0.25}).view({1, 1, 1, 4});
  for (const auto& [m, n] : {std::pair{3, 1}, std::pair{7, 5}, std::pair{102, 100}}) {
    const at::Tensor score = (applyRope(q, ropeAngles(at::tensor({m}), line(4))) *
                              applyRope(k, ropeAngles(at::tensor({n}), line(4))))
                                 .sum();
    EXPECT_NEAR(score.item<double>(), 5.659235, 2e-5) << m << " and " << n;
  }
}

TEST(Rope, AnglesOnAGridFollowTheFormulaEntryByEntry) {
  const std::array<std::int64_t, 2> grid{3, 5};
  const auto scale = anchorScale(grid, {6, 20}, true);
  const at::Tensor positions = gridPositions(grid) * at::tensor({scale[0], scale[1]}, at::kDouble);
  for (const RopeAxes axes : {RopeAxes::ColumnFirst, RopeAxes::RowFirst}) {
    const at::Tensor angles = ropeAngles(positions, RopeSpectrum{8, axes, 100, 0}, at::kDouble);
    const int rowPair = axes == RopeAxes::RowFirst ? 0 : 1;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 5; ++j) {
        for (int k = 0; k < 2; ++k) {
          const double w = std::pow(100.0, -4.0 * k / 8);
          EXPECT_NEAR(angles[i * 5 + j][2 * k + rowPair].item<double>(), i * 2.0 * w, 1e-12);
          EXPECT_NEAR(angles[i * 5 + j][2 * k + 1 - rowPair].item<double>(), j * 4.0 * w, 1e-12);
        }
      }
    }
  }
}

TEST(Rope, AnAnchorScalesBothAxesByTheRowsUnlessEachHasItsOwn) {
  EXPECT_EQ(anchorScale({7, 14}, {14, 14}, false), (std::array<double, 2>{2, 2}));
  EXPECT_EQ(anchorScale({7, 14}, {14, 14}, true), (std::array<double, 2>{2, 1}));
  EXPECT_THROW((void)anchorScale({0, 14}, {14, 14}, true), ShapeError);
}

TEST(Rope, ASpectrumOverAllHeadsGivesEachItsSlice) {
  const at::Tensor positions = gridPositions({3, 4});
  RopeSpectrum shared{8, RopeAxes::ColumnFirst, 1e4, 0}, own{8, RopeAxes::ColumnFirst, 1e4, 3};
  const at::Tensor frequencies = ropeFrequencies(own);
  EXPECT_EQ(frequencies.sizes().vec(), (std::vector<std::int64_t>{3, 2}));
  for (int k = 0; k < 6; ++k)
    EXPECT_NEAR(frequencies[k / 2][k % 2].item<double>(), std::pow(1e4, -4.0 * k / 24), 1e-15);
  const at::Tensor angles = ropeAngles(positions, own);
  EXPECT_EQ(angles.sizes().vec(), (std::vector<std::int64_t>{1, 3, 12, 4}));
  const at::Tensor x = at::randn({2, 3, 12, 8}, seeded(2));
  testing::onEveryCpuPath([&] {
    const at::Tensor all = applyRope(x, angles);
    for (int head = 0; head < 3; ++head) {
      const at::Tensor slice = all.narrow(1, head, 1);
      const at::Tensor alone = applyRope(
          x.narrow(1, head, 1), ropeAngles(positions, frequencies[head], RopeAxes::ColumnFirst));
      EXPECT_LT(largestDifference(slice, alone), 1e-6) << head;
      // Elsewhere angles that all heads share go to a kernel, which rounds otherwise.
      if (cpuPath() == CpuPath::Reference) {
        EXPECT_TRUE(slice.equal(alone)) << head;
      }
    }
    EXPECT_GT(largestDifference(all, applyRope(x, ropeAngles(positions, shared))), 0.1);
  });
}

TEST(Rope, PositionsOfEachSampleTurnItAlone) {
  const at::Tensor x = at::randn({3, 2, 4, 10}, seeded(3));
  const at::Tensor onLine = at::tensor({3, 1, 0, 2, 9, 8, 7, 6, 0, 0, 5, 1}).view({3, 4});
  const at::Tensor onGrid = at::stack({onLine, onLine.flip(1) * 0.5}, -1);
  const RopeSpectrum grid{8, RopeAxes::RowFirst, 1e2, 0};
  for (const RopePairs pairs : {RopePairs::Interleaved, RopePairs::HalfSplit}) {
    const at::Tensor lines = applyRope(x, ropeAngles(onLine, line(10)), pairs),
                     grids = applyRope(x, ropeAngles(onGrid, grid), pairs);
    for (int sample = 0; sample < 3; ++sample) {
      const at::Tensor one = x.narrow(0, sample, 1);
      EXPECT_LT(largestDifference(lines.narrow(0, sample, 1),
                                  applyRope(one, ropeAngles(onLine[sample], line(10)), pairs)),
                1e-6);
      EXPECT_LT(largestDifference(grids.narrow(0, sample, 1),
                                  applyRope(one, ropeAngles(onGrid[sample], grid), pairs)),
                1e-6);
    }
  }
}

TEST(Rope, PairsOfBothKindsTurnAsTheyDoInDoubleOnEveryCpuPath) {
  const at::Tensor places = at::tensor({3, 1, 0, 2, 9, 8, 7, 6, 0, 0, 5, 1}).view({3, 4});
  const at::Tensor slope = at::randn({3, 2, 4, 38}, seeded(5));
  testing::onEveryCpuPath([&] {
    for (const auto& [positions, pairs] :
         {std::pair(places, RopePairs::HalfSplit), std::pair(places[0], RopePairs::HalfSplit),
          std::pair(places, RopePairs::Interleaved),
          std::pair(places[0], RopePairs::Interleaved)}) {
      const auto turnedIn = [&](at::ScalarType type) {
        // As projections leave them: heads next to each other.
        const at::Tensor x =
            at::randn({3, 4, 2, 38}, seeded(3)).to(type).transpose(1, 2).detach().requires_grad_();
        const at::Tensor out = applyRope(x, ropeAngles(positions, line(38), type), pairs);
        (out * slope.to(type)).sum().backward();
        return std::pair(out.detach(), x.grad());
      };
      const auto ours = turnedIn(at::kFloat), wanted = turnedIn(at::kDouble);
      EXPECT_LT(largestDifference(ours.first, wanted.first), 2e-6);
      EXPECT_LT(largestDifference(ours.second, wanted.second), 2e-6);
    }
  });
}

TEST(Rope, TheBaseGrowsByThreeRules) {
  EXPECT_DOUBLE_EQ(ntkTheta(1e4, 5, NtkRule::Plain, 16), 5e4);
  EXPECT_DOUBLE_EQ(ntkTheta(1e4, 5, NtkRule::LowestLine, 16), 1e4 * std::pow(5, 16.0 / 14));
  EXPECT_DOUBLE_EQ(ntkTheta(1e4, 5, NtkRule::LowestGrid, 16), 1e4 * std::pow(5, 16.0 / 12));
  // What the two exponents are for: the slowest pair turns alpha times slower.
  const double line16 =
      ropeFrequencies(line(16, ntkTheta(1e4, 5, NtkRule::LowestLine, 16)))[7].item<double>();
  EXPECT_NEAR(line16 * 5, ropeFrequencies(line(16))[7].item<double>(), 1e-12);
  const RopeSpectrum grid{16, RopeAxes::RowFirst, ntkTheta(1e4, 5, NtkRule::LowestGrid, 16), 0},
      before{16, RopeAxes::RowFirst, 1e4, 0};
  EXPECT_NEAR(ropeFrequencies(grid)[3].item<double>() * 5,
              ropeFrequencies(before)[3].item<double>(), 1e-12);
}

TEST(Rope, RefusesWhatItCannotPair) {
  EXPECT_THROW((void)ropeFrequencies(line(5)), ShapeError);
  EXPECT_THROW((void)ropeFrequencies(line(4, 1)), ShapeError);
  EXPECT_THROW((void)ropeFrequencies({6, RopeAxes::ColumnFirst, 1e4, 0}), ShapeError);
  EXPECT_THROW((void)ropeAngles(at::arange(3), RopeSpectrum{8, RopeAxes::ColumnFirst, 1e4, 0}),
               ShapeError);
  const at::Tensor x = at::zeros({2, 3, 4, 8});
  EXPECT_THROW((void)applyRope(x, ropeAngles(at::arange(3), line(8))), ShapeError);
  EXPECT_THROW((void)applyRope(x, ropeAngles(at::arange(4), line(10))), ShapeError);
  EXPECT_THROW((void)applyRope(x, at::zeros({3, 4, 4})), ShapeError);
  EXPECT_THROW((void)applyRope(x, at::zeros({1, 2, 4, 4})), ShapeError);
}

TEST(Rope, ReproducesReferenceTables) {
  for (const char* table :
       {"d8_5x7", "d16_4x4", "d32_6x6_scaled", "d72_3x3", "d16_3x5_row_first", "d16_3x3_cls",
        "d16_3x3_cls_row0", "d12_4x3_base100", "d16_4x4_1d", "d16_4x6_per_axis", "d64_14x14_ntk2"})
    testing::expectRuleReproduced("visionllama/rope_tables", {table});
  for (const char* grid : {"4x4_r2", "4x6_r2", "56x56_r8", "7x7_r1", "8x8_r4"})
    testing::expectRuleReproduced("visionllama/rope_tables",
                                  {std::string("gsa/") + grid + "/calibrated_row_col"});
  testing::expectRuleReproduced(
      "llama/op_rope", {"output/half_split_10000", "output/half_split_500000",
                        "output/interleaved_10000", "output/interleaved_500000", "grad/input/x"});
}

}  // namespace
}  // namespace vitrine::nn
