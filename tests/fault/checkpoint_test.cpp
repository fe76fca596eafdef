// Checkpoints under fire: their writer killed at every system call, told at every one that it
// failed, and racing with who reads them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/error.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/checkpoint_use.h"
#include "core/files/safetensors.h"
#include "tests/fault/traced.h"
#include "tests/support/child.h"
#include "tests/support/long_tier.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait_until.h"

namespace vitrine::testing {
namespace {

namespace fs = std::filesystem;

class CheckpointFaults : public ::testing::Test {
 protected:
  [[nodiscard]] Tracing saving(const char* worker, std::int64_t step) const {
    return {.command = {worker, folder_.string(), std::to_string(step), "--stop"}};
  }
  /// A whole checkpoint, or none of it: the newest is that of `step` or the one before, whatever
  /// else there is.
  /// \returns  its step, -1 where there is none
  std::int64_t expectWhole(std::int64_t step, const std::string& where) const {
    const auto newest = newestCheckpoint(folder_);
    if (!newest) {
      EXPECT_EQ(step, 1) << where << ": there is no checkpoint that verifies";
      return -1;
    }
    EXPECT_TRUE(newest->step == step || newest->step == step - 1) << where << ": " << newest->step;
    const Json state = Json::parse(readTextFile(newest->folder / "state.json"));
    EXPECT_EQ(state.at("step"), newest->step) << where;
    const SafetensorsFile model(newest->folder / "model.safetensors");
    EXPECT_NE(model.find("w"), nullptr);
    return newest->step;
  }
  [[nodiscard]] std::vector<std::string> temporaries() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      if (name.find(".tmp-") != std::string::npos) found.push_back(name);
    }
    return found;
  }

  const TemporaryFolder own_;
  const fs::path folder_ = own_.path();
};

TEST_F(CheckpointFaults, AWriterKilledAtAnySystemCallLeavesAWholeCheckpoint) {
  std::int64_t step = 1, kills = 0;
  for (std::int64_t at = 1;; ++at) {
    Tracing tracing = saving(CHECKPOINT_WORKER, step);
    tracing.killAt = at;
    const auto traced = trace(tracing);
    if (!traced) GTEST_SKIP() << "processes may not be traced here";
    const std::string where = "killed at system call " + std::to_string(at) +
                              " of the save of step " + std::to_string(step);
    const std::int64_t newest = expectWhole(step, where);
    ASSERT_FALSE(HasFailure()) << where;
    EXPECT_THAT(temporaries(), ::testing::IsEmpty()) << where;  // swept by who looked
    // With two older ones a save also removes one.
    if (newest > 0) step = newest + 1;
    if (traced->status == 0) break;
    ASSERT_EQ(traced->status, 128 + SIGKILL) << where;
    ++kills;
    ASSERT_LT(kills, 10000);
  }
  RecordProperty("kills", static_cast<int>(kills));
  EXPECT_GT(kills, 40);
  EXPECT_GT(step, 4) << "no save removed an older one";
}

TEST_F(CheckpointFaults, AWriterThatIsToldOfAnErrorAtAnyCallLeavesAWholeCheckpoint) {
  if (!canFail()) GTEST_SKIP() << "calls cannot be made to fail on this kind of machine";
  std::int64_t step = 1, failures = 0;
  const auto save = [&](const Tracing& tracing) { return trace(tracing); };
  for (int i = 0; i < 2; ++i) {
    const auto traced = save(saving(CHECKPOINT_WORKER, step));
    if (!traced) GTEST_SKIP() << "processes may not be traced here";
    ASSERT_EQ(traced->status, 0);
    ++step;
  }
  // Removing stays possible: a full disk does not forbid it.
  std::set<long> calls = changingCalls();
  for (const long call : removingCalls()) calls.erase(call);
  for (const bool isForEver : {false, true}) {
    for (const int error : {ENOSPC, EIO}) {
      for (std::int64_t at = 1;; ++at) {
        Tracing tracing = saving(CHECKPOINT_WORKER, step);
        tracing.counted = calls;
        tracing.failAt = at;
        tracing.isForEver = isForEver;
        tracing.error = error;
        const auto traced = save(tracing);
        ASSERT_TRUE(traced);
        const std::string where = "error " + std::to_string(error) + " at call " +
                                  std::to_string(at) + (isForEver ? " and later" : "");
        EXPECT_THAT(temporaries(), ::testing::IsEmpty()) << where;
        const std::int64_t newest = expectWhole(step, where);
        ASSERT_FALSE(HasFailure()) << where;
        ASSERT_TRUE(traced->status == 0 || traced->status == 1) << where << ": " << traced->status;
        EXPECT_TRUE(traced->status == 1 || newest == step) << where << ": an error got lost";
        step = newest + 1;
        if (traced->calls < at) break;
        ++failures;
        if (!isLong() && isForEver) at += 4;
      }
    }
  }
  RecordProperty("failures", static_cast<int>(failures));
  EXPECT_GT(failures, 40);
}

TEST_F(CheckpointFaults, TheWriterOfARealRunKilledOnItsWayLeavesAWholeCheckpoint) {
#ifndef CHECKPOINT_ENGINE_WORKER
  GTEST_SKIP() << "built without the engine";
#else
  std::int64_t step = 1, kills = 0;
  Tracing first = saving(CHECKPOINT_ENGINE_WORKER, step);
  first.counted = changingCalls();
  const auto whole = trace(first);
  if (!whole) GTEST_SKIP() << "processes may not be traced here";
  ASSERT_EQ(whole->status, 0);
  ++step;
  const std::int64_t stride = isLong() ? 1 : std::max<std::int64_t>(1, whole->calls / 6);
  for (std::int64_t at = stride;; at += stride) {
    Tracing tracing = saving(CHECKPOINT_ENGINE_WORKER, step);
    tracing.counted = changingCalls();
    tracing.killAt = at;
    const auto traced = trace(tracing);
    ASSERT_TRUE(traced);
    const std::string where = "killed at call " + std::to_string(at);
    const std::int64_t newest = expectWhole(step, where);
    ASSERT_FALSE(HasFailure()) << where;
    step = newest + 1;
    if (traced->status == 0) break;
    ASSERT_EQ(traced->status, 128 + SIGKILL) << where;
    ++kills;
  }
  RecordProperty("kills", static_cast<int>(kills));
  EXPECT_GE(kills, 5);
#endif
}

TEST_F(CheckpointFaults, RemovingNeverTakesACheckpointFromWhoReadsIt) {
  const int rounds = isLong() ? 1000 : 100;
  const auto writeSome = [](const fs::path& into) {
    const std::vector<std::byte> bytes(4096);
    writeSafetensors(into / "model.safetensors", {{"w", "F32", {1024}, bytes}});
  };
  writeCheckpointFolder(folder_, 1, {}, writeSome);
  const pid_t writer = forkChild();
  if (writer == 0) {
    for (std::int64_t step = 2;; ++step) {
      writeCheckpointFolder(folder_, step, {}, writeSome);
      pruneCheckpoints(folder_, step, {1, 0, {}});
      if (::getppid() == 1) ::_exit(0);
    }
  }
  std::set<std::int64_t> seen;
  for (int round = 0; round < rounds; ++round) {
    const auto held = holdNewestCheckpoint(folder_);
    if (!held) {
      ADD_FAILURE() << "round " << round << ": there is no checkpoint";
      break;
    }
    // Until the writer has moved on and has wanted to remove it.
    const std::int64_t later = held->checkpoint.step + 2;
    EXPECT_TRUE(waitUntil([&] { return listCheckpoints(folder_).back().step >= later; }));
    EXPECT_EQ(verifyCheckpointFolder(held->checkpoint.folder), "") << "round " << round;
    seen.insert(held->checkpoint.step);
  }
  signalProcess(writer, SIGKILL);
  ::waitpid(writer, nullptr, 0);
  EXPECT_GT(seen.size(), 10U);
  // The next save removes the checkpoint that was held.
  const std::int64_t last = newestCheckpoint(folder_)->step;
  pruneCheckpoints(folder_, last, {1, 0, {}});
  EXPECT_EQ(listCheckpoints(folder_).size(), 1U);
}

}  // namespace
}  // namespace vitrine::testing
