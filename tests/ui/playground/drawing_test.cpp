#include "ui/playground/drawing.h"

#include <gtest/gtest.h>

#include <QBuffer>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/playground/board_layout.h"

namespace vitrine::ui {
namespace {

Json pngOf(int grey) {
  QImage image(4, 6, QImage::Format_Grayscale8);
  image.fill(grey);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  image.save(&buffer, "PNG");
  return Json::binary({bytes.begin(), bytes.end()});
}

Json partOf(const Artifact& artifact) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(artifact.data.data());
  return {{"preview",
           {{"name", artifact.name},
            {"kind", artifact.kind},
            {"meta", artifact.meta},
            {"bytes", Json::binary({bytes, bytes + artifact.data.size()})}}}};
}

/// Two images of 2 x 3 pixels.
Json previewAt(double time) {
  Artifact artifact{.name = "preview", .kind = artifact_kind::kImageGrid};
  const std::vector<std::uint8_t> pixels{1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16};
  setUint8(artifact, pixels, {2, 2, 3, 1}, {"image", "row", "column", "channel"});
  artifact.meta["time"] = time;
  artifact.meta["first_seed"] = 40;
  return partOf(artifact);
}

Json attentionOf(std::vector<float> weights, std::vector<std::int64_t> shape) {
  Artifact artifact{.name = "attention", .kind = artifact_kind::kAttention};
  setFloat32(artifact, weights, std::move(shape), {"layer", "head", "query", "key"});
  artifact.meta["key_positions"] = {{-1, -1}, {0, 0}, {0, 1}};
  artifact.meta["seed"] = 41;
  artifact.meta["time"] = 0.5;
  return partOf(artifact)["preview"];
}

TEST(DrawnCell, TakesImagesTextsAndTheirWay) {
  DrawnCell cell;
  takePart(cell, previewAt(0.1));
  takePart(cell, previewAt(0.9));
  takePart(cell,
           {{"image",
             {{"seed", 40}, {"sha256", "ab"}, {"recipe", {{"step", 3}}}, {"bytes", pngOf(9)}}}});
  takePart(cell, {{"text", {{"seed", 40}, {"prompt", "test/1"}, {"text", "a bag"}}}});
  ASSERT_EQ(cell.images.size(), 1U);
  EXPECT_EQ(cell.images[0].image.size(), QSize(4, 6));
  EXPECT_EQ(cell.images[0].recipe.at("step"), 3);
  EXPECT_EQ(cell.texts[0].text, QStringLiteral("a bag"));
  ASSERT_EQ(cell.films[41].size(), 2U);
  EXPECT_EQ(cell.films[41][1].time, 0.9);
  EXPECT_EQ(cell.films[41][0].image.pixelColor(2, 1).red(), 16);
}

TEST(DrawnCell, RefusesWhatIsNoImage) {
  DrawnCell cell;
  EXPECT_THROW(takePart(cell, {{"image", {{"seed", 1}, {"bytes", Json::binary({1, 2})}}}}),
               FileError);
  EXPECT_THROW(takePart(cell, {{"image", {{"seed", 1}}}}), FileError);
  EXPECT_THROW(takePart(cell, {{"image", {{"seed", "x"}, {"bytes", pngOf(1)}}}}), FileError);
}

TEST(AttentionFrame, LaysTheKeysOnTheirGridAndLeavesTheOthersOut) {
  const auto [seed, frame] =
      attentionFrame(attentionOf({0.5F, 0.25F, 0.25F, 0.2F, 0.0F, 0.8F}, {2, 1, 1, 3}));
  EXPECT_EQ(seed, 41U);
  EXPECT_EQ(frame.rows, 1);
  EXPECT_EQ(frame.columns, 2);
  EXPECT_EQ(frame.map(0, -1), (std::vector<float>{0.25F, 0.25F}));
  EXPECT_EQ(frame.map(1, 0), (std::vector<float>{0.0F, 0.8F}));
  EXPECT_FLOAT_EQ(frame.map(-1, -1)[1], 0.525F);
}

TEST(AttentionFrame, KeepsTheWordsOfItsKeysApart) {
  Json preview = attentionOf({0.5F, 0.25F, 0.25F, 0.2F, 0.0F, 0.8F}, {2, 1, 1, 3});
  preview["meta"]["key_words"] = {"bag", "", ""};
  const AttentionFrame frame = attentionFrame(preview).second;
  EXPECT_EQ(frame.words, QStringList{QStringLiteral("bag")});
  EXPECT_EQ(frame.wordMap(1, 0), (std::vector<float>{0.2F}));
  EXPECT_FLOAT_EQ(frame.wordMap(-1, -1).at(0), 0.35F);
  EXPECT_EQ(frame.map(0, -1), (std::vector<float>{0.25F, 0.25F}));
}

TEST(AttentionFrame, RefusesWhatDoesNotFit) {
  EXPECT_THROW((void)attentionFrame(attentionOf({1, 1}, {1, 1, 1, 2})), FileError);
  EXPECT_THROW((void)attentionFrame(attentionOf({1, 1, 1, 1, 1, 1}, {1, 1, 2, 3})), FileError);
  Json apart = attentionOf(std::vector<float>(300, 0.1F), {10, 10, 1, 3});
  apart["meta"]["key_positions"] = {{-1, -1}, {0, 0}, {4095, 4095}};
  EXPECT_THROW((void)attentionFrame(apart), FileError) << "gigabytes for 300 weights";
}

TEST(PixelDifference, CountsPixelsAndFindsTheLargest) {
  QImage a(3, 3, QImage::Format_RGB888), b;
  a.fill(Qt::black);
  b = a;
  b.setPixelColor(1, 1, QColor(0, 9, 2));
  const auto found = pixelDifference(a, b);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->largest, 9);
  EXPECT_EQ(found->pixels, 1);
  EXPECT_FALSE(pixelDifference(a, QImage(2, 2, QImage::Format_RGB888)));
}

Drawing gridOf(int rows, int columns, int count) {
  Drawing drawing;
  drawing.base.values = {{"count", count}};
  drawing.grid.rows = GridAxis{"class", "Class", {}, {}};
  drawing.grid.columns = GridAxis{"guidance", "Guidance", {}, {}};
  for (int i = 0; i < rows; ++i) {
    drawing.grid.rows->values.emplace_back(i);
    drawing.grid.rows->labels << QString::number(i);
  }
  for (int i = 0; i < columns; ++i) {
    drawing.grid.columns->values.emplace_back(double(i));
    drawing.grid.columns->labels << QString::number(i);
  }
  for (SampleSettings& cell : cellsOf(drawing.base, drawing.grid))
    drawing.cells.emplace_back().settings = std::move(cell);
  return drawing;
}

TEST(BoardLayout, EnlargesByWholeNumbersAsFarAsThereIsRoom) {
  const Drawing drawing = gridOf(2, 3, 1);
  const BoardLayout layout = layoutBoard(drawing, {700, 400}, {28, 28}, 0, QFont());
  EXPECT_EQ(layout.tiles.size(), 6U);
  EXPECT_GT(layout.scale, 1);
  EXPECT_LE(layout.size.width(), 700);
  EXPECT_LE(layout.size.height(), 400);
  for (const BoardTile& tile : layout.tiles) EXPECT_EQ(tile.rect.width(), 28.0 * layout.scale);
  EXPECT_EQ(layoutBoard(drawing, {700, 400}, {28, 28}, 3, QFont()).scale, 3);
}

TEST(BoardLayout, ScrollsWhatWouldBeTooSmallToSee) {
  const Drawing drawing = gridOf(10, 10, 4);
  const BoardLayout small = layoutBoard(drawing, {500, 400}, {28, 28}, 0, QFont());
  EXPECT_EQ(small.scale, 2);
  EXPECT_GT(small.size.height(), 400);
  EXPECT_EQ(layoutBoard(drawing, {500, 400}, {256, 256}, 0, QFont()).scale, 1);
}

TEST(BoardLayout, HasTheImagesOfACellTogether) {
  const BoardLayout layout = layoutBoard(gridOf(1, 2, 4), {700, 400}, {28, 28}, 1, QFont());
  ASSERT_EQ(layout.tiles.size(), 8U);
  const BoardTile* last = layout.at(ImagePlace{0, 3});
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->row, 1);
  EXPECT_EQ(last->column, 1);
  EXPECT_EQ(layout.at(ImagePlace{1, 0})->column, 2);
  EXPECT_EQ(layout.at(last->rect.center()), last);
}

TEST(BoardLayout, ContinuesInTheNextLineWithoutAGrid) {
  Drawing drawing;
  drawing.base.values = {{"count", 10}};
  drawing.cells.emplace_back().settings = drawing.base;
  const BoardLayout layout = layoutBoard(drawing, {4 * 36, 1000}, {32, 32}, 1, QFont());
  EXPECT_EQ(layout.tiles.back().row, 2);
  EXPECT_EQ(layout.tiles.back().column, 1);
}

TEST(Drawing, IsNamedByItsGridElseByWhatIsDrawn) {
  EXPECT_EQ(gridOf(2, 3, 1).title(), QStringLiteral("Class \u00d7 guidance"));
  EXPECT_EQ(gridOf(2, 3, 1).cellTitle(4), QStringLiteral("Class 1, guidance 1"));
  Drawing drawing;
  drawing.base.values = {{"prompt", "a bag"}, {"seed", 3}};
  EXPECT_EQ(drawing.title(), QStringLiteral("a bag"));
  drawing.base.values = {{"class", nullptr}, {"seed", 3}};
  EXPECT_EQ(drawing.title(), QStringLiteral("Seed 3"));
  drawing.base.values = {{"class", 7}};
  EXPECT_EQ(drawing.title(), QStringLiteral("Class 7"));
  drawing.className = QStringLiteral("Sneaker");
  EXPECT_EQ(drawing.title(), QStringLiteral("Sneaker"));
}

}  // namespace
}  // namespace vitrine::ui
