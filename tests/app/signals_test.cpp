// Runs that are ended from outside, and go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/app/program.h"

namespace vitrine::test {
namespace {

using ::testing::HasSubstr;

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

TEST(Signals, AnInterruptEndsAtACheckpointWithSeventyFiveAndResumeGoesOn) {
  Scratch scratch;
  Program program(longRun(scratch));
  ASSERT_TRUE(program.waitForError("\nstep ")) << "no progress was seen";
  program.signal(SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 75) << ended.err;
  EXPECT_EQ(ended.json().at(0).at("state"), "interrupted");
  const Json interrupted = shown(scratch);
  EXPECT_EQ(interrupted.at("state"), "interrupted");
  const std::int64_t step = interrupted.at("step").get<std::int64_t>();
  ASSERT_FALSE(interrupted.at("checkpoints").empty());
  EXPECT_EQ(interrupted.at("checkpoints").back().at("step"), ended.json().at(0).at("step"));

  // It goes on where it was, in a second segment, and can be interrupted again by SIGTERM.
  Program resumed({"resume", "1", "--db", scratch.path("x.sqlite"), "--json"});
  ASSERT_TRUE(resumed.waitForError(
      "going on at step " + std::to_string(ended.json().at(0).at("step").get<std::int64_t>())));
  ASSERT_TRUE(resumed.waitForError("\nstep "));
  resumed.signal(SIGTERM);
  EXPECT_EQ(resumed.wait().code, 75);
  const Json again = shown(scratch);
  EXPECT_EQ(again.at("segments").size(), 2u);
  EXPECT_GT(again.at("step").get<std::int64_t>(), step);
}

TEST(Signals, AResumedRunComesToItsEnd) {
  Scratch scratch;
  Program program(longRun(scratch, "400"));
  ASSERT_TRUE(program.waitForError("\nstep "));
  program.signal(SIGINT);
  const Ended ended = program.wait();
  if (ended.code == 0) GTEST_SKIP() << "the run was faster than the signal";
  ASSERT_EQ(ended.code, 75) << ended.err;
  const Ended resumed = vitrine({"resume", "1", "--db", scratch.path("x.sqlite"), "--json"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.json().at(0).at("step"), 400);
  EXPECT_EQ(shown(scratch).at("state"), "done");
}

TEST(Signals, ASecondInterruptEndsAtOnceWithOneHundredAndThirty) {
  Scratch scratch;
  std::vector<std::string> words = longRun(scratch);
  // Slow steps, so that the second signal finds the first one waiting for the end of its step.
  words.insert(words.end(), {"train.batch_size=2048", "train.accumulate=64"});
  Program program(words);
  ASSERT_TRUE(program.waitForError("run 1: "));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  program.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 130);
  // Its process is gone: the next look says so and offers to go on.
  EXPECT_EQ(shown(scratch).at("state"), "interrupted");
}

TEST(Signals, StopFromAnotherTerminalEndsAsStopped) {
  Scratch scratch;
  Program program(longRun(scratch));
  ASSERT_TRUE(program.waitForError("\nstep "));
  const Ended stop = vitrine({"stop", "1", "--db", scratch.path("x.sqlite")});
  EXPECT_EQ(stop.code, 0) << stop.err;
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 75) << ended.err;
  EXPECT_EQ(shown(scratch).at("state"), "stopped");
  EXPECT_EQ(vitrine({"retry", "1", "--db", scratch.path("x.sqlite")}).code, 0);
  EXPECT_EQ(shown(scratch).at("state"), "queued");
}

TEST(Signals, ADamagedNewestCheckpointMakesAResumeFallBackAndSaySo) {
  Scratch scratch;
  std::vector<std::string> words = longRun(scratch);
  words.insert(words.end(), {"train.checkpoint.every_steps=20", "train.checkpoint.keep=3"});
  Program program(words);
  ASSERT_TRUE(program.waitForError("\nstep "));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
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
      "going on at step " +
      std::to_string(checkpoints.at(checkpoints.size() - 2).at("step").get<std::int64_t>())));
  ASSERT_TRUE(resumed.waitForError("\nstep "));
  resumed.signal(SIGINT);
  EXPECT_EQ(resumed.wait().code, 75);
}

}  // namespace
}  // namespace vitrine::test
