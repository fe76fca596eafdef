#include "ui/workbench/recipe.h"

#include <QTemporaryDir>
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "tests/ui/figures/svg_document.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/test_files.h"
#include "ui/figures/line_chart.h"
#include "ui/figures/painting.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

Recipe someRecipe() {
  Recipe recipe;
  recipe.database = "b6f1";
  recipe.page = "monitor";
  recipe.runs = {"run-one", "run-\u00e4</metadata>\n%%EOF"};
  recipe.current = "run-one";
  recipe.view = {{"x", "step"}, {"text", "<&>\"'"}, {"ranges", {{"train/loss", {1.5, 2.5}}}}};
  recipe.paper.width = 120;
  recipe.paper.legend = FigureLegend::Right;
  return recipe;
}

std::unique_ptr<LineChartFigure> someChart() {
  LineChart chart{.title = QStringLiteral("loss & <more>")};
  chart.x.title = QStringLiteral("step");
  ChartSeries series{.name = QStringLiteral("run")};
  for (int i = 0; i < 100; ++i) {
    series.x.push_back(i);
    series.y.push_back(std::sin(i * 0.1));
  }
  chart.series = {series};
  chart.footnote = QStringLiteral("Smoothed: EMA 0.9");
  return makeLineChart(std::move(chart));
}

void expectSame(const Recipe& a, const Recipe& b) {
  EXPECT_EQ(a.database, b.database);
  EXPECT_EQ(a.page, b.page);
  EXPECT_EQ(a.runs, b.runs);
  EXPECT_EQ(a.current, b.current);
  EXPECT_EQ(a.view, b.view);
  EXPECT_EQ(toJson(a.paper), toJson(b.paper));
}

TEST(Recipe, EveryFormatCarriesItAndGivesItBack) {
  const QTemporaryDir folder;
  const auto chart = someChart();
  for (const char* ending : {".png", ".svg", ".pdf", ".csv"}) {
    const QString file = folder.filePath(QStringLiteral("figure") + QLatin1String(ending));
    saveFigure(*chart, file, someRecipe());
    const auto read = readRecipe(file);
    ASSERT_TRUE(read.has_value()) << ending;
    expectSame(*read, someRecipe());
  }
  const QString alone =
      makeFile(folder.filePath(QStringLiteral("recipe.json")), toText(someRecipe()));
  ASSERT_TRUE(readRecipe(alone).has_value());
}

TEST(Recipe, FilesCutAnywhereOrWithAWrongByteHaveNoneOrAWholeOne) {
  const QTemporaryDir folder;
  const auto chart = someChart();
  const QString path = folder.filePath(QStringLiteral("figure"));
  for (const FigureFormat format :
       {FigureFormat::Png, FigureFormat::Svg, FigureFormat::Pdf, FigureFormat::Csv}) {
    const QByteArray whole = figureBytes(*chart, format, someRecipe());
    const auto tryBytes = [&](const QByteArray& bytes) {
      if (const auto read = readRecipe(makeFile(path, bytes))) {
        EXPECT_EQ(read->version, Recipe::kVersion);
      }
    };
    const qsizetype stride = std::max<qsizetype>(whole.size() / 60, 1);
    for (qsizetype at = 0; at < whole.size(); at += stride) tryBytes(whole.left(at));
    for (qsizetype at = 0; at < std::min<qsizetype>(whole.size(), 400); at += 7) {
      QByteArray wrong = whole;
      wrong[at] = static_cast<char>(wrong[at] ^ 0xff);
      tryBytes(wrong);
    }
  }
}

TEST(Recipe, TextThatIsNoneIsRefused) {
  EXPECT_FALSE(recipeFromText({}).has_value());
  EXPECT_FALSE(recipeFromText("[]").has_value());
  EXPECT_FALSE(recipeFromText("{\"version\": 2, \"page\": \"monitor\"}").has_value());
  EXPECT_FALSE(recipeFromText("{\"version\": 1}").has_value()) << "no page";
  EXPECT_FALSE(recipeFromText(QByteArray(500'000, '[')).has_value());
  EXPECT_FALSE(recipeFromText("{\"version\":1,\"page\":\"m\",\"view\":" + QByteArray(200, '[') +
                              QByteArray(200, ']') + "}")
                   .has_value())
      << "too deep";
  const auto odd = recipeFromText(
      "{\"version\":1,\"page\":\"monitor\",\"runs\":[1,null,\"a\"],\"paper\":{\"width_mm\":-5,"
      "\"font_pt\":\"x\"}}");
  ASSERT_TRUE(odd.has_value());
  EXPECT_EQ(odd->runs, std::vector<std::string>{"a"});
  EXPECT_EQ(odd->paper.width, FigurePaper::kSingleColumn);
}

TEST(FigureFile, ThePdfStaysValidWithItsRecipe) {
  const QByteArray pdf = figureBytes(*someChart(), FigureFormat::Pdf, someRecipe());
  const auto tableAt = [&pdf](qsizetype key) {
    const QByteArray number = pdf.mid(key).split('\n').value(1);
    return number.toLongLong();
  };
  const qsizetype last = pdf.lastIndexOf("startxref");
  ASSERT_GT(last, 0);
  EXPECT_GT(last, pdf.size() - 1024) << "where readers look for it";
  const qint64 table = tableAt(last);
  EXPECT_TRUE(pdf.mid(table).startsWith("xref\n"));
  const qint64 object = pdf.mid(table).split('\n').value(2).left(10).toLongLong();
  EXPECT_TRUE(pdf.mid(object).contains("/VitrineRecipe"));
  EXPECT_TRUE(pdf.mid(object, 20).contains(" 0 obj"));
  const QByteArray trailer = pdf.mid(table);
  const qint64 before = trailer.mid(trailer.indexOf("/Prev ") + 6).split(' ').value(0).toLongLong();
  EXPECT_TRUE(pdf.mid(before).startsWith("xref"));
  EXPECT_TRUE(pdf.contains("/FontFile2")) << "fonts are embedded";
  EXPECT_FALSE(pdf.contains("/Subtype /Image")) << "vectors, no picture";
}

TEST(FigureFile, ThePdfHasTheSizeOfThePaper) {
  Recipe recipe = someRecipe();
  recipe.paper = {};
  recipe.paper.width = FigurePaper::kDoubleColumn;
  const QByteArray pdf = figureBytes(*someChart(), FigureFormat::Pdf, recipe);
  const QByteArray box = pdf.mid(pdf.indexOf("/MediaBox [") + 11).split(']').value(0).simplified();
  EXPECT_NEAR(box.split(' ').value(2).toDouble(), 175 / 25.4 * 72, 1);
  EXPECT_NEAR(box.split(' ').value(3).toDouble(), 175 * 0.66 / 25.4 * 72, 1);
}

TEST(FigureFile, TheSvgIsWellFormedAndCutsItsLinesOffAtThePlot) {
  LineChart chart = someChart()->chart();
  chart.y.range = {{-0.4, 0.4}};  // most values lie beyond; a line of the grid is at both ends
  chart.series[0].name = QStringLiteral("a\u0001\uffff run");
  chart.series[0].low = std::vector<double>(100, -2);
  chart.series[0].high = std::vector<double>(100, 2);
  chart.rules = {{Qt::Horizontal, 0.7, QStringLiteral("beyond")}};
  const QByteArray document =
      figureBytes(*makeLineChart(std::move(chart)), FigureFormat::Svg, someRecipe());
  const SvgDocument svg = readSvg(document);
  EXPECT_EQ(svg.error.toStdString(), "");
  EXPECT_GE(svg.texts.size(), 5U);
  EXPECT_TRUE(std::any_of(svg.texts.begin(), svg.texts.end(),
                          [](const auto& one) { return one.words == QStringLiteral("a run"); }));
  // Between the uppermost and the lowest line of the grid.
  double top = 1e9, bottom = -1e9;
  for (const QLineF& line : svg.linesOf(themeColors(ThemeKind::Light).grid)) {
    top = std::min(top, line.y1());
    bottom = std::max(bottom, line.y1());
  }
  const auto lines = svg.linesOf(seriesColor(1, ThemeKind::Light));
  EXPECT_GE(lines.size(), 20U);
  for (const QLineF& line : lines) {
    EXPECT_GE(line.y1(), top - 1.01);
    EXPECT_LE(line.y2(), bottom + 1.01);
  }
  EXPECT_TRUE(document.contains("width=\"120mm\""));
}

TEST(FigureFile, TheFontHasTheChosenSizeWhateverTheWidth) {
  FigurePaper paper;
  for (const double width : {85.0, 175.0}) {
    paper.width = width;
    paper.fontPoints = 7;
    const double perPixel = width / 25.4 * 72 / paper.logical().width();
    EXPECT_NEAR(perPixel * axisLetters().pixelSize(), 7, 1e-9);
  }
}

TEST(FigureFile, TheCsvSaysHowItWasSmoothed) {
  const QByteArray csv = figureBytes(*someChart(), FigureFormat::Csv, someRecipe());
  EXPECT_TRUE(csv.startsWith("# vitrine-recipe {"));
  EXPECT_TRUE(csv.contains("\n# Smoothed: EMA 0.9\nseries,step,"));
}

TEST(FigureFile, SaysWhatANameMustEndWithAndWhereItMayNotWrite) {
  const auto chart = someChart();
  EXPECT_THROW(saveFigure(*chart, QStringLiteral("/tmp/figure.bmp"), someRecipe()), ConfigError);
  EXPECT_THROW(saveFigure(*chart, QStringLiteral("/nowhere/figure.png"), someRecipe()), Error);
}

TEST(FigureFile, APictureOnPaperIsLightWhateverTheWindowIs) {
  applyTheme(ThemeKind::Dark);
  const auto chart = someChart();
  const QImage picture = paperPicture(*chart, {}, 4);
  EXPECT_EQ(picture.pixelColor(1, 1), themeColors(ThemeKind::Light).panel);
  EXPECT_EQ(chart->style().theme, ThemeKind::Dark) << "and the figure keeps its own style";
}

}  // namespace
}  // namespace vitrine::ui
