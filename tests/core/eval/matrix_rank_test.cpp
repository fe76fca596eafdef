// Ranks of matrices: the table of simple ones, closed forms and the reference.
#include "core/eval/matrix_rank.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "core/base/error.h"
#include "core/model/weights.h"

namespace vitrine::eval {
namespace {

/// Structured matrices of fact table E, [1, 1, n, n].
at::Tensor structured(const std::string& name, std::int64_t n) {
  const at::Tensor ones = at::ones({n, n}, at::kDouble);
  const double size = static_cast<double>(n);
  at::Tensor out = ones / size;
  if (name == "lower_triangle_over_n") out = ones.tril() / size;
  if (name == "row_normalised_lower_triangle") out = ones.tril() / ones.tril().sum(1, true);
  if (name == "modified_over_n") {
    at::Tensor mask = ones.tril();
    mask.select(0, 0).fill_(1);
    out = mask / size;
  }
  if (name == "soft_0_5_over_n") out = (ones.tril() * 0.5 + ones * 0.5) / size;
  if (name == "soft_0_9_over_n") out = (ones.tril() * 0.1 + ones * 0.9) / size;
  if (name == "identity") out = at::eye(n, at::kDouble);
  return out.view({1, 1, n, n});
}

TEST(MatrixRank, SimpleMatricesHaveTheRanksOfTheTable) {
  const std::map<std::string, std::array<std::int64_t, 3>> table{
      {"uniform", {1, 1, 1}},
      {"lower_triangle_over_n", {8, 19, 56}},
      {"row_normalised_lower_triangle", {6, 13, 31}},
      {"modified_over_n", {7, 18, 55}},
      {"soft_0_5_over_n", {5, 11, 32}},
      {"soft_0_9_over_n", {1, 1, 1}},
      {"identity", {14, 40, 158}}};
  const std::array<std::int64_t, 3> sizes{17, 50, 197};
  for (const auto& [name, ranks] : table) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Spectrum spectrum = spectrumOf(structured(name, sizes[i]));
      EXPECT_EQ(rankAt(spectrum.cumulative, 0.8).item<std::int64_t>(), ranks[i])
          << name << " " << sizes[i];
    }
  }
}

TEST(MatrixRank, TheLowerTriangleHasTheSingularValuesOfTheClosedForm) {
  for (const std::int64_t n : {3, 17, 50}) {
    const at::Tensor values = spectrumOf(at::ones({1, 1, n, n}, at::kDouble).tril()).values;
    for (std::int64_t k = 1; k <= n; ++k) {
      const double expected =
          1 / (2 * std::sin((2.0 * static_cast<double>(k) - 1) * std::numbers::pi /
                            (4.0 * static_cast<double>(n) + 2)));
      EXPECT_NEAR(values[0][0][k - 1].item<double>(), expected, 1e-10) << n << " " << k;
    }
  }
}

TEST(MatrixRank, EffectiveAndStableRankOfKnownMatrices) {
  const Spectrum identity = spectrumOf(structured("identity", 5));
  EXPECT_NEAR(identity.effectiveRank.item<double>(), 5, 1e-12);
  EXPECT_NEAR(identity.stableRank.item<double>(), 5, 1e-12);
  const Spectrum uniform = spectrumOf(structured("uniform", 5));
  EXPECT_NEAR(uniform.effectiveRank.item<double>(), 1, 1e-9);
  EXPECT_NEAR(uniform.stableRank.item<double>(), 1, 1e-12);
  // Singular values 3 and 1: exp(-(3/4 ln 3/4 + 1/4 ln 1/4)) and 10 / 9.
  const Spectrum two =
      spectrumOf(at::tensor({0.0, 3.0, -1.0, 0.0}, at::kDouble).view({1, 1, 2, 2}));
  EXPECT_NEAR(two.effectiveRank.item<double>(),
              std::exp(-0.75 * std::log(0.75) - 0.25 * std::log(0.25)), 1e-12);
  EXPECT_NEAR(two.stableRank.item<double>(), 10.0 / 9, 1e-12);
  const Spectrum zero = spectrumOf(at::zeros({1, 1, 3, 3}));
  EXPECT_EQ(zero.effectiveRank.item<double>(), 0);
  EXPECT_EQ(zero.stableRank.item<double>(), 0);
  EXPECT_THROW((void)spectrumOf(at::full({1, 1, 3, 3}, NAN)), Error);
}

TEST(MatrixRank, AgreesWithTheReferenceInBothOrdersOfAveraging) {
  const auto io =
      readTensors(VITRINE_SOURCE_DIR "/tests/golden/analysis/attention_rank/io.safetensors");
  for (const std::string kind : {"bidirectional", "masked"}) {
    const Spectrum spectrum = spectrumOf(io.at("input/attention_" + kind));
    const auto near = [&](const at::Tensor& actual, const std::string& name) {
      // The reference was stored as float32: 6e-8 of values up to 4.
      EXPECT_LT((actual.to(at::kDouble) - io.at("output/" + name + "_" + kind).to(at::kDouble))
                    .abs()
                    .max()
                    .item<double>(),
                1e-6)
          << name << " " << kind;
    };
    near(spectrum.values, "singular_values");
    near(spectrum.cumulative, "cumulative");
    near(spectrum.cumulative.mean(0), "cumulative_mean");
    near(rankAt(spectrum.cumulative, 0.8), "rank80");
    near(rankAt(spectrum.cumulative.mean(0), 0.8), "rank80_of_mean");
    near(rankAt(spectrum.cumulative, 0.8).to(at::kDouble).mean(0), "mean_of_rank80");
  }
}

TEST(MatrixRank, IsZeroWhereACurveNeverReachesTheShare) {
  const at::Tensor curves =
      at::tensor({0.5, 0.7, 0.79, 0.5, 0.8 - 1e-13, 1.0, 0.0, 0.0, 0.0}, at::kDouble).view({3, 3});
  const at::Tensor ranks = rankAt(curves, 0.8);
  EXPECT_EQ(ranks[0].item<std::int64_t>(), 0) << "not one past the last";
  EXPECT_EQ(ranks[1].item<std::int64_t>(), 2) << "rounding does not count";
  EXPECT_EQ(ranks[2].item<std::int64_t>(), 0) << "a zero matrix";
}

TEST(MatrixRank, ASpectrumIsStoredWithTheRanksOfItsMeanCurves) {
  // The mean values (5.5, 0.5) would reach the share at the first one.
  const at::Tensor images = at::tensor({1.0, 0.0, 0.0, 1.0, 10.0, 0.0, 0.0, 0.0}, at::kDouble);
  const RankFindings found = rankFindings("some", {{0, images.view({2, 1, 2, 2})}}, 0.8, Json());
  EXPECT_EQ(found.scores.front().second, 2);
  EXPECT_EQ(found.artifacts[0].meta.at("rank").dump(), "[[2]]");
}

TEST(MatrixRank, LayersOfFewerTokensArePaddedAndOtherNumbersOfHeadsAreApart) {
  const auto eye = [](std::int64_t heads, std::int64_t side) {
    return at::eye(side, at::kDouble).expand({2, heads, side, side});
  };
  const RankFindings found = rankFindings("some", {{0, eye(2, 5)}, {1, eye(2, 2)}, {4, eye(3, 2)}},
                                          0.6, Json{{"images", 2}});
  ASSERT_EQ(found.artifacts.size(), 4U);
  const Artifact &spectrum = found.artifacts[0], &cumulative = found.artifacts[1];
  EXPECT_EQ(spectrum.analysis, "some");
  EXPECT_EQ(spectrum.name, "spectrum, layers of 2 heads");
  EXPECT_EQ(spectrum.meta.at("shape"), Json({2, 2, 5}));
  EXPECT_EQ(spectrum.meta.at("layers"), Json({0, 1}));
  EXPECT_EQ(spectrum.meta.at("threshold"), 0.6);
  EXPECT_EQ(spectrum.meta.at("images"), 2);
  EXPECT_FALSE(spectrum.meta.contains("unit"));
  EXPECT_EQ(arrayOf(spectrum.meta, spectrum.data).at(10 + 2), 0) << "layer 1 has two values";
  EXPECT_EQ(cumulative.meta.at("unit"), "share of the sum");
  EXPECT_EQ(arrayOf(cumulative.meta, cumulative.data).at(10 + 4), 1) << "it has them all";
  EXPECT_EQ(found.artifacts[3].name, "cumulative, layers of 3 heads");
  const std::map<std::string, double> scores(found.scores.begin(), found.scores.end());
  EXPECT_EQ(scores.at("rank60/layer0/head1"), 3);
  EXPECT_EQ(scores.at("rank60_mean/layer4"), 2);
  EXPECT_EQ(scores.size(), 4U * (3 + 3 + 4));
}

}  // namespace
}  // namespace vitrine::eval
