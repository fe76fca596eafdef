// What the export of a chart lets its author choose: title, labels, names, markers; and what paper
// asks for.
#include <QBuffer>
#include <QPainter>
#include <QSvgGenerator>
#include <QTemporaryDir>
#include <algorithm>

#include "tests/ui/figures/svg_document.h"
#include "tests/ui/support/line_chart_probe.h"
#include "tests/ui/support/qt_environment.h"
#include "ui/figures/line_chart.h"
#include "ui/figures/paper.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

LineChart accuracy() {
  LineChart chart{.title = QStringLiteral("Accuracy, test"),
                  .about = QStringLiteral("mean over seeds")};
  chart.x.title = QStringLiteral("step");
  chart.y.title = QStringLiteral("Accuracy, test");
  chart.y.unit = ChartAxis::Unit::Percent;
  for (std::int64_t run = 1; run <= 2; ++run) {
    ChartSeries series{.name = QStringLiteral("run %1").arg(run), .run = run};
    for (int i = 0; i < 100; ++i) {
      series.x.push_back(i);
      series.y.push_back(0.5 + 0.001 * static_cast<double>(i * run));
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

QStringList wordsOn(const FigurePaper& paper, const LineChart& chart = accuracy()) {
  const auto figure = makeLineChart(chart);
  Recipe recipe{.paper = paper};
  QStringList words;
  for (const auto& text : readSvg(figureBytes(*figure, FigureFormat::Svg, recipe)).texts)
    words << text.words;
  return words;
}

TEST(PaperChart, SaysOnceWhatItsAxisSays) {
  EXPECT_EQ(wordsOn({}).count(QStringLiteral("Accuracy, test")), 1);
  EXPECT_TRUE(wordsOn({}).contains(QStringLiteral("mean over seeds")));
  FigurePaper bare{.hasAxisTitles = false};
  EXPECT_EQ(wordsOn(bare).count(QStringLiteral("Accuracy, test")), 1) << "then the title says it";
  FigurePaper named{.yTitle = QStringLiteral("Top-1")};
  EXPECT_EQ(wordsOn(named).count(QStringLiteral("Accuracy, test")), 1);
}

TEST(ScreenChart, SaysItsTitleOnceAndWrapsWhatStandsBesideIt) {
  const LineChart chart = accuracy();
  FigureStyle style{.wrapsAbout = true};
  EXPECT_GT(makeLineChart(chart, style)->leastHeight(160), makeLineChart(chart)->leastHeight(160));
  EXPECT_EQ(makeLineChart(chart, style)->leastHeight(900), makeLineChart(chart)->leastHeight(900));
  QBuffer file;
  QSvgGenerator device;
  device.setOutputDevice(&file);
  device.setSize(QSize(600, 300));
  QPainter painter(&device);
  makeLineChart(chart)->paint(painter, QRectF(0, 0, 600, 300));
  painter.end();
  const auto texts = readSvg(file.data()).texts;
  EXPECT_EQ(std::count_if(texts.begin(), texts.end(),
                          [&](const SvgDocument::Text& one) { return one.words == chart.title; }),
            1);
}

TEST(PaperChart, HasNoFirstLineWithoutATitle) {
  FigurePaper paper{.hasTitle = false};
  EXPECT_FALSE(wordsOn(paper).contains(QStringLiteral("mean over seeds")));
}

TEST(PaperChart, HasTheLabelsOfItsAuthor) {
  const QStringList words = wordsOn({.xTitle = QStringLiteral("Updates"),
                                     .yTitle = QStringLiteral("Top-1"),
                                     .seriesNames = {QString(), QStringLiteral("ours")}});
  for (const char* there : {"Updates", "Top-1", "run 1", "ours"})
    EXPECT_TRUE(words.contains(QLatin1String(there))) << there;
  for (const char* gone : {"step", "run 2"})
    EXPECT_FALSE(words.contains(QLatin1String(gone))) << gone;
}

TEST(PaperChart, HasAMarkerAtEveryNthPoint) {
  const auto figure = makeLineChart(accuracy());
  EXPECT_TRUE(LineChartProbe::commands(*figure, 400).contains(QStringLiteral("disc 8 points")));
  FigurePaper paper{.markerEvery = 25};
  figure->setStyle(paper.styled({}));
  const QString sparse = LineChartProbe::commands(*figure, 400);
  EXPECT_TRUE(sparse.contains(QStringLiteral("symbols \"run 1\" #0072b2 disc 4 points 0.0")))
      << sparse.toStdString();
  paper.markerEvery = 1000;
  figure->setStyle(paper.styled({}));
  EXPECT_TRUE(LineChartProbe::commands(*figure, 400).contains(QStringLiteral("disc 1 points")));
}

TEST(ChartTicks, AreFourAtLeastWhereFourAreAskedFor) {
  const std::array<double, 2> ranges[] = {{0, 1},     {0.7, 1.6},   {0.513, 0.597}, {-3, 4e6},
                                          {1.2, 8.4}, {2e-5, 9e-2}, {1, 1e9},       {3, 3.2}};
  for (const AxisScale scale : {AxisScale::Linear, AxisScale::Log}) {
    for (const auto& range : ranges) {
      ChartAxis axis{.scale = scale, .least = 4};
      if (scale == AxisScale::Log && range[0] <= 0) continue;
      const ChartTicks ticks = chartTicks(axis, range, 2);
      EXPECT_GE(ticks.values.size(), 4u) << range[0] << " to " << range[1];
      EXPECT_LE(ticks.values.size(), 14u) << range[0] << " to " << range[1];
      for (const double value : ticks.values) {
        EXPECT_GE(value, range[0] * 0.999 - 1e-9);
        EXPECT_LE(value, range[1] * 1.001 + 1e-9);
      }
    }
  }
}

TEST(ChartTicks, OfALogarithmicAxisAreFourAtLeastBelowTwoDecades) {
  ChartAxis axis{.scale = AxisScale::Log};
  for (const double low : {1.0, 1.1, 1.5, 2.1, 3.1, 4.2, 5.5, 7.0, 9.5}) {
    for (const double factor : {5.1, 6.5, 8.0, 9.9, 12.0, 30.0}) {
      const ChartTicks ticks = chartTicks(axis, {low, low * factor}, 5);
      EXPECT_GE(ticks.values.size(), 4U) << low << " times " << factor;
      EXPECT_LE(ticks.values.size(), 7U) << low << " times " << factor;
    }
  }
  EXPECT_EQ(chartTicks(axis, {1.5, 12}, 5).labels.join(QLatin1Char(' ')).toStdString(), "2 3 5 10");
}

TEST(ChartTicks, OfFractionsAreInPercent) {
  ChartAxis axis{.unit = ChartAxis::Unit::Percent};
  const ChartTicks ticks = chartTicks(axis, {0.4, 0.6}, 4);
  EXPECT_EQ(ticks.labels.join(QLatin1Char(' ')).toStdString(),
            "40\u2009% 45\u2009% 50\u2009% 55\u2009% 60\u2009%");
  EXPECT_DOUBLE_EQ(ticks.values[1], 0.45);
  EXPECT_EQ(axisValue(axis.unit, 0.42317).toStdString(), "42.32\u2009%");
  axis.scale = AxisScale::Log;
  EXPECT_TRUE(chartTicks(axis, {0.01, 1}, 4).labels.contains(QStringLiteral("10\u2009%")));
}

TEST(ChartTicks, OfDifferencesOfFractionsAreTimesAHundred) {
  ChartAxis axis{.unit = ChartAxis::Unit::Points};
  EXPECT_EQ(chartTicks(axis, {0.4, 0.6}, 4).labels.join(QLatin1Char(' ')).toStdString(),
            "40 45 50 55 60");
  EXPECT_EQ(axisValue(axis.unit, 0.179).toStdString(), "17.9 points");
}

TEST(FigurePaper, KeepsAllThatWasChosen) {
  FigurePaper paper;
  paper.hasTitle = false;
  paper.markerEvery = 7;
  paper.xTitle = QStringLiteral("Updates");
  paper.yTitle = QStringLiteral("Top-1 <%>");
  paper.seriesNames = {QString(), QStringLiteral("ours")};
  const FigurePaper again = paperFromJson(toJson(paper));
  EXPECT_EQ(toJson(again), toJson(paper));
  EXPECT_FALSE(again.hasTitle);
  EXPECT_EQ(again.markerEvery, 7);
  EXPECT_EQ(again.seriesNames, paper.seriesNames);
  const FigurePaper plain = paper.withoutWords();
  EXPECT_EQ(plain.markerEvery, 7);
  EXPECT_TRUE(plain.xTitle.isEmpty() && plain.yTitle.isEmpty() && plain.seriesNames.isEmpty());
}

TEST(FigurePaper, TakesNothingElseFromAFile) {
  const FigurePaper paper = paperFromJson({{"title", "no"},
                                           {"marker_every", -3},
                                           {"x_title", 5},
                                           {"y_title", std::string(5000, 'y')},
                                           {"series", {1, "two\nlines", nullptr}}});
  EXPECT_TRUE(paper.hasTitle);
  EXPECT_EQ(paper.markerEvery, 0);
  EXPECT_TRUE(paper.xTitle.isEmpty());
  EXPECT_EQ(paper.yTitle.size(), FigurePaper::kLongestName);
  EXPECT_EQ(paper.seriesNames, (QStringList{QString(), QStringLiteral("two lines"), QString()}));
}

TEST(FigurePaper, OfAFileGivesTheSameFigureAgain) {
  const QTemporaryDir folder;
  Recipe recipe{.page = "monitor"};
  recipe.paper.hasTitle = false;
  recipe.paper.markerEvery = 10;
  recipe.paper.xTitle = QStringLiteral("Updates");
  recipe.paper.seriesNames = {QStringLiteral("theirs"), QStringLiteral("ours")};
  const auto figure = makeLineChart(accuracy());
  for (const FigureFormat format : {FigureFormat::Png, FigureFormat::Svg, FigureFormat::Pdf}) {
    const QString path = folder.filePath(QStringLiteral("figure") + endingOf(format));
    saveFigure(*figure, path, recipe);
    const std::optional<Recipe> read = readRecipe(path);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(toText(*read), toText(recipe));
    EXPECT_EQ(paperPicture(*figure, read->paper, 4), paperPicture(*figure, recipe.paper, 4));
    EXPECT_NE(paperPicture(*figure, read->paper, 4), paperPicture(*figure, {}, 4));
  }
}

}  // namespace
}  // namespace vitrine::ui
