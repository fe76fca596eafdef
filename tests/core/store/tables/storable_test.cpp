// What no row of the database can hold is left out with an event, and everything else is stored.
#include "core/store/tables/storable.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

#include "core/store/spool/spool.h"
#include "core/store/spool/store_sink.h"
#include "core/store/sqlite/database.h"
#include "tests/core/store/fault_vfs.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/child.h"

namespace vitrine::store {
namespace {

using test::Fails, test::Names;
using testing::FaultVfs, testing::FileCall;
using ::testing::IsEmpty, ::testing::SizeIs;

constexpr int kLowLimit = 100'000;  // bytes
constexpr std::size_t kTooMuch = 200'000;

int lowerLimit(sqlite3* handle, char**, const void*) {
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLowLimit);
  return SQLITE_OK;
}

/// SQLite's limit of a gigabyte for every connection that is opened meanwhile, made small.
class SmallRows {
 public:
  SmallRows() { sqlite3_auto_extension(entry()); }
  ~SmallRows() { sqlite3_cancel_auto_extension(entry()); }
  SmallRows(const SmallRows&) = delete;
  SmallRows& operator=(const SmallRows&) = delete;

 private:
  using Entry = void (*)();
  static Entry entry() { return reinterpret_cast<Entry>(lowerLimit); }
};

std::atomic<bool> isFull{false};

int fullLog(FileCall call, int flags) {
  return isFull && (flags & SQLITE_OPEN_WAL) != 0 && call == FileCall::Write ? SQLITE_FULL
                                                                             : SQLITE_OK;
}

class Storable : public testing::StoreTest {
 protected:
  Storable() { isFull = false; }
  ~Storable() override { isFull = false; }

  static Artifact artifact(const std::string& name, std::size_t bytes) {
    Artifact artifact{.analysis = "classification", .name = name, .kind = "matrix", .step = 500};
    artifact.data.resize(bytes);
    return artifact;
  }
  static SpoolSettings quickly() { return {.retry = std::chrono::milliseconds(0)}; }
  static std::vector<EventRow> notStored(RunStore& store, std::int64_t run) {
    std::vector<EventRow> found;
    for (const EventRow& event : store.events(run)) {
      if (event.kind == "not_stored") found.push_back(event);
    }
    return found;
  }
  RunControl control_;
};

TEST_F(Storable, AnArtifactAboveTheLimitIsLeftOutWithAnEventAndTheRestIsStored) {
  const SmallRows small;
  auto [store, run] = openWithRunning();
  ::testing::internal::CaptureStderr();
  {
    StoreSink sink(file(), run, 1, control_);
    sink.artifact(artifact("confusion", kTooMuch));
    sink.artifact(artifact("classes", 100));
    sink.metrics(record(500, {{"test/top1", 0.5}}));
    EXPECT_NO_THROW(sink.flush());
    sink.metrics(record(501, {{"test/top1", 0.6}}));
    sink.checkpoint({501, "folder", 1, 0.1, true, {}});
    EXPECT_NO_THROW(sink.flush());
    EXPECT_EQ(sink.waitingBytes(), 0u);
  }
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(store.points(run, "test/top1").size(), 2u);
  EXPECT_EQ(store.run(run).latestCheckpoint, 501);
  ASSERT_THAT(store.artifacts(run), SizeIs(1));
  EXPECT_EQ(store.artifacts(run)[0].name, "classes");
  const auto events = notStored(store, run);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].step, 500);
  EXPECT_TRUE(events[0].text.starts_with(
      "'confusion' of classification at step 500 is not stored: it takes "));
  EXPECT_THAT(said, Names(events[0].text));
  EXPECT_EQ(events[0].data["limit"], kLowLimit);
  EXPECT_EQ(events[0].data["analysis"], "classification");
  EXPECT_THAT(spoolsOf(file()), IsEmpty());
}

TEST_F(Storable, AnImageAndATextAboveTheLimitAreLeftOutWithAnEventEach) {
  const SmallRows small;
  auto [store, run] = openWithRunning();
  GeneratedImage image{.step = 3};
  image.png.resize(kTooMuch);
  GeneratedText text{.text = "short"};
  ::testing::internal::CaptureStderr();
  {
    StoreSink sink(file(), run, 1, control_);
    sink.image(image);
    sink.text(text);
    text.text.assign(kTooMuch, 'x');
    sink.text(text);
    EXPECT_NO_THROW(sink.flush());
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), Names("step 3"));
  EXPECT_THAT(store.generatedImages(run), IsEmpty());
  EXPECT_THAT(store.generatedTexts(run), SizeIs(1));
  EXPECT_THAT(notStored(store, run), SizeIs(2));
  EXPECT_THAT([&] { store.addText(run, text); }, Fails<StoreError>("step 0"));
}

TEST_F(Storable, AnArtifactThatAlmostFillsARowIsStored) {
  const SmallRows small;
  auto [store, run] = openWithRunning();
  ::testing::internal::CaptureStderr();
  StoreSink sink(file(), run, 1, control_);
  for (std::size_t bytes = kLowLimit - 700; bytes < kLowLimit; bytes += 10)
    sink.artifact(artifact("confusion", bytes));
  EXPECT_NO_THROW(sink.flush());
  ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(store.artifacts(run), ::testing::Not(IsEmpty()));
  EXPECT_EQ(store.artifacts(run).size() + notStored(store, run).size(), 70u);
}

TEST_F(Storable, WhatCanNeverBeStoredDoesNotWaitInASideFileEither) {
  const SmallRows small;
  const FaultVfs disk(fullLog);
  auto [store, run] = openWithRunning();
  ::testing::internal::CaptureStderr();
  StoreSink sink(file(), run, 1, control_, quickly());
  sink.flush();
  isFull = true;
  sink.artifact(artifact("confusion", kTooMuch));
  sink.metrics(record(1, {{"train/loss", 1.0}}));
  EXPECT_NO_THROW(sink.flush());
  EXPECT_GT(sink.waitingBytes(), 0u);
  EXPECT_LT(sink.waitingBytes(), kTooMuch / 2);
  isFull = false;
  sink.flush();
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(store.points(run, "train/loss").size(), 1u);
  EXPECT_THAT(notStored(store, run), SizeIs(1));
}

TEST_F(Storable, ASideFileThatHoldsItIsReadOnceAndGoes) {
  // Of a program that did not know the limit, and was killed.
  const pid_t child = forkChild();
  if (child == 0) {
    const FaultVfs disk(fullLog);
    RunStore store(file());
    const std::int64_t run = addRunning(store);
    RunControl control;
    StoreSink sink(file(), run, 1, control, quickly());
    sink.flush();
    isFull = true;
    sink.artifact(artifact("confusion", kTooMuch));
    sink.metrics(record(1, {{"train/loss", 1.0}}));
    sink.flush();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ASSERT_THAT(spoolsOf(file()), SizeIs(1));

  const SmallRows small;
  ::testing::internal::CaptureStderr();
  RunStore store(file());
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(spoolsOf(file()), IsEmpty());
  EXPECT_EQ(store.points(1, "train/loss").size(), 1u);
  EXPECT_THAT(store.artifacts(1), IsEmpty());
  const auto events = notStored(store, 1);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_THAT(said, Names(events[0].text));
}

TEST_F(Storable, AMetricWithAnEndlessNameIsLeftOutOnceForAllItsPoints) {
  const SmallRows small;
  auto [store, run] = openWithRunning();
  ::testing::internal::CaptureStderr();
  StoreSink sink(file(), run, 1, control_);
  for (std::int64_t step = 1; step <= 3; ++step)
    sink.metrics(record(step, {{"train/loss", 1.0}, {std::string(kTooMuch, 'x'), 2.0}}));
  EXPECT_NO_THROW(sink.flush());
  sink.metrics(record(4, {{"train/loss", 1.0}}));
  EXPECT_NO_THROW(sink.flush());
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(store.points(run, "train/loss").size(), 4u);
  EXPECT_THAT(store.metricNames(run), ::testing::ElementsAre("train/loss"));
  EXPECT_FALSE(notStored(store, run).empty());
}

TEST_F(Storable, TextsOfEventsAndTheReasonOfAStateAreCutSoThatTheyFit) {
  const SmallRows small;
  auto [store, run] = openWithRunning();
  std::string text = "x";
  while (text.size() < kTooMuch) text += "\u00e9";  // two bytes each: cut between them
  {
    StoreSink sink(file(), run, 1, control_);
    sink.event({1, "probe_failed", text, Json{{"all", text}}});
    EXPECT_NO_THROW(sink.flush());
  }
  const EventRow event = store.events(run).back();
  EXPECT_EQ(event.kind, "probe_failed");
  EXPECT_EQ(event.text.size(), kLowLimit / 4 + 2);
  EXPECT_TRUE(event.text.ends_with("\u00e9..."));
  EXPECT_GT(event.data["left_out_bytes"], kTooMuch);
  EXPECT_NO_THROW(store.setState(run, RunState::Failed, text));
  EXPECT_EQ(store.run(run).state, RunState::Failed);
  EXPECT_LT(store.run(run).reason.size(), static_cast<std::size_t>(kLowLimit));
}

TEST_F(Storable, WhatACommandStoresIsRefusedInASentence) {
  const SmallRows small;
  auto [store, run] = openWithRun();
  EXPECT_THAT([&] { store.addArtifact(run, artifact("image 3", kTooMuch)); },
              Fails<StoreError>("image 3", "classification", "step 500"));
  NewRun large = newRun("large");
  large.config["note"] = std::string(kTooMuch, 'x');
  EXPECT_THAT([&] { (void)store.addRuns(store.experiment("an experiment", ""), {large}); },
              Fails<StoreError>("100.0 kB"));
  EXPECT_EQ(store.runs().size(), 1u) << "nothing of it is left behind";
  EXPECT_EQ(addRun(store), run + 1);
}

TEST_F(Storable, ARowIsAsLargeAsSqliteHolds) {
  const RunStore made(file());
  EXPECT_EQ(Database(file(), Database::Access::Write).mostRowBytes(), std::uint64_t{1'000'000'000});
}

}  // namespace
}  // namespace vitrine::store
