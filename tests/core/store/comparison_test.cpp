// Runs beside each other: nothing is pooled that differs in more than its seed.
#include "core/store/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/base/random.h"
#include "core/store/claimed_runs.h"
#include "tests/core/store/temp_database.h"

namespace vitrine::store {
namespace {

using ::testing::ElementsAre;

/// "a", and "b", which is wider.
ClaimedExperiment twoVariants() {
  return {
      "title = \"E\"\n[train]\nepochs = 2\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n"
      "set = { model.width = 32 }\n",
      "e.toml"};
}

Claim bIsBetter() { return {.metric = "test/top1", .better = "b", .worse = "a"}; }

class ComparisonTest : public testing::StoreTest {
 protected:
  std::int64_t add(const std::string& variant, const Json& model, std::uint64_t seed,
                   RunState state = RunState::Done, const std::string& stage = "",
                   const std::string& experiment = "E") {
    NewRun run;
    run.name = variant + ", seed " + std::to_string(seed);
    run.variant = variant;
    run.stage = stage;
    run.seed = seed;
    run.config = {{"model", model}, {"train", {{"epochs", 2}, {"seed", seed}}}};
    const std::int64_t id = store_.addRuns(store_.experiment(experiment, ""), {run}).front();
    if (state != RunState::Queued) {
      segments_[id] = store_.openSegment(id, 0, thisWorker(), {{"device", "cpu"}, {"commit", "c"}});
      if (state != RunState::Running) store_.setState(id, state, "because");
    }
    return id;
  }
  std::int64_t addWith(const std::string& variant, const Json& model, std::uint64_t seed,
                       const std::vector<double>& curve, RunState state = RunState::Done) {
    const std::int64_t id = add(variant, model, seed, RunState::Running);
    RunStore::Batch batch;
    std::int64_t step = 0;
    for (const double value : curve) {
      step += 10;
      batch.metrics.push_back({.step = step,
                               .time = 2 * static_cast<double>(step),
                               .values = {{"test/top1", value}}});
    }
    store_.append(id, segments_[id], batch);
    if (state != RunState::Running) store_.setState(id, state, "because");
    return id;
  }
  QueryFunction counting() {
    return [this](const std::string& sql) {
      ++queries_;
      return store_.query(sql);
    };
  }
  std::vector<ComparedRun> all() { return comparedRuns(counting(), store_.runs()); }
  VariantSample sample(const std::vector<ComparedRun>& runs, const VariantGroup& variant,
                       ValueChoice choice = {}, Unfinished unfinished = Unfinished::LeftOut) {
    const Measurements measured =
        measure(counting(), runs, {"test/top1"}, choice, metricKinds(store_));
    return sampleOf(variant, runs, measured.values.at("test/top1"),
                    measured.meanings.at("test/top1"), choice, unfinished);
  }
  static std::vector<std::string> reasons(const VariantSample& sample) {
    std::vector<std::string> out;
    for (const LeftOutRun& run : sample.leftOut) out.push_back(run.reason);
    return out;
  }

  RunStore store_{file()};
  std::map<std::int64_t, std::int64_t> segments_;
  int queries_ = 0;
};

TEST_F(ComparisonTest, PoolsRunsThatDifferInTheirSeedAlone) {
  add("a", {{"width", 16}}, 0);
  add("b", {{"width", 32}}, 0);
  add("a", {{"width", 16}}, 1);
  add("a", {{"width", 24}}, 2);  // the same name, another width: changed by a sweep
  add("a", {{"width", 16}}, 2, RunState::Done, "fine-tune");
  add("a", {{"width", 16}}, 3, RunState::Done, "", "another experiment");
  const auto runs = all();
  const auto variants = variantsOf(runs);
  ASSERT_EQ(variants.size(), 5u);
  EXPECT_THAT(variants[0].runs, ElementsAre(0, 2));
  EXPECT_THAT(variants[1].runs, ElementsAre(1));
  EXPECT_THAT(variants[2].runs, ElementsAre(3));
  EXPECT_EQ(variants[3].name, "a / fine-tune");
  EXPECT_FALSE(variants[0].config.at("train").contains("seed"));
}

TEST_F(ComparisonTest, PoolsRunsWhateverTheyWereRenamedTo) {
  add("", {{"width", 16}}, 0);
  store_.setName(add("", {{"width", 16}}, 1), "the lucky one");
  const auto variants = variantsOf(all());
  ASSERT_EQ(variants.size(), 1u);
  EXPECT_EQ(variants[0].name, "");
}

TEST_F(ComparisonTest, NeverPoolsStagesOfDifferentSweepPoints) {
  // The sweep changed the stage before; what is stored of this one is equal.
  for (const char* name : {"rate 0.1, seed 0", "rate 0.01, seed 0"}) {
    NewRun run{.name = name, .stage = "fine-tune", .config = {{"train", {{"seed", 0}}}}};
    static_cast<void>(store_.addRuns(store_.experiment("chain", ""), {run}));
  }
  const auto variants = variantsOf(all());
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[0].name, "rate 0.1 / fine-tune");
}

TEST_F(ComparisonTest, NeverPoolsSweepPointsThatAreNamedBehindTheSeed) {
  // As in a file whose sweep names train.seed first.
  for (const char* name : {"seed 0, rate 0.1, fine-tune", "seed 1, rate 0.1, fine-tune",
                           "seed 0, rate 0.01, fine-tune", "seed 1, rate 0.01, fine-tune"}) {
    NewRun run{.name = name, .stage = "fine-tune", .seed = name[5] == '0' ? 0U : 1U};
    run.config = {{"train", {{"seed", run.seed}}}};
    static_cast<void>(store_.addRuns(store_.experiment("chain", ""), {run}));
  }
  const auto variants = variantsOf(all());
  ASSERT_EQ(variants.size(), 2u) << "another rate is not a repetition";
  EXPECT_EQ(variants[0].runs.size(), 2u);
  EXPECT_EQ(variants[0].name, "rate 0.1, fine-tune");
  EXPECT_EQ(variants[1].name, "rate 0.01, fine-tune");
}

TEST_F(ComparisonTest, NeverPoolsRunsOfUnknownSeeds) {
  // TensorBoard's files say nothing of a configuration.
  for (const char* name : {"lr 0.1", "lr 0.01"})
    static_cast<void>(store_.addRuns(store_.experiment("imported", ""), {{.name = name}}));
  const auto variants = variantsOf(all());
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[1].name, "lr 0.01");
}

TEST_F(ComparisonTest, NeverPoolsTwoConfigurationsWhateverTheyAre) {
  // Runs drawn at random from few values: in every group all configurations are equal, no two
  // groups have equal ones, and no run is lost.
  const RandomStream random(7, "comparison");
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto draw = [&](std::uint64_t n, std::uint64_t what) { return random.below(n, i, what); };
    const auto width = draw(3, 0), kind = draw(2, 1), depth = draw(2, 2), seed = draw(4, 3);
    add(depth == 0 ? "x" : "y", {{"width", width}, {"mask", {{"kind", kind}}}}, seed);
  }
  const auto runs = all();
  const auto variants = variantsOf(runs);
  std::size_t total = 0;
  std::set<std::string> seen;
  for (const VariantGroup& variant : variants) {
    total += variant.runs.size();
    for (const std::size_t run : variant.runs)
      EXPECT_EQ(withoutSeed(runs[run].config), variant.config);
    EXPECT_TRUE(seen.insert(variant.name + variant.config.dump()).second);
  }
  EXPECT_EQ(total, 200u);
  EXPECT_EQ(variants.size(), 12u);
}

TEST_F(ComparisonTest, CountsASeedOnceHoweverOftenItWasRun) {
  const Json model = {{"width", 16}};
  addWith("a", model, 0, {0.5});
  addWith("a", model, 0, {0.7});  // the newer of two
  addWith("a", model, 1, {0.6});
  addWith("a", model, 1, {0.1}, RunState::Running);  // newer, but not done
  const auto runs = all();
  const auto variants = variantsOf(runs);
  ASSERT_EQ(variants.size(), 1u);
  const VariantSample s = sample(runs, variants[0]);
  EXPECT_EQ(s.values, (std::map<std::uint64_t, double>{{0, 0.7}, {1, 0.6}}));
  EXPECT_EQ(s.statistics.count, 2u);
  EXPECT_THAT(reasons(s), ElementsAre("run 2 has the same seed", "running"));
  EXPECT_EQ(seedRuns(variants[0], runs, Unfinished::LeftOut),
            (std::map<std::uint64_t, std::int64_t>{{0, 2}, {1, 3}}));
}

TEST_F(ComparisonTest, SaysWhichRunsGiveNoValueAndWhy) {
  const Json model = {{"width", 16}};
  addWith("a", model, 0, {0.5, 0.6});
  addWith("a", model, 1, {0.5}, RunState::Failed);
  addWith("a", model, 2, {0.4}, RunState::Running);
  add("a", model, 3, RunState::Queued);
  add("a", model, 4, RunState::Done);  // without the metric
  const auto runs = all();
  const auto variants = variantsOf(runs);
  ASSERT_EQ(variants.size(), 1u);
  const VariantSample s = sample(runs, variants[0]);
  EXPECT_EQ(s.values, (std::map<std::uint64_t, double>{{0, 0.6}}));
  EXPECT_THAT(reasons(s), ElementsAre("failed", "running", "queued", "has no such value"));
  const VariantSample more = sample(runs, variants[0], {}, Unfinished::Counted);
  EXPECT_EQ(more.values.size(), 3u);
}

TEST_F(ComparisonTest, CountsRunsWithoutAValueByReason) {
  const Json model = {{"width", 16}};
  addWith("a", model, 0, {0.5});
  addWith("a", model, 0, {0.6});
  addWith("a", model, 1, {0.5}, RunState::Failed);
  addWith("a", model, 2, {0.5}, RunState::Stopped);
  addWith("a", model, 3, {0.5});
  const auto runs = all();
  const VariantGroup variant = variantsOf(runs).at(0);
  EXPECT_EQ(statesText(variant, runs), "3 done, 1 stopped, 1 failed");
  const VariantSample s = sample(runs, variant);
  EXPECT_EQ(s.statistics.count, 2u) << "seeds 0 and 3";
  EXPECT_EQ(leftOutText({{"test/top1", s.leftOut}}),
            "1 failed, 1 repeated with the same seed (the newest counts), 1 stopped");
  // Another metric, which only seed 0 has: the run of seed 3 is left out of that one alone.
  std::vector<LeftOutRun> other = s.leftOut;
  other.push_back({5, 3, LeftOutBy::Curve, "has no such value"});
  EXPECT_EQ(leftOutText({{"test/ece", other}, {"test/top1", s.leftOut}}),
            "1 failed, 1 repeated with the same seed (the newest counts), 1 stopped, 1 without a "
            "value for test/ece");
  EXPECT_EQ(leftOutText({{"test/top1", {}}}), "");
}

TEST(CountText, HasThePairsWhereTheyAreFewerThanTheSeeds) {
  EXPECT_EQ(countText(3, 3), "3");
  EXPECT_EQ(countText(3, 2), "3, 2 paired");
  EXPECT_EQ(countText(0, 0), "0");
}

TEST_F(ComparisonTest, AClaimIsJudgedByRunsUnderEqualConditionsAlone) {
  const ClaimedExperiment file = twoVariants();
  Claim claim = bIsBetter();
  claim.margin = 0.05;
  claim.seeds = 2;
  const auto verdict = [&] { return judgeClaim(counting(), store_.runs(), claim, file); };
  EXPECT_EQ(verdict().reason, "0 of 2 common seeds are done");
  addWith("a", {{"width", 16}, {"depth", 4}}, 0, {0.5});
  addWith("a", {{"width", 16}, {"depth", 4}}, 1, {0.52});
  addWith("b", {{"width", 32}, {"depth", 4}}, 0, {0.6});
  // Newer, and better since it is deeper.
  addWith("b", {{"width", 32}, {"depth", 9}}, 1, {0.99});
  EXPECT_EQ(verdict().verdict, Verdict::Undecided);
  EXPECT_EQ(verdict().statistics.count, 1u);
  EXPECT_EQ(verdict().leftOut, "1 with another model.depth than the others");
  addWith("b", {{"width", 32}, {"depth", 4}}, 1, {0.62});
  addWith("b", {{"width", 33}, {"depth", 4}}, 1, {0.0});  // not as the file says
  addWith("b", {{"width", 32}, {"depth", 4}}, 0, {0.0}, RunState::Failed);
  const Judgement judged = verdict();
  EXPECT_EQ(judged.verdict, Verdict::Reproduced) << judged.reason;
  EXPECT_EQ(judged.statistics.count, 2u);
  EXPECT_EQ(judged.leftOut,
            "1 failed; 1 with another model.depth than the others; 1 with model.width = 33, not 32 "
            "as in the file");
}

TEST_F(ComparisonTest, AClaimIsAboutCurvesOrTheirWayToATarget) {
  const ClaimedExperiment file = twoVariants();
  addWith("a", {{"width", 16}}, 0, {0.1, 0.3, 0.5});  // steps 10 to 30
  addWith("a", {{"width", 16}}, 1, {0.2, 0.4, 0.6});
  addWith("b", {{"width", 32}}, 0, {0.3, 0.5, 0.5, 0.0});
  addWith("b", {{"width", 32}}, 1, {0.4, 0.6, 0.6, 0.0});
  Claim claim = bIsBetter();
  claim.seeds = 2;
  const auto judged = [&] { return judgeClaim(counting(), store_.runs(), claim, file); };
  claim.measure = ClaimMeasure::Mean;
  EXPECT_NEAR(judged().statistics.mean, 0.15, 1e-9) << "over the steps that both have";
  EXPECT_EQ(judged().verdict, Verdict::Reproduced);
  claim.window = 0.5;
  EXPECT_NEAR(judged().statistics.mean, 0.1, 1e-9) << "steps 20 to 30";
  claim.measure = ClaimMeasure::StepsTo;
  claim.target = 0.5;
  std::swap(claim.better, claim.worse);
  EXPECT_NEAR(judged().statistics.mean, 10, 1e-9) << "30 - 20 and 25 - 15";
  EXPECT_EQ(judged().statistics.count, 2u);
  claim.measure = ClaimMeasure::TimeTo;
  EXPECT_NEAR(judged().statistics.mean, 20, 1e-9) << "two seconds a step";
  claim.target = 0.55;
  EXPECT_EQ(judged().statistics.count, 1u);
  EXPECT_EQ(judged().leftOut, "2 not reaching 0.55");
  claim.metric = "test/unheard_of";
  EXPECT_EQ(judged().reason, "it is not known which values of test/unheard_of are better");
}

TEST_F(ComparisonTest, AClaimReadsTheCurvesOfAllRunsWithOneQuery) {
  const ClaimedExperiment file = twoVariants();
  Claim claim = bIsBetter();
  const auto queriesFor = [&](ClaimMeasure measure, std::size_t seeds) {
    claim.measure = measure;
    queries_ = 0;
    const Judgement judged = judgeClaim(counting(), store_.runs(), claim, file);
    EXPECT_EQ(judged.statistics.count, seeds);
    return queries_;
  };
  const auto addSeed = [&](std::uint64_t seed) {
    addWith("a", {{"width", 16}}, seed, {0.1, 0.3});
    addWith("b", {{"width", 32}}, seed, {0.2, 0.4});
  };
  addSeed(0);
  const int one = queriesFor(ClaimMeasure::Mean, 1);
  EXPECT_EQ(one, queriesFor(ClaimMeasure::Last, 1) + 1);
  for (std::uint64_t seed = 1; seed < 5; ++seed) addSeed(seed);
  EXPECT_EQ(queriesFor(ClaimMeasure::Mean, 5), one);
}

TEST_F(ComparisonTest, AClaimIsWrittenInPercentOfADifferenceInPointsAndOfStepsInNeither) {
  Claim claim;
  claim.metric = "test/top1";
  EXPECT_STREQ(claimFormat(claim, metricKinds(store_)).unit(), "points");
  claim.above = 0.5;
  EXPECT_STREQ(claimFormat(claim, metricKinds(store_)).unit(), "%");
  claim.target = 0.8;
  EXPECT_FALSE(claimFormat(claim, metricKinds(store_)).isPercent);
}

TEST_F(ComparisonTest, TakesTheValueAtAStepFromCurvesThatReachIt) {
  const Json model = {{"width", 16}};
  addWith("a", model, 0, {0.1, 0.2, 0.3, 0.4});                // steps 10 to 40
  addWith("a", model, 1, {0.5, 0.6});                          // ends at 20
  addWith("a", model, 2, {0.7, 0.8, 0.9}, RunState::Running);  // there already
  addWith("a", model, 3, {0.1, 0.2, std::nan(""), 0.3});
  const auto runs = all();
  const auto variants = variantsOf(runs);
  const VariantSample s = sample(runs, variants[0], {CurveValue::AtStep, 25});
  EXPECT_EQ(s.values, (std::map<std::uint64_t, double>{{0, 0.2}, {2, 0.8}, {3, 0.2}}));
  EXPECT_THAT(reasons(s), ElementsAre("does not reach the step"));
  EXPECT_TRUE(std::isnan(sample(runs, variants[0], {CurveValue::AtStep, 30}).values.at(3)));
}

TEST_F(ComparisonTest, TakesTheBestInTheDirectionOfTheMetric) {
  const MetricValue value{0.5, 0.2, 0.9, 40, 10, 30, std::nullopt};
  const auto best = [&](Direction direction) {
    return valueOf(value, {"", direction, ""}, {CurveValue::Best, 0});
  };
  EXPECT_EQ(best(Direction::Higher), 0.9);
  EXPECT_EQ(best(Direction::Lower), 0.2);
  EXPECT_FALSE(best(Direction::None)) << "there is no best learning rate";
}

TEST_F(ComparisonTest, KeepsADivergedSeedInTheSample) {
  const Json model = {{"width", 16}};
  addWith("a", model, 0, {0.5});
  addWith("a", model, 1, {std::nan("")});
  const auto runs = all();
  const VariantSample s = sample(runs, variantsOf(runs)[0]);
  EXPECT_EQ(s.statistics.count, 2u);
  EXPECT_TRUE(std::isnan(s.statistics.mean));
}

TEST_F(ComparisonTest, ReadsAThousandRunsWithAsManyQueriesAsTwo) {
  std::vector<NewRun> runs;
  for (int i = 0; i < 1000; ++i) {
    runs.push_back({.name = "r" + std::to_string(i),
                    .seed = static_cast<std::uint64_t>(i % 3),
                    .config = {{"model", {{"width", i / 3}}}, {"train", {{"seed", i % 3}}}}});
  }
  store_.addRuns(store_.experiment("E", ""), runs);
  const auto read = [this](std::vector<RunRow> rows) {
    queries_ = 0;
    const auto compared = comparedRuns(counting(), rows);
    EXPECT_EQ(compared.size(), rows.size());
    static_cast<void>(comparedNames(counting(), compared));
    std::vector<std::string> names;
    for (int i = 0; i < 20; ++i) names.push_back("test/metric" + std::to_string(i));
    static_cast<void>(measure(counting(), compared, names, {}, metricKinds(counting())));
    return queries_;
  };
  std::vector<RunRow> rows = store_.runs();
  ASSERT_EQ(rows.size(), 1000u);
  EXPECT_EQ(read(rows), 5);
  rows.resize(2);
  EXPECT_EQ(read(rows), 5);
}

TEST_F(ComparisonTest, LooksForAMetricWhoseNameIsHostile) {
  addWith("a", {{"width", 16}}, 0, {0.5});
  const auto runs = all();
  const std::string name = "test/'; DROP TABLE run; --";
  EXPECT_TRUE(measure(counting(), runs, {name}, {}, {}).values.at(name).empty());
}

TEST_F(ComparisonTest, KnowsTheMeaningOfAnAverageOfWeights) {
  const Measurements measured = measure(
      counting(), all(), {"test/top1@ema", "test/loss", "unheard"}, {}, metricKinds(counting()));
  EXPECT_EQ(measured.meanings.at("test/top1@ema").direction, Direction::Higher);
  EXPECT_EQ(measured.meanings.at("test/top1@ema").unit, "fraction");
  EXPECT_EQ(measured.meanings.at("test/loss").direction, Direction::Lower);
  EXPECT_EQ(measured.meanings.at("unheard").direction, Direction::None);
}

}  // namespace
}  // namespace vitrine::store
