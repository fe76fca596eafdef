// Figures on paper: nothing of a title is cut, and no band of the picture is empty.
#include <QImage>
#include <algorithm>

#include "tests/ui/figures/samples.h"
#include "tests/ui/support/qt_test.h"
#include "ui/figures/figure.h"
#include "ui/figures/side_by_side.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

std::unique_ptr<Figure> figureOf(const Artifact& artifact) {
  return makeFigure(QString::fromStdString(artifact.kind), artifact.meta, artifact.data);
}

/// 21 images of 8 x 8 pixels, with what they are.
Artifact gallery() {
  Artifact artifact = samples::named("other", "gallery", artifact_kind::kImageGrid);
  std::vector<std::uint8_t> pixels;
  for (int image = 0; image < 21; ++image) {
    for (int pixel = 0; pixel < 64; ++pixel)
      pixels.push_back(static_cast<std::uint8_t>((pixel * 3 + image * 5) % 200));
    artifact.meta["labels"].push_back("image " + std::to_string(image));
  }
  setUint8(artifact, pixels, {21, 8, 8, 1}, {"image", "row", "column", "channel"});
  return artifact;
}

TEST(ImageGrid, DrawsTheFirst4096ImagesAndSaysOfHowMany) {
  Artifact artifact = samples::named("other", "gallery", artifact_kind::kImageGrid);
  const std::vector<std::uint8_t> pixels(100'000, 7);
  setUint8(artifact, pixels, {100'000, 1, 1, 1}, {"image", "row", "column", "channel"});
  const auto figure = figureOf(artifact);
  EXPECT_EQ(figure->imageCount(), 4096);
  EXPECT_EQ(figure->summary(), "4096 of 100000 images of 1 x 1 pixels");
  EXPECT_EQ(figure->csv().count(QLatin1Char('\n')), 4097);
}

/// Millimetres of paper without ink at the left, right and lower edge.
struct Margins {
  double left = 0, right = 0, bottom = 0;
};
Margins marginsOf(const QImage& picture, double perMillimetre) {
  int left = picture.width(), right = 0, bottom = 0;
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x) {
      if (qGray(picture.pixel(x, y)) > 240) continue;
      left = std::min(left, x);
      right = std::max(right, x);
      bottom = y;
    }
  }
  return {left / perMillimetre, (picture.width() - 1 - right) / perMillimetre,
          (picture.height() - 1 - bottom) / perMillimetre};
}

TEST(Paper, ImagesAndMapsLeaveNoBandEmpty) {
  Artifact maps = samples::named("other", "maps", artifact_kind::kHeatmap);
  setFloat32(maps, std::vector<float>(4 * 6 * 3, 0.5F), {6, 3, 4}, {"layer", "row", "column"});
  for (const Artifact& artifact : {gallery(), samples::image(), maps, samples::table()}) {
    for (const double width : {FigurePaper::kSingleColumn, FigurePaper::kDoubleColumn}) {
      const auto figure = figureOf(artifact);
      const FigurePaper paper = paperFor(*figure, {.width = width});
      constexpr double kPerMillimetre = 8;
      const QImage picture = paperPicture(*figure, paper, kPerMillimetre);
      const Margins margins = marginsOf(picture, kPerMillimetre);
      EXPECT_LT(margins.bottom, 6) << artifact.kind << ' ' << width;
      EXPECT_NEAR(margins.left, margins.right, 2) << artifact.kind << ' ' << width;
    }
  }
}

TEST(Paper, TitlesThatAreTooLongForOneLineHaveMore) {
  Artifact artifact = samples::histogram();
  artifact.meta["title"] = "Absolute gradients of every weight of all attention layers, step 40000";
  artifact.meta["split"] = "validation images with their labels";
  const QByteArray svg = figureBytes(*figureOf(artifact), FigureFormat::Svg, {});
  for (const char* word : {"Absolute", "attention", "step 40000", "validation images", "labels"})
    EXPECT_TRUE(svg.contains(word)) << word;
  EXPECT_FALSE(svg.contains("\u2026"));
}

TEST(Paper, FiguresBesideEachOtherBeginAtOneHeight) {
  std::vector<std::pair<QString, std::unique_ptr<Figure>>> both;
  for (const char* title : {"short", "a title that leaves no room for what is right of it"}) {
    Artifact artifact = samples::histogram();
    artifact.meta["title"] = title;
    both.emplace_back(QString::fromLatin1(title), figureOf(artifact));
  }
  SideBySide figure(std::move(both), 2, {});
  const QImage picture = paperPicture(figure, {.width = FigurePaper::kDoubleColumn}, 4);
  // The upper edge of the higher bar, in the left and in the right half.
  const auto topOf = [&](int from, int to) {
    const QColor fill = themeColors(ThemeKind::Light).accent;
    for (int y = 0; y < picture.height(); ++y) {
      for (int x = from; x < to; ++x) {
        if (picture.pixelColor(x, y) == fill) return y;
      }
    }
    return -1;
  };
  const int left = topOf(0, picture.width() / 2);
  EXPECT_GT(left, 0);
  EXPECT_EQ(left, topOf(picture.width() / 2, picture.width()));
}

}  // namespace
}  // namespace vitrine::ui
