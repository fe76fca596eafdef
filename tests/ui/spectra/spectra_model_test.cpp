#include "ui/spectra/spectra_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/ui/figures/samples.h"

namespace vitrine::ui {
namespace {

using ::testing::ElementsAre;

Spectrum read(const Artifact& artifact, const Artifact* cumulative = nullptr) {
  Spectrum spectrum;
  addLayers(spectrum, artifact.meta, artifact.data,
            cumulative == nullptr ? Json() : cumulative->meta,
            cumulative == nullptr ? std::span<const std::byte>() : cumulative->data);
  return spectrum;
}

TEST(SpectraModel, RanksAreTheFirstIndexThatHoldsTheShare) {
  // [1 1 1 1] [2 1 1 0] | [9 1 0 0] [3 2 1 0]
  const Spectrum spectrum = read(samples::spectrum());
  ASSERT_EQ(spectrum.layers.size(), 2u);
  const auto rank = [&](std::size_t layer, std::size_t head, double threshold) {
    return rankAt(spectrum.layers[layer].heads[head].shares, threshold);
  };
  EXPECT_EQ(rank(0, 0, 0.8), 4);
  EXPECT_EQ(rank(0, 1, 0.8), 3);
  EXPECT_EQ(rank(1, 0, 0.8), 1);
  EXPECT_EQ(rank(1, 1, 0.8), 2);
  EXPECT_EQ(rank(0, 0, 0.5), 2);
  EXPECT_EQ(rank(0, 0, 1.0), 4);
  const RankSpread spread = rankOver(spectrum.layers[0], 0.8);
  EXPECT_NEAR(spread.mean, 3.5, 1e-12);
  EXPECT_NEAR(spread.deviation, std::sqrt(0.5), 1e-12);
  EXPECT_EQ(spread.heads, 2);
}

TEST(SpectraModel, EffectiveAndStableRankFollowTheirDefinitions) {
  EXPECT_NEAR(effectiveRankOf({1, 1, 1, 1}), 4, 1e-9);
  EXPECT_NEAR(stableRankOf({1, 1, 1, 1}), 4, 1e-9);
  // Shares 1/2, 1/4, 1/4: entropy 1.5 ln 2.
  EXPECT_NEAR(effectiveRankOf({2, 1, 1, 0}), std::pow(2, 1.5), 1e-6);
  EXPECT_NEAR(stableRankOf({2, 1, 1, 0}), 6.0 / 4, 1e-9);
  EXPECT_TRUE(std::isnan(effectiveRankOf({0, 0})));
  EXPECT_TRUE(std::isnan(stableRankOf({0, 0})));
  EXPECT_TRUE(std::isnan(rankAt({0.1F, 0.2F}, 0.8)));
}

TEST(SpectraModel, TheStoredCurveCountsWhereThereIsOne) {
  const Artifact spectrum = samples::spectrum();
  Artifact curve = samples::named("attention_rank", "cumulative", artifact_kind::kHeatmap);
  const std::vector<float> shares{0.1F, 0.2F, 0.9F, 1, 0.5F, 0.6F, 0.7F, 1,
                                  0.9F, 1,    1,    1, 0.5F, 0.9F, 1,    1};
  setFloat32(curve, shares, {2, 2, 4}, {"layer", "head", "k"});
  EXPECT_EQ(rankAt(read(spectrum, &curve).layers[0].heads[0].shares, 0.8), 3);
  curve.meta["shape"] = {2, 4, 2};
  EXPECT_THROW((void)read(spectrum, &curve), FileError);
}

TEST(SpectraModel, TheMeanOfTheHeadsIsThatOfValuesAndShares) {
  const HeadSpectrum mean = meanOfHeads(read(samples::spectrum()).layers[0]);
  EXPECT_THAT(mean.values, ElementsAre(1.5F, 1, 1, 0.5F));
  EXPECT_NEAR(mean.shares[0], (0.25 + 0.5) / 2, 1e-6);
}

TEST(SpectraModel, LayersHaveTheirNumbersInTheModel) {
  Artifact artifact = samples::spectrum();
  artifact.meta["layers"] = {7, 3};
  const Spectrum spectrum = read(artifact);
  EXPECT_EQ(spectrum.layers[0].layer, 3);
  EXPECT_EQ(spectrum.layers[1].layer, 7);
  EXPECT_EQ(rankAt(spectrum.layers[1].heads[0].shares, 0.8), 4);
  artifact.meta["shape"] = {4, 4};
  EXPECT_THROW((void)read(artifact), FileError);
}

TEST(SpectraModel, ListsStepsOfOneKindOfAttentionWithTheirCurves) {
  std::vector<store::ArtifactRow> rows;
  const auto add = [&](std::int64_t id, std::int64_t step, const char* name, const char* kind,
                       const Json& meta) {
    rows.push_back({.id = id,
                    .step = step,
                    .analysis = "attention_rank",
                    .name = name,
                    .kind = kind,
                    .meta = meta});
  };
  const Json softmax{{"attention", "softmax"}}, effective{{"attention", "effective"}};
  add(1, 0, "spectrum", "spectrum", effective);
  add(2, 0, "cumulative", "heatmap", effective);
  add(3, 100, "spectrum, layers of 2 heads", "spectrum", effective);
  add(4, 100, "cumulative, layers of 2 heads", "heatmap", effective);
  add(5, 100, "spectrum, layers of 4 heads", "spectrum", effective);
  add(6, 50, "spectrum", "spectrum", softmax);
  add(7, 100, "spectrum", "spectrum", {{"attention", "effective"}, {"overrides", {"x=1"}}});
  add(8, 100, "spectrum", "spectrum", {{"attention", "effective"}, {"weights", "ema"}});
  add(9, 0, "spectrum", "spectrum", effective);
  const auto stored = storedSpectra(rows);
  ASSERT_EQ(stored.size(), 2u);
  EXPECT_EQ(stored[0].step, 0);
  EXPECT_THAT(stored[0].parts, ElementsAre(StoredSpectrum::Part{9, 2}));
  EXPECT_THAT(stored[1].parts, ElementsAre(StoredSpectrum::Part{3, 4}, StoredSpectrum::Part{5, 0}));
  const auto averaged = storedSpectra({rows[7]});
  ASSERT_EQ(averaged.size(), 1u) << "there are no others";
  EXPECT_EQ(averaged[0].weights, "ema");
}

TEST(SpectraModel, TheRangeOfColoursHasAFloor) {
  const Spectrum spectrum = read(samples::spectrum());
  const auto [low, high] = rangeOf({&spectrum}, 0.5);
  EXPECT_EQ(high, 9);
  EXPECT_EQ(low, 4.5);
}

}  // namespace
}  // namespace vitrine::ui
