#include "ui/attention/attention_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/ui/attention/layers.h"

namespace vitrine::ui {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

QueryChoice patchAt(double down, double right) {
  return {QueryChoice::Kind::Patch, {down, right}, 0};
}
QueryChoice tokenOf(int token) { return {QueryChoice::Kind::Token, {0.5, 0.5}, token}; }

TEST(TokenGrid, KnowsRowsColumnsAndWhatIsOnNoGrid) {
  const TokenGrid grid = TokenGrid::of(cellsOf(2, 3, true));
  EXPECT_EQ(grid.rows, 2);
  EXPECT_EQ(grid.columns, 3);
  EXPECT_EQ(grid.at(1, 2), 6);
  EXPECT_EQ(grid.at(2, 0), -1);
  EXPECT_EQ(grid.offGrid(), std::vector<int>{0});
  EXPECT_EQ(grid.words[0].toStdString(), "class token");
  EXPECT_EQ(grid.words[1].toStdString(), "");
  EXPECT_EQ(grid.name(6).toStdString(), "row 1, column 2");
}

TEST(TokenGrid, KeepsWordsOfTextTokensAndNumbersThoseWithout) {
  const TokenGrid grid = TokenGrid::of({{}, {}, {0, 0}}, {QStringLiteral("a"), QString()});
  EXPECT_EQ(grid.words[0].toStdString(), "a");
  EXPECT_EQ(grid.words[1].toStdString(), "token 1");
  EXPECT_EQ(grid.offGrid().size(), 2U);
}

TEST(Query, IsTheClassTokenUnlessOneIsChosen) {
  EXPECT_EQ(queryOf(threeTokens(), {}), 0);
  EXPECT_EQ(queryOf(squareLayer(cellsOf(3, 3, false), std::vector<float>(81)), {}), 4);
}

TEST(Query, IsTheFirstWordThatSeesAPatch) {
  // A causal text of two words around one patch.
  const AttentionLayer layer = squareLayer({{}, {0, 0}, {}}, {1.0F, 0.0F, 0.0F,  //
                                                              0.5F, 0.5F, 0.0F,  //
                                                              0.2F, 0.5F, 0.3F});
  EXPECT_EQ(queryOf(layer, {}), 2);
}

TEST(Query, IsThePatchAtAPlaceOfTheImage) {
  const AttentionLayer layer = threeTokens();
  EXPECT_EQ(queryOf(layer, patchAt(0.5, 0.2)), 1);
  EXPECT_EQ(queryOf(layer, patchAt(0.5, 0.8)), 2);
  EXPECT_EQ(choiceOf(layer, 2), patchAt(0.5, 0.75));
  EXPECT_EQ(choiceOf(layer, 0), tokenOf(0));
  EXPECT_EQ(choiceOf(layer, kMeanQuery).kind, QueryChoice::Kind::Mean);
}

TEST(Query, IsMissingWhereItWasNotKept) {
  AttentionLayer layer = threeTokens();
  EXPECT_EQ(queryOf(layer, tokenOf(1)), std::nullopt);
  layer.queryGrid = TokenGrid::of({{}});
  layer.queries = 1;
  EXPECT_EQ(queryOf(layer, patchAt(0.5, 0.2)), std::nullopt);
  // A window sees its own part of the image alone.
  AttentionLayer window = squareLayer(cellsOf(2, 2, false), std::vector<float>(16, 0.25F));
  window.window = 3;
  window.queryGrid.frame = QRectF(0.5, 0.5, 0.5, 0.5);
  window.keyGrid.frame = window.queryGrid.frame;
  EXPECT_EQ(queryOf(window, patchAt(0.2, 0.2)), std::nullopt);
  EXPECT_EQ(queryOf(window, patchAt(0.9, 0.6)), 2);
  // One patch of a larger grid.
  TokenGrid one = TokenGrid::of({{1, 1}});
  one.grow(4, 4);
  layer.queryGrid = one;
  EXPECT_EQ(queryOf(layer, patchAt(0.3, 0.3)), 0);
  EXPECT_EQ(queryOf(layer, patchAt(0.8, 0.3)), std::nullopt);
}

TEST(Masked, KeysAreZeroInEveryHead) {
  // In the second head the class token sees itself alone; the first head sees all.
  EXPECT_EQ(maskedKeys(threeTokens(), 0), (std::vector<bool>{false, false, false}));
  const AttentionLayer causal =
      squareLayer(cellsOf(1, 3, false), {1.0F, 0, 0, 0.5F, 0.5F, 0, 0.2F, 0.3F, 0.5F});
  EXPECT_EQ(maskedKeys(causal, 0), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(maskedKeys(causal, 1), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(maskedKeys(causal, kMeanQuery), (std::vector<bool>{false, false, false}));
}

TEST(Row, IsThatOfTheQueryWithMaskedKeysAsNoNumber) {
  const AttentionLayer causal =
      squareLayer(cellsOf(1, 3, false), {1.0F, 0, 0, 0.5F, 0.5F, 0, 0.2F, 0.3F, 0.5F});
  const std::vector<float> row = rowOf(causal, 0, 1);
  EXPECT_FLOAT_EQ(row[0], 0.5F);
  EXPECT_FLOAT_EQ(row[1], 0.5F);
  EXPECT_TRUE(std::isnan(row[2]));
}

TEST(Row, OfTheMeanQueryIsTheMeanOverQueries) {
  const std::vector<float> row = rowOf(threeTokens(), 0, kMeanQuery);
  EXPECT_NEAR(row[0], 0.8 / 3, 1e-6);
  EXPECT_NEAR(row[1], 1.1 / 3, 1e-6);
  EXPECT_NEAR(row[2], 1.1 / 3, 1e-6);
}

TEST(Mass, IsHeldByTheFewestKeys) {
  const std::vector<float> row{0.1F, 0.4F, 0.2F, 0.3F};
  EXPECT_EQ(keysOfMass(row, 0.4), (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(keysOfMass(row, 0.7), (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(keysOfMass(row, 0.71), (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(keysOfMass(row, 1), (std::vector<bool>(4, true)));
}

TEST(Mass, CountsSignedWeightsByTheirSizeAndMaskedKeysNever) {
  const std::vector<float> row{-0.6F, kNone, 0.3F, 0.1F};
  EXPECT_EQ(keysOfMass(row, 0.6), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(keysOfMass(row, 1), (std::vector<bool>{true, false, true, true}));
}

TEST(Mass, OfEqualKeysTakesTheFirst) {
  EXPECT_EQ(keysOfMass(std::vector<float>(4, 0.25F), 0.5),
            (std::vector<bool>{true, true, false, false}));
}

TEST(Range, BeginsAtZeroAndIsSymmetricWhereWeightsAreSigned) {
  EXPECT_EQ(rangeOf(std::vector<float>{0.25F, kNone, 0.5F}), (ValueRange{0, 0.5, false}));
  EXPECT_EQ(rangeOf(std::vector<float>{-0.5F, 0.25F}), (ValueRange{-0.5, 0.5, true}));
  EXPECT_EQ(joined({0, 0.75, false}, {-0.5, 0.5, true}), (ValueRange{-0.75, 0.75, true}));
  EXPECT_EQ(joined({0, 0.75, false}, {0, 0.5, false}), (ValueRange{0, 0.75, false}));
}

}  // namespace
}  // namespace vitrine::ui
