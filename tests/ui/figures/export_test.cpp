// Figures as files: PNG, SVG and PDF on a paper of their shape.
#include <QFontMetricsF>
#include <QImage>

#include "tests/ui/figures/figure_of.h"
#include "tests/ui/support/qt_environment.h"
#include "ui/figures/painting.h"
#include "ui/figures/side_by_side.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

SideBySide beside(const QStringList& names) {
  std::vector<std::pair<QString, std::unique_ptr<Figure>>> figures;
  for (const QString& name : names) figures.emplace_back(name, figureOf(samples::histogram()));
  return {std::move(figures), 2, {}};
}

TEST(Export, NoReaderOfSvgBlursThePixelsOfAnImage) {
  const QByteArray svg = figureBytes(*figureOf(samples::image()), FigureFormat::Svg, {});
  const QByteArray opening = "base64,";
  const qsizetype from = svg.indexOf(opening) + opening.size();
  const QImage picture =
      QImage::fromData(QByteArray::fromBase64(svg.mid(from, svg.indexOf('"', from) - from)), "PNG");
  EXPECT_EQ(picture.size(), QSize(16, 8)) << "of 2 x 1 pixels";
  EXPECT_EQ(picture.pixelColor(7, 7), QColor(255, 0, 0));
  EXPECT_EQ(picture.pixelColor(8, 0), QColor(0, 0, 255));
}

TEST(Export, PixelsKeepTheirColoursInAPdf) {
  const QByteArray pdf = figureBytes(*figureOf(samples::image()), FigureFormat::Pdf, {});
  EXPECT_TRUE(pdf.contains("/Subtype /Image"));
  EXPECT_FALSE(pdf.contains("/DCTDecode")) << "JPEG: 2 x 1 pixels would share one colour";
}

TEST(Export, CellsOfAMapAreVectorsThatLeaveNoLineBetweenThem) {
  const QByteArray svg = figureBytes(*figureOf(samples::heatmap()), FigureFormat::Svg, {});
  EXPECT_FALSE(svg.contains("<image")) << "six cells and a colour bar";
}

TEST(Export, WritesPdfOfEveryKindAtTheSizeOfThePaper) {
  for (const Artifact& artifact : samples::all()) {
    const auto figure = figureOf(artifact);
    Recipe recipe;
    recipe.paper.width = 127;  // 360 points
    const QByteArray bytes = figureBytes(*figure, FigureFormat::Pdf, recipe);
    EXPECT_EQ(figure->style().theme, currentTheme());
    EXPECT_TRUE(bytes.startsWith("%PDF")) << artifact.kind;
    EXPECT_TRUE(bytes.contains("/MediaBox [0 0 360")) << artifact.kind;
  }
}

TEST(Export, IsTheSameWhateverTheZoomOfTheWindowIs) {
  const auto drawn = [] {
    QByteArray all;
    for (const Artifact& artifact : samples::all())
      all += figureBytes(*figureOf(artifact), FigureFormat::Svg, {});
    return all;
  };
  const QByteArray before = drawn();
  setUiZoom(2.4);
  const QByteArray zoomed = drawn();
  setUiZoom(1);
  EXPECT_EQ(before, zoomed);
}

TEST(Export, GivesAFigureThePaperOfItsShape) {
  const auto same = [](double m) { return m; };
  const auto square = figureOf(samples::reliability(same, same));
  EXPECT_EQ(paperFor(*square, {}).ratio, 1);
  EXPECT_EQ(paperFor(*square, {}).width, FigurePaper::kSingleColumn);
  EXPECT_EQ(paperFor(*figureOf(samples::attention()), {}).width, FigurePaper::kDoubleColumn);
}

TEST(Export, PutsRunsSideBySideAndNamesThemInTheCsv) {
  const SideBySide both = beside({QStringLiteral("a"), QStringLiteral("b, c")});
  EXPECT_EQ(both.csv().toStdString(),
            "run,lower,upper,count\na,0,1,5\na,1,2,7\n\"b, c\",0,1,5\n\"b, c\",1,2,7\n");
  EXPECT_EQ(both.sizeHint().width(), 2 * figureOf(samples::histogram())->sizeHint().width());
}

TEST(Export, TablesOfOtherColumnsHaveTitlesOfTheirOwnInTheCsv) {
  Artifact table = samples::named("other", "said", artifact_kind::kTable);
  const Json row = Json::array({1, "a shoe,\n\na bag"});
  setJson(table, {{"columns", Json::array({"image", "caption"})}, {"rows", Json::array({row})}});
  std::vector<std::pair<QString, std::unique_ptr<Figure>>> figures;
  figures.emplace_back(QStringLiteral("a"), figureOf(samples::histogram()));
  figures.emplace_back(QStringLiteral("b"), figureOf(table));
  const SideBySide both(std::move(figures), 2, {});
  EXPECT_EQ(both.csv().toStdString(),
            "run,lower,upper,count\na,0,1,5\na,1,2,7\n"
            "\nrun,image,caption\nb,1,\"a shoe,\n\na bag\"\n");
}

TEST(Export, NeverPressesSeveralFiguresIntoANarrowColumn) {
  SideBySide six = beside({"a", "b", "c", "d", "e", "f"});
  const FigurePaper narrow = highEnough(six, {});
  EXPECT_EQ(narrow.width, FigurePaper::kSingleColumn);
  EXPECT_GE(narrow.logical().height(), 6 * FigureGrid::kLeastHeight - 1) << "one below the other";
  const QImage picture = paperPicture(six, {}, 4);
  EXPECT_NEAR(picture.height() / 4.0, narrow.millimetres().height(), 1);
  FigurePaper wide{.width = FigurePaper::kDoubleColumn};
  EXPECT_GE(highEnough(six, wide).logical().height(), 3 * FigureGrid::kLeastHeight - 1);
  EXPECT_LT(highEnough(six, wide).logical().height(), 6 * FigureGrid::kLeastHeight);
}

}  // namespace
}  // namespace vitrine::ui
