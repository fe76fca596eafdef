// Tables on paper: how their texts continue in more lines, and when letters become smaller.
#include <QFontMetricsF>

#include "tests/ui/figures/samples.h"
#include "tests/ui/figures/svg_document.h"
#include "tests/ui/support/qt_environment.h"
#include "ui/figures/cell_text.h"
#include "ui/figures/figure.h"
#include "ui/figures/painting.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

std::unique_ptr<Figure> tableOf(const Json& columns, const Json& rows) {
  Artifact artifact = samples::named("other", "table", artifact_kind::kTable);
  setJson(artifact, {{"columns", columns}, {"rows", rows}});
  return makeFigure(QString::fromStdString(artifact.kind), artifact.meta, artifact.data);
}

/// As an ablation has them: six columns, wide headings, words of configuration.
std::unique_ptr<Figure> ablation() {
  return tableOf({"Variant", "What differs", "test/accuracy_top1, %", "Paired difference", "n"},
                 {{"baseline", "baseline", "82.0 \u00b1 5.0", "\u2013", 3},
                  {"+ soft mask", "model.mask.kind = multiplicative", "84.0 \u00b1 5.1",
                   "+2.00 \u00b1 0.25  \u2713 better", 3},
                  {"+ noise", "train.augmentation = randaugment", "72 \u00b1 26",
                   "0.0 \u00b1 5.0  \u2248 no clear difference", 3}});
}

/// The texts of an SVG file, and how many pixels of the page their letters have.
struct Written {
  QStringList texts;
  double smallest = 1e9;
};
Written writtenIn(const QByteArray& document) {
  Written written;
  for (const SvgDocument::Text& one : readSvg(document).texts) {
    written.texts << one.words;
    written.smallest = std::min(written.smallest, one.letters);
  }
  return written;
}

TEST(CellText, BreaksBetweenWordsThenAfterSignsAndOnlyThenInsideOfThem) {
  const QFontMetricsF metrics(bodyLetters());
  const auto lines = [&](const QString& text, const QString& room) {
    return cellLines(metrics, text, metrics.horizontalAdvance(room) + 0.5).join(QLatin1Char('|'));
  };
  EXPECT_EQ(lines("one two three", "one two").toStdString(), "one two|three");
  EXPECT_EQ(lines("model.class_token", "model.class_").toStdString(), "model.class_|token");
  EXPECT_EQ(lines("test/accuracy_top1", "accuracy_").toStdString(), "test/|accuracy_|top1");
  EXPECT_EQ(lines("abcdef", "abc").toStdString(), "abc|def");
  EXPECT_EQ(lines("top 82.0 \u00b1 0.5", "82.0 \u00b1 0.5").toStdString(), "top|82.0 \u00b1 0.5");
  EXPECT_EQ(piecesOf("0.125 1,000 -3 1e-5 /data", CellPiece::Part).join('|').toStdString(),
            "0.125|1,000|-3|1e-5|/data")
      << "a number has no parts";
  EXPECT_EQ(piecesOf("test/top1 86.6 [86.5; 86.7] of", CellPiece::Part).join('|').toStdString(),
            "test/|top1|86.6 [86.5; 86.7]|of");
  EXPECT_EQ(piecesOf("+2.00 \u00b1 0.25 better", CellPiece::Number).join('|').toStdString(),
            "+2.00 \u00b1 0.25");
}

TEST(Table, BreaksNoWordInASingleColumnWhereSmallerLettersAreEnough) {
  const auto figure = ablation();
  Recipe recipe;  // a single column
  EXPECT_EQ(paperProblem(*figure, recipe.paper).toStdString(), "");
  const Written written = writtenIn(figureBytes(*figure, FigureFormat::Svg, recipe));
  const QString all = QLatin1Char(' ') + written.texts.join(QLatin1Char(' ')) + QLatin1Char(' ');
  for (const char* word : {"Variant", "baseline", "multiplicative", "randaugment", "difference",
                           "better", "model.mask.kind", "train.augmentation", "mask", "clear"})
    EXPECT_TRUE(all.contains(QLatin1Char(' ') + QLatin1String(word) + QLatin1Char(' '))) << word;
  const double points = written.smallest * recipe.paper.fontPoints / axisLetters().pixelSize();
  EXPECT_GE(points, FigurePaper::kLeastPoints - 0.01);
  EXPECT_LT(points, recipe.paper.fontPoints) << "the letters are smaller than in a wide table";
}

TEST(Table, BreaksAHashAndNoWordForIt) {
  const std::string hash = "458f2ecf634b893f61a8311d3e3a54a8014a81103d3775bed97cefca6664f11";
  EXPECT_TRUE(piecesOf(QString::fromStdString(hash), CellPiece::Number).isEmpty());
  const auto figure = tableOf({"score", "value", "judge sha256"},
                              Json::array({Json::array({"agreement", 0.775, hash})}));
  const Written written = writtenIn(figureBytes(*figure, FigureFormat::Svg, {}));
  EXPECT_TRUE(written.texts.contains(QStringLiteral("agreement")))
      << written.texts.join('|').toStdString();
}

TEST(Table, KeepsItsLettersWhereTheWordsFit) {
  const auto figure = ablation();
  Recipe recipe;
  recipe.paper.width = FigurePaper::kDoubleColumn;
  const Written written = writtenIn(figureBytes(*figure, FigureFormat::Svg, recipe));
  EXPECT_GE(written.smallest, axisLetters().pixelSize());
}

TEST(Table, SaysWhichPaperToTakeWhereEvenSmallLettersBreakWords) {
  Json columns = Json::array(), row = Json::array();
  for (int i = 0; i < 6; ++i) {
    columns.push_back("configuration");
    row.push_back("bidirectional");
  }
  const auto figure = tableOf(columns, Json::array({row}));
  FigurePaper paper;
  EXPECT_TRUE(paperProblem(*figure, paper).contains(QStringLiteral("double column")));
  EXPECT_EQ(figure->style().pointsPerPixel, 0) << "its own style is kept";
  paper.width = FigurePaper::kDoubleColumn;
  EXPECT_EQ(paperProblem(*figure, paper).toStdString(), "");
  const Written written = writtenIn(figureBytes(*figure, FigureFormat::Svg, {}));
  const double points = written.smallest * 8 / axisLetters().pixelSize();
  EXPECT_GE(points, FigurePaper::kLeastPoints - 0.01);
}

}  // namespace
}  // namespace vitrine::ui
