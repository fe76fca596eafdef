// Which checkpoints stay, what a save may cost the run, and what a damaged or full disk does to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <condition_variable>
#include <csignal>
#include <fstream>

#include "core/base/error.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/checkpoint_use.h"
#include "core/train/checkpoint.h"
#include "core/train/memory.h"
#include "tests/core/train/diverging.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using test::Names;

train::CheckpointSnapshot snapshotOf(std::int64_t step) {
  train::CheckpointSnapshot snapshot{.model = {{"w", at::full({3}, static_cast<double>(step))}},
                                     .optimizer = {{"w/exp_avg", at::ones({3})}},
                                     .trained = {"w"}};
  snapshot.state.step = step;
  return snapshot;
}

/// Saves steps 1 to `last`, the best of them being `best`.
void saveSteps(train::CheckpointWriter& writer, std::int64_t first, std::int64_t last,
               std::int64_t best = -1) {
  for (std::int64_t step = first; step <= last; ++step) {
    train::CheckpointSnapshot snapshot = snapshotOf(step);
    snapshot.isBest = step == best;
    writer.save(std::move(snapshot));
  }
  writer.wait();
}

Config saving(const std::vector<std::pair<std::string, Json>>& more) {
  std::vector<std::pair<std::string, Json>> values{{"steps", 24},
                                                   {"optimizer.learning_rate", 0.01},
                                                   {"checkpoint.every_epochs", nullptr},
                                                   {"checkpoint.best", false}};
  values.insert(values.end(), more.begin(), more.end());
  return trainConfig(values);
}

TEST(Retention, KeepsTheNewestTheBestEveryNthAndWhatOthersNeed) {
  const TemporaryFolder folder;
  train::RetentionOptions options{2, true};
  options.keepEvery = 5;
  options.needed = [] { return std::set<std::int64_t>{4}; };
  train::CheckpointWriter writer(folder.path(), "run-test", options);
  saveSteps(writer, 1, 12, 3);
  EXPECT_EQ(stepsIn(folder.path()), (Steps{3, 4, 5, 10, 11, 12}));
}

TEST(Retention, KeepsNoMoreThanTheEstimateOfTheDiskSays) {
  struct Plan {
    std::int64_t keep, keepEvery, saveEvery;
  };
  for (const Plan& plan : {Plan{1, 0, 1}, Plan{2, 5, 2}, Plan{3, 4, 4}, Plan{2, 3, 7}}) {
    const TemporaryFolder folder;
    constexpr std::int64_t kSteps = 24, kBest = 2;
    train::RetentionOptions options{plan.keep, true};
    options.keepEvery = plan.keepEvery;
    train::CheckpointWriter writer(folder.path(), "run-test", options);
    double most = 0;
    for (std::int64_t step = 1; step <= kSteps; ++step) {
      const bool isKept = plan.keepEvery > 0 && step % plan.keepEvery == 0;
      if (step % plan.saveEvery != 0 && !isKept && step != kBest && step != kSteps) continue;
      most = std::max(most, static_cast<double>(stepsIn(folder.path()).size()) + 1);
      saveSteps(writer, step, step, kBest);
    }
    const Json every = plan.keepEvery > 0 ? Json(plan.keepEvery) : Json();
    const double told = train::mostCheckpoints(saving({{"checkpoint.keep", plan.keep},
                                                       {"checkpoint.keep_every", every},
                                                       {"checkpoint.best", true}}),
                                               0);
    EXPECT_GE(told, most) << plan.keep << " " << plan.keepEvery;
    EXPECT_LE(told, most + static_cast<double>(plan.keep) + 1)
        << plan.keep << " " << plan.keepEvery;
  }
}

TEST(Retention, KeepsWhatTheRunWasResumedFromUntilANewerOneVerifies) {
  const TemporaryFolder folder;
  {
    train::CheckpointWriter before(folder.path(), "run-test", train::RetentionOptions{1, false});
    saveSteps(before, 1, 1);
  }
  train::RetentionOptions options{1, false, folder.path() / checkpointName(1)};
  bool isDamaging = true;
  options.needed = [&]() -> std::set<std::int64_t> {
    // A disk that does not keep what it was given, seen before anything is removed.
    if (isDamaging)
      std::ofstream(folder.path() / checkpointName(2) / "model.safetensors", std::ios::app) << "x";
    return {};
  };
  train::CheckpointWriter writer(folder.path(), "run-test", options);
  saveSteps(writer, 2, 2);
  EXPECT_EQ(stepsIn(folder.path()), (Steps{1, 2}));
  isDamaging = false;
  saveSteps(writer, 3, 3);
  EXPECT_EQ(stepsIn(folder.path()), (Steps{3}));
}

TEST(Retention, RemovesNothingWhileItIsNotKnownWhatOthersNeed) {
  const TemporaryFolder folder;
  train::RetentionOptions options{1, false};
  bool isKnown = false;
  options.needed = [&]() -> std::set<std::int64_t> {
    if (!isKnown) throw StoreError("the database is busy");
    return {};
  };
  train::CheckpointWriter writer(folder.path(), "run-test", options);
  saveSteps(writer, 1, 3);
  EXPECT_EQ(stepsIn(folder.path()), (Steps{1, 2, 3}));
  for (const train::SaveResult& result : writer.results()) EXPECT_EQ(result.error, "");
  isKnown = true;
  saveSteps(writer, 4, 4);
  EXPECT_EQ(stepsIn(folder.path()), Steps{4});
}

TEST(Retention, LeavesACheckpointThatAProcessReadsUntilItIsDone) {
  const TemporaryFolder folder;
  train::CheckpointWriter writer(folder.path(), "run-test", {1, false});
  saveSteps(writer, 1, 1);
  {
    const CheckpointHold hold(folder.path() / checkpointName(1));
    saveSteps(writer, 2, 3);
    EXPECT_EQ(stepsIn(folder.path()), (Steps{1, 3}));
    EXPECT_EQ(verifyCheckpointFolder(folder.path() / checkpointName(1)), "");
  }
  saveSteps(writer, 4, 4);
  EXPECT_EQ(stepsIn(folder.path()), Steps{4});
  EXPECT_THROW(CheckpointHold(folder.path() / checkpointName(1)), FileError);
}

TEST(Retention, KeepsTheBestThatIsOnTheDiskWhenANewOneCannotBeSaved) {
  const TemporaryFolder folder;
  train::CheckpointWriter writer(folder.path(), "run-test", {1, true});
  saveSteps(writer, 1, 1, 1);
  train::CheckpointSnapshot broken = snapshotOf(2);
  broken.isBest = true;
  broken.model[0].second.fill_(std::nan(""));
  writer.save(std::move(broken));
  saveSteps(writer, 3, 4);
  EXPECT_EQ(stepsIn(folder.path()), (Steps{1, 4}));
}

TEST(Retention, OfARunOfBestByALossKeepsTheLowest) {
  const TemporaryFolder folder;
  SmallRun run(saving({{"checkpoint.keep", 1},
                       {"checkpoint.best", true},
                       {"checkpoint.best_by", "test/loss"},
                       {"checkpoint.best_is", "lowest"},
                       {"optimizer.learning_rate", 0.2},
                       {"evaluate.every_steps", 3},
                       {"evaluate.every_epochs", nullptr}}));
  run.setup.checkpointFolder = folder.path();
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  const auto curve = run.sink.curve("test/loss");
  const auto lowest = std::min_element(
      curve.begin(), curve.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const Steps left = stepsIn(folder.path());
  EXPECT_NE(std::find(left.begin(), left.end(), lowest->first), left.end());
  EXPECT_EQ(train::readCheckpointState(folder.path() / checkpointName(24)).bestStep, lowest->first);
  std::int64_t best = -1;
  for (const CheckpointRecord& record : run.sink.checkpoints) {
    if (record.isBest) best = record.step;
  }
  EXPECT_EQ(best, lowest->first);
}

TEST(Retention, NeverTakesAScoreThatIsNotANumberForTheBest) {
  struct Session final : SmallSession {
    void evaluate(const EvaluationRequest& request, Results& results) override {
      CollectedResults found;
      SmallSession::evaluate(request, found);
      if (evaluations++ == 0) found.scores[0].second = std::nan("");
      for (const auto& [name, score] : found.scores) results.score(name, score);
    }
    int evaluations = 0;
  };
  const TemporaryFolder folder;
  SmallRun run(saving({{"checkpoint.best", true}, {"evaluate.every_steps", 6}}),
               std::make_unique<Session>());
  run.setup.checkpointFolder = folder.path();
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  const train::CheckpointState last =
      train::readCheckpointState(folder.path() / checkpointName(24));
  EXPECT_GT(last.bestStep, 6);
  EXPECT_TRUE(std::isfinite(last.bestScore));
}

TEST(Retention, SaysWhenNoEvaluationGivesTheScoreThatDecides) {
  const TemporaryFolder folder;
  SmallRun run(saving({{"checkpoint.best", true}, {"checkpoint.best_by", "test/top5"}}), folder);
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  ASSERT_EQ(run.sink.eventsOf("best_unknown").size(), 1U);
  EXPECT_EQ(run.sink.eventsOf("best_unknown")[0].text,
            "checkpoint.best_by is test/top5, which the evaluation does not give; it gives "
            "test/top1, test/loss");
}

TEST(Retention, OfARunWritesAndKeepsEveryNth) {
  const TemporaryFolder folder;
  SmallRun run(saving({{"checkpoint.keep", 1}, {"checkpoint.keep_every", 10}}), folder);
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  EXPECT_EQ(stepsIn(folder.path()), (Steps{10, 20, 24}));
}

TEST(Retention, TwoTrainersNeverWriteIntoOneFolder) {
  const TemporaryFolder folder;
  {
    const train::CheckpointWriter writer(folder.path(), "run-test", {1, false});
    EXPECT_THROW(train::CheckpointWriter(folder.path(), "run-test", {1, false}), RefusedError);
  }
  train::CheckpointWriter(folder.path(), "run-test", {1, false}).wait();
}

TEST(Save, OfParametersThatAreNotFiniteIsRefused) {
  const TemporaryFolder folder;
  train::CheckpointWriter writer(folder.path(), "run-test", {1, true});
  saveSteps(writer, 1, 1);
  train::CheckpointSnapshot broken = snapshotOf(2);
  broken.model.emplace_back("mask", at::full({2}, -INFINITY));  // no parameter: it may
  writer.save(broken);
  writer.wait();
  EXPECT_EQ(stepsIn(folder.path()), Steps{2});
  broken.state.step = 3;
  broken.model[0].second[1] = INFINITY;
  writer.save(broken);
  writer.wait();
  EXPECT_EQ(stepsIn(folder.path()), Steps{2});
  const auto results = writer.results();
  EXPECT_THAT(results.back().error, Names("w"));
}

TEST(Save, NamesAFrozenNetworkWhoseFileIsNotUtf8) {
  const TemporaryFolder folder;
  train::CheckpointWriter writer(folder.path(), "run-test", {1, true});
  train::CheckpointSnapshot snapshot = snapshotOf(1);
  snapshot.state.frozen.push_back({"codec", "/caf\xE9/model.safetensors", "ab"});
  writer.save(std::move(snapshot));
  writer.wait();
  EXPECT_EQ(stepsIn(folder.path()), Steps{1});
}

/// A disk that takes until it is told to continue.
class SlowDisk final {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    most_ = std::max(most_, waiting_);
    changed_.notify_all();
    EXPECT_TRUE(changed_.wait_for(lock, kLong, [this] { return isOpen_; }));
    --waiting_;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    isOpen_ = true;
    changed_.notify_all();
  }
  void awaitWaiting() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kLong, [this] { return waiting_ > 0; }));
  }
  int most() const { return most_; }

 private:
  static constexpr auto kLong = std::chrono::seconds(60);
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0, most_ = 0;
  bool isOpen_ = false;
};

TEST(Save, ThatTakesLongerThanItsIntervalDoesNotHoldUpTheSteps) {
  struct SlowSink final : EventSink {
    void metrics(const MetricRecord& record) override { next.metrics(record); }
    void event(const EventRecord& record) override { next.event(record); }
    void artifact(Artifact item) override { next.artifact(std::move(item)); }
    void image(GeneratedImage item) override { next.image(std::move(item)); }
    void text(GeneratedText item) override { next.text(std::move(item)); }
    void progress(const ProgressRecord& record) override { next.progress(record); }
    void checkpoint(const CheckpointRecord& record) override { next.checkpoint(record); }
    void flush() override {
      if (std::this_thread::get_id() != trainer) disk.wait();
    }
    RecordingSink next;
    SlowDisk disk;
    std::thread::id trainer = std::this_thread::get_id();
  } sink;
  const TemporaryFolder folder;
  SmallRun run(saving({{"checkpoint.every_steps", 2}, {"checkpoint.keep", 100}}), folder);
  run.setup.saveWait = std::chrono::seconds(0);
  run.session->onLoss = [&, step = 0](const Batch&) mutable {
    // The disk takes up the first save, and is done with it when 18 more steps have been made.
    if (++step == 3) sink.disk.awaitWaiting();
    if (step == 21) sink.disk.open();
  };
  train::Trainer trainer(std::move(run.setup), sink, run.control);
  EXPECT_EQ(trainer.run().outcome, train::Outcome::Done);
  EXPECT_EQ(sink.disk.most(), 1) << "two saves were under way";
  // Of the first save, and where the processor is busy of the one behind it.
  const std::size_t late = sink.next.eventsOf("checkpoint_late").size();
  EXPECT_GE(late, 1U);
  EXPECT_LE(late, 2U) << "one for each interval";
  const Steps left = stepsIn(folder.path());
  ASSERT_GE(left.size(), 2U);
  EXPECT_EQ(left.front(), 2);
  EXPECT_GE(left[1], 20) << "a step waited for the disk";
  EXPECT_EQ(left.back(), 24);
}

TEST(Save, OnAFullDiskIsAnEventAndTheNextOneWorks) {
  const TemporaryFolder folder;
  SmallRun run(saving({{"steps", 120}, {"checkpoint.every_steps", 20}, {"checkpoint.keep", 100}}),
               folder);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  bool isFull = false, wasFull = false;
  run.session->onLoss = [&](const Batch&) {
    // Full once the first save is done, and until the run has heard of one that failed.
    const bool shallBe =
        run.sink.eventsOf("checkpoint_failed").empty() && !run.sink.eventsOf("checkpoint").empty();
    if (shallBe == isFull) return;
    struct rlimit limit = before;
    if (shallBe) limit.rlim_cur = 1000;
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    isFull = shallBe;
    wasFull = true;
  };
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(wasFull && !isFull);
  Steps expected{20, 40, 60, 80, 100, 120};
  const auto failed = run.sink.eventsOf("checkpoint_failed");
  ASSERT_FALSE(failed.empty());
  EXPECT_THAT(failed[0].text, Names("File too large"));
  for (const EventRecord& event : failed) std::erase(expected, event.step);
  EXPECT_EQ(stepsIn(folder.path()), expected);
  EXPECT_EQ(expected.front(), 20);
  EXPECT_EQ(expected.back(), 120);
  for (const std::int64_t step : expected)
    EXPECT_EQ(verifyCheckpointFolder(folder.path() / checkpointName(step)), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}),
            static_cast<std::ptrdiff_t>(expected.size()))
      << "a temporary folder is still there";
}

TEST(Damage, IsAnEventOfTheRunThatContinuesFromAnOlderCheckpoint) {
  const TemporaryFolder folder;
  {
    SmallRun run(saving({{"checkpoint.every_steps", 8}}), folder);
    static_cast<void>(run.go());
  }
  const fs::path newest = folder.path() / checkpointName(24);
  fs::resize_file(newest / "optimizer.safetensors",
                  fs::file_size(newest / "optimizer.safetensors") - 1);
  SmallRun run(saving({}), folder);
  const auto found = newestCheckpoint(
      folder.path(), [&](const std::string& why) { run.setup.damaged.push_back(why); });
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->step, 16);
  run.setup.resumeFrom = found->folder;
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  ASSERT_EQ(run.sink.eventsOf("checkpoint_damaged").size(), 1U);
  EXPECT_THAT(run.sink.eventsOf("checkpoint_damaged")[0].text,
              Names("step-000000024", "optimizer.safetensors"));
  EXPECT_EQ(verifyCheckpointFolder(newest), "") << "the run has written it again";
}

TEST(Damage, OfEveryByteOfASmallCheckpointIsFound) {
  const TemporaryFolder folder;
  train::CheckpointWriter writer(folder.path(), "run-test", {2, false});
  saveSteps(writer, 1, 2);
  const fs::path newest = folder.path() / checkpointName(2);
  std::int64_t found = 0, damages = 0;
  for (const auto& entry : fs::directory_iterator(newest)) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    const auto size = static_cast<std::int64_t>(fs::file_size(entry.path()));
    for (std::int64_t at = 0; at<size; at += size> 2000 ? 37 : 7) {
      char byte = 0;
      file.seekg(at).get(byte);
      file.seekp(at).put(static_cast<char>(byte ^ (1 << (at % 8)))).flush();
      ++damages;
      const auto left = newestCheckpoint(folder.path());
      // White space of the manifest itself may change without harm: it still says the same.
      const bool isManifest = entry.path().filename() == "manifest.json";
      if (left && left->step == 1) ++found;
      if (isManifest && left && left->step == 2) ++found;
      EXPECT_TRUE(isManifest || (left && left->step == 1)) << entry.path() << " byte " << at;
      file.seekp(at).put(byte).flush();
    }
  }
  EXPECT_EQ(found, damages);
  EXPECT_GT(damages, 100);
  EXPECT_EQ(newestCheckpoint(folder.path())->step, 2);
}

TEST(Damage, OfSwappedFilesIsFound) {
  const TemporaryFolder folder;
  train::CheckpointWriter writer(folder.path(), "run-test", {2, false});
  saveSteps(writer, 1, 2);
  const fs::path one = folder.path() / checkpointName(1), two = folder.path() / checkpointName(2);
  for (const char* name : {"model.safetensors", "state.json", "manifest.json"}) {
    fs::rename(one / name, one / "aside");
    fs::rename(two / name, one / name);
    fs::rename(one / "aside", two / name);
    EXPECT_NE(verifyCheckpointFolder(one), "") << name;
    EXPECT_NE(verifyCheckpointFolder(two), "") << name;
    fs::rename(one / name, one / "aside");
    fs::rename(two / name, one / name);
    fs::rename(one / "aside", two / name);
  }
  EXPECT_EQ(verifyCheckpointFolder(one) + verifyCheckpointFolder(two), "");
}

TEST(ChangedConditions, AreNamedOneByOneAndTheRunContinues) {
  const TemporaryFolder folder;
  double undisturbed = 0;
  {
    SmallRun run(saving({{"checkpoint.every_steps", 8}}), folder);
    static_cast<void>(run.go());
    undisturbed = run.sink.curve("train/loss").back().second;
  }
  const fs::path from = folder.path() / checkpointName(16);
  const std::string whole = readTextFile(from / "state.json");
  const auto resumed = [&](const std::string& key, const Json& value) {
    Json state = Json::parse(whole);
    state[key] = value;
    std::ofstream(from / "state.json") << state.dump();
    SmallRun run(saving({}), folder);
    run.setup.resumeFrom = from;
    EXPECT_EQ(run.go().outcome, train::Outcome::Done);
    EXPECT_NEAR(run.sink.curve("train/loss").back().second, undisturbed, 0.5) << key;
    const EventRecord event = run.sink.eventsOf("resumed").at(0);
    EXPECT_EQ(event.data.at("is_bit_exact"), key == "step") << key;
    return event.text;
  };
  EXPECT_EQ(resumed("threads", 2), "not bit-exact: threads 1 instead of 2");
  EXPECT_THAT(resumed("libtorch", "1.13.1"), Names("1.13.1"));
  EXPECT_THAT(resumed("cpu_capability", "DEFAULT2"), Names("DEFAULT2"));
  EXPECT_EQ(resumed("device", "cuda:0"), "not bit-exact: device cpu instead of cuda:0");
  EXPECT_EQ(resumed("precision", "bf16"), "not bit-exact: precision fp32 instead of bf16");
  EXPECT_EQ(resumed("step", 16), "training continues after step 16");
}

TEST(DataOrder, HasEverySampleOnceInEveryEpochHoweverOftenTheRunIsInterrupted) {
  WholeRun run;
  run.session = [] {
    return std::make_unique<BadBatches>(BadBatches::Kind::LossNan, std::set<std::int64_t>{});
  };
  run.train = saving({{"steps", 36}});
  for (const std::int64_t stop : {5, 1, 9, 3, 10}) run.segment(stop);
  run.go();
  ASSERT_EQ(run.result.outcome, train::Outcome::Done);
  Steps all;
  for (const Steps& taken : run.taken) all.insert(all.end(), taken.begin(), taken.end());
  Steps expected(36);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<std::int64_t>(i);
  EXPECT_EQ(all, expected);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::multiset<std::int64_t> samples;
    for (std::int64_t i = 0; i < 12; ++i) {
      const Batch batch = SmallStream({}, 12 * epoch + i).next();
      samples.insert(batch.sampleIds.begin(), batch.sampleIds.end());
    }
    EXPECT_EQ(samples.size(), 96U);
    EXPECT_EQ(std::set<std::int64_t>(samples.begin(), samples.end()).size(), 96U);
  }
}

}  // namespace
}  // namespace vitrine::test
