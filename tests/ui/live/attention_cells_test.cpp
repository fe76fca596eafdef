#include "ui/live/attention_cells.h"

#include <gtest/gtest.h>

#include "tests/ui/live/live_frames.h"

namespace vitrine::ui {
namespace {

TEST(AttentionCells, LayOneQueryOutOnTheGrid) {
  const live::Frame frame = liveFrame(10);
  const AttentionCells cells =
      attentionCells(frame.attention[1], 1, {LiveQuery::Kind::Patch, 0.5, 0.5});
  EXPECT_EQ(cells.rows, 3);
  EXPECT_EQ(cells.columns, 3);
  EXPECT_EQ(cells.asking, 4);
  EXPECT_FLOAT_EQ(cells.values[4], 1.0F);
  EXPECT_FLOAT_EQ(cells.values[5], 0.0F);  // behind the mask
  EXPECT_FLOAT_EQ(cells.classValue, 0.0F);
  EXPECT_NEAR(cells.rowSum, 2 * (0.5 + 4 * 0.01), 1e-6);
  EXPECT_GT(cells.meanDistance, 0);
}

TEST(AttentionCells, AskTheClassTokenOrTheMeanOfAllQueries) {
  const live::Frame frame = liveFrame(10, false);
  const AttentionCells token = attentionCells(frame.attention[0], 0, {});
  EXPECT_EQ(token.asking, -1);
  EXPECT_FLOAT_EQ(token.classValue, 0.5F);
  const AttentionCells mean = attentionCells(frame.attention[0], 0, {LiveQuery::Kind::Mean, 0, 0});
  EXPECT_FLOAT_EQ(mean.values[7], 0.7F);
  EXPECT_LT(mean.meanDistance, 0);
}

TEST(AttentionCells, AskThePatchInTheMiddleWhereThereIsNoClassToken) {
  live::Frame frame = liveFrame(10, false);
  live::AttentionLayer& layer = frame.attention[0];
  for (auto* places : {&layer.queries, &layer.keys}) (*places)[9] = {0, 0};
  EXPECT_EQ(attentionCells(layer, 0, {}).asking, 4);
}

TEST(AttentionCells, OfTheMeanHeadAreTheMeanOfTheHeads) {
  live::Frame frame = liveFrame(10, false);
  live::AttentionLayer& layer = frame.attention[0];
  for (std::size_t i = 0; i < 100; ++i) layer.weights[i] = 0.2F;
  const AttentionCells mean = meanOverHeads(layer, {LiveQuery::Kind::Patch, 0, 0});
  EXPECT_FLOAT_EQ(mean.values[0], 0.35F);
}

TEST(AttentionCells, OfAWindowCoverItsPartOfTheImageAlone) {
  live::AttentionLayer layer{.heads = 1, .window = 3, .queries = {{4, 4}, {4, 5}, {5, 4}, {5, 5}}};
  layer.keys = layer.queries;
  layer.weights.assign(16, 0.25F);
  layer.mean.assign(4, 0.25F);
  const AttentionCells cells = attentionCells(layer, 0, {LiveQuery::Kind::Patch, 0.99, 0.99});
  EXPECT_EQ(cells.rows, 2);
  EXPECT_EQ(cells.asking, 3);
  EXPECT_NEAR(cells.area[0], 4.0 / 6, 1e-9);
  EXPECT_NEAR(cells.area[2], 2.0 / 6, 1e-9);
}

TEST(AttentionCells, WithoutPlacesAreOneLine) {
  live::AttentionLayer layer{.heads = 1};
  const float none = std::nanf("");
  layer.queries = layer.keys = {{none, none}, {none, none}};
  layer.weights = {0.5F, 0.5F, 0.25F, 0.75F};
  layer.mean = {0.4F, 0.6F};
  const AttentionCells cells = attentionCells(layer, 0, {});
  EXPECT_EQ(cells.rows, 1);
  EXPECT_EQ(cells.columns, 2);
  EXPECT_EQ(cells.asking, -1);
}

TEST(AttentionCells, OfAHeadThatIsNotThereAreNone) {
  EXPECT_TRUE(attentionCells(liveFrame(1).attention[0], 2, {}).isEmpty());
}

TEST(LiveColors, AreGreyWhereMaskedAndDivergeWhereSigned) {
  const QRgb grey = qRgb(1, 2, 3);
  LiveRange plain;
  plain.add(std::vector<float>{0, 0.5F});
  const QImage image =
      cellsImage(std::vector<float>{0, 0.5F, std::nanf(""), 0.1F}, 2, 2, plain, grey);
  EXPECT_EQ(image.pixel(0, 0), grey);
  EXPECT_EQ(qAlpha(image.pixel(0, 1)), 0);
  EXPECT_NE(image.pixel(1, 0), image.pixel(1, 1));
  LiveRange both;
  both.add(std::vector<float>{-0.2F, 0.1F});
  EXPECT_TRUE(both.isSigned());
  EXPECT_DOUBLE_EQ(both.high, -both.low);
  EXPECT_GT(qBlue(liveColor(-0.2, both)), qRed(liveColor(-0.2, both)));
  EXPECT_GT(qRed(liveColor(0.2, both)), qBlue(liveColor(0.2, both)));
}

}  // namespace
}  // namespace vitrine::ui
