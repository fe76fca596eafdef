// What the Compare page computes before anything is drawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <set>

#include "tests/support/has_texts.h"
#include "tests/ui/compare/ablation.h"
#include "tests/ui/compare/compare_fixture.h"
#include "ui/compare/ablation_table.h"
#include "ui/compare/compare_figures.h"
#include "ui/compare/difference_list.h"
#include "ui/compare/latex_table.h"
#include "ui/compare/variant_curves.h"

namespace vitrine::ui {
namespace {

using ::testing::ElementsAre;

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
  EXPECT_EQ(table.rows[2].cells[0].outcome, Outcome::NoClearDifference);
  const AblationCell& worse = table.rows[3].cells[0];
  EXPECT_EQ(worse.paired.keys.size(), 2u) << "the failed run is not a seed";
  EXPECT_EQ(worse.outcome, Outcome::Worse);
  EXPECT_EQ(table.leftOut.toStdString(), "Not counted: 1 failed.");
  EXPECT_EQ(table.rows[3].runs.toStdString(), "2 done, 1 failed");
  EXPECT_EQ(table.rows[1].differs.toStdString(), "mlp = swiglu");
}

/// "base" with seeds 0 and 1 (one of them twice, one failed), "more" with seeds 0 to 2.
void fillUnevenSeeds(store::RunStore& store) {
  const Json base = {{"mlp", "gelu"}}, more = {{"mlp", "swiglu"}};
  addAblationRun(store, {"base", base, 0, {0.80}});
  addAblationRun(store, {"base", base, 0, {0.81}});
  addAblationRun(store, {"base", base, 1, {0.83}});
  addAblationRun(store, {"base", base, 2, {0.10}, store::RunState::Failed});
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
  for (const QString& text : {toLatex(table, {}), toMarkdown(table, {})})
    EXPECT_THAT(text.toStdString(), test::HasTexts("3, 2 paired", left));
  EXPECT_THAT(toCsv(table, {}).toStdString(), test::HasTexts(left));
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
  CompareChoice choice{.baseline = "+ better"};
  const AblationTable table = makeAblationTable(*data, choice);
  EXPECT_EQ(table.baseline, 1u);
  EXPECT_EQ(table.rows[0].cells[0].outcome, Outcome::Worse);
  EXPECT_EQ(table.rows[0].differs.toStdString(), "mlp = gelu");
  EXPECT_NEAR(table.rows[0].cells[0].paired.statistics.mean, -0.02, 1e-12);
  choice.baseline = "was renamed";
  EXPECT_EQ(makeAblationTable(*data, choice).baseline, 0u);
}

std::string differenceAlone(const std::vector<double>& values, const store::MetricFormat& format) {
  const ShownNumber shown = shownNumber(statisticsOf(values), format);
  return numberText(shown, shown.decimals(), Signed::Yes).toStdString();
}

TEST(CompareText, HasNoMoreDigitsThanTheIntervalSupports) {
  const store::MetricFormat accuracy = store::metricFormat("test/top1", "fraction", ""), own;
  const auto of = [](const std::vector<double>& values, const store::MetricFormat& format) {
    return meanText(statisticsOf(values), format).toStdString();
  };
  EXPECT_EQ(of({0.80, 0.82, 0.84}, accuracy), "82.0 \u00b1 5.0");
  EXPECT_EQ(of({0.8000, 0.8002, 0.8004}, accuracy), "80.020 \u00b1 0.050");
  EXPECT_EQ(of({120, 180}, own), "150 \u00b1 381");
  EXPECT_EQ(of({0.5, 0.5}, accuracy), "50.0 \u00b1 0.0");
  EXPECT_EQ(of({0.5, 0.5}, own), "0.5 \u00b1 0");
  EXPECT_EQ(of({}, own), "\u2013");
  EXPECT_EQ(of({0.5, std::nan("")}, own), "not a number");
  EXPECT_EQ(differenceAlone({-0.02, -0.021, -0.019}, accuracy), "\u22122.00 \u00b1 0.25");
  EXPECT_EQ(differenceAlone({0.02, 0.021, 0.019}, accuracy), "+2.00 \u00b1 0.25");
}

TEST(CompareText, OneSeedIsWrittenAsTheRunsListWritesIt) {
  const SampleStatistics accuracy = statisticsOf(std::vector<double>{0.81234567});
  const SampleStatistics loss = statisticsOf(std::vector<double>{0.43});
  const store::MetricFormat percent = store::metricFormat("test/top1", "fraction", "");
  const store::MetricFormat plain = store::metricFormat("test/loss", "", "");
  EXPECT_EQ(meanText(accuracy, percent).toStdString() + " %",
            store::metricWords(percent, accuracy.mean));
  EXPECT_EQ(meanText(accuracy, percent).toStdString(), "81.2");
  EXPECT_EQ(meanText(loss, plain).toStdString(), "0.4300");
  EXPECT_EQ(differenceAlone({-0.0127}, percent), "\u22121.3");
}

TEST_F(CompareValues, ReadsTwoHundredRunsOfTwentyMetricsWithAsManyQueriesAsTwo) {
  const auto add = [&](int from, int to) {
    std::vector<store::NewRun> runs;
    for (int i = from; i < to; ++i) {
      runs.push_back({.name = "seed " + std::to_string(i % 5),
                      .seed = static_cast<std::uint64_t>(i % 5),
                      .config = {{"model", {{"width", i / 5}}}, {"train", {{"seed", i % 5}}}}});
    }
    for (const std::int64_t id : store_.addRuns(store_.experiment("Big", ""), runs)) {
      const std::int64_t segment =
          store_.openSegment(id, 0, store::thisWorker(), {{"device", "cpu"}, {"commit", "c"}});
      store::RunStore::Batch batch;
      MetricRecord record{.step = 1};
      for (int m = 0; m < 20; ++m)
        record.values.emplace_back("test/metric" + std::to_string(m), id);
      batch.metrics.push_back(record);
      store_.append(id, segment, batch);
      store_.setState(id, store::RunState::Done, "");
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

TEST_F(CompareValues, AnExperimentWithoutAFileIsNamed) {
  for (const char* title : {"kept", "logged"}) {
    AblationRun run{"base", {{"width", 4}}, 0, {0.5}};
    run.experiment = title;
    addAblationRun(store_, run, run.experiment == "kept" ? "title = \"kept\"\n" : "");
  }
  const auto data = read();
  const DifferenceList list = differenceList(*data, differedRuns(*data, {}, {1, 2}));
  EXPECT_EQ(list.source.toStdString(),
            "The experiment file of \u201clogged\u201d was not kept.");
}

TEST_F(CompareValues, EveryOtherExperimentFileIsComparedWithTheFirst) {
  for (const char* title : {"one", "two", "three", "logged"}) {
    AblationRun run{"base", {{"width", 4}}, 0, {0.5}};
    run.experiment = title;
    const std::string text = run.experiment == "two" ? "width = 4\n" : "width = 5\n";
    addAblationRun(store_, run, run.experiment == "logged" ? "" : text);
  }
  const auto data = read();
  const DifferenceList list = differenceList(*data, differedRuns(*data, {}, {1, 2, 3, 4}));
  EXPECT_EQ(list.source.toStdString(),
            "--- one\n+++ two\n-width = 5\n+width = 4\n\n"
            "The experiment files of \u201cone\u201d and \u201cthree\u201d are equal.\n"
            "The experiment file of \u201clogged\u201d was not kept.");
}

TEST_F(CompareValues, OfManyRunsOneOfEachVariantIsDiffered) {
  fillAblation(store_);
  const auto data = read();
  CompareChoice choice{.baseline = "+ noise"};
  EXPECT_THAT(differedRuns(*data, choice, {}), ElementsAre(6, 0, 3, 9));
}

TEST(TextDifference, ShowsWhatChangedWithThreeLinesAround) {
  EXPECT_EQ(textDifference("a\nb\n", "a\nb\n"), QString());
  EXPECT_EQ(textDifference("a\nb\nc\n", "a\nx\nc\nd\n").toStdString(), " a\n-b\n+x\n c\n+d\n");
  EXPECT_EQ(
      textDifference("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\n!\n").toStdString(),
      "@@ line 6 @@\n 6\n 7\n 8\n-9\n+!\n");
}

TEST(CompareChoiceJson, ReadsBackWhatItWrote) {
  CompareChoice choice;
  choice.view = CompareView::Scatter;
  choice.metrics = {"a", "b"};
  choice.value = {store::CurveValue::AtStep, 400};
  choice.baseline = "x";
  choice.unfinished = store::Unfinished::Counted;
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
  std::map<std::int64_t, store::RunRow> all;
  const auto add = [&](std::int64_t id, std::int64_t experiment) {
    all[id].id = id;
    all[id].experimentId = experiment;
  };
  for (const std::int64_t id : {1, 2, 3}) add(id, 1);
  for (const std::int64_t id : {4, 5}) add(id, 2);
  add(6, 3);
  const auto ids = [&](const std::vector<std::int64_t>& selected) {
    std::vector<std::int64_t> out;
    for (const store::RunRow& row : comparedRows(all, selected)) out.push_back(row.id);
    return out;
  };
  EXPECT_THAT(ids({1, 4}), ElementsAre(1, 4));
  EXPECT_THAT(ids({2}), ElementsAre(1, 2, 3)) << "one run: its experiment";
  EXPECT_THAT(ids({}), ElementsAre(4, 5)) << "the newest experiment that has two";
  EXPECT_THAT(ids({6}), ElementsAre(6));
}

TEST(ComparedRows, LeaveArchivedRunsOutUnlessTheyAreSelected) {
  std::map<std::int64_t, store::RunRow> all;
  for (const std::int64_t id : {1, 2, 3, 4, 5}) {
    all[id].id = id;
    all[id].experimentId = id < 4 ? 1 : 2;
  }
  const auto ids = [&](const std::vector<std::int64_t>& selected) {
    std::vector<std::int64_t> out;
    for (const store::RunRow& row : comparedRows(all, selected, {2, 5})) out.push_back(row.id);
    return out;
  };
  EXPECT_THAT(ids({1}), ElementsAre(1, 3));
  EXPECT_THAT(ids({2}), ElementsAre(1, 2, 3)) << "the one that is looked at stays";
  EXPECT_THAT(ids({1, 5}), ElementsAre(1, 5));
  EXPECT_THAT(ids({}), ElementsAre(1, 3)) << "the newest has one run left";
}

TEST_F(CompareValues, TheBaselineIsTheMarkedOneUntilOneIsChosen) {
  fillAblation(store_);
  const auto plain = read();
  ASSERT_EQ(plain->variants.size(), 4U);
  EXPECT_EQ(plain->baseline({}), 0U);
  const std::int64_t run = plain->runs[plain->variants[2].runs.front()].row.id;
  store_.setMark(run, store::RunField::Baseline, "yes");
  const auto data = read();
  EXPECT_EQ(data->baseline({}), 2U);
  EXPECT_TRUE(makeAblationTable(*data, {}).rows[2].isBaseline);
  CompareChoice choice{.baseline = data->labels[1].toStdString()};
  EXPECT_EQ(data->baseline(choice), 1U) << "what is chosen on the page wins";
  store_.setMark(run, store::RunField::Baseline, "");
  EXPECT_EQ(read()->baseline({}), 0U);
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
