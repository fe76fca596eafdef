#include "ui/attention/attention_measures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/ui/attention/layers.h"

namespace vitrine::ui {
namespace {

AttentionImage imageOf(std::vector<AttentionLayer> layers) { return {.layers = std::move(layers)}; }

/// Two patches beside each other, one head.
AttentionLayer pair(float a, float b, float c, float d, int number = 0) {
  return squareLayer(cellsOf(1, 2, false), {a, b, c, d}, number);
}

TEST(Distance, IsWeightedByTheAttentionOnPatches) {
  // Query 0 has 0.25 of its mass one patch away, query 1 has 0.5.
  EXPECT_DOUBLE_EQ(meanDistance(pair(0.75F, 0.25F, 0.5F, 0.5F), 0), 0.375);
  // The class token counts neither as query nor as key: rows {0.6, 0.3} and {0.2, 0.6}.
  EXPECT_NEAR(meanDistance(threeTokens(), 0), (0.3 / 0.9 + 0.2 / 0.8) / 2, 1e-6);
}

TEST(Distance, TakesTheSizeOfSignedWeights) {
  EXPECT_DOUBLE_EQ(meanDistance(pair(0.5F, -0.5F, 0.25F, 0.75F), 0), 0.375);
}

TEST(Distance, UsesThePlacesOfSubSampledKeys) {
  AttentionLayer layer = pair(1, 0, 0, 1);
  layer.keyGrid = TokenGrid::of({{0, 0}});
  layer.keyGrid.places = {{0, 0.5}};  // between the two queries
  layer.keys = 1;
  layer.weights = {1, 1};
  EXPECT_DOUBLE_EQ(meanDistance(layer, 0), 0.5);
}

TEST(Distance, IsUnmeasuredWithoutPatches) {
  EXPECT_TRUE(std::isnan(meanDistance(squareLayer({{}, {}}, {1, 0, 0, 1}), 0)));
}

TEST(Entropy, IsTheLogarithmOfEqualKeys) {
  EXPECT_DOUBLE_EQ(entropyBits(std::vector<float>(8, 0.125F)), 3);
  EXPECT_DOUBLE_EQ(entropyBits(std::vector<float>{0, 1, 0}), 0);
  // Half, a quarter, a quarter; what is masked holds nothing.
  const float masked = std::numeric_limits<float>::quiet_NaN();
  EXPECT_DOUBLE_EQ(entropyBits(std::vector<float>{0.5F, masked, 0.25F, 0.25F}), 1.5);
  EXPECT_TRUE(std::isnan(entropyBits(std::vector<float>{masked, 0})));
}

TEST(Sums, TellPatchesFromOtherKeys) {
  const RowSums sums = sumsOf(std::vector<float>{0.5F, 0.25F, 0.125F}, threeTokens().keyGrid);
  EXPECT_DOUBLE_EQ(sums.onGrid, 0.375);
  EXPECT_DOUBLE_EQ(sums.all, 0.875);
}

TEST(Rollout, OfOneLayerIsHalfAttentionHalfIdentity) {
  const Rollout rollout = rolloutOf(imageOf({pair(0.75F, 0.25F, 0.5F, 0.5F)}), 0,
                                    {QueryChoice::Kind::Patch, {0.5, 0.25}, 0});
  ASSERT_EQ(rollout.whyNot.toStdString(), "");
  EXPECT_FLOAT_EQ(rollout.row[0], 0.875F);
  EXPECT_FLOAT_EQ(rollout.row[1], 0.125F);
}

TEST(Rollout, MultipliesTheLayersFromTheTopDown) {
  // (A1 + I) / 2 = [[7/8, 1/8], [1/4, 3/4]], (A0 + I) / 2 = [[1/2, 1/2], [0, 1]]: the first row of
  // their product is [7/16, 9/16].
  const AttentionImage image = imageOf({pair(0, 1, 0, 1), pair(0.75F, 0.25F, 0.5F, 0.5F, 1)});
  const Rollout first = rolloutOf(image, 1, {QueryChoice::Kind::Patch, {0.5, 0.25}, 0});
  EXPECT_FLOAT_EQ(first.row[0], 0.4375F);
  EXPECT_FLOAT_EQ(first.row[1], 0.5625F);
  const Rollout mean = rolloutOf(image, 1, {QueryChoice::Kind::Mean, {}, 0});
  // Second row: [1/8, 7/8].
  EXPECT_FLOAT_EQ(mean.row[0], 0.28125F);
  EXPECT_FLOAT_EQ(mean.row[1], 0.71875F);
}

TEST(Rollout, SaysWhyItIsNotDefined) {
  const auto why = [](const AttentionImage& image) { return whyNoRollout(image).toStdString(); };
  EXPECT_EQ(why(imageOf({pair(1, 0, 0, 1)})), "");
  AttentionImage isSigned = imageOf({pair(1, 0, 0, 1)});
  isSigned.isSigned = true;
  EXPECT_EQ(why(isSigned),
            "Rollout is not defined for signed weights: their products over layers have no "
            "meaning.");
  AttentionImage loose = imageOf({pair(1, 0, 0, 1)});
  loose.sumsToOne = false;
  EXPECT_EQ(why(loose),
            "Rollout is not defined here: the rows of these weights do not sum to one.");
  EXPECT_EQ(why(imageOf({pair(1, 0, 0, 1, 0), pair(1, 0, 0, 1, 2)})),
            "Rollout needs every layer; layer 1 is missing.");
  AttentionLayer window = pair(1, 0, 0, 1);
  window.window = 4;
  EXPECT_TRUE(why(imageOf({window})).starts_with(
      "Rollout is not defined for layers that see windows, as layer 0"));
  AttentionLayer fewer = pair(1, 0, 0, 1);
  fewer.keys = 1;
  EXPECT_EQ(why(imageOf({fewer})),
            "Rollout needs as many queries as keys; layer 0 has 2 queries and 1 keys.");
  EXPECT_EQ(why(imageOf({pair(1, 0, 0, 1), squareLayer(cellsOf(2, 1, false), {1, 0, 0, 1}, 1)})),
            "Rollout needs the same positions in every layer; those of layer 1 differ.");
}

}  // namespace
}  // namespace vitrine::ui
