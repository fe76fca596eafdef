// Checkpoints and resume: what is on disk, what is kept, and that continuing equals never having
// stopped.
#include "core/train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "core/files/checkpoint_folder.h"
#include "tests/core/train/fakes.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;

/// Dropout, drop path, average, clipping, a scheduled model, a batch that does not fill the epoch
/// evenly.
Config everything() {
  return trainConfig({{"steps", 40},
                      {"ema.decay", 0.9},
                      {"clip_norm", 0.5},
                      {"schedule.warmup_steps", 10},
                      {"optimizer.learning_rate", 0.01},
                      {"checkpoint.every_epochs", nullptr},
                      {"checkpoint.keep", 100},
                      {"checkpoint.best", false}});
}

Config withEvery(Config config, const std::string& table, const std::string& key, Json value) {
  Json json = config.json();
  json[table][key] = value;
  return Config(json);
}

/// Loss curve and final weights of an uninterrupted run.
struct Reference {
  std::vector<std::pair<std::int64_t, double>> loss, evaluated;
  at::Tensor weights;
  std::map<std::string, at::Tensor> ema;
};

Reference uninterrupted(const Config& config) {
  const TemporaryFolder folder;
  SmallRun run(config, folder);
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  return {run.sink.curve("train/loss"), run.sink.curve("test/loss@ema"), run.weights(),
          readTensors(folder.path() / checkpointName(40) / "ema.safetensors")};
}

/// Asks at the given call of the loss.
void askAt(SmallRun& run, int step, Request request) {
  run.session->onLoss = [&run, step, request, count = 0](const Batch&) mutable {
    if (++count == step) run.control.ask(request);
  };
}

TEST(Resume, IsBitIdenticalAtSeveralStepsInTheMiddleOfAnEpoch) {
  const Reference whole = uninterrupted(everything());
  for (const int stop : {1, 7, 12, 29}) {
    const TemporaryFolder folder;
    std::vector<std::pair<std::int64_t, double>> loss, evaluated;
    {
      SmallRun run(everything(), folder);
      askAt(run, stop, Request::Interrupt);
      const train::TrainerResult result = run.go();
      EXPECT_EQ(result.outcome, train::Outcome::Interrupted);
      EXPECT_EQ(result.step, stop);
      loss = run.sink.curve("train/loss");
      evaluated = run.sink.curve("test/loss@ema");
    }
    SmallRun run(everything());
    run.use(run.model = std::make_shared<SmallModel>(999));  // what it starts from must not matter
    run.setup.checkpointFolder = folder.path();
    run.setup.resumeFrom = folder.path() / checkpointName(stop);
    const train::TrainerResult result = run.go();
    EXPECT_EQ(result.outcome, train::Outcome::Done);
    EXPECT_EQ(result.step, 40);
    for (const auto& point : run.sink.curve("train/loss")) loss.push_back(point);
    for (const auto& point : run.sink.curve("test/loss@ema")) evaluated.push_back(point);
    EXPECT_EQ(loss, whole.loss) << "stopped after step " << stop;
    EXPECT_EQ(evaluated, whole.evaluated) << "stopped after step " << stop;
    EXPECT_TRUE(at::equal(run.weights(), whole.weights)) << "stopped after step " << stop;
    for (const auto& [name, tensor] :
         readTensors(folder.path() / checkpointName(40) / "ema.safetensors")) {
      EXPECT_TRUE(at::equal(tensor, whole.ema.at(name))) << name;
    }
    ASSERT_EQ(run.sink.eventsOf("resumed").size(), 1U);
    EXPECT_EQ(run.sink.eventsOf("resumed")[0].data.at("is_bit_exact"), true);
  }
}

TEST(Resume, FromACheckpointOnTheWayEqualsTheRunThatWroteIt) {
  const TemporaryFolder folder;
  SmallRun first(withEvery(everything(), "checkpoint", "every_steps", 17), folder);
  static_cast<void>(first.go());
  EXPECT_EQ(stepsIn(folder.path()), (Steps{17, 34, 40}));
  SmallRun second(everything(), folder);
  second.resumeAt(17);
  static_cast<void>(second.go());
  EXPECT_TRUE(at::equal(first.weights(), second.weights()));
}

TEST(Resume, OfSgdIsBitIdenticalToo) {
  const Config config = withEvery(everything(), "optimizer", "name", "sgd");
  const Reference whole = uninterrupted(config);
  const TemporaryFolder folder;
  SmallRun stopped(config, folder);
  askAt(stopped, 15, Request::Pause);
  EXPECT_EQ(stopped.go().outcome, train::Outcome::Paused);
  SmallRun run(config, folder);
  run.resumeAt(15);
  static_cast<void>(run.go());
  EXPECT_TRUE(at::equal(run.weights(), whole.weights));
}

TEST(Resume, MakesTheEvaluationThatAPauseLeftOwingAndMarksItsCheckpointAsTheBest) {
  const TemporaryFolder folder;
  const Config config =
      withEvery(withEvery(everything(), "evaluate", "every_steps", 10), "checkpoint", "best", true);
  {
    SmallRun stopped(config, folder);
    askAt(stopped, 10, Request::Pause);
    EXPECT_EQ(stopped.go().outcome, train::Outcome::Paused);
    EXPECT_TRUE(stopped.sink.curve("test/top1").empty()) << "a pause does not wait for it";
  }
  SmallRun run(config, folder);
  run.resumeAt(10);
  askAt(run, 1, Request::Pause);
  EXPECT_EQ(run.go().outcome, train::Outcome::Paused);
  EXPECT_EQ(run.sink.steps("test/top1"), Steps{10});
  ASSERT_EQ(run.sink.checkpoints.size(), 2U);
  EXPECT_EQ(run.sink.checkpoints[0].step, 10);
  EXPECT_TRUE(run.sink.checkpoints[0].isBest);
  EXPECT_EQ(verifyCheckpointFolder(folder.path() / checkpointName(10)), "");
  const train::CheckpointState state =
      train::readCheckpointState(folder.path() / checkpointName(10));
  EXPECT_EQ(state.bestStep, 10);
  EXPECT_EQ(state.evaluatedStep, 10);
}

TEST(Resume, FromStepZeroEvaluatesNothingThere) {
  const TemporaryFolder folder;
  {
    SmallRun stopped(everything(), folder);
    stopped.control.ask(Request::Pause);
    EXPECT_EQ(stopped.go().step, 0);
  }
  SmallRun run(everything(), folder);
  run.resumeAt(0);
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  EXPECT_EQ(run.sink.steps("test/top1"), (Steps{12, 24, 36, 40}));
}

TEST(Resume, LetsProbesDrawWhatTheyWouldHaveDrawn) {
  SmallProbe probe;
  probe.isRude = true;
  const auto observed = [&](SmallRun& run) {
    run.setup.observed = {{&probe, "probe", observeConfig({{"every_steps", 10}})}};
  };
  SmallRun whole(everything());
  observed(whole);
  EXPECT_EQ(whole.go().outcome, train::Outcome::Done);
  const TemporaryFolder folder;
  {
    SmallRun stopped(everything());
    observed(stopped);
    stopped.setup.checkpointFolder = folder.path();
    askAt(stopped, 15, Request::Pause);
    EXPECT_EQ(stopped.go().outcome, train::Outcome::Paused);
  }
  SmallRun run(everything());
  observed(run);
  run.setup.checkpointFolder = folder.path();
  run.setup.resumeFrom = folder.path() / checkpointName(15);
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  // The last one is never skipped.
  EXPECT_EQ(run.sink.curve("analysis/probe/mean").back(),
            whole.sink.curve("analysis/probe/mean").back());
}

TEST(Resume, WithAnotherNumberOfThreadsSaysThatItIsNotBitExact) {
  const TemporaryFolder folder;
  SmallRun stopped(everything(), folder);
  askAt(stopped, 3, Request::Stop);
  EXPECT_EQ(stopped.go().outcome, train::Outcome::Stopped);
  Json config = everything().json();
  config["threads"] = 2;
  SmallRun run(Config(config), folder);
  run.resumeAt(3);
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  EXPECT_EQ(run.sink.eventsOf("resumed").at(0).text, "not bit-exact: threads 2 instead of 1");
}

TEST(Resume, CountsRunningTimeOverAllSegments) {
  const TemporaryFolder folder;
  SmallRun stopped(everything(), folder);
  stopped.session->onLoss = [&stopped, count = 0](const Batch&) mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (++count == 10) stopped.control.ask(Request::Pause);
  };
  const double before = stopped.go().seconds;
  SmallRun run(everything(), folder);
  run.resumeAt(10);
  EXPECT_GE(run.go().seconds, 0.2);
  EXPECT_GE(run.sink.times.front(), 0.19);
  EXPECT_GE(before, 0.2);
}

TEST(Resume, OfAnotherModelIsRefusedByName) {
  const TemporaryFolder folder;
  SmallRun stopped(everything(), folder);
  askAt(stopped, 2, Request::Pause);
  static_cast<void>(stopped.go());
  struct Other final : SmallModel {
    Other() : SmallModel(1) { register_parameter("extra", at::zeros({3})); }
  };
  SmallRun run(everything());
  run.use(std::make_shared<Other>());
  run.setup.resumeFrom = folder.path() / checkpointName(2);
  EXPECT_THAT([&] { static_cast<void>(run.go()); }, test::Fails<FileError>("extra"));
}

TEST(Resume, OfAnotherConfigurationIsRefusedWithTheKeysThatDiffer) {
  const TemporaryFolder folder;
  SmallRun stopped(everything(), folder);
  stopped.setup.config = Json::parse(R"({"model": {"width": 32, "mlp": "gelu"}})");
  stopped.setup.configHash = "a";
  askAt(stopped, 2, Request::Pause);
  static_cast<void>(stopped.go());
  const auto resumed = [&](const Json& config, const std::string& hash) {
    SmallRun run(everything());
    run.setup.config = config;
    run.setup.configHash = hash;
    run.setup.resumeFrom = folder.path() / checkpointName(2);
    return run.go().outcome;
  };
  const Json other = Json::parse(R"({"model": {"width": 64, "mlp": "gelu"}})");
  EXPECT_EQ(test::refusal<RefusedError>([&] { static_cast<void>(resumed(other, "b")); }),
            "the checkpoint " + (folder.path() / checkpointName(2)).string() +
                " was written under another configuration: model.width is 64 instead of 32; resume "
                "the run that wrote it, or start a new run from its weights with [init] weights");
  EXPECT_EQ(resumed(stopped.setup.config, "a"), train::Outcome::Done);
}

TEST(Checkpoint, HoldsModelAverageMomentsAndStateUnderTheirNames) {
  const TemporaryFolder folder;
  SmallRun run(everything(), folder);
  static_cast<void>(run.go());
  const fs::path last = folder.path() / checkpointName(40);
  EXPECT_EQ(verifyCheckpointFolder(last), "");
  const train::LoadedCheckpoint loaded = train::readCheckpoint(last);
  EXPECT_TRUE(at::equal(loaded.model.at("fc2"), run.model->named_parameters()["fc2"].detach()));
  EXPECT_FALSE(at::equal(loaded.ema.at("fc2"), loaded.model.at("fc2")));
  EXPECT_EQ(loaded.optimizer.count("fc2/exp_avg"), 1U);
  EXPECT_EQ(loaded.optimizer.count("bias1/exp_avg_sq"), 1U);
  EXPECT_EQ(loaded.state.step, 40);
  EXPECT_EQ(loaded.state.batchesConsumed, 40);
  EXPECT_TRUE(loaded.state.isFinished);
  EXPECT_GT(loaded.state.generator.size(), 100U);
  EXPECT_EQ(loaded.state.environment.threads, 1);
}

TEST(Checkpoint, StateReadsBackAsItWasWritten) {
  train::CheckpointState state;
  state.step = 12;
  state.seconds = 0.1;
  state.generator = std::string("\x00\xff\x10", 3);
  state.scheduled = {{"model/mask_alpha", 1.0 / 3}};
  state.config = Json::parse(R"({"model": {"width": 32}})");
  const train::CheckpointState back =
      train::checkpointStateFromJson(Json::parse(toJson(state).dump()));
  EXPECT_EQ(toJson(back), toJson(state));
  EXPECT_EQ(back.generator, state.generator);
  EXPECT_THROW(static_cast<void>(train::checkpointStateFromJson(Json{{"format", 9}})), FileError);
  EXPECT_THROW(
      static_cast<void>(train::checkpointStateFromJson(Json{{"format", 1}, {"step", "x"}})),
      FileError);
}

TEST(Checkpoint, KeepsTheNewestAndTheBestAndSaysWhatItRemoved) {
  const TemporaryFolder folder;
  Json config = everything().json();
  config["checkpoint"] = {
      {"every_steps", 5}, {"every_epochs", nullptr}, {"keep", 2}, {"best", true}};
  config["evaluate"]["every_steps"] = 10;
  SmallRun run(Config(config), folder);
  static_cast<void>(run.go());
  std::int64_t best = -1;
  std::set<std::string> removed;
  for (const CheckpointRecord& record : run.sink.checkpoints) {
    EXPECT_TRUE(record.folder.starts_with("run-test/step-")) << record.folder;
    EXPECT_GT(record.bytes, 1000);
    if (record.isBest) best = record.step;
    removed.insert(record.removed.begin(), record.removed.end());
  }
  const Steps left = stepsIn(folder.path());
  EXPECT_EQ(left.back(), 40);
  EXPECT_NE(std::find(left.begin(), left.end(), best), left.end()) << "the best one is gone";
  EXPECT_LE(left.size(), 3U);
  for (const std::int64_t step : left)
    EXPECT_EQ(removed.count("run-test/" + checkpointName(step)), 0U);
  EXPECT_EQ(removed.size() + left.size(), run.sink.checkpoints.size());
}

TEST(Checkpoint, OneThatARunWasResumedFromStaysUntilANewerOneVerifies) {
  const TemporaryFolder folder;
  train::CheckpointSnapshot snapshot{.model = {{"w", at::ones({3})}},
                                     .optimizer = {{"w/exp_avg", at::ones({3})}}};
  snapshot.state.step = 1;
  {
    train::CheckpointWriter writer(folder.path(), "run-test", {1, false, {}});
    writer.save(snapshot);
  }
  train::CheckpointWriter writer(folder.path(), "run-test",
                                 {1, false, folder.path() / checkpointName(1)});
  EXPECT_EQ(stepsIn(folder.path()), (Steps{1}));
  snapshot.state.step = 2;
  writer.save(snapshot);
  writer.wait();
  EXPECT_EQ(stepsIn(folder.path()), (Steps{2}))
      << "the newer one verifies, so the older one may go";
  const auto results = writer.results();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].record.removed, std::vector<std::string>{"run-test/step-000000001"});
}

TEST(Checkpoint, ThatCannotBeSavedIsAnEventAndTheRunContinues) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "in the way";
  SmallRun run(withEvery(everything(), "checkpoint", "every_steps", 20));
  run.setup.checkpointFolder = folder.path() / "file" / "run-test";
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  EXPECT_EQ(run.sink.eventsOf("checkpoint_failed").size(), 2U);
  EXPECT_TRUE(run.sink.checkpoints.empty());
}

/// Asks for the end within the boundary whose checkpoint fails, and makes room once that is said.
struct StopsWhereSavingFails final : RecordingSink {
  StopsWhereSavingFails(RunControl& theControl, fs::path theObstacle)
      : control(theControl), obstacle(std::move(theObstacle)) {}
  void metrics(const MetricRecord& record) override {
    RecordingSink::metrics(record);
    for (const auto& value : record.values) {
      if (record.step == 20 && value.first.starts_with("test/")) control.ask(Request::Stop);
    }
  }
  void event(const EventRecord& record) override {
    RecordingSink::event(record);
    if (record.kind == "checkpoint_failed") fs::remove(obstacle);
  }
  RunControl& control;
  fs::path obstacle;
};

TEST(Checkpoint, ThatCouldNotBeSavedIsTriedAgainAtTheSameStepWhenTheRunEndsThere) {
  const TemporaryFolder folder;
  const fs::path obstacle = folder.path() / "runs";
  std::ofstream(obstacle) << "in the way";
  SmallRun run(withEvery(withEvery(everything(), "checkpoint", "every_steps", 20), "evaluate",
                         "every_steps", 20));
  run.setup.checkpointFolder = obstacle / "run-test";
  StopsWhereSavingFails sink(run.control, obstacle);
  const train::TrainerResult result = train::Trainer(std::move(run.setup), sink, run.control).run();
  EXPECT_EQ(result.outcome, train::Outcome::Stopped);
  EXPECT_EQ(result.step, 20);
  EXPECT_EQ(sink.eventsOf("checkpoint_failed").size(), 1U);
  EXPECT_EQ(stepsIn(obstacle / "run-test"), Steps{20});
  EXPECT_TRUE(result.reason.starts_with("stopped by request after step 20 of ")) << result.reason;
  EXPECT_EQ(result.reason.find(';'), std::string::npos) << result.reason;
}

TEST(Request, ForACheckpointWritesOneAndContinues) {
  const TemporaryFolder folder;
  SmallRun run(everything(), folder);
  askAt(run, 9, Request::Checkpoint);
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  EXPECT_EQ(stepsIn(folder.path()), (Steps{9, 40}));
}

TEST(Request, ToStopEndsTheRunAfterTheStepWithItsReason) {
  SmallRun run(everything());
  askAt(run, 4, Request::Stop);
  const train::TrainerResult result = run.go();
  EXPECT_EQ(result.outcome, train::Outcome::Stopped);
  EXPECT_EQ(result.step, 4);
  EXPECT_THAT(result.reason,
              testing::EndsWith("; without a checkpoint, since the run has no folder for one"));
}

TEST(Checkpoint, GetsItsNameAfterThePointsUpToItsStepAreDurable) {
  const TemporaryFolder folder;
  int calls = 0;
  bool wasNamed = false;
  train::CheckpointWriter writer(folder.path(), "run-test", {1, false, {}}, [&] {
    ++calls;
    wasNamed = fs::exists(folder.path() / checkpointName(5));
  });
  train::CheckpointSnapshot snapshot{.model = {{"w", at::ones({3})}},
                                     .optimizer = {{"w/exp_avg", at::ones({3})}}};
  snapshot.state.step = 5;
  writer.save(std::move(snapshot));
  writer.wait();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(wasNamed) << "a resume could already find it";
  EXPECT_EQ(stepsIn(folder.path()), Steps{5});
}

TEST(Checkpoint, OfATrainerWaitsForTheStoreEachTime) {
  const TemporaryFolder folder;
  SmallRun run(withEvery(everything(), "checkpoint", "every_steps", 4), folder);
  ASSERT_EQ(run.go().outcome, train::Outcome::Done);
  ASSERT_EQ(run.sink.checkpoints.size(), 10U);
  EXPECT_GE(run.sink.flushes, 10);
}

}  // namespace
}  // namespace vitrine::test
