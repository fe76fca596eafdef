// Losses that are not finite, and spikes: the run stops, goes back or leaves the step out, and
// nothing of it depends on where it was interrupted.
#include "core/train/divergence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/files/checkpoint_use.h"
#include "tests/core/train/diverging.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using test::Names;
using Numbers = std::vector<std::int64_t>;
using Kind = BadBatches::Kind;

constexpr std::int64_t kSteps = 40;

Config policy(const std::string& name, const std::vector<std::pair<std::string, Json>>& more = {}) {
  std::vector<std::pair<std::string, Json>> values{{"steps", kSteps},
                                                   {"ema.decay", 0.9},
                                                   {"clip_norm", 0.5},
                                                   {"schedule.name", "constant"},
                                                   {"optimizer.learning_rate", 0.01},
                                                   {"checkpoint.every_epochs", nullptr},
                                                   {"checkpoint.every_steps", 10},
                                                   {"checkpoint.keep", 100},
                                                   {"checkpoint.best", false},
                                                   {"divergence.policy", name},
                                                   {"divergence.window", 5}};
  values.insert(values.end(), more.begin(), more.end());
  return trainConfig(values);
}

std::unique_ptr<WholeRun> runOf(const Config& train, Kind kind, const std::set<std::int64_t>& bad) {
  auto run = std::make_unique<WholeRun>();
  run->train = train;
  run->session = [kind, bad] { return std::make_unique<BadBatches>(kind, bad); };
  return run;
}

/// Every byte of a checkpoint.
std::map<std::string, std::string> hashes(const fs::path& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::directory_iterator(folder))
    found[entry.path().filename().string()] = sha256OfFile(entry.path());
  return found;
}

TEST(Rollback, ContinuesFromTheLastCheckpointWithTheBatchesAfterTheBadOne) {
  const auto run = runOf(policy("rollback"), Kind::LossNan, {14});
  run->segment();
  EXPECT_EQ(run->result.outcome, train::Outcome::RolledBack);
  EXPECT_EQ(run->result.resumeFrom, run->folder.path() / checkpointName(10));
  const auto before = hashes(run->result.resumeFrom);
  ASSERT_EQ(run->eventsOf("rollback").size(), 1U);
  const EventRecord event = run->eventsOf("rollback")[0];
  EXPECT_EQ(event.step, 15);
  EXPECT_EQ(event.data.at("to_step"), 10);
  EXPECT_EQ(event.data.at("sample_ids").size(), 8U);
  SmallStream stream({}, 14);
  EXPECT_EQ(event.data.at("sample_ids").get<Numbers>(), stream.next().sampleIds);
  EXPECT_THAT(event.text, Names("step 15", "nan", "step 10"));

  run->go();
  EXPECT_EQ(run->result.outcome, train::Outcome::Done) << run->result.reason;
  EXPECT_EQ(run->result.step, kSteps);
  EXPECT_EQ(run->starts, (Numbers{0, 10}));
  EXPECT_EQ(run->taken[1].front(), 15) << "the batches up to the bad one come again";
  EXPECT_EQ(run->taken[1].size(), 30U);
  EXPECT_EQ(run->loss.size(), static_cast<std::size_t>(kSteps));
  EXPECT_EQ(hashes(run->folder.path() / checkpointName(10)), before);
  EXPECT_EQ(run->at(kSteps).state.rollbacks, 1);
}

TEST(Rollback, IsBitExactWhereverTheRunIsInterruptedOrDies) {
  const auto whole = runOf(policy("rollback"), Kind::LossNan, {14, 30});
  whole->go();
  ASSERT_EQ(whole->result.outcome, train::Outcome::Done);
  EXPECT_EQ(whole->eventsOf("rollback").size(), 2U);
  for (const std::int64_t stop : {1, 4, 9}) {
    const auto asked = runOf(policy("rollback"), Kind::LossNan, {14, 30});
    asked->segment();
    asked->segment(stop);  // between the rollback and the next checkpoint
    EXPECT_EQ(asked->result.outcome, train::Outcome::Interrupted);
    asked->go();
    expectSame(*asked, *whole, kSteps);
    const auto died = runOf(policy("rollback"), Kind::LossNan, {14, 30});
    died->segment();
    died->segment(-1, stop);
    died->go();
    EXPECT_EQ(died->starts[1], died->starts[2]) << "it died before it saved";
    expectSame(*died, *whole, kSteps);
  }
}

TEST(Rollback, BeginsAgainWithOtherBatchesWhereThereIsNoCheckpointYet) {
  const auto run = runOf(policy("rollback"), Kind::DataNan, {3});
  run->go();
  EXPECT_EQ(run->result.outcome, train::Outcome::Done);
  EXPECT_EQ(run->starts, (Numbers{0, 0}));
  EXPECT_EQ(run->taken[1].front(), 4);
}

TEST(Rollback, IsBoundedAndThenTheRunFails) {
  std::set<std::int64_t> rest;
  for (std::int64_t i = 12; i < 120; ++i) rest.insert(i);
  const auto run = runOf(policy("rollback"), Kind::LossNan, rest);
  run->go();
  EXPECT_EQ(run->result.outcome, train::Outcome::Failed);
  EXPECT_EQ(run->eventsOf("rollback").size(), 3U);
  EXPECT_EQ(run->eventsOf("non_finite").size(), 1U);
  EXPECT_THAT(run->result.reason, Names(3));
  EXPECT_EQ(newestCheckpoint(run->folder.path())->step, 10);
  // Asked to continue, it fails again at once instead of going back again and again.
  run->segment();
  EXPECT_EQ(run->result.outcome, train::Outcome::Failed);
  EXPECT_EQ(run->eventsOf("rollback").size(), 3U);
}

TEST(Rollback, WithoutAFolderForCheckpointsIsAFailure) {
  SmallRun run(policy("rollback"));
  run.session->poisonedLoss = 6;
  const train::TrainerResult result = run.go();
  EXPECT_EQ(result.outcome, train::Outcome::Failed);
  EXPECT_THAT(result.reason, Names("checkpoint"));
}

TEST(Rollback, KeepsEpochsOfAccumulatedStepsWhole) {
  // 12 batches an epoch make two steps of 5, and 2 are left out.
  const auto run = runOf(policy("rollback", {{"accumulate", 5},
                                             {"steps", 10},
                                             {"checkpoint.every_steps", 2},
                                             {"evaluate.every_epochs", nullptr}}),
                         Kind::LossNan, {17});
  run->go();
  EXPECT_EQ(run->result.outcome, train::Outcome::Done);
  EXPECT_EQ(run->starts, (Numbers{0, 2}));
  const Numbers& taken = run->taken[1];
  ASSERT_EQ(taken.size(), 40U);
  for (std::size_t i = 0; i < taken.size(); i += 5) {
    EXPECT_EQ(taken[i] % 12 % 5, 0) << "step " << i / 5 << " begins at batch " << taken[i];
    EXPECT_EQ(taken[i] / 12, taken[i + 4] / 12) << "a step has batches of two epochs";
  }
}

TEST(SkippedStep, LeavesWeightsMomentsAverageAndStatisticsAsTheyWere) {
  for (const Kind kind : {Kind::LossNan, Kind::DataNan}) {
    auto run = runOf(policy("skip", {{"steps", 11}}), kind, {10});
    run->model = [] { return std::make_shared<SmallCnn>(3); };
    run->go();
    EXPECT_EQ(run->result.outcome, train::Outcome::Done) << run->result.reason;
    const train::LoadedCheckpoint before = run->at(10), after = run->at(11);
    EXPECT_TRUE(isSame(before.model, after.model)) << "running statistics are part of it";
    EXPECT_TRUE(isSame(before.ema, after.ema));
    EXPECT_TRUE(isSame(before.optimizer, after.optimizer));
    EXPECT_EQ(after.state.updates, 10);
    ASSERT_EQ(run->eventsOf("step_skipped").size(), 1U);
    const EventRecord event = run->eventsOf("step_skipped")[0];
    EXPECT_EQ(event.step, 11);
    EXPECT_EQ(event.data.at("cause"), "non_finite");
    SmallStream stream({}, 10);
    EXPECT_EQ(event.data.at("sample_ids").get<Numbers>(), stream.next().sampleIds);
  }
}

TEST(SkippedStep, IsBitExactWhereverTheRunIsInterrupted) {
  const std::set<std::int64_t> bad{2, 14, 15, 25};
  const auto make = [&] {
    auto run = runOf(policy("skip"), Kind::DataNan, bad);
    run->model = [] { return std::make_shared<SmallCnn>(3); };
    return run;
  };
  const auto whole = make();
  whole->go();
  EXPECT_EQ(whole->eventsOf("step_skipped").size(), bad.size());
  EXPECT_EQ(whole->at(kSteps).state.updates, kSteps - 4);
  for (const std::int64_t stop : {3, 14, 15, 16, 27}) {
    const auto run = make();
    run->segment(stop);
    run->go();
    expectSame(*run, *whole, kSteps);
  }
}

TEST(SkippedStep, TooManyInARowAreAFailure) {
  std::set<std::int64_t> rest{5};
  for (std::int64_t i = 12; i < 120; ++i) rest.insert(i);
  const auto run = runOf(policy("skip", {{"divergence.max_skipped", 4}}), Kind::LossNan, rest);
  run->go();
  EXPECT_EQ(run->result.outcome, train::Outcome::Failed);
  EXPECT_EQ(run->eventsOf("step_skipped").size(), 5U);
  EXPECT_THAT(run->result.reason, Names("5th"));
  EXPECT_EQ(run->result.step, 16);
}

TEST(Spike, IsNothingWithoutAFactor) {
  const auto run = runOf(policy("stop"), Kind::LossTimes, {25});
  run->go();
  EXPECT_EQ(run->result.outcome, train::Outcome::Done);
}

TEST(Spike, OfTheLossIsServedByEveryPolicy) {
  for (const char* name : {"stop", "skip", "rollback"}) {
    const auto run = runOf(policy(name, {{"divergence.loss_factor", 5.0}}), Kind::LossTimes, {25});
    run->go();
    if (std::string(name) == "stop") {
      EXPECT_EQ(run->result.outcome, train::Outcome::Failed);
      EXPECT_THAT(run->result.reason, Names("loss", "step 26"));
      EXPECT_EQ(run->eventsOf("spike").size(), 1U);
      EXPECT_EQ(newestCheckpoint(run->folder.path())->step, 20);
      continue;
    }
    EXPECT_EQ(run->result.outcome, train::Outcome::Done) << run->result.reason;
    const bool isBack = std::string(name) == "rollback";
    EXPECT_EQ(run->eventsOf("rollback").size(), isBack ? 1U : 0U);
    EXPECT_EQ(run->eventsOf("step_skipped").size(), isBack ? 0U : 1U);
    EXPECT_EQ(run->at(kSteps).state.updates, isBack ? kSteps : kSteps - 1);
  }
}

TEST(Spike, OfTheGradientNormIsFoundWhereTheLossIsAsUsual) {
  const auto run =
      runOf(policy("skip", {{"divergence.gradient_factor", 10.0}}), Kind::GradientTimes, {25});
  run->go();
  ASSERT_EQ(run->eventsOf("step_skipped").size(), 1U);
  EXPECT_THAT(run->eventsOf("step_skipped")[0].text, Names("gradient norm", "step 26"));
}

TEST(Spike, IsBitExactWhereverTheRunIsInterrupted) {
  const Config train = policy("skip", {{"divergence.loss_factor", 3.0},
                                       {"divergence.spike_steps", 2},
                                       {"checkpoint.every_steps", nullptr}});
  const std::set<std::int64_t> bad{8, 18, 19, 20, 30, 31};
  const auto whole = runOf(train, Kind::LossTimes, bad);
  whole->go();
  // The first of a row passes, and 8 comes before the medians do.
  EXPECT_EQ(whole->eventsOf("step_skipped").size(), 3U);
  for (const std::int64_t stop : {7, 13, 19, 20, 21, 22, 33}) {
    const auto run = runOf(train, Kind::LossTimes, bad);
    run->segment(stop);
    EXPECT_EQ(run->result.outcome, train::Outcome::Interrupted);
    run->go();
    expectSame(*run, *whole, kSteps);
  }
}

TEST(Spike, OfSeveralStepsIsLeftThroughACheckpointBeforeItsFirstOne) {
  const auto run =
      runOf(policy("rollback", {{"divergence.loss_factor", 5.0}, {"divergence.spike_steps", 3}}),
            Kind::LossTimes, {28, 29, 30});
  run->go();
  EXPECT_EQ(run->result.outcome, train::Outcome::Done);
  EXPECT_EQ(run->starts, (Numbers{0, 20})) << "the checkpoint of step 30 is within the spike";
  EXPECT_EQ(run->taken[1].front(), 31);
}

/// A process that reads the checkpoint of a step from the moment it is there.
struct ReaderOfACheckpoint final : RecordingSink {
  ReaderOfACheckpoint(fs::path theFolder, std::int64_t theStep)
      : folder(std::move(theFolder)), step(theStep) {}
  void checkpoint(const CheckpointRecord& record) override {
    RecordingSink::checkpoint(record);
    if (record.step == step) hold.emplace(folder / checkpointName(step));
  }
  fs::path folder;
  std::int64_t step;
  std::optional<CheckpointHold> hold;
};

TEST(Spike, IsLeftThroughTheCheckpointBeforeItWhileAProcessReadsOneWithinIt) {
  const TemporaryFolder folder;
  SmallRun run(policy("rollback", {{"divergence.loss_factor", 5.0}, {"divergence.spike_steps", 3}}),
               std::make_unique<BadBatches>(Kind::LossTimes, std::set<std::int64_t>{28, 29, 30}));
  run.use(std::make_shared<SmallModel>(3));
  run.setup.checkpointFolder = folder.path();
  ReaderOfACheckpoint sink(folder.path(), 30);
  const train::TrainerResult result = train::Trainer(std::move(run.setup), sink, run.control).run();
  ASSERT_TRUE(sink.hold.has_value());
  EXPECT_EQ(result.outcome, train::Outcome::RolledBack) << result.reason;
  EXPECT_EQ(result.resumeFrom, folder.path() / checkpointName(20));
}

TEST(DivergenceWatch, TakesMediansOfTheAppliedStepsBeforeItsDelay) {
  train::DivergenceOptions options{.lossFactor = 2, .window = 3};
  train::DivergenceWatch watch(options);
  for (std::int64_t step = 1; step <= 20; ++step) {
    const bool isApplied = step != 4;
    watch.heard(step, isApplied ? static_cast<double>(step) : 1000, 1, isApplied, {});
  }
  constexpr std::int64_t kDelay = train::DivergenceWatch::kDelay;
  EXPECT_EQ(watch.limits(12 + kDelay).loss, 2 * 11) << "of 10, 11 and 12";
  EXPECT_EQ(watch.limits(12 + kDelay).gradientNorm, std::numeric_limits<double>::infinity());
  train::DivergenceWatch young(options);
  for (std::int64_t step = 1; step <= 5; ++step)
    young.heard(step, static_cast<double>(step), 1, step != 4, {});
  EXPECT_EQ(young.limits(3 + kDelay).loss, 4) << "of 1, 2 and 3";
  EXPECT_EQ(young.limits(4 + kDelay).loss, 4) << "step 4 changed nothing";
  EXPECT_EQ(young.limits(5 + kDelay).loss, 6) << "of 2, 3 and 5";
  EXPECT_EQ(young.limits(2 + kDelay).loss, std::numeric_limits<double>::infinity());
  train::DivergenceWatch again(options);
  again.restore(Json::parse(young.state().dump()));
  EXPECT_EQ(again.state(), young.state());
  EXPECT_THROW(again.restore(Json{{"steps", 1}}), FileError);
}

TEST(DivergenceOptions, OfARunThatWasStoredBeforeThereWereAnyAreTheDefaults) {
  Json old = trainSchema().defaults();
  old.erase("divergence");
  for (const char* key : {"keep_every", "best_by", "best_is"}) old["checkpoint"].erase(key);
  old["device"] = "cpu";
  old["threads"] = 1;
  old["steps"] = 3;
  const TemporaryFolder folder;
  SmallRun run(Config(old), folder);
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  EXPECT_EQ(train::divergenceFrom(Config(old)).policy, train::DivergenceOptions::Policy::Stop);
}

TEST(RollbackFile, ThatIsDamagedIsNamed) {
  const TemporaryFolder folder;
  EXPECT_FALSE(train::readRollback(folder.path()).has_value());
  train::writeRollback(folder.path(), {2, 15, 10, 15});
  EXPECT_EQ(train::readRollback(folder.path())->batchesConsumed, 15);
  for (const char* text : {"", "{", "{\"number\": 0, \"from_step\": 1}", "[]"}) {
    std::ofstream(folder.path() / "rollback.json") << text;
    EXPECT_THROW(static_cast<void>(train::readRollback(folder.path())), FileError) << text;
  }
}

}  // namespace
}  // namespace vitrine::test
