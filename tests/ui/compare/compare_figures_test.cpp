// Curves of variants, the scatter and the parallel axes, before they are drawn.
#include "ui/compare/compare_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.h"
#include "tests/ui/compare/ablation.h"
#include "tests/ui/compare/compare_fixture.h"
#include "ui/compare/difference_list.h"
#include "ui/compare/parallel_chart.h"
#include "ui/compare/scatter_chart.h"

namespace vitrine::ui {
namespace {

using ::testing::ElementsAre;

TEST_F(CompareValues, CurvesAverageSeedsOfOneVariantAlone) {
  fillAblation(store_);
  const auto data = read();
  CompareChoice choice;
  choice.colour = "model.mlp";  // two variants share a colour, and are still two lines
  const CurveRequest request = curveRequest(*data, choice, {0, 1, 2, 3});
  EXPECT_EQ(request.runs.size(), 11u);
  const auto panels = variantCharts(*data, choice, request, points(request));
  ASSERT_EQ(panels.size(), 1u);
  const LineChart& chart = panels[0].chart;
  ASSERT_EQ(chart.series.size(), 4u);
  EXPECT_EQ(chart.series[0].run, chart.series[2].run);
  EXPECT_NE(chart.series[0].run, chart.series[1].run);
  EXPECT_NEAR(chart.series[0].y.back(), 82, 1e-9) << "percent";
  EXPECT_NEAR(chart.series[0].high.back() - 82, 4.9683, 1e-3);
  EXPECT_EQ(chart.series[1].name.toStdString(), "mlp swiglu (n = 3)");
  EXPECT_EQ(chart.series[3].name.toStdString(), "mlp gelu \u00b7 + worse (n = 2)");
  EXPECT_EQ(chart.about.toStdString(), "mean, band: 95\u2009% interval over seeds");
}

TEST_F(CompareValues, CurvesSayThatASeedIsCutWhereOneIs) {
  fillAblation(store_);
  const auto data = read();
  const CurveRequest request = curveRequest(*data, {}, {0, 1, 2, 3});
  CurvePoints all = points(request);
  EXPECT_EQ(variantCharts(*data, {}, request, all)[0].chart.footnote, QString());
  all.at(request.runs.front()).pop_back();
  EXPECT_EQ(variantCharts(*data, {}, request, all)[0].chart.footnote,
            QStringLiteral("up to the shortest seed"));
}

TEST_F(CompareValues, CurvesOfSeedsAreSingleRuns) {
  fillAblation(store_);
  const auto data = read();
  CompareChoice choice{.dash = "seed", .panel = "model.width"};
  const CurveRequest request = curveRequest(*data, choice, {0, 1, 2, 3});
  const auto panels = variantCharts(*data, choice, request, points(request));
  ASSERT_EQ(panels.size(), 3u);
  EXPECT_EQ(panels[0].name.toStdString(), "width 48");
  EXPECT_EQ(panels[0].chart.series.size(), 6u);
  EXPECT_TRUE(panels[0].chart.series[0].low.empty()) << "one run has no band";
  EXPECT_EQ(panels[0].chart.about.toStdString(), "one run each");
}

TEST_F(CompareValues, CurvesWithoutPointsNameTheMetricByItsTitle) {
  fillAblation(store_);
  const auto data = read();
  const CurveRequest request = curveRequest(*data, {}, {0, 1, 2, 3});
  ASSERT_NE(data->titleOf(request.metric).toStdString(), request.metric);
  const auto panels = variantCharts(*data, {}, request, {});
  ASSERT_EQ(panels.size(), 1u);
  EXPECT_EQ(
      panels[0].chart.emptyText.toStdString(),
      "No counted run has points of " + data->titleOf(request.metric).toStdString() + ".");
}

TEST_F(CompareValues, DifferenceCurvePairsSeedBySeed) {
  fillAblation(store_);
  const auto data = read();
  const CurveRequest request = curveRequest(*data, {}, {0, 1, 2, 3});
  const LineChart chart = differenceChart(*data, {}, request, points(request));
  ASSERT_EQ(chart.series.size(), 3u);
  EXPECT_EQ(chart.series[0].name.toStdString(), "+ better (n = 3)");
  ASSERT_EQ(chart.series[0].y.size(), 3u);
  for (const double y : chart.series[0].y) EXPECT_NEAR(y, 2, 1e-9);
  EXPECT_NEAR(chart.series[0].high[0] - 2, 0.248414, 1e-4);
  ASSERT_EQ(chart.rules.size(), 1u);
  EXPECT_EQ(chart.rules[0].at, 0);
}

TEST(Pareto, HoldsExactlyWhatNoOtherBeats) {
  const RandomStream random(3, "pareto");
  for (std::uint64_t round = 0; round < 200; ++round) {
    std::vector<ScatterPoint> points;
    for (std::uint64_t i = 0; i < 12; ++i) {
      points.push_back({i, static_cast<double>(random.below(6, round, 2 * i)),
                        static_cast<double>(random.below(6, round, 2 * i + 1))});
    }
    const Direction dx = round % 2 == 0 ? Direction::Lower : Direction::Higher;
    const Direction dy = round % 3 == 0 ? Direction::Lower : Direction::Higher;
    const auto better = [](double a, double b, Direction d) {
      return d == Direction::Lower ? a < b : a > b;
    };
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < points.size(); ++i) {
      bool isBeaten = false;
      for (const ScatterPoint& other : points) {
        const bool isNoWorse =
            !better(points[i].x, other.x, dx) && !better(points[i].y, other.y, dy);
        const bool isBetter = better(other.x, points[i].x, dx) || better(other.y, points[i].y, dy);
        if (isNoWorse && isBetter) isBeaten = true;
      }
      if (!isBeaten) expected.push_back(i);
    }
    EXPECT_THAT(paretoFront(points, dx, dy), ::testing::UnorderedElementsAreArray(expected));
  }
  EXPECT_TRUE(paretoFront({{0, 1, 1}}, Direction::None, Direction::Higher).empty());
}

TEST_F(CompareValues, ScatterTakesAnyTwoNumbers) {
  fillAblation(store_);
  CompareChoice choice{.scatterX = "config:model.width",
                       .scatterY = "metric:test/loss",
                       .betterX = Direction::Lower};
  const auto data = read(choice);
  const LineChart chart = scatterChart(*data, choice);
  EXPECT_EQ(chart.x.title.toStdString(), "width");
  ASSERT_EQ(chart.series.size(), 5u) << "the front and four variants";
  EXPECT_TRUE(chart.series[0].name.startsWith(QLatin1String("Pareto front (lower width, ")));
  EXPECT_EQ(chart.series[1].x.size(), 3u);
  EXPECT_EQ(chart.series[1].labels[0].toStdString(), "base, seed 0, run 1");
}

TEST_F(CompareValues, APercentSignInANameStaysInEveryLabel) {
  for (const char* name : {"keep %1", "keep %2"})
    addAblationRun(store_, {name, {{"keep", name}}, 7, {0.5}});
  CompareChoice choice{.scatterX = "metric:test/top1", .scatterY = "metric:test/loss"};
  const auto data = read(choice);
  const QString label = data->labels[data->ofRun[1]];
  ASSERT_TRUE(label.contains(QLatin1String("keep %2"))) << label.toStdString();
  const auto withSeed = [&label](const QString& form) {
    return form.arg(7).arg(2).prepend(label).toStdString();
  };
  EXPECT_EQ(scatterChart(*data, choice).series.back().labels[0].toStdString(),
            withSeed(QStringLiteral(", seed %1, run %2")));
  EXPECT_EQ(parallelChart(*data, choice).lines.back().name.toStdString(),
            withSeed(QStringLiteral(", seed %1, run %2")));
  EXPECT_EQ(differenceList(*data, {0, 1}).names.back().toStdString(),
            withSeed(QStringLiteral(" \u00b7 seed %1 \u00b7 #%2")));
}

TEST_F(CompareValues, BrushesKeepRunsThatPassAllOfThem) {
  fillAblation(store_);
  CompareChoice choice;
  choice.parallel = {{"config:model.mlp", false, false, std::nullopt},
                     {"config:model.width", false, false, std::array{40.0, 70.0}},
                     {"metric:test/top1", false, true, std::array{81.0, 83.0}}};
  const auto data = read(choice);
  const ParallelChart chart = parallelChart(*data, choice);
  ASSERT_EQ(chart.axes.size(), 3u);
  EXPECT_THAT(chart.axes[0].words, ElementsAre(QStringLiteral("gelu"), QStringLiteral("swiglu")));
  EXPECT_THAT(chart.keptRuns(), ElementsAre(3, 4, 7, 8, 9));
  EXPECT_EQ(chart.about.toStdString(), "5 of 12 runs are kept");
}

TEST_F(CompareValues, AnAxisNamesTheEntriesOfAList) {
  const Json crop{{"name", "crop"}, {"size", 28}};
  const Json flip{{"name", "flip"}};
  addAblationRun(store_, {"a", {{"train", Json::array({crop, flip})}}, 0, {0.5}});
  addAblationRun(store_, {"b", {{"train", Json::array({crop})}}, 0, {0.5}});
  CompareChoice choice{.parallel = {{"config:model.train", false, false, std::nullopt}}};
  const auto data = read(choice);
  const ParallelChart chart = parallelChart(*data, choice);
  ASSERT_EQ(chart.axes.size(), 1u);
  EXPECT_THAT(chart.axes[0].tickTexts({0, 1}),
              ElementsAre(QStringLiteral("crop, flip"), QStringLiteral("crop")));
}

// A line that ran through the letters would shine through their soft edges.
TEST(ParallelAxis, TheNumbersOfALinearAxisHaveAsManyDecimalsEach) {
  ParallelAxis axis;
  EXPECT_EQ(axis.tickTexts({87.8, 88, 88.2}), (QStringList{"87.8", "88.0", "88.2"}));
  EXPECT_EQ(axis.tickTexts({1000, 2000}), (QStringList{"1,000", "2,000"}));
  axis.choice.isLog = true;
  EXPECT_EQ(axis.tickTexts({0.1, 1}), (QStringList{"0.1", "1"}));
}

TEST_F(CompareValues, LinesOfParallelAxesEndBeforeTheWordsOfAnAxis) {
  fillAblation(store_);
  CompareChoice choice;
  choice.parallel = {{"config:model.mlp", false, false, std::nullopt},
                     {"config:model.width", false, false, std::nullopt},
                     {"metric:test/top1", false, false, std::nullopt}};
  const auto data = read(choice);
  ParallelChart chart = parallelChart(*data, choice);
  ASSERT_EQ(chart.lines.size(), 12u);
  for (const double width : {900.0, 360.0}) {
    const QImage whole = ParallelFigure(chart, {}).image(QSizeF(width, 420), 1);
    ParallelChart bare = chart;
    bare.lines.clear();
    const QImage words = ParallelFigure(bare, {}).image(QSizeF(width, 420), 1);
    ASSERT_NE(whole, words);
    const QRgb paper = words.pixel(words.width() - 2, words.height() / 2);
    int drawn = 0, crossed = 0;
    for (int y = 0; y < words.height(); ++y) {
      for (int x = 0; x < words.width(); ++x) {
        if (words.pixel(x, y) == paper) continue;
        ++drawn;
        crossed += whole.pixel(x, y) != words.pixel(x, y);
      }
    }
    EXPECT_GT(drawn, 1000);
    EXPECT_EQ(crossed, 0) << "of " << drawn << " pixels in a width of " << width;
  }
}

TEST(ParallelTicks, AreRoundNumbersOrTheFewSettingsThatOccur) {
  ParallelAxis axis{.low = 70.05, .high = 84.13};
  EXPECT_THAT(axis.ticks(5), ElementsAre(75, 80));
  axis.settings = {71, 84};
  EXPECT_THAT(axis.ticks(5), ElementsAre(71, 84));
  axis.settings.clear();
  axis.low = 2e-4;
  axis.high = 3e-2;
  axis.choice.isLog = true;
  EXPECT_THAT(axis.ticks(5), ::testing::Each(::testing::Truly([](double tick) {
                const double digit = tick / std::pow(10, std::floor(std::log10(tick) + 1e-9));
                return std::abs(digit - std::round(digit)) < 1e-6;
              })));
  EXPECT_EQ(axis.valueText(1e-3).toStdString(), "0.001");
}

TEST_F(CompareValues, AxesMapBackAndForth) {
  ParallelAxis axis{.low = 1e-4, .high = 1e-1};
  for (const bool isLog : {false, true}) {
    for (const bool isFlipped : {false, true}) {
      axis.choice.isLog = isLog;
      axis.choice.isFlipped = isFlipped;
      for (const double value : {1e-4, 3e-3, 1e-1})
        EXPECT_NEAR(axis.valueAt(axis.share(value)), value, 1e-12);
      EXPECT_EQ(axis.share(1e-4), isFlipped ? 1 : 0);
    }
  }
}

}  // namespace
}  // namespace vitrine::ui
