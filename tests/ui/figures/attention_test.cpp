// Attention maps: which row is laid out where, and what a click chooses.
#include <QImage>

#include "tests/ui/figures/figure_of.h"
#include "tests/ui/support/qt_environment.h"

namespace vitrine::ui {
namespace {

TEST(Attention, LaysTheClassTokensRowOntoThePatchGrid) {
  const auto figure = figureOf(samples::attention());
  const QImage image = figure->image(kSize, 1);
  const QRect cell = where(*figure, QStringLiteral("layer 0, head 0\nrow 1, column 0: 0.3"));
  ASSERT_FALSE(cell.isEmpty());
  EXPECT_TRUE(figure->summary().contains(QStringLiteral("class token")));
  // 0.1 .. 0.4 on the patches, drawn from 0: the third patch is at 0.3 / 0.4.
  const QRect map = where(*figure, QStringLiteral("head 1"));
  ASSERT_FALSE(map.isEmpty());
  const QRect other = where(*figure, QStringLiteral("head 1\nrow 1, column 1: 0.04"));
  ASSERT_FALSE(other.isEmpty());
  EXPECT_LT(distance(image.pixelColor(other.center()), viridis(0.1)), 12);
}

TEST(Attention, GivesEachMapItsOwnScaleWhenAsked) {
  FigureStyle style{.scale = FigureStyle::Scale::PerMap};
  const auto figure = figureOf(samples::attention(), style);
  const QImage image = figure->image(kSize, 1);
  const QRect brightest = where(*figure, QStringLiteral("head 1\nrow 1, column 1: 0.04"));
  ASSERT_FALSE(brightest.isEmpty());
  EXPECT_LT(distance(image.pixelColor(brightest.center()), viridis(1.0)), 12);
}

TEST(Attention, ChoosesALayerAHeadAndAQueryByClick) {
  const auto figure = figureOf(samples::attention());
  (void)figure->image(kSize, 1);
  const QRect map = where(*figure, QStringLiteral("head 1"));
  const FigureTarget target = figure->targetAt(map.center());
  EXPECT_EQ(target.layer, 0);
  EXPECT_EQ(target.head, 1);
  // The enlarged map is the wider one of head 0.
  const QRect patches = where(*figure, QStringLiteral("head 0\nrow 0, column 1"));
  const auto place = figure->targetAt(QPointF(patches.right() - 2, patches.center().y())).queryAt;
  ASSERT_TRUE(place);
  EXPECT_EQ(*place, (std::array<double, 2>{0.25, 0.75}));
}

TEST(Attention, ShowsTheSamePatchWhereverTheClassTokenStands) {
  const Artifact first = samples::attention();
  Artifact last = first;
  last.meta["key_positions"] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {-1, -1}};
  last.meta["query_positions"] = last.meta["key_positions"];
  FigureStyle style{.queryAt = {{0.25, 0.75}}};
  for (const Artifact& artifact : {first, last}) {
    EXPECT_TRUE(
        figureOf(artifact, style)->summary().contains(QStringLiteral("query: row 0, column 1")));
  }
  // A finer grid has its own patch there.
  Artifact fine = first;
  std::vector<float> values(64, 0.1F);
  setFloat32(fine, values, {1, 1, 4, 16}, {"layer", "head", "query", "key"});
  fine.meta["key_positions"] = Json::array();
  for (int i = 0; i < 16; ++i) fine.meta["key_positions"].push_back({i / 4, i % 4});
  fine.meta["query_positions"] = {{0, 0}, {1, 2}, {3, 3}, {2, 1}};
  EXPECT_TRUE(figureOf(fine, style)->summary().contains(QStringLiteral("query: row 1, column 2")));
}

TEST(Attention, SaysTheClassOfTheImageAndTheModelsAnswer) {
  Artifact artifact = samples::attention();
  EXPECT_FALSE(figureOf(artifact)->summary().contains(QStringLiteral("true:")))
      << "older artifacts do not say it";
  artifact.meta["label"] = 1;
  artifact.meta["label_name"] = "Trouser";
  artifact.meta["predicted"] = 3;
  artifact.meta["predicted_name"] = "Dress";
  artifact.meta["confidence"] = 0.834;
  EXPECT_TRUE(figureOf(artifact)->summary().endsWith(
      QStringLiteral("; true: Trouser; predicted: Dress, %1 \u00d7").arg(percent(0.834, 1))));
  artifact.meta["predicted"] = 1;
  artifact.meta["predicted_name"] = "Trouser";
  EXPECT_TRUE(figureOf(artifact)->summary().endsWith(QStringLiteral("\u2713")));
  artifact.meta["label"] = -1;
  artifact.meta["label_name"] = "-1";
  EXPECT_TRUE(figureOf(artifact)->summary().endsWith(
      QStringLiteral("; predicted: Trouser, %1").arg(percent(0.834, 1))))
      << "the class of an image of the user's is not known";
  EXPECT_FALSE(figureOf(artifact)->summary().contains(QStringLiteral("true:")));
}

TEST(Attention, TheLargeMapLiesOverTheImageUnlessItIsAWindow) {
  Artifact artifact = samples::attention();
  FigureStyle style;
  const QImage alone = figureOf(artifact, style)->image(kSize, 1);
  style.picture = QImage(28, 28, QImage::Format_RGB32);
  style.picture.fill(Qt::white);
  const QImage white = figureOf(artifact, style)->image(kSize, 1);
  style.picture.fill(Qt::black);
  const QImage black = figureOf(artifact, style)->image(kSize, 1);
  // Pixels that follow the image: those of the map and those of the small picture next to it.
  const auto differing = [](const QImage& a, const QImage& b) {
    int pixels = 0;
    for (int y = 0; y < a.height(); ++y) {
      for (int x = 0; x < a.width(); ++x) pixels += a.pixel(x, y) != b.pixel(x, y);
    }
    return pixels;
  };
  const int over = differing(white, black);
  artifact.meta["window"] = 0;
  style.picture.fill(Qt::white);
  const QImage whiteWindow = figureOf(artifact, style)->image(kSize, 1);
  style.picture.fill(Qt::black);
  const int beside = differing(whiteWindow, figureOf(artifact, style)->image(kSize, 1));
  EXPECT_GT(beside, 0);
  EXPECT_GT(over, 2 * beside);
  EXPECT_GT(differing(alone, white), 0);
}

TEST(Attention, SaysWhatItDoesNotShow) {
  EXPECT_EQ(figureOf(samples::attention())->note().toStdString(),
            "Attention shows where a head reads, not why the model decides.");
  Artifact positions = samples::attention();
  positions.meta["unit"] = "cosine similarity of positions";
  EXPECT_EQ(figureOf(positions)->note().toStdString(),
            "Not attention: cosine similarity of positions.");
}

TEST(Attention, RefusesPositionsThatDoNotMatchItsTokens) {
  Artifact artifact = samples::attention();
  artifact.meta["key_positions"] = {{0, 0}};
  EXPECT_TRUE(figureOf(artifact)->error().contains(QStringLiteral("key_positions")));
  artifact.meta["key_positions"] = {{-1, -1}, {0, 0}, {0, 1}, {1, 0}, {4096, 1}};
  EXPECT_TRUE(figureOf(artifact)->error().contains(QStringLiteral("4096 or more")));
}

TEST(Attention, WritesTheLayerByItsNumberInTheModel) {
  Artifact artifact = samples::attention();
  artifact.meta["layers"] = Json::array({5});
  const QStringList lines = figureOf(artifact)->csv().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  EXPECT_TRUE(lines[1].startsWith(QStringLiteral("5,0,0,0,,,"))) << lines[1].toStdString();
}

TEST(Attention, NamesTheWordThatAsks) {
  Artifact artifact = samples::attention();
  EXPECT_TRUE(figureOf(artifact)->summary().contains(QStringLiteral("query: class token")));
  artifact.meta["query_words"] = {"shoe", "", "", "", ""};
  EXPECT_TRUE(figureOf(artifact)->summary().contains(QStringLiteral("query: shoe")));
}

TEST(Attention, DrawsTheWholeMatrixWhenAsked) {
  FigureStyle style{.attention = FigureStyle::AttentionView::Matrix};
  const auto figure = figureOf(samples::attention(), style);
  (void)figure->image(kSize, 1);
  EXPECT_FALSE(where(*figure, QStringLiteral("head 1\nquery 4, key 4: 0.08")).isEmpty());
  EXPECT_EQ(figure->csv().count(QLatin1Char('\n')), 1 + 2 * 25);
}

}  // namespace
}  // namespace vitrine::ui
