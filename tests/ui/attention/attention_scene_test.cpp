#include "ui/attention/attention_scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/support/has_texts.h"
#include "tests/ui/attention/layers.h"
#include "tests/ui/figures/svg_document.h"
#include "tests/ui/support/probe.h"
#include "tests/ui/support/qt_environment.h"
#include "ui/attention/attention_figures.h"
#include "ui/figures/painting.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

std::shared_ptr<AttentionImage> imageWith(std::vector<AttentionLayer> layers) {
  auto image = std::make_shared<AttentionImage>();
  image->layers = std::move(layers);
  return image;
}

AttentionScene sceneOf(std::vector<AttentionLayer> layers) {
  AttentionScene scene;
  scene.setImage(imageWith(std::move(layers)));
  return scene;
}

TEST(Scene, ComputesEachRowOnceForAQuery) {
  const AttentionLayer layer = threeTokens();
  AttentionScene scene = sceneOf({layer, layer});
  (void)scene.wholeRange();
  EXPECT_EQ(Probe::rowsMade(scene), 4);
  AttentionChoice choice;
  choice.layer = 1;
  choice.head = 1;
  scene.setChoice(choice);  // another head: no other rows
  (void)scene.row(1, 1);
  (void)scene.map(0, 0, themeColors());
  EXPECT_EQ(Probe::rowsMade(scene), 4);
  choice.query = {QueryChoice::Kind::Patch, {0.5, 0.75}, 0};
  scene.setChoice(choice);
  (void)scene.row(1, 1);
  EXPECT_EQ(Probe::rowsMade(scene), 5);
}

TEST(Scene, HoldsLayerAndHeadWithinTheImage) {
  AttentionScene scene = sceneOf({threeTokens()});
  scene.setChoice({.layer = 9, .head = 9});
  EXPECT_EQ(scene.layer(), 0);
  EXPECT_EQ(scene.head(), 1);
}

TEST(Scene, HasAScaleForEachMapOrOneForAll) {
  AttentionScene scene = sceneOf({threeTokens()});
  AttentionChoice choice;
  choice.query = {QueryChoice::Kind::Patch, {0.5, 0.25}, 0};  // rows {.1 .6 .3} and {.25 .75 0}
  scene.setChoice(choice);
  EXPECT_NEAR(scene.range(0, 0).high, 0.6, 1e-6);
  choice.isSameScale = true;
  scene.setChoice(choice);
  EXPECT_NEAR(scene.range(0, 0).high, 0.75, 1e-6);
  scene.setCommonRange(ValueRange{0, 2, false});
  EXPECT_DOUBLE_EQ(scene.range(0, 1).high, 2);
}

TEST(Scene, DrawsMaskedKeysGreyAndThoseBelowTheThresholdNotAtAll) {
  AttentionScene scene =
      sceneOf({squareLayer(cellsOf(1, 3, false), {1, 0, 0, 0.75F, 0.25F, 0, 0.2F, 0.3F, 0.5F})});
  scene.setChoice({.query = {QueryChoice::Kind::Patch, {0.5, 0.5}, 0}, .share = 0.5});
  const QImage map = scene.map(0, 0, themeColors());
  ASSERT_EQ(map.size(), QSize(3, 1));
  EXPECT_EQ(map.pixelColor(0, 0), viridis(1));
  EXPECT_EQ(map.pixelColor(1, 0).alpha(), 0);
  EXPECT_EQ(map.pixelColor(2, 0), maskedColor(themeColors()));
}

TEST(Scene, DrawsSignedWeightsAroundZero) {
  AttentionScene scene =
      sceneOf({squareLayer(cellsOf(1, 3, false), {-0.5F, 0.25F, 0.5F, 1, 1, 1, 1, 1, 1})});
  scene.setChoice({.query = {QueryChoice::Kind::Patch, {0.5, 0.1}, 0}, .isSameScale = false});
  EXPECT_EQ(scene.range(0, 0), (ValueRange{-0.5, 0.5, true}));
  const QImage map = scene.map(0, 0, themeColors());
  EXPECT_GT(map.pixelColor(0, 0).blue(), map.pixelColor(0, 0).red());
  EXPECT_GT(map.pixelColor(2, 0).red(), map.pixelColor(2, 0).blue());
}

TEST(Scene, DrawsAHeadOfASignedMapAroundZeroWhereNoWeightIsNegative) {
  const Cells cells = cellsOf(1, 2, false);
  auto image = imageWith({squareLayer(cells, {-0.5F, 0.25F, 1, 1}),
                          squareLayer(cells, {0.25F, 0.5F, 1, 1}, 1)});
  AttentionImage more;  // rows that are read later say it of those before, too
  more.isSigned = true;
  addQueries(*image, more);
  AttentionScene scene;
  scene.setImage(image);
  scene.setChoice({.query = {QueryChoice::Kind::Patch, {0.5, 0.1}, 0}, .isSameScale = false});
  EXPECT_EQ(scene.range(1, 0), (ValueRange{-0.5, 0.5, true}));
  EXPECT_EQ(scene.map(1, 0, themeColors()).pixelColor(1, 0).rgb(), diverging(1).rgb());
}

TEST(Scene, SaysWhyThereIsNoQuery) {
  AttentionLayer layer = threeTokens();
  AttentionScene scene = sceneOf({layer});
  EXPECT_EQ(scene.queryText(0).toStdString(), "query: class token");
  AttentionChoice choice;
  choice.query.kind = QueryChoice::Kind::Mean;
  scene.setChoice(choice);
  EXPECT_EQ(scene.queryText(0).toStdString(), "mean of 3 queries");
  choice.query = {QueryChoice::Kind::Token, {0.5, 0.5}, 7};
  scene.setChoice(choice);
  EXPECT_EQ(scene.queryText(0).toStdString(), "no such query is stored");
  EXPECT_TRUE(scene.row(0, 0).weights.empty());
  EXPECT_TRUE(scene.map(0, 0, themeColors()).isNull());
}

TEST(Scene, ShowsRolloutAsOneHeadOfALayer) {
  const AttentionLayer layer = squareLayer(cellsOf(1, 2, false), {0.75F, 0.25F, 0.5F, 0.5F});
  AttentionScene scene = sceneOf({layer});
  scene.setChoice({.query = {QueryChoice::Kind::Patch, {0.5, 0.25}, 0}, .isRollout = true});
  EXPECT_TRUE(scene.isRollout());
  EXPECT_EQ(scene.heads(0), 1);
  EXPECT_FLOAT_EQ(scene.row(0, 0).weights[0], 0.875F);
}

class Figures : public ::testing::Test {
 protected:
  Figures() : scene_(std::make_shared<AttentionScene>()) {
    auto image = imageWith({threeTokens(), threeTokens()});
    image->layers[1].number = 1;
    image->picture = QImage(4, 4, QImage::Format_RGB32);
    image->picture.fill(Qt::red);
    scene_->setImage(image);
  }
  /// Where targets of this kind lie, looked for on a grid.
  template <class Matches>
  static QPointF find(const Figure& figure, const QSize& size, Matches&& matches) {
    for (int y = 0; y < size.height(); y += 3) {
      for (int x = 0; x < size.width(); x += 3) {
        if (matches(figure.targetAt(QPointF(x, y)))) return QPointF(x, y);
      }
    }
    return {-1, -1};
  }
  /// Where targets of this kind lie in a square picture.
  template <class Matches>
  static QRect placeIn(Figure& figure, int side, Matches&& matches) {
    (void)figure.image(QSizeF(side, side), 1);
    QRect place;
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        if (matches(figure.targetAt(QPointF(x + 0.5, y + 0.5)))) place |= QRect(x, y, 1, 1);
      }
    }
    return place;
  }
  /// Where the words of a figure stand on paper.
  static std::map<std::string, QRectF> wordsOf(Figure& figure) {
    std::map<std::string, QRectF> words;
    for (const SvgDocument::Text& one : readSvg(figureBytes(figure, FigureFormat::Svg, {})).texts)
      words[one.words.toStdString()] = one.box;
    return words;
  }
  std::shared_ptr<AttentionScene> scene_;
};

TEST_F(Figures, OfferEveryLayerAndHead) {
  HeadsFigure figure(scene_, FigureStyle());
  (void)figure.image({420, 420}, 1);
  for (int layer = 0; layer < 2; ++layer) {
    for (int head = 0; head < 2; ++head) {
      EXPECT_GE(find(figure, {420, 420},
                     [&](const FigureTarget& target) {
                       return target.layer == layer && target.head == head;
                     })
                    .x(),
                0);
    }
  }
  EXPECT_EQ(figure.csv().count(QLatin1Char('\n')), 1 + 2 * 2 * 3);
}

TEST_F(Figures, NameTheHeadAboveEveryColumnAndTheLayerNextToEveryRow) {
  HeadsFigure figure(scene_, FigureStyle());
  const std::map<std::string, QRectF> words = wordsOf(figure);
  for (int layer = 0; layer < 2; ++layer) {
    const std::string row = "layer " + std::to_string(layer);
    ASSERT_TRUE(words.contains(row));
    for (int head = 0; head < 2; ++head) {
      const std::string column = "head " + std::to_string(head);
      ASSERT_TRUE(words.contains(column));
      const FigureTarget target =
          figure.targetAt({words.at(column).center().x(), words.at(row).center().y()});
      EXPECT_EQ(target.layer, layer);
      EXPECT_EQ(target.head, head);
      EXPECT_EQ(figure.targetAt(words.at(column).center()).head, -1) << "no map is under a title";
    }
  }
}

TEST_F(Figures, NumberTheHeadsWhereColumnsAreNarrow) {
  scene_->setImage(
      imageWith({squareLayer(cellsOf(1, 2, false), std::vector<float>(16 * 4, 0.5F))}));
  HeadsFigure figure(scene_, FigureStyle());
  const std::map<std::string, QRectF> words = wordsOf(figure);
  EXPECT_FALSE(words.contains("head 0"));
  ASSERT_TRUE(words.contains("0"));
  ASSERT_TRUE(words.contains("14"));
  EXPECT_EQ(figure.targetAt({words.at("14").center().x(), words.at("layer 0").center().y()}).head,
            14);
}

TEST_F(Figures, ARolloutIsOfAllHeads) {
  scene_->setChoice({.isRollout = true});
  HeadsFigure figure(scene_, FigureStyle());
  const std::map<std::string, QRectF> words = wordsOf(figure);
  EXPECT_TRUE(words.contains("all heads"));
  EXPECT_FALSE(words.contains("head 0"));
}

TEST_F(Figures, ARolloutIsOfNoHead) {
  scene_->setChoice({.isRollout = true});
  ASSERT_TRUE(scene_->isRollout());
  EXPECT_THAT(HeadFigure(scene_, FigureStyle()).csv().toStdString(),
              test::HasLine("0,,,0,class token,"));
  EXPECT_THAT(HeadFigure(scene_, FigureStyle()).summary().toStdString(),
              ::testing::StartsWith("Rollout up to layer 0; "));
  const HeadsTable table = headsTable(*scene_);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[1][1].toStdString(), "\u2013");
  EXPECT_EQ(table.rows[1][5].toStdString(), "\u2013") << "not the distance of the first head";
}

TEST_F(Figures, EnlargeByWholeNumbersWithoutSmoothing) {
  scene_->setChoice({.layout = AttentionChoice::Layout::Map});
  HeadFigure figure(scene_, FigureStyle());
  const QImage drawn = figure.image({420, 420}, 1);
  // Two patches of one row: two colours of the map next to each other, and none between.
  const AttentionScene::Row& row = scene_->row(0, 0);
  const QColor left = scene_->colorOf(row.weights[1], scene_->range(0, 0), themeColors());
  const QColor right = scene_->colorOf(row.weights[2], scene_->range(0, 0), themeColors());
  int leftPixels = 0, rightPixels = 0;
  const QPointF at = find(figure, {420, 420},
                          [](const FigureTarget& target) { return target.queryAt.has_value(); });
  for (int x = 0; x < drawn.width(); ++x) {
    leftPixels += drawn.pixelColor(x, static_cast<int>(at.y()) + 9) == left ? 1 : 0;
    rightPixels += drawn.pixelColor(x, static_cast<int>(at.y()) + 9) == right ? 1 : 0;
  }
  EXPECT_EQ(leftPixels, rightPixels);
  EXPECT_GT(leftPixels, 100);
}

/// Two runs of the same image: 2 x 2 patches with a class token in two layers, and 3 x 3 patches in
/// one layer, most of which are masked. What stands below their maps differs in height.
TEST_F(Figures, OfTwoRunsAreEquallyLarge) {
  const auto first = std::make_shared<AttentionScene>(),
             second = std::make_shared<AttentionScene>();
  const AttentionLayer classed = squareLayer(cellsOf(2, 2, true), std::vector<float>(2 * 25, 0.2F));
  first->setImage(imageWith({classed, classed}));
  std::vector<float> own(81, 0.0F);
  for (std::size_t i = 0; i < 9; ++i) own[10 * i] = 1;
  second->setImage(imageWith({squareLayer(cellsOf(3, 3, false), own)}));
  AttentionChoice choice{.query = {QueryChoice::Kind::Patch, {0.1, 0.1}, 0},
                         .layout = AttentionChoice::Layout::Map};
  for (const auto& one : {first, second}) one->setChoice(choice);
  HeadFigure head(first, FigureStyle()), otherHead(second, FigureStyle());
  HeadsFigure heads(first, FigureStyle()), otherHeads(second, FigureStyle());
  const auto isMap = [](const FigureTarget& target) { return target.queryAt.has_value(); };
  const auto isFirst = [](const FigureTarget& target) {
    return target.layer == 0 && target.head == 0;
  };
  EXPECT_NE(placeIn(head, 320, isMap).size(), placeIn(otherHead, 320, isMap).size());
  first->setTwin(second);
  second->setTwin(first);
  const QRect map = placeIn(head, 320, isMap);
  EXPECT_GT(map.width(), 100);
  EXPECT_EQ(map.size(), placeIn(otherHead, 320, isMap).size());
  EXPECT_EQ(map.width() % 6, 0) << "a whole number of pixels a cell of either";
  EXPECT_EQ(placeIn(heads, 320, isFirst).size(), placeIn(otherHeads, 320, isFirst).size());
  second->setImage(nullptr);
  EXPECT_EQ(first->twin(), nullptr) << "it shows nothing";
}

TEST_F(Figures, AMapIsAsLargeAsTheImageNextToIt) {
  const auto scene = std::make_shared<AttentionScene>();
  const auto image =
      imageWith({squareLayer(cellsOf(4, 4, false), std::vector<float>(256, 0.0625F))});
  image->picture = QImage(28, 28, QImage::Format_RGB32);
  image->picture.fill(Qt::darkGreen);
  scene->setImage(image);
  scene->setChoice({.query = {QueryChoice::Kind::Patch, {0.1, 0.1}, 0},
                    .layout = AttentionChoice::Layout::Beside});
  HeadFigure figure(scene, FigureStyle());
  for (const int side : {300, 330, 420, 520}) {
    const QRect both = placeIn(figure, side, [](const FigureTarget& target) {
      return target.queryAt.has_value();
    });
    const bool isAcross = both.width() > both.height();
    const int along = isAcross ? both.width() : both.height(),
              across = isAcross ? both.height() : both.width();
    EXPECT_EQ(across % 28, 0) << "whole pixels in a window of " << side;
    EXPECT_LE(std::abs(along - 2 * across - 12), 1) << "with a gap, in a window of " << side;
  }
}

TEST_F(Figures, OverTheImageOfferThePatchesOfOtherWindowsToo) {
  AttentionLayer layer = squareLayer(cellsOf(2, 2, false), std::vector<float>(16, 0.25F));
  layer.window = 0;
  layer.queryGrid.frame = layer.keyGrid.frame = QRectF(0, 0, 0.5, 0.5);
  auto image = imageWith({layer});
  image->picture = QImage(8, 8, QImage::Format_RGB32);
  image->picture.fill(Qt::red);
  scene_->setImage(image);
  scene_->setChoice({.layout = AttentionChoice::Layout::Overlay});
  HeadFigure figure(scene_, FigureStyle());
  const QRect corner = placeIn(figure, 320, [](const FigureTarget& target) {
    return target.queryAt && (*target.queryAt)[0] > 0.75 && (*target.queryAt)[1] > 0.75;
  });
  EXPECT_GT(corner.width(), 20);
}

TEST_F(Figures, OfferWordsAndTheMean) {
  HeadFigure figure(scene_, FigureStyle());
  (void)figure.image({640, 460}, 1);
  for (const int token : {-1, 0}) {
    EXPECT_GE(
        find(figure, {640, 460}, [&](const FigureTarget& target) { return target.token == token; })
            .x(),
        0)
        << token;
  }
  EXPECT_THAT(figure.statistics().toStdString(), ::testing::HasSubstr("bits"));
}

TEST_F(Figures, SayMaskedInTheTable) {
  auto image =
      imageWith({squareLayer(cellsOf(1, 3, false), {1, 0, 0, 0.5F, 0.5F, 0, 0.2F, 0.3F, 0.5F})});
  scene_->setImage(image);
  HeadFigure figure(scene_, FigureStyle());
  EXPECT_THAT(figure.csv().toStdString(), test::HasTexts(",,masked\n"));
}

}  // namespace
}  // namespace vitrine::ui
