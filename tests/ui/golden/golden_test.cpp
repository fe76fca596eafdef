// Every painter draws what it drew at the last review: small pictures, off screen, at
// 96 dots per inch and in the font of the window, against those beside this file. README.md says
// how they are made again.
#include <QFontDatabase>
#include <QPainter>
#include <QTemporaryDir>
#include <atomic>
#include <cmath>
#include <limits>

#include "tests/ui/compare/ablation.h"
#include "tests/ui/figures/samples.h"
#include "tests/ui/golden/golden_image.h"
#include "tests/ui/support/qt_test.h"
#include "ui/compare/compare_figures.h"
#include "ui/compare/forest_chart.h"
#include "ui/compare/parallel_chart.h"
#include "ui/compare/scatter_chart.h"
#include "ui/compare/variant_curves.h"
#include "ui/figures/figure.h"
#include "ui/figures/line_chart.h"
#include "ui/figures/side_by_side.h"

namespace vitrine::ui {
namespace {

constexpr QSize kPicture(480, 300);

class Golden : public ::testing::Test {
 protected:
  void SetUp() override {
    // Another font has other widths, and every axis would stand elsewhere.
    if (!QFontDatabase::hasFamily(QStringLiteral("Inter")))
      GTEST_SKIP() << "the font Inter is not installed (Debian: fonts-inter)";
  }
  static QImage drawn(Figure& figure, ThemeKind theme = ThemeKind::Light, QSize size = kPicture) {
    FigureStyle style = figure.style();
    style.theme = theme;
    figure.setStyle(style);
    return figure.image(size, 1);
  }
  static std::unique_ptr<Figure> figureOf(const Artifact& artifact, const FigureStyle& style = {}) {
    return makeFigure(QString::fromStdString(artifact.kind), artifact.meta, artifact.data, style);
  }
};

/// Two runs with raw lines behind smoothed ones, a band, values that are not finite, a resume, a
/// note and a rule.
LineChart curves() {
  LineChart chart{.title = QStringLiteral("train/loss"), .about = QStringLiteral("2 runs")};
  chart.x.title = QStringLiteral("step");
  chart.y.title = QStringLiteral("loss, nats");
  chart.footnote = QStringLiteral("Smoothed: moving average 0.9, raw values faint behind it.");
  for (int run = 1; run <= 2; ++run) {
    ChartSeries series{.name = QStringLiteral("run %1").arg(run), .run = run};
    double smooth = 0;
    for (int i = 0; i < 200; ++i) {
      const double noise = 0.25 * std::sin(i * 12.9898 * run) * std::cos(i * 0.7);
      const double raw = 0.4 * run + 1.8 * std::exp(-i / 50.0) + noise;
      smooth = i == 0 ? raw : 0.9 * smooth + 0.1 * raw;
      series.x.push_back(10 * i);
      series.y.push_back(smooth);
      series.raw.push_back(raw);
    }
    if (run == 1) {
      for (std::size_t i = 0; i < series.y.size(); ++i) {
        series.low.push_back(series.y[i] - 0.12);
        series.high.push_back(series.y[i] + 0.12);
      }
      series.segmentStarts = {900};
    } else {
      for (std::size_t i = 120; i < 126; ++i)
        series.y[i] = series.raw[i] = std::numeric_limits<double>::quiet_NaN();
      series.y[150] = series.raw[150] = std::numeric_limits<double>::infinity();
    }
    chart.series.push_back(std::move(series));
  }
  chart.rules.push_back({Qt::Horizontal, 0.4, QStringLiteral("published")});
  chart.notes.push_back({500, std::nullopt, QStringLiteral("rate halved"), 1});
  return chart;
}

TEST_F(Golden, LinesWithBandsMarksAndSeams) {
  EXPECT_TRUE(isGolden(drawn(*makeLineChart(curves())), QStringLiteral("lines")));
  EXPECT_TRUE(
      isGolden(drawn(*makeLineChart(curves()), ThemeKind::Dark), QStringLiteral("lines_dark")));
}

TEST_F(Golden, LogarithmicAxesMarkWhatHasNoLogarithm) {
  LineChart chart{.title = QStringLiteral("optimizer/learning_rate")};
  chart.x.title = QStringLiteral("running time");
  chart.x.unit = ChartAxis::Unit::Duration;
  chart.y.scale = AxisScale::Log;
  chart.legend = FigureLegend::Inside;
  ChartSeries series{.name = QStringLiteral("cosine, then zero"), .run = 3};
  for (int i = 0; i <= 100; ++i) {
    series.x.push_back(45 * i);
    series.y.push_back(i > 90 ? 0 : 1e-3 * (1.001 + std::cos(i * 0.0345)) / 2);
  }
  chart.series = {series};
  EXPECT_TRUE(isGolden(drawn(*makeLineChart(std::move(chart)), ThemeKind::HighContrast),
                       QStringLiteral("log_high_contrast")));
}

/// What the Compare page draws of an ablation.
class GoldenAblation : public Golden {
 protected:
  void SetUp() override {
    Golden::SetUp();
    if (IsSkipped()) return;
    fillAblation(store_);
    const std::atomic<bool> isStale = false;
    data_ = readCompareData([this](const std::string& sql) { return store_.query(sql); },
                            store_.runs(), choice_, isStale);
    request_ = curveRequest(*data_, choice_, {0, 1, 2, 3});
    for (const std::int64_t run : request_.runs) points_[run] = store_.points(run, request_.metric);
  }

  QTemporaryDir folder_;
  store::RunStore store_{folder_.filePath(QStringLiteral("experiments.sqlite")).toStdString()};
  CompareChoice choice_;
  std::shared_ptr<const CompareData> data_;
  CurveRequest request_;
  CurvePoints points_;
};

TEST_F(GoldenAblation, VariantsWithTheirBands) {
  const auto figure = makePanels(variantCharts(*data_, choice_, request_, points_));
  EXPECT_TRUE(isGolden(drawn(*figure), QStringLiteral("variants")));
}

TEST_F(GoldenAblation, PairedDifferenceToTheBaseline) {
  const auto figure = makeLineChart(differenceChart(*data_, choice_, request_, points_));
  EXPECT_TRUE(isGolden(drawn(*figure), QStringLiteral("difference")));
}

TEST_F(GoldenAblation, ForestOfTheVariants) {
  const AblationTable table = makeAblationTable(*data_, choice_);
  ForestFigure figure(forestChart(*data_, table, {0, 1, 2, 3}));
  EXPECT_TRUE(isGolden(drawn(figure, ThemeKind::Light, {540, 220}), QStringLiteral("forest")));
}

TEST_F(GoldenAblation, TableOfTheVariants) {
  const auto figure = makeAblationFigure(makeAblationTable(*data_, choice_), {});
  EXPECT_TRUE(isGolden(drawn(*figure, ThemeKind::Light, {720, 220}), QStringLiteral("ablation")));
}

TEST_F(GoldenAblation, WhatDiffersBetweenTheVariants) {
  const auto figure = makeDifferencesFigure(
      differenceList(*data_, differedRuns(*data_, choice_, {})), *data_, DifferencesShown::Only);
  EXPECT_TRUE(
      isGolden(drawn(*figure, ThemeKind::Dark, {720, 320}), QStringLiteral("differences_dark")));
}

TEST_F(GoldenAblation, ScatterWithItsFront) {
  choice_.scatterX = "metric:test/loss";
  const auto figure = makeLineChart(scatterChart(*data_, choice_));
  EXPECT_TRUE(isGolden(drawn(*figure), QStringLiteral("scatter")));
}

TEST_F(GoldenAblation, ParallelCoordinatesWithABrush) {
  ParallelChart chart = parallelChart(*data_, choice_);
  ASSERT_GE(chart.axes.size(), 3U);
  chart.axes.back().choice.brush = {chart.axes.back().low, chart.axes.back().valueAt(0.5)};
  chart.about = QStringLiteral("some runs are kept");
  ParallelFigure figure(std::move(chart), {});
  EXPECT_TRUE(isGolden(drawn(figure), QStringLiteral("parallel")));
}

TEST_F(Golden, ConfusionMatrixWithItsColourBar) {
  EXPECT_TRUE(isGolden(drawn(*figureOf(samples::confusion()), ThemeKind::Light, {360, 340}),
                       QStringLiteral("confusion")));
}

TEST_F(Golden, SignedValuesOnADivergingScale) {
  Artifact map = samples::named("other", "map", artifact_kind::kHeatmap);
  std::vector<float> values;
  for (int i = 0; i < 96; ++i)
    values.push_back(static_cast<float>(std::sin(i * 0.35) * (i % 12 - 4)));
  setFloat32(map, values, {8, 12}, {"row", "column"});
  map.meta["unit"] = "logit";
  EXPECT_TRUE(isGolden(drawn(*figureOf(map)), QStringLiteral("heatmap")));
}

TEST_F(Golden, AttentionOfLayersAndHeads) {
  Artifact maps = samples::named("attention_map", "image 0", artifact_kind::kAttention);
  std::vector<float> values;
  constexpr int kTokens = 17;  // a class token and 4 x 4 patches
  for (int map = 0; map < 6; ++map) {
    for (int query = 0; query < kTokens; ++query) {
      for (int key = 0; key < kTokens; ++key) {
        const double distance = std::abs(query - key) / (1.0 + map);
        values.push_back(static_cast<float>(0.3 * std::exp(-distance)));
      }
    }
  }
  setFloat32(maps, values, {2, 3, kTokens, kTokens}, {"layer", "head", "query", "key"});
  FigureStyle style{.layer = 1, .head = 2, .query = 7};
  EXPECT_TRUE(isGolden(drawn(*figureOf(maps, style)), QStringLiteral("attention")));
  style.attention = FigureStyle::AttentionView::Matrix;
  EXPECT_TRUE(isGolden(drawn(*figureOf(maps, style), ThemeKind::Dark),
                       QStringLiteral("attention_matrix_dark")));
}

TEST_F(Golden, SpectraOfAttention) {
  EXPECT_TRUE(isGolden(drawn(*figureOf(samples::spectrum())), QStringLiteral("spectrum")));
}

TEST_F(Golden, ReliabilityWithItsGaps) {
  const auto figure =
      figureOf(samples::reliability([](double m) { return m * m; }, [](double m) { return m; }));
  EXPECT_TRUE(
      isGolden(drawn(*figure, ThemeKind::Light, {320, 360}), QStringLiteral("reliability")));
}

TEST_F(Golden, HistogramImagesAndTableBesideEachOther) {
  FigureStyle named{.title = QStringLiteral("a run"), .run = 2};
  std::vector<std::pair<QString, std::unique_ptr<Figure>>> all;
  for (const Artifact& one :
       {samples::histogram(), samples::imageGrid(), samples::table(), samples::curve()})
    all.emplace_back(QString::fromStdString(one.name), figureOf(one, named));
  SideBySide figure(std::move(all), 2, {});
  EXPECT_TRUE(
      isGolden(drawn(figure, ThemeKind::Light, {640, 440}), QStringLiteral("side_by_side")));
}

TEST(GoldenDifference, SeesAShiftByOnePixelAndAnotherColour) {
  QImage one(100, 100, QImage::Format_RGB32);
  one.fill(Qt::white);
  QImage same = one, shifted = one, tinted = one;
  QPainter(&one).fillRect(20, 40, 60, 1, Qt::black);
  QPainter(&same).fillRect(20, 40, 60, 1, QColor(20, 20, 20));
  QPainter(&shifted).fillRect(20, 41, 60, 1, Qt::black);
  QPainter(&tinted).fillRect(20, 40, 60, 1, Qt::darkBlue);
  const GoldenTolerance tolerance;
  EXPECT_EQ(differenceOf(one, same, tolerance).pixels, 0);
  const GoldenDifference moved = differenceOf(one, shifted, tolerance);
  EXPECT_EQ(moved.pixels, 120);
  EXPECT_EQ(moved.where, QRect(20, 40, 60, 2));
  EXPECT_FALSE(moved.isWithin(tolerance));
  EXPECT_FALSE(differenceOf(one, tinted, tolerance).isWithin(tolerance));
}

}  // namespace
}  // namespace vitrine::ui
