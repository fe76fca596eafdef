// What the Compare page computes before anything is drawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <QTemporaryDir>
#include <atomic>
#include <cmath>
#include <fstream>
#include <set>

#include "core/base/random.h"
#include "tests/ui/compare/ablation.h"
#include "ui/compare/ablation_table.h"
#include "ui/compare/compare_figures.h"
#include "ui/compare/difference_list.h"
#include "ui/compare/parallel_chart.h"
#include "ui/compare/published_table.h"
#include "ui/compare/scatter_chart.h"
#include "ui/compare/variant_curves.h"

namespace vitrine::ui {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class CompareValues : public ::testing::Test {
 protected:
  std::shared_ptr<const CompareData> read(const CompareChoice& choice = {}) {
    const std::atomic<bool> isStale = false;
    queries_ = 0;
    return readCompareData(query(), store_.runs(), choice, isStale);
  }
  QueryFunction query() {
    return [this](const std::string& sql) {
      ++queries_;
      return store_.query(sql);
    };
  }
  CurvePoints points(const CurveRequest& request) {
    CurvePoints points;
    for (const std::int64_t run : request.runs) points[run] = store_.points(run, request.metric);
    return points;
  }

  QTemporaryDir folder_;
  RunStore store_{folder_.filePath(QStringLiteral("experiments.sqlite")).toStdString()};
  int queries_ = 0;
};

TEST_F(CompareValues, TableTellsWhatPairingTells) {
  fillAblation(store_);
  const auto data = read();
  const AblationTable table = makeAblationTable(*data, {});
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.metrics.front().name, "test/top1");
  EXPECT_TRUE(table.rows[0].isBaseline);
  const AblationCell& base = table.rows[0].cells[0];
  EXPECT_NEAR(base.sample.statistics.mean, 0.82, 1e-12);
  // The means overlap widely (+- 5 points); the paired difference is two points on every seed.
  const AblationCell& better = table.rows[1].cells[0];
  EXPECT_EQ(better.outcome, Outcome::Better);
  EXPECT_EQ(better.paired.keys.size(), 3u);
  EXPECT_LT(better.sample.statistics.interval.lower, base.sample.statistics.mean);
  // Differences 0.020, 0.021, 0.019: mean 0.02, deviation 0.001, half 4.30265 * 0.001 / sqrt(3).
  EXPECT_NEAR(better.paired.statistics.mean, 0.02, 1e-12);
  EXPECT_NEAR(halfWidth(better.paired.statistics), 0.00248414, 1e-6);
  EXPECT_EQ(table.rows[2].cells[0].outcome, Outcome::NotToldApart);
  const AblationCell& worse = table.rows[3].cells[0];
  EXPECT_EQ(worse.paired.keys.size(), 2u) << "the failed run is not a seed";
  EXPECT_EQ(worse.outcome, Outcome::Worse);
  EXPECT_EQ(table.leftOut.toStdString(), "Not counted: 1 failed.");
  EXPECT_EQ(table.rows[3].runs.toStdString(), "2 done, 1 failed");
  EXPECT_EQ(table.rows[1].differs.toStdString(), "mlp = swiglu");
}

/// "base" with seeds 0 and 1 (one of them twice, one failed), "more" with seeds 0 to 2.
void fillUnevenSeeds(RunStore& store) {
  const Json base = {{"mlp", "gelu"}}, more = {{"mlp", "swiglu"}};
  addAblationRun(store, {"base", base, 0, {0.80}});
  addAblationRun(store, {"base", base, 0, {0.81}});
  addAblationRun(store, {"base", base, 1, {0.83}});
  addAblationRun(store, {"base", base, 2, {0.10}, RunState::Failed});
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    addAblationRun(store, {"more", more, seed, {0.85 + 0.01 * static_cast<double>(seed)}});
}

TEST_F(CompareValues, EveryFormSaysOfHowManySeedsEachIntervalIs) {
  fillUnevenSeeds(store_);
  const AblationTable table = makeAblationTable(*read(), {});
  const AblationCell &base = table.rows[0].cells[0], &more = table.rows[1].cells[0];
  EXPECT_EQ(countText(base, true).toStdString(), "2") << "of four runs";
  EXPECT_EQ(countText(more, false).toStdString(), "3, 2 paired");
  const std::string left =
      "Not counted: 1 failed, 1 repeated with the same seed (the newest counts).";
  EXPECT_EQ(table.leftOut.toStdString(), left);
  for (const QString& text : {toLatex(table, {}), toMarkdown(table, {})}) {
    EXPECT_THAT(text.toStdString(), AllOf(HasSubstr("3, 2 paired"), HasSubstr(left)));
  }
  EXPECT_THAT(toCsv(table, {}).toStdString(), HasSubstr(left));
  const std::unique_ptr<Figure> figure = makeAblationFigure(table, {}, {});
  QImage image(figure->sizeHint(), QImage::Format_RGB32);
  QPainter painter(&image);
  figure->paint(painter, image.rect());
  std::set<std::string> said;
  for (int y = 0; y < image.height(); y += 4) {
    for (int x = 0; x < image.width(); x += 4)
      said.insert(figure->describeAt(QPointF(x, y)).toStdString());
  }
  EXPECT_TRUE(said.contains("n: 2"));
  EXPECT_TRUE(said.contains("n: 3, 2 paired"));
  EXPECT_TRUE(said.contains("Variant: " + left));
}

TEST_F(CompareValues, CurvesAreOfTheRunsThatTheTableCounts) {
  addAblationRun(store_, {"base", {{"mlp", "gelu"}}, 0, {0.7, 0.8}});
  addAblationRun(store_, {"base", {{"mlp", "gelu"}}, 1, {0.7, 0.8}});
  addAblationRun(store_, {"base", {{"mlp", "gelu"}}, 1, {}});  // newer, and without a curve
  const auto data = read();
  const AblationTable table = makeAblationTable(*data, {});
  EXPECT_EQ(table.rows[0].cells[0].sample.statistics.count, 2u);
  EXPECT_THAT(curveRequest(*data, {}, {}).runs, ElementsAre(1, 2));
}

TEST_F(CompareValues, AnyVariantCanBeTheBaseline) {
  fillAblation(store_);
  const auto data = read();
  CompareChoice choice;
  choice.baseline = "+ better";
  const AblationTable table = makeAblationTable(*data, choice);
  EXPECT_EQ(table.baseline, 1u);
  EXPECT_EQ(table.rows[0].cells[0].outcome, Outcome::Worse);
  EXPECT_EQ(table.rows[0].differs.toStdString(), "mlp = gelu");
  EXPECT_NEAR(table.rows[0].cells[0].paired.statistics.mean, -0.02, 1e-12);
  choice.baseline = "was renamed";
  EXPECT_EQ(makeAblationTable(*data, choice).baseline, 0u);
}

TEST(CompareText, HasNoMoreDigitsThanTheIntervalSupports) {
  const auto of = [](const std::vector<double>& values, bool isPercent) {
    return meanText(statisticsOf(values), isPercent).toStdString();
  };
  EXPECT_EQ(of({0.80, 0.82, 0.84}, true), "82.0 \u00b1 5.0");
  EXPECT_EQ(of({0.8000, 0.8002, 0.8004}, true), "80.020 \u00b1 0.050");
  EXPECT_EQ(of({120, 180}, false), "150 \u00b1 381");
  EXPECT_EQ(of({0.81234567}, true), "81.23") << "one seed: no interval, four digits";
  EXPECT_EQ(of({0.5, 0.5}, false), "0.5 \u00b1 0");
  EXPECT_EQ(of({}, false), "\u2013");
  EXPECT_EQ(of({0.5, std::nan("")}, false), "not a number");
  EXPECT_EQ(
      differenceText(statisticsOf(std::vector<double>{-0.02, -0.021, -0.019}), true).toStdString(),
      "\u22122.00 \u00b1 0.25");
  EXPECT_EQ(
      differenceText(statisticsOf(std::vector<double>{0.02, 0.021, 0.019}), true).toStdString(),
      "+2.00 \u00b1 0.25");
}

TEST_F(CompareValues, ReadsTwoHundredRunsOfTwentyMetricsWithAsManyQueriesAsTwo) {
  const auto add = [&](int from, int to) {
    std::vector<NewRun> runs;
    for (int i = from; i < to; ++i) {
      NewRun run;
      run.name = "seed " + std::to_string(i % 5);
      run.seed = static_cast<std::uint64_t>(i % 5);
      run.config = {{"model", {{"width", i / 5}}}, {"train", {{"seed", i % 5}}}};
      run.origins = Json::object();
      runs.push_back(run);
    }
    for (const std::int64_t id : store_.addRuns(store_.experiment("Big", ""), runs)) {
      const std::int64_t segment =
          store_.openSegment(id, 0, thisWorker(), {{"device", "cpu"}, {"commit", "c"}});
      RunStore::Batch batch;
      MetricRecord record;
      record.step = 1;
      for (int m = 0; m < 20; ++m)
        record.values.emplace_back("test/metric" + std::to_string(m), id);
      batch.metrics.push_back(record);
      store_.append(id, segment, batch);
      store_.setState(id, RunState::Done, "");
    }
  };
  CompareChoice choice;
  for (int m = 0; m < 20; ++m) choice.metrics.push_back("test/metric" + std::to_string(m));
  add(0, 2);
  ASSERT_EQ(read(choice)->metrics.size(), 20u);
  const int few = queries_;
  add(2, 200);
  const auto data = read(choice);
  EXPECT_EQ(queries_, few);
  EXPECT_LE(queries_, 8);
  EXPECT_EQ(data->variants.size(), 40u);
  EXPECT_EQ(makeAblationTable(*data, choice).rows.size(), 40u);
  // Many variants, few curves.
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < data->variants.size(); ++i) all.push_back(i);
  EXPECT_EQ(curveRequest(*data, choice, all).variants.size(), kMostCurves);
}

TEST(CompareCurves, AreDrawnWhereAllSeedsHaveAValue) {
  const RunCurve a{{0, 10, 20, 30}, {0, 1, 2, 3}}, b{{10, 20, 30, 40}, {5, 6, 7, 8}};
  EXPECT_THAT(commonPlaces({&a, &b}), ElementsAre(10, 20, 30));
  const RunCurve between{{5, 15}, {0, 10}};
  EXPECT_THAT(commonPlaces({&a, &between}), ElementsAre(5, 10, 15));
  EXPECT_THAT(valuesAt(between, {5, 10, 15}), ElementsAre(0, 5, 10));
  EXPECT_TRUE(commonPlaces({&a, &b, &between}).size() == 2);
  const RunCurve later{{50}, {1}};
  EXPECT_TRUE(commonPlaces({&a, &later}).empty());
}

TEST(CompareCurves, KeepTheirOwnValuesAndInventNoneOutside) {
  const RunCurve broken{{0, 10, 20}, {1, std::nan(""), 3}};
  const std::vector<double> values = valuesAt(broken, {-1, 0, 5, 10, 15, 20, 21});
  EXPECT_EQ(values[1], 1);
  EXPECT_EQ(values[5], 3);
  for (const std::size_t i : {0u, 2u, 3u, 4u, 6u}) EXPECT_TRUE(std::isnan(values[i])) << i;
}

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
  EXPECT_THAT(chart.series[1].name.toStdString(), HasSubstr("mlp swiglu"));
  EXPECT_THAT(chart.series[3].name.toStdString(), HasSubstr("n = 2"));
  EXPECT_THAT(chart.about.toStdString(), HasSubstr("95"));
}

TEST_F(CompareValues, CurvesOfSeedsAreSingleRuns) {
  fillAblation(store_);
  const auto data = read();
  CompareChoice choice;
  choice.dash = "seed";
  choice.panel = "model.width";
  const CurveRequest request = curveRequest(*data, choice, {0, 1, 2, 3});
  const auto panels = variantCharts(*data, choice, request, points(request));
  ASSERT_EQ(panels.size(), 3u);
  EXPECT_EQ(panels[0].name.toStdString(), "width 48");
  EXPECT_EQ(panels[0].chart.series.size(), 6u);
  EXPECT_TRUE(panels[0].chart.series[0].low.empty()) << "one run has no band";
  EXPECT_THAT(panels[0].chart.about.toStdString(), HasSubstr("one run each"));
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
  CompareChoice choice;
  choice.scatterX = "config:model.width";
  choice.scatterY = "metric:test/loss";
  choice.betterX = Direction::Lower;
  const auto data = read(choice);
  const LineChart chart = scatterChart(*data, choice);
  EXPECT_EQ(chart.x.title.toStdString(), "width");
  ASSERT_EQ(chart.series.size(), 5u) << "the front and four variants";
  EXPECT_THAT(chart.series[0].name.toStdString(), HasSubstr("lower width"));
  EXPECT_EQ(chart.series[1].x.size(), 3u);
  EXPECT_THAT(chart.series[1].labels[0].toStdString(), HasSubstr("base, seed 0, run 1"));
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

TEST_F(CompareValues, AxesMapBackAndForth) {
  ParallelAxis axis;
  axis.low = 1e-4;
  axis.high = 1e-1;
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

TEST_F(CompareValues, LatexIsEscapedAndSaysWhereItComesFrom) {
  addAblationRun(store_, {"50% & more_$^{}~\\#", {{"mask_kind", "a&b"}}, 0, {0.5}});
  addAblationRun(store_, {"<b>", {{"mask_kind", "[c]"}}, 0, {0.625}});
  const auto data = read();
  const AblationTable table = makeAblationTable(*data, {});
  const std::string text = toLatex(table, originOf(*data, "/x/experiments.sqlite")).toStdString();
  EXPECT_THAT(text, HasSubstr("50\\% \\& more\\_\\$\\textasciicircum{}\\{\\}\\textasciitilde{}"
                              "\\textbackslash{}\\#"));
  EXPECT_THAT(text, HasSubstr("\\textless{}b\\textgreater{} & mask\\_kind = {[}c{]}"));
  EXPECT_THAT(text, HasSubstr("$62.5$"));
  EXPECT_THAT(text, HasSubstr("\\toprule"));
  const std::string first = text.substr(0, text.find('\n'));
  EXPECT_THAT(first, ::testing::StartsWith("% Vitrine: Roadmap"));
  EXPECT_THAT(first, HasSubstr("experiments.sqlite"));
  EXPECT_THAT(first, HasSubstr("runs 1, 2"));
  EXPECT_THAT(first, HasSubstr("test/top1"));
}

TEST_F(CompareValues, LatexPutsPlusMinusInMathMode) {
  fillAblation(store_);
  const auto data = read();
  const AblationTable table = makeAblationTable(*data, {});
  const std::string text = toLatex(table, {}).toStdString();
  EXPECT_THAT(text, HasSubstr("base & baseline & $82.0 \\pm 5.0$ & -- & 3 \\\\"));
  EXPECT_THAT(text, HasSubstr("$+2.00 \\pm 0.25$"));
  EXPECT_THAT(text, Not(HasSubstr("\u00b1")));
  EXPECT_THAT(text, Not(HasSubstr("\u2212")));
}

TEST_F(CompareValues, CsvHasFullPrecision) {
  fillAblation(store_);
  const auto data = read();
  const QStringList lines =
      toCsv(makeAblationTable(*data, {}), {}).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  ASSERT_EQ(lines.size(), 6);
  EXPECT_THAT(lines[1].toStdString(), HasSubstr("test/top1 difference_lower"));
  EXPECT_THAT(lines[3].toStdString(), HasSubstr("0 1 2"));
  EXPECT_THAT(lines[3].toStdString(), HasSubstr(",better"));
}

TEST_F(CompareValues, MarkdownKeepsItsColumns) {
  addAblationRun(store_, {"a|b", {{"width", 1}}, 0, {0.5}});
  addAblationRun(store_, {"c", {{"width", 2}}, 0, {0.5}});
  const auto data = read();
  const QString text = toMarkdown(makeAblationTable(*data, {}), {});
  EXPECT_THAT(text.toStdString(), HasSubstr("| a\\|b | baseline | 50 | \u2013 | 1 |"));
}

TEST_F(CompareValues, DifferencesOfConfigurationAndEnvironment) {
  fillAblation(store_);
  const auto data = read();
  const DifferenceList list = differenceList(*data, differedRuns(*data, {}, {1, 5}));
  ASSERT_EQ(list.sections.size(), 2u);
  std::vector<std::string> different;
  for (const DifferenceSection& section : list.sections) {
    for (const DifferenceRow& row : section.rows) {
      if (row.isDifferent) different.push_back(row.key.toStdString());
    }
  }
  EXPECT_THAT(different, ElementsAre("model.mlp", "train.seed", "dirty"));
  EXPECT_EQ(list.source.toStdString(), "One experiment file made all of these runs.");
  EXPECT_EQ(overridesText(*data, *data->find(5), *data->find(1)).toStdString(),
            "'model.mlp=\"swiglu\"'\ntrain.seed=1");
}

TEST_F(CompareValues, OfManyRunsOneOfEachVariantIsDiffered) {
  fillAblation(store_);
  const auto data = read();
  CompareChoice choice;
  choice.baseline = "+ noise";
  EXPECT_THAT(differedRuns(*data, choice, {}), ElementsAre(6, 0, 3, 9));
}

TEST(TextDifference, ShowsWhatChangedWithThreeLinesAround) {
  EXPECT_EQ(textDifference("a\nb\n", "a\nb\n"), QString());
  EXPECT_EQ(textDifference("a\nb\nc\n", "a\nx\nc\nd\n").toStdString(), " a\n-b\n+x\n c\n+d\n");
  EXPECT_EQ(
      textDifference("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\n!\n").toStdString(),
      "@@ line 6 @@\n 6\n 7\n 8\n-9\n+!\n");
}

TEST(PublishedNumbersFile, IsReadWithItsConditions) {
  std::vector<Problem> problems;
  const PublishedNumbers numbers = readPublished(
      "paper = \"P\"\n[[result]]\ntable = \"Table 1\"\nmodel = \"M\"\nstep = \"+ better\"\n"
      "dataset = \"CIFAR-10\"\nresolution = 384\nmetric = \"top1\"\nvalue = 84.5\n"
      "[[result]]\nmodel = \"M\"\nmetric = \"top1\"\nvalue = \"high\"\n",
      "published.toml", problems);
  EXPECT_EQ(numbers.paper, "P");
  ASSERT_EQ(numbers.results.size(), 2u);
  EXPECT_EQ(numbers.results[0].place, "Table 1");
  EXPECT_EQ(numbers.results[0].condition("resolution"), "384");
  EXPECT_EQ(numbers.results[0].value, 84.5);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].line, 13);
}

TEST(PublishedNumbersFile, OfEveryPaperHereIsRead) {
  for (const char* paper : {"vit", "illama"}) {
    std::ifstream file(std::string(VITRINE_SOURCE_DIR "/experiments/") + paper + "/published.toml");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    std::vector<Problem> problems;
    EXPECT_GT(readPublished(text, "published.toml", problems).results.size(), 70u);
    EXPECT_TRUE(problems.empty());
  }
}

TEST(PublishedVerdict, NeedsAnIntervalAndMatchesWithinIt) {
  const auto of = [](double printed, const std::vector<double>& ours) {
    return toString(compareWithPrinted(printed, 1, statisticsOf(ours))).toStdString();
  };
  EXPECT_EQ(of(82.1, {82.0, 82.2, 82.1}), "matches");
  EXPECT_EQ(of(85.0, {82.0, 82.2, 82.1}), "differs");
  EXPECT_EQ(of(82.4, {82.0, 82.2, 82.12}), "matches") << "half a unit of the last digit: 82.35";
  EXPECT_EQ(of(82.4, {82.0, 82.2, 82.1}), "differs");
  EXPECT_EQ(of(82.1, {81.0, 83.0, 82.3}), "undecided") << "82.1 +- 2.5 would match anything";
  EXPECT_EQ(of(82.1, {10, 90}), "undecided");
  EXPECT_EQ(of(0.1, {0.09, 0.12, 0.11}), "matches") << "+- 0.04 is below half a unit: 0.05";
  EXPECT_EQ(of(82.1, {82.1}), "not comparable");
  EXPECT_EQ(of(82.1, {82.1, std::nan("")}), "not comparable");
}

class PublishedBeside : public CompareValues {
 protected:
  void SetUp() override {
    const std::filesystem::path paper = folder_.filePath(QStringLiteral("e/paper")).toStdString();
    std::filesystem::create_directories(paper);
    std::ofstream(paper / "roadmap.toml")
        << "title = \"Roadmap\"\n[train]\nepochs = 2\n[[variant]]\nname = \"base\"\n"
           "[[variant]]\nname = \"+ better\"\nset = { model.mlp = \"swiglu\" }\n";
    std::ofstream published(paper / "published.toml");
    published << "paper = \"P\"\n";
    for (const auto& [step, data, value] :
         {std::tuple{"base", "ImageNet-1k", 70.0}, std::tuple{"+ Better", "ImageNet-1k", 71.0},
          std::tuple{"+ worse", "ImageNet-1k", 71.5}, std::tuple{"nobody", "ImageNet-1k", 7.0},
          std::tuple{"base", "Fashion-MNIST", 82.3}, std::tuple{"+ better", "Fashion-MNIST", 95.0}})
      published << "[[result]]\ntable = \"T\"\nmodel = \"tiny\"\nstep = \"" << step
                << "\"\ndataset = \"" << data
                << "\"\nepochs = 2\nmetric = \"top1\"\nvalue = " << value << "\n";
    std::ofstream(paper / "claims.toml")
        << "[[claim]]\nname = \"better is better\"\nsource = \"T\"\nexperiment = \"roadmap.toml\"\n"
           "metric = \"test/top1\"\nbetter = \"+ better\"\nworse = \"base\"\nmargin = 0.01\nseeds "
           "= "
           "3\n";
  }
  std::vector<std::filesystem::path> folders() {
    return {folder_.filePath(QStringLiteral("e")).toStdString()};
  }
};

TEST_F(PublishedBeside, SaysWhatMatchesWhatDiffersAndWhatCannotBeCompared) {
  const auto add = [&](const std::string& name, const std::string& mlp, double shift) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const double last = 0.82 + shift + 0.002 * static_cast<double>(seed);
      addAblationRun(store_,
                     {name, {{"preset", "vit/tiny"}, {"mlp", mlp}}, seed, {last - 0.1, last}});
    }
  };
  add("base", "gelu", 0);
  add("+ better", "swiglu", 0.02);
  add("+ worse", "none", -0.05);
  const auto data = read();
  const PublishedTable table = readPublishedTable(query(), *data, {}, folders());
  EXPECT_EQ(table.problem.toStdString(), "");
  EXPECT_EQ(table.total, 6u);
  ASSERT_EQ(table.rows.size(), 5u) << "nobody names no variant";
  EXPECT_EQ(table.rows[0].verdict, PublishedVerdict::NotComparable);
  EXPECT_EQ(table.rows[0].reasons.join(QLatin1Char(';')).toStdString(),
            "other data: fashion_mnist, not ImageNet-1k");
  EXPECT_EQ(table.rows[1].order.toStdString(), "order kept");
  EXPECT_EQ(table.rows[2].order.toStdString(), "order reversed");
  EXPECT_EQ(table.rows[3].verdict, PublishedVerdict::Matches) << "82.2 +- 0.5, printed 82.3";
  EXPECT_NEAR(table.rows[3].ours.mean, 82.2, 1e-9);
  EXPECT_EQ(table.rows[4].verdict, PublishedVerdict::Differs);
  ASSERT_EQ(table.claims.size(), 1u);
  EXPECT_EQ(table.claims[0].judgement.verdict, Verdict::Reshown);
}

TEST_F(PublishedBeside, NamesEveryReasonThatSpeaksAgainst) {
  PublishedResult result;
  result.conditions = {{"model", "ViT-B/16"},
                       {"dataset", "CIFAR-10"},
                       {"resolution", "384"},
                       {"epochs", "300"},
                       {"soft_mask", "linear, 50 epochs"},
                       {"pretrained_on", "JFT"}};
  const Json config = {
      {"model",
       {{"preset", "vit/demo"},
        {"image_size", {28, 28}},
        {"mask", {{"kind", "soft"}, {"schedule", "constant"}, {"epochs", 25}}}}},
      {"data", {{"dataset", "cifar10"}, {"train_samples", 12800}, {"test_samples", 2000}}},
      {"train", {{"epochs", 6}, {"steps", nullptr}}}};
  EXPECT_EQ(incomparableReasons(result, config).join(QStringLiteral("; ")).toStdString(),
            "a part of the data: 12800 samples; a part of the test data: 2000 samples; 28 pixels, "
            "not 384; another model: vit/demo, not ViT-B/16; 6 epochs, not 300; another soft mask: "
            "constant, 25 epochs, not linear, 50 epochs; not pre-trained on JFT");
}

TEST_F(PublishedBeside, WhatARunTrainsAndStartsFromMustBeThePapers) {
  const auto reasons = [](std::vector<std::pair<std::string, std::string>> conditions,
                          Json config) {
    PublishedResult result;
    result.conditions = {{"model", "tiny"}, {"dataset", "cifar10"}};
    result.conditions.insert(result.conditions.end(), conditions.begin(), conditions.end());
    config["model"]["preset"] = "vit/tiny";
    config["data"] = {{"dataset", "cifar10"}};
    return incomparableReasons(result, config).join(QStringLiteral("; ")).toStdString();
  };
  const Json plain = {{"train", {{"epochs", 6}}}};
  EXPECT_EQ(reasons({{"epochs", "6"}}, plain), "");
  EXPECT_EQ(reasons({}, plain), "the paper's epochs are not stated");
  EXPECT_EQ(reasons({{"epochs", "6"}}, {{"train", {{"epochs", 6}, {"steps", 50}}}}),
            "50 steps, not 6 epochs");
  const Json soft = {{"train", {{"epochs", 6}}},
                     {"model", {{"mask", {{"kind", "soft"}, {"epochs", 25}}}}}};
  EXPECT_EQ(reasons({{"epochs", "6"}}, soft), "training ends before the soft mask does");
  Json tuned = plain;
  tuned["init"] = {{"weights", "/w/vit_b16_imagenet21k.safetensors"}, {"run", nullptr}};
  EXPECT_EQ(reasons({{"epochs", "6"}, {"pretrained_on", "ImageNet-21k"}}, tuned), "");
  EXPECT_EQ(reasons({{"epochs", "6"}}, tuned), "starts from trained weights; the paper's does not");
  EXPECT_EQ(
      reasons({{"epochs", "6"}, {"pretrained_on", "JFT"}, {"pretraining_epochs", "7"}}, tuned),
      "starts from /w/vit_b16_imagenet21k.safetensors, which does not say that it is "
      "pre-trained on JFT; not known to be pre-trained for 7 epochs");
}

TEST_F(PublishedBeside, AFileThatIsBrokenIsASentence) {
  fillAblation(store_);
  CompareChoice choice;
  choice.publishedFile = folder_.filePath(QStringLiteral("none.toml"));
  const auto data = read();
  EXPECT_THAT(readPublishedTable(query(), *data, choice, folders()).problem.toStdString(),
              HasSubstr("none.toml"));
  EXPECT_TRUE(publishedFileOf("another title", folders()).empty());
}

TEST(CompareChoiceJson, ReadsBackWhatItWrote) {
  CompareChoice choice;
  choice.view = CompareView::Scatter;
  choice.metrics = {"a", "b"};
  choice.value = {CurveValue::AtStep, 400};
  choice.baseline = "x";
  choice.unfinished = Unfinished::Counted;
  choice.filter = QStringLiteral("ö");
  choice.sortColumn = 3;
  choice.sortOrder = Qt::DescendingOrder;
  choice.axis = CurveAxis::Time;
  choice.centre = Centre::Median;
  choice.spread = Spread::Range;
  choice.colour = "seed";
  choice.panel = "model.width";
  choice.isLogY = true;
  choice.parallel = {{"config:x", true, true, std::array{1.0, 2.0}}};
  choice.scatterX = "cost:memory";
  choice.betterY = Direction::None;
  choice.onlyDifferences = false;
  choice.publishedFile = QStringLiteral("/x/published.toml");
  EXPECT_EQ(choiceFromJson(toJson(choice), {}), choice);
  EXPECT_EQ(choiceFromJson(Json::parse(toJson(choice).dump()), {}), choice);
}

TEST(CompareChoiceJson, LeavesAloneWhatItDoesNotUnderstand) {
  const CompareChoice before;
  for (const char* text :
       {"null", "[]", "{\"view\": 3, \"metrics\": {}, \"value\": \"?\", \"at_step\": \"x\"}",
        "{\"parallel\": [1, {}, {\"quantity\": 2}], \"scatter\": []}", "{\"x\": \"sideways\"}"})
    EXPECT_EQ(choiceFromJson(Json::parse(text), before), before) << text;
}

TEST(ComparedRows, FollowTheSelection) {
  std::map<std::int64_t, RunRow> all;
  const auto add = [&](std::int64_t id, std::int64_t experiment) {
    all[id].id = id;
    all[id].experimentId = experiment;
  };
  for (const std::int64_t id : {1, 2, 3}) add(id, 1);
  for (const std::int64_t id : {4, 5}) add(id, 2);
  add(6, 3);
  const auto ids = [&](const std::vector<std::int64_t>& selected) {
    std::vector<std::int64_t> out;
    for (const RunRow& row : comparedRows(all, selected)) out.push_back(row.id);
    return out;
  };
  EXPECT_THAT(ids({1, 4}), ElementsAre(1, 4));
  EXPECT_THAT(ids({2}), ElementsAre(1, 2, 3)) << "one run: its experiment";
  EXPECT_THAT(ids({}), ElementsAre(4, 5)) << "the newest experiment that has two";
  EXPECT_THAT(ids({6}), ElementsAre(6));
}

TEST(ShortKey, IsTheShortestEndingThatNoOtherHas) {
  const std::vector<std::string> keys = {"model.mask.kind", "model.rope.kind", "train.epochs",
                                         "epochs"};
  EXPECT_EQ(shortKey("model.mask.kind", keys), QStringLiteral("mask.kind"));
  EXPECT_EQ(shortKey("train.epochs", keys), QStringLiteral("train.epochs"));
  EXPECT_EQ(shortKey("model.width", keys), QStringLiteral("width"));
  EXPECT_EQ(shortKey("model.pool.mode", keys), QStringLiteral("pool.mode"));
}

}  // namespace
}  // namespace vitrine::ui
