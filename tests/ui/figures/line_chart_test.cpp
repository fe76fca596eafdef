#include "ui/figures/line_chart.h"

#include <QApplication>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/ui/figures/svg_document.h"
#include "tests/ui/support/line_chart_probe.h"
#include "tests/ui/support/qt_environment.h"
#include "ui/figures/chart_axis.h"
#include "ui/figures/painting.h"
#include "ui/figures/paper.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kBeyond = std::numeric_limits<double>::infinity();

ChartSeries lineOf(const QString& name, std::int64_t run, std::vector<double> y) {
  ChartSeries series{.name = name, .run = run};
  for (std::size_t i = 0; i < y.size(); ++i) series.x.push_back(static_cast<double>(i));
  series.y = std::move(y);
  return series;
}

LineChart twoLines() {
  LineChart chart{.title = QStringLiteral("loss / train"),
                  .about = QStringLiteral("cross-entropy")};
  chart.x.title = QStringLiteral("step");
  chart.y.title = QStringLiteral("loss");
  chart.series = {lineOf(QStringLiteral("baseline"), 1, {4, 3, 2, 1, 0}),
                  lineOf(QStringLiteral("soft mask"), 2, {4, 2, 1, 0.5, 0.25})};
  chart.footnote = QStringLiteral("smoothed: EMA 0.9");
  return chart;
}

// The whole chart in words: what changes here changes on paper.
TEST(LineChart, DrawsTheseCommands) {
  LineChart chart = twoLines();
  chart.x.range = {0, 4};
  chart.y.range = {0, 4};
  chart.series[1].y[2] = kNone;
  chart.series[1].y[3] = kBeyond;
  chart.series[0].segmentStarts = {2};
  chart.series[0].low = {3, 2, 1, 0, 0};
  chart.series[0].high = {4, 4, 3, 2, 1};
  chart.notes = {{1, std::nullopt, QStringLiteral("rate halved"), 1}};
  chart.rules = {{Qt::Horizontal, 1, QStringLiteral("published")}};
  const auto figure = makeLineChart(chart, {});
  EXPECT_EQ(LineChartProbe::commands(*figure, 500).toStdString(),
            "chart \"loss / train\" about \"cross-entropy\"\n"
            "x \"step\" linear 0 to 4: 0 1 2 3 4\n"
            "y \"loss\" linear 0 to 4: 0 1 2 3 4\n"
            "band \"baseline\" " +
                seriesColor(1).name().toStdString() +
                " 10 points 0.0000,1.0000 0.2500,1.0000 0.5000,0.7500 0.7500,0.5000 1.0000,0.2500 "
                "1.0000,0.0000 0.7500,0.0000 0.5000,0.2500 0.2500,0.5000 0.0000,0.7500\n"
                "line \"baseline\" " +
                seriesColor(1).name().toStdString() +
                " solid 5 points 0.0000,1.0000 0.2500,0.7500 0.5000,0.5000 0.7500,0.2500 "
                "1.0000,0.0000\n"
                "symbols \"baseline\" " +
                seriesColor(1).name().toStdString() +
                " disc 5 points 0.0000,1.0000 0.2500,0.7500 0.5000,0.5000 0.7500,0.2500 "
                "1.0000,0.0000\n"
                "segment start \"baseline\" " +
                seriesColor(1).name().toStdString() +
                " at 0.5000\n"
                "line \"soft mask\" " +
                seriesColor(2).name().toStdString() +
                " solid 5 points 0.0000,1.0000 0.2500,0.5000 gap gap 1.0000,0.0625\n"
                "symbols \"soft mask\" " +
                seriesColor(2).name().toStdString() +
                " square 3 points 0.0000,1.0000 0.2500,0.5000 1.0000,0.0625\n"
                "mark \"soft mask\" " +
                seriesColor(2).name().toStdString() +
                " cross below at 0.5000\n"
                "mark \"soft mask\" " +
                seriesColor(2).name().toStdString() +
                " arrow up at 0.7500\n"
                "note \"rate halved\" at 0.2500\n"
                "rule \"published\" at 0.2500\n"
                "footnote \"smoothed: EMA 0.9\"\n");
}

TEST(LineChart, OneSpikeInAMillionPointsIsDrawn) {
  LineChart chart;
  chart.x.title = QStringLiteral("step");
  ChartSeries series = lineOf(QStringLiteral("run"), 1, std::vector<double>(1'000'000, 1.0));
  series.y[654'321] = 100;
  chart.series = {series};
  chart.y.range = {0, 101};
  const auto figure = makeLineChart(std::move(chart), {});
  EXPECT_TRUE(LineChartProbe::commands(*figure, 400).contains(QStringLiteral("highest 0.65")))
      << LineChartProbe::commands(*figure, 400).toStdString();
  // In pixels too: the run's colour stands high above the line in a picture of 500 columns.
  const QImage picture = figure->image(QSize(500, 300), 1);
  const QColor color = seriesColor(1);
  int high = 0;
  for (int y = 40; y < 120; ++y) {
    for (int x = 0; x < picture.width(); ++x) {
      const QColor pixel = picture.pixelColor(x, y);
      high += std::abs(pixel.blue() - color.blue()) < 60 && pixel.blue() > pixel.red() + 60;
    }
  }
  EXPECT_GT(high, 60);
}

TEST(LineChart, DrawsAtMostFourPointsPerPixelColumn) {
  LineChart chart;
  std::vector<double> noise;
  for (int i = 0; i < 50'000; ++i) noise.push_back(std::sin(i * 12.9898) * 43758.5453);
  chart.series = {lineOf(QStringLiteral("run"), 1, noise)};
  const auto figure = makeLineChart(std::move(chart), {});
  const QString commands = LineChartProbe::commands(*figure, 300);
  const QString line = commands.section(QStringLiteral("line \"run\""), 1);
  EXPECT_LE(line.section(QStringLiteral(" points"), 0, 0).section(QLatin1Char(' '), -1).toInt(),
            4 * 303);
}

TEST(LineChart, WritesExactlyThePointsThatAreDrawn) {
  LineChart chart = twoLines();
  chart.x.range = {1, 3};
  chart.series[0].raw = {5, 4, 3, 2, 1};
  chart.series[1].y[2] = kNone;
  const auto figure = makeLineChart(std::move(chart), {});
  EXPECT_EQ(figure->csv().toStdString(),
            "series,step,loss,raw\n"
            "baseline,1,3,4\nbaseline,2,2,3\nbaseline,3,1,2\n"
            "soft mask,1,2,\nsoft mask,2,nan,\nsoft mask,3,0.5,\n");
}

TEST(LineChart, NeighbouringRunsDifferInColourAndSymbolAndTheEighthInDash) {
  EXPECT_NE(seriesSymbol(1), seriesSymbol(2));
  EXPECT_NE(seriesColor(1), seriesColor(2));
  EXPECT_EQ(seriesSymbol(1), seriesSymbol(8));
  EXPECT_NE(seriesDash(1), seriesDash(8));
}

TEST(LineChart, ValuesAtOrBelowZeroStandAtTheFloorOfALogarithmicAxis) {
  LineChart chart;
  chart.y.scale = AxisScale::Log;
  chart.series = {lineOf(QStringLiteral("run"), 1, {10, 1, 0, -1, 100})};
  const auto figure = makeLineChart(std::move(chart), {});
  ASSERT_TRUE(figure->valueRange().has_value());
  EXPECT_GT(figure->valueRange()->front(), 0);
  EXPECT_EQ(LineChartProbe::commands(*figure, 200).count(QStringLiteral(" floor at ")), 2);
}

TEST(LineChart, PointsHaveNoLineAndTheToolTipNamesTheNearest) {
  LineChart chart;
  chart.x.title = QStringLiteral("parameters");
  chart.y.title = QStringLiteral("top-1");
  ChartSeries cloud = lineOf(QStringLiteral("runs"), 3, {0.5, 0.9, 0.1});
  cloud.x = {3, 1, 2};  // in no order
  cloud.draw = ChartSeries::Draw::Points;
  cloud.labels = {QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c")};
  chart.series = {cloud};
  chart.legend = FigureLegend::None;
  const auto figure = makeLineChart(std::move(chart), {});
  EXPECT_FALSE(LineChartProbe::commands(*figure, 200).contains(QStringLiteral("line \"runs\"")));
  (void)figure->image(QSize(400, 300), 1);
  bool isFound = false;
  for (int x = 0; x < 400 && !isFound; x += 4) {
    for (int y = 0; y < 300 && !isFound; y += 4)
      isFound = figure->describeAt(QPointF(x, y)).startsWith(QStringLiteral("b\nparameters: 1\n"));
  }
  EXPECT_TRUE(isFound);
}

TEST(LineChart, TheToolTipReadsTheRawValueNotTheSmoothedOne) {
  LineChart chart = twoLines();
  chart.series.resize(1);
  chart.series[0].raw = {7, 7, 7, 7, 7};
  const auto figure = makeLineChart(std::move(chart), {});
  (void)figure->image(QSize(400, 300), 1);
  EXPECT_TRUE(figure->describeAt(QPointF(200, 120)).contains(QStringLiteral("baseline: 7")))
      << figure->describeAt(QPointF(200, 120)).toStdString();
}

TEST(LineChart, EveryPlaceOfTheLegendLeavesRoomForTheLines) {
  for (const FigureLegend place :
       {FigureLegend::None, FigureLegend::Below, FigureLegend::Right, FigureLegend::Inside}) {
    FigureStyle style{.legend = place};
    const auto figure = makeLineChart(twoLines(), style);
    const QImage picture = figure->image(QSize(400, 260), 1);
    EXPECT_FALSE(figure->describeAt(QPointF(200, 110)).isEmpty()) << static_cast<int>(place);
    EXPECT_EQ(picture.size(), QSize(400, 260));
  }
}

// A name inside the plot is told by the plot itself.
bool isNamedOutside(const LineChart& chart) {
  FigureStyle style{.legend = FigureLegend::Inside};
  const auto figure = makeLineChart(chart, style);
  constexpr int kWidth = 400, kHeight = 260;
  (void)figure->image(QSize(kWidth, kHeight), 1);
  for (int y = 0; y < kHeight; y += 4) {
    for (int x = 0; x < kWidth; x += 4) {
      if (figure->describeAt(QPointF(x, y)) == chart.series.front().name) return true;
    }
  }
  return false;
}

TEST(LineChart, TheLegendLeavesThePlotWhereALineRunsThroughEveryCorner) {
  LineChart chart;
  chart.x.range = {0.3, 0.7};
  chart.y.range = {0.3, 0.7};
  // No point of the lines lies inside.
  chart.series = {lineOf(QStringLiteral("falls"), 1, {1, 0})};
  EXPECT_FALSE(isNamedOutside(chart));
  chart.series.push_back(lineOf(QStringLiteral("rises"), 2, {0, 1}));
  EXPECT_TRUE(isNamedOutside(chart));
}

TEST(LineChart, DrawsSentencesAndStrangeNumbersWithoutComplaint) {
  LineChart empty;
  (void)makeLineChart(empty)->image(QSize(300, 200), 1);
  LineChart strange;
  strange.title = QString(500, QLatin1Char('m'));
  strange.series = {lineOf(QString(300, QLatin1Char('n')), 1, {kNone, kNone}),
                    lineOf(QStringLiteral("b"), 2, {1e300, -1e300, kBeyond, -kBeyond}),
                    lineOf(QStringLiteral("one"), 3, {5})};
  strange.x.range = {kNone, 4};
  for (const AxisScale scale : {AxisScale::Linear, AxisScale::Log}) {
    strange.x.scale = strange.y.scale = scale;
    const auto figure = makeLineChart(strange);
    for (const QSize size : {QSize(40, 30), QSize(300, 200)}) (void)figure->image(size, 1);
    (void)figure->describeAt(QPointF(100, 100));
    EXPECT_FALSE(figure->summary().isEmpty());
  }
}

TEST(ChartTicks, WriteDurationsDatesAndSmallNumbers) {
  ChartAxis axis{.unit = ChartAxis::Unit::Duration};
  EXPECT_EQ(chartTicks(axis, {0, 7200}, 4).labels.join(QLatin1Char(' ')).toStdString(),
            "0:00 30:00 1:00:00 1:30:00 2:00:00");
  axis.unit = ChartAxis::Unit::Number;
  const ChartTicks small = chartTicks(axis, {0, 5e-4}, 5);
  EXPECT_EQ(small.labels.join(QLatin1Char(' ')).toStdString(), "0 1 2 3 4 5");
  EXPECT_EQ(small.factor.toStdString(), "\u00d7\u20091e\u22124");
  axis.scale = AxisScale::Log;
  EXPECT_EQ(chartTicks(axis, {1, 1000}, 5).labels.join(QLatin1Char(' ')).toStdString(),
            "1 2 5 10 20 50 100 200 500 1,000");
}

TEST(LineChart, IsExportedAsHighAsItsLegendNeeds) {
  LineChart chart{.title = QStringLiteral("loss")};
  for (int run = 1; run <= 7; ++run) {
    ChartSeries series;
    series.name = QStringLiteral("a variant with a long name, number %1").arg(run);
    series.run = run;
    series.x = {0, 1};
    series.y = {0, static_cast<double>(run)};
    chart.series.push_back(series);
  }
  const auto figure = makeLineChart(chart);
  FigurePaper paper;  // a single column
  paper.ratio = 0.3;
  figure->setStyle(paper.styled(figure->style()));
  const double lines = figure->leastHeight(paper.logical().width());
  EXPECT_GT(lines, figure->leastHeight(900) + 40) << "seven lines of the legend, not four";
  EXPECT_NEAR(highEnough(*figure, paper).logical().height(), lines, 0.5);
  paper.ratio = 2;
  EXPECT_EQ(highEnough(*figure, paper).ratio, 2) << "never lower than asked for";
  FigureStyle bare = figure->style();
  bare.legend = FigureLegend::None;
  EXPECT_LT(makeLineChart(chart, bare)->leastHeight(331), lines - 80);
}

/// A chart of lines with long names in a single column.
LineChart manyLines(int number) {
  LineChart chart{.title = QStringLiteral("loss / train")};
  for (int run = 1; run <= number; ++run) {
    chart.series.push_back(
        lineOf(QStringLiteral("variant %1, learning rate %2e-3").arg(run).arg(run * run), run,
               {1.0 * run, 2.0 * run, 1.5 * run}));
  }
  return chart;
}

/// The texts of the figure's SVG document that are written from left to right.
std::vector<SvgDocument::Text> textsOf(const SvgDocument& svg) {
  std::vector<SvgDocument::Text> texts;
  for (const SvgDocument::Text& one : svg.texts)
    if (!one.isTurned) texts.push_back(one);
  return texts;
}
bool isWritten(const std::vector<SvgDocument::Text>& texts, const QString& wanted) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const SvgDocument::Text& one) { return one.words == wanted; });
}

TEST(LineChart, ASingleColumnNamesEverySeriesOfTwelveWhereverTheLegendIs) {
  const LineChart chart = manyLines(12);
  for (const FigureLegend place :
       {FigureLegend::Below, FigureLegend::Right, FigureLegend::Inside}) {
    const auto figure = makeLineChart(chart);
    Recipe recipe;  // a single column
    recipe.paper.legend = place;
    const auto texts = textsOf(readSvg(figureBytes(*figure, FigureFormat::Svg, recipe)));
    for (const ChartSeries& series : chart.series)
      EXPECT_TRUE(isWritten(texts, series.name)) << series.name.toStdString();
    for (const SvgDocument::Text& one : texts)
      EXPECT_FALSE(one.words.contains(QStringLiteral(" more")));
  }
}

TEST(LineChart, ALegendOfMoreThanTwentyFourSaysHowManyItLeavesOut) {
  const auto figure = makeLineChart(manyLines(30));
  const auto texts = textsOf(readSvg(figureBytes(*figure, FigureFormat::Svg, {})));
  EXPECT_TRUE(isWritten(texts, figure->chart().series[23].name));
  EXPECT_FALSE(isWritten(texts, figure->chart().series[24].name));
  EXPECT_TRUE(isWritten(texts, QStringLiteral("and 6 more")));
}

TEST(LineChart, OnlyANameThatAloneIsWiderThanThePictureIsCutAndInItsMiddle) {
  LineChart chart = manyLines(3);
  chart.series[1].name =
      QStringLiteral("from ") + QString(200, QLatin1Char('m')) + QStringLiteral(" to the end");
  const auto figure = makeLineChart(chart);
  const auto texts = textsOf(readSvg(figureBytes(*figure, FigureFormat::Svg, {})));
  EXPECT_TRUE(isWritten(texts, chart.series[0].name));
  EXPECT_TRUE(std::any_of(texts.begin(), texts.end(), [](const SvgDocument::Text& one) {
    return one.words.startsWith(QStringLiteral("from m")) &&
           one.words.endsWith(QStringLiteral("to the end"));
  }));
}

TEST(LineChart, TheIntervalOfAPointAloneIsAWhisker) {
  LineChart chart{.series = {lineOf(QStringLiteral("one"), 1, {kNone, 2, kNone, 3, 3})}};
  chart.series[0].low = {kNone, 1, kNone, 2, 2};
  chart.series[0].high = {kNone, 3, kNone, 4, 4};
  const auto figure = makeLineChart(chart);
  const SvgDocument svg = readSvg(figureBytes(*figure, FigureFormat::Svg, {}));
  int whiskers = 0;
  for (const QLineF& line : svg.linesOf(seriesColor(1, ThemeKind::Light)))
    whiskers += std::abs(line.dx()) < 0.01 && line.length() > 20 ? 1 : 0;
  EXPECT_EQ(whiskers, 1) << "of the point between two gaps; the other two have a band";
}

// Flat on the rule, through it, close above and below, noise around it: the word is beside all.
TEST(LineChart, NoLineRunsThroughTheWordOfARule) {
  std::vector<std::vector<double>> shapes(5);
  for (int i = 0; i < 200; ++i) {
    shapes[0].push_back(0);
    shapes[1].push_back(0.01 * (i - 100));
    shapes[2].push_back(0.3 * std::exp(-i / 20.0));
    shapes[3].push_back(-0.4 * std::exp(-(200 - i) / 20.0));
    shapes[4].push_back(std::sin(i * 12.9898) * 0.4);
  }
  for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
    LineChart chart;
    chart.series = {lineOf(QStringLiteral("run"), 1, shapes[shape]),
                    lineOf(QStringLiteral("other"), 2, std::vector<double>(200, 1.0)),
                    lineOf(QStringLiteral("third"), 3, std::vector<double>(200, -1.0))};
    chart.rules = {{Qt::Horizontal, 0, QStringLiteral("baseline")}};
    const auto figure = makeLineChart(chart);
    const SvgDocument svg = readSvg(figureBytes(*figure, FigureFormat::Svg, {}));
    const auto texts = textsOf(svg);
    const auto word = std::find_if(texts.begin(), texts.end(), [](const SvgDocument::Text& one) {
      return one.words == QStringLiteral("baseline");
    });
    ASSERT_NE(word, texts.end()) << shape;
    EXPECT_GE(word->box.left(), 0);
    EXPECT_LE(word->box.right(), FigurePaper().logical().width());
    int lines = 0;
    for (const std::int64_t run : {1, 2, 3}) {
      for (const QLineF& line : svg.linesOf(seriesColor(run, ThemeKind::Light))) {
        ++lines;
        // As fine as pixels: a line that crosses the word has a point in it.
        for (int step = 0; step <= 100; ++step)
          ASSERT_FALSE(word->box.contains(line.pointAt(step / 100.0))) << "shape " << shape;
      }
    }
    EXPECT_GE(lines, 3) << shape;
  }
}

// Flat, falling and in waves where the words of a note usually stand: they stand below.
TEST(LineChart, NoLineRunsThroughTheWordsOfANote) {
  std::vector<std::vector<double>> shapes(3);
  for (int i = 0; i < 200; ++i) {
    shapes[0].push_back(0.97);
    shapes[1].push_back(1 - 0.001 * i);
    shapes[2].push_back(0.9 + 0.1 * std::sin(i / 5.0));
  }
  for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
    LineChart chart{.series = {lineOf(QStringLiteral("run"), 1, shapes[shape])}};
    chart.y.range = {{0, 1}};
    chart.notes = {{100, std::nullopt, QStringLiteral("fitted"), 2},
                   {102, std::nullopt, QStringLiteral("chosen"), 2}};
    const SvgDocument svg = readSvg(figureBytes(*makeLineChart(chart), FigureFormat::Svg, {}));
    std::vector<QRectF> words;
    for (const SvgDocument::Text& one : textsOf(svg)) {
      if (one.words == QLatin1String("fitted") || one.words == QLatin1String("chosen"))
        words.push_back(one.box);
    }
    ASSERT_EQ(words.size(), 2U) << shape;
    EXPECT_FALSE(words[0].intersects(words[1])) << shape;
    const std::vector<QLineF> lines = svg.linesOf(seriesColor(1, ThemeKind::Light));
    EXPECT_FALSE(lines.empty()) << shape;
    for (const QLineF& line : lines) {
      for (int step = 0; step <= 100; ++step) {
        for (const QRectF& word : words)
          ASSERT_FALSE(word.contains(line.pointAt(step / 100.0))) << "shape " << shape;
      }
    }
  }
}

// Lines are everywhere, and the notes at almost one place.
TEST(LineChart, WordsOfNotesAreApartAmongManyLines) {
  LineChart chart;
  for (int line = 0; line < 12; ++line) {
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) values.push_back((i + line) % 2);
    chart.series.push_back(lineOf(QString::number(line), 1, values));
  }
  chart.legend = FigureLegend::None;
  chart.notes = {{20, std::nullopt, QStringLiteral("fitted 1.12"), 1},
                 {20.2, std::nullopt, QStringLiteral("fitted 1.10"), 1}};
  const SvgDocument svg = readSvg(figureBytes(*makeLineChart(chart), FigureFormat::Svg, {}));
  std::vector<QRectF> words;
  for (const SvgDocument::Text& one : textsOf(svg))
    if (one.words.startsWith(QLatin1String("fitted"))) words.push_back(one.box);
  ASSERT_EQ(words.size(), 2U);
  EXPECT_FALSE(words[0].intersects(words[1]));
}

TEST(LineChart, NumbersAtTheEndsOfATimeAxisStayInsideThePictureAndApart) {
  for (const ChartAxis::Unit unit : {ChartAxis::Unit::Date, ChartAxis::Unit::Duration}) {
    for (const double span : {40.0, 3000.0, 20'000.0, 200'000.0, 3e6}) {
      LineChart chart;
      chart.x.unit = unit;
      const double from = unit == ChartAxis::Unit::Date ? 1.7e9 : 36'000;
      // Numbers stand exactly at both ends.
      chart.x.range = {from, from + span};
      chart.y.range = {0, 1};
      ChartSeries series = lineOf(QStringLiteral("run"), 1, {0.2, 0.9});
      series.x = {from, from + span};
      chart.series = {series};
      const auto figure = makeLineChart(chart);
      Recipe recipe;
      recipe.paper.hasAxisTitles = false;
      const QSizeF size = highEnough(*figure, recipe.paper).logical();
      double freeFrom = 0;
      int numbers = 0;
      for (const SvgDocument::Text& one :
           textsOf(readSvg(figureBytes(*figure, FigureFormat::Svg, recipe)))) {
        // Times have a colon and days a space in them, and nothing else here does.
        if (!one.words.contains(QLatin1Char(':')) && !one.words.contains(QLatin1Char(' ')))
          continue;
        ++numbers;
        EXPECT_GE(one.box.left(), freeFrom) << span << ' ' << one.words.toStdString();
        EXPECT_LE(one.box.right(), size.width()) << span << ' ' << one.words.toStdString();
        freeFrom = one.box.right() + 4;
      }
      EXPECT_GE(numbers, 1) << span;
    }
  }
}

}  // namespace
}  // namespace vitrine::ui
