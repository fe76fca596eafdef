// Runs that are ended from outside, and continue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/support/wait_until.h"

namespace vitrine::test {
namespace {

using ::testing::ContainsRegex, ::testing::HasSubstr;

/// One long run of the shared folder; every step writes no checkpoint of its own.
std::vector<std::string> longRun(const Scratch& scratch, const std::string& steps = "100000") {
  return {"train",
          sharedSingle(),
          "train.steps=" + steps,
          "train.checkpoint.every_epochs=none",
          "train.evaluate.every_epochs=none",
          "train.schedule.name=constant",
          "--db",
          scratch.path("x.sqlite"),
          "--json"};
}

Json shown(const Scratch& scratch) {
  return vitrine({"show", "1", "--json", "--db", scratch.path("x.sqlite")}).json();
}

struct Signals : ::testing::Test {
  Scratch scratch;
};

TEST_F(Signals, ARunAsksForLargePages) {
  const Variable spinning("GOMP_SPINCOUNT", std::nullopt), tunables("GLIBC_TUNABLES", std::nullopt);
  const Program program(longRun(scratch));
  ASSERT_TRUE(program.waitForError(" images/s")) << "no progress was seen";
  EXPECT_THAT(program.fileOfSystem("environ"), HasSubstr("GLIBC_TUNABLES=glibc.malloc.hugetlb=1"));
  // The C library asks where the system gives them to those who ask: the flag "hg" of memory.
  if (readText("/sys/kernel/mm/transparent_hugepage/enabled").find("[madvise]") ==
      std::string::npos)
    return;
  EXPECT_THAT(program.fileOfSystem("smaps"), ContainsRegex("VmFlags:[a-z ]* hg "));
}

TEST_F(Signals, AnInterruptEndsAtACheckpointWithSeventyFiveAndResumeContinues) {
  Program program(longRun(scratch));
  ASSERT_TRUE(program.waitForError(" images/s")) << "no progress was seen";
  program.signal(SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 75) << ended.err;
  EXPECT_EQ(ended.json().at(0).at("state"), "interrupted");
  const Json interrupted = shown(scratch);
  EXPECT_EQ(interrupted.at("state"), "interrupted");
  const std::int64_t step = interrupted.at("step").get<std::int64_t>();
  EXPECT_EQ(step, ended.json().at(0).at("step")) << "the row is behind the run";
  ASSERT_FALSE(interrupted.at("checkpoints").empty());
  EXPECT_EQ(interrupted.at("checkpoints").back().at("step"), ended.json().at(0).at("step"));

  // It continues where it was, in a second segment, and can be interrupted again by SIGTERM.
  Program resumed({"resume", "1", "--db", scratch.path("x.sqlite"), "--json"});
  ASSERT_TRUE(resumed.waitForError(
      "continuing at step " + std::to_string(ended.json().at(0).at("step").get<std::int64_t>())));
  ASSERT_TRUE(resumed.waitForError(" images/s"));
  resumed.signal(SIGTERM);
  EXPECT_EQ(resumed.wait().code, 75);
  const Json again = shown(scratch);
  EXPECT_EQ(again.at("segments").size(), 2u);
  EXPECT_GT(again.at("step").get<std::int64_t>(), step);
}

TEST_F(Signals, TheEvaluationThatAnInterruptLeftOwingIsShownAfterTheResume) {
  std::vector<std::string> words = longRun(scratch);
  words.insert(words.begin() + 2, "train.evaluate.every_steps=1");
  Program program(words);
  ASSERT_TRUE(program.waitForError(" images/s")) << "no progress was seen";
  program.signal(SIGINT);
  const Ended ended = program.wait();
  ASSERT_EQ(ended.code, 75) << ended.err;
  const std::int64_t first = ended.json().at(0).at("step").get<std::int64_t>();
  Program resumed({"resume", "1", "--db", scratch.path("x.sqlite"), "--json"});
  ASSERT_TRUE(resumed.waitForError(" images/s"));
  resumed.signal(SIGINT);
  EXPECT_EQ(resumed.wait().code, 75);
  const Json shown = vitrine({"query",
                              "SELECT count(*) AS points, count(DISTINCT step) AS steps, min(step) "
                              "AS first, max(step) AS last FROM metrics WHERE name = 'test/top1'",
                              "--db", scratch.path("x.sqlite"), "--json"})
                         .json()
                         .at(0);
  EXPECT_GE(shown.at("last").get<std::int64_t>(), first) << shown.dump();
  EXPECT_EQ(shown.at("first"), 1);
  EXPECT_EQ(shown.at("points"), shown.at("last")) << shown.dump();
  EXPECT_EQ(shown.at("steps"), shown.at("last")) << shown.dump();
}

TEST_F(Signals, AResumedRunComesToItsEnd) {
  Program program(longRun(scratch, "400"));
  ASSERT_TRUE(program.waitForError(" images/s"));
  program.signal(SIGINT);
  const Ended ended = program.wait();
  if (ended.code == 0) GTEST_SKIP() << "the run was faster than the signal";
  ASSERT_EQ(ended.code, 75) << ended.err;
  const Ended resumed = vitrine({"resume", "1", "--db", scratch.path("x.sqlite"), "--json"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.json().at(0).at("step"), 400);
  EXPECT_EQ(shown(scratch).at("state"), "done");
}

TEST_F(Signals, ASecondInterruptEndsAtOnceWithOneHundredAndThirty) {
  std::vector<std::string> words = longRun(scratch);
  // Slow steps, so that the second signal finds the first one waiting for the end of its step.
  words.insert(words.end(), {"train.batch_size=2048", "train.accumulate=64"});
  Program program(words);
  ASSERT_TRUE(program.waitForError("training begins"));
  program.signal(SIGINT);
  ASSERT_TRUE(waitUntil([&] { return program.hasTaken(SIGINT); }));
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 130);
  // Its process is gone: the next look says so and offers to continue.
  EXPECT_EQ(shown(scratch).at("state"), "interrupted");
}

TEST_F(Signals, StopFromAnotherTerminalEndsAsStopped) {
  Program program(longRun(scratch));
  ASSERT_TRUE(program.waitForError(" images/s"));
  const Ended stop = vitrine({"stop", "1", "--db", scratch.path("x.sqlite")});
  EXPECT_EQ(stop.code, 0) << stop.err;
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 75) << ended.err;
  EXPECT_EQ(shown(scratch).at("state"), "stopped");
  EXPECT_EQ(vitrine({"retry", "1", "--db", scratch.path("x.sqlite")}).code, 0);
  EXPECT_EQ(shown(scratch).at("state"), "queued");
}

/// Ends run 1 of a new database at some step and returns that.
std::int64_t interruptedAt(const Scratch& scratch) {
  Program program(longRun(scratch));
  EXPECT_TRUE(program.waitForError(" images/s"));
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 75);
  return shown(scratch).at("step").get<std::int64_t>();
}

TEST(Stop, OfARunThatIsStartingIsObeyedBeforeItsFirstStep) {
  Scratch scratch;
  const std::int64_t step = interruptedAt(scratch);
  {
    // What Studio does: it claims the run for the program that it is about to start.
    store::RunStore store(scratch.path("x.sqlite"));
    store.claim(1);
  }
  ASSERT_EQ(vitrine({"stop", "1", "--db", scratch.path("x.sqlite")}).code, 0);
  EXPECT_EQ(shown(scratch).at("state"), "stopping");
  const Ended ended = vitrine({"run", "--id", "1", "--db", scratch.path("x.sqlite"), "--json"});
  EXPECT_EQ(ended.code, 75) << ended.err;
  EXPECT_EQ(ended.json().at(0).at("reason"), "stopped on request before its first step");
  const Json run = shown(scratch);
  EXPECT_EQ(run.at("state"), "stopped");
  EXPECT_EQ(run.at("reason"), "stopped on request before its first step");
  EXPECT_EQ(run.at("segments").size(), 1u);
  EXPECT_EQ(run.at("step"), step);
}

TEST(Stop, OfARunThatWaitsForItsTurnIsObeyedWhenThatComes) {
  Scratch scratch;
  writeText(scratch.path("two.toml"), readText(sharedSingle()) + R"([[variant]]
name = "first"
[[variant]]
name = "second"
)");
  Program program({"train", scratch.path("two.toml"), "train.steps=1500",
                   "train.evaluate.every_epochs=none", "train.checkpoint.every_epochs=none", "--db",
                   scratch.path("x.sqlite"), "--json"});
  ASSERT_TRUE(program.waitForError("run 1 of "));
  const Ended stop = vitrine({"stop", "2", "--db", scratch.path("x.sqlite")});
  ASSERT_EQ(stop.code, 0) << stop.err;
  EXPECT_EQ(vitrine({"show", "2", "--json", "--db", scratch.path("x.sqlite")}).json().at("state"),
            "stopped")
      << "it has no step to wait for";
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 75) << ended.err;
  EXPECT_EQ(ended.json().at(0).at("state"), "done");
  EXPECT_EQ(ended.json().at(1).at("state"), "stopped");
  const Json second = vitrine({"show", "2", "--json", "--db", scratch.path("x.sqlite")}).json();
  EXPECT_EQ(second.at("state"), "stopped");
  EXPECT_TRUE(second.at("segments").empty()) << "it was trained all the same";
}

TEST(Retry, QueuesTheRunForANewAttemptFromItsNewestCheckpoint) {
  Scratch scratch;
  const std::string database = scratch.path("x.sqlite");
  const std::int64_t step = interruptedAt(scratch);
  {
    store::RunStore store(database);
    store.claim(1);
    store.setState(1, store::RunState::Failed, "the disk was full");
  }
  ASSERT_EQ(vitrine({"retry", "1", "--db", database}).code, 0);
  EXPECT_EQ(shown(scratch).at("state"), "queued");
  EXPECT_EQ(vitrine({"retry", "1", "--db", database}).code, 4) << "it is queued already";
  Program program({"run", "--id", "1", "--db", database});
  ASSERT_TRUE(program.waitForError("continuing at step " + std::to_string(step)));
  ASSERT_TRUE(program.waitForError(" images/s"));
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 75);
  EXPECT_EQ(shown(scratch).at("segments").size(), 2u);
}

TEST(Retry, OfARunWithoutACheckpointBeginsAtTheBeginning) {
  Scratch scratch;
  const std::string database = scratch.path("x.sqlite");
  static_cast<void>(interruptedAt(scratch));
  const std::string folder = "run-" + shown(scratch).at("uuid").get<std::string>();
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(scratch.path("x.files")) / folder)) {
    if (entry.is_directory()) std::filesystem::remove_all(entry.path());
  }
  ASSERT_EQ(vitrine({"retry", "1", "--db", database}).code, 0);
  Program program({"run", "--id", "1", "--db", database});
  ASSERT_TRUE(program.waitForError("training begins"));
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 75);
  EXPECT_EQ(shown(scratch).at("segments").at(1).at("first_step"), 0);
}

TEST_F(Signals, ADamagedNewestCheckpointMakesAResumeFallBackAndSaySo) {
  std::vector<std::string> words = longRun(scratch);
  words.insert(words.end(), {"train.checkpoint.every_steps=20", "train.checkpoint.keep=3"});
  Program program(words);
  ASSERT_TRUE(program.waitForError(" images/s"));
  ASSERT_TRUE(waitUntil([&] { return shown(scratch).at("checkpoints").size() >= 2; }));
  program.signal(SIGINT);
  ASSERT_EQ(program.wait().code, 75);
  const Json checkpoints = shown(scratch).at("checkpoints");
  ASSERT_GE(checkpoints.size(), 2u);
  const std::filesystem::path newest = std::filesystem::path(scratch.path("x.files")) /
                                       checkpoints.back().at("folder").get<std::string>();
  writeText(newest / "model.safetensors", "damaged");
  Program resumed({"resume", "1", "--db", scratch.path("x.sqlite")});
  ASSERT_TRUE(resumed.waitForError("warning: "));
  ASSERT_TRUE(resumed.waitForError(
      "continuing at step " +
      std::to_string(checkpoints.at(checkpoints.size() - 2).at("step").get<std::int64_t>())));
  ASSERT_TRUE(resumed.waitForError(" images/s"));
  resumed.signal(SIGINT);
  EXPECT_EQ(resumed.wait().code, 75);
}

}  // namespace
}  // namespace vitrine::test
