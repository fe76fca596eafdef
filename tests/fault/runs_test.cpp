// Runs that misbehave: each costs itself, and the others continue.
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "core/jobs/containment.h"
#include "core/jobs/launcher.h"
#include "tests/fault/fault_test.h"
#include "tests/support/child.h"
#include "tests/support/wait_until.h"

namespace vitrine {
namespace {

using ::testing::HasSubstr, ::testing::IsEmpty;

class EvilRuns : public testing::FaultTest {};

struct Evil {
  const char* kind;
  store::RunState state;
  const char* reason;            ///< a part of it
  std::set<std::string> causes;  ///< of the event; empty: there must be none
};

TEST_F(EvilRuns, CostOneRunEachAndSayWhy) {
  using enum store::RunState;
  const std::vector<Evil> evils{
      {"segfault", Interrupted, "SIGSEGV", {"signal"}},
      {"abort", Interrupted, "SIGABRT", {"signal"}},
      {"terminate", Interrupted, "not caught", {"signal"}},
      {"stack_overflow", Interrupted, "SIGSEGV", {"signal"}},
      {"exit_0", Interrupted, "exit code 0", {"exit"}},
      {"exit_3", Interrupted, "exit code 3", {"exit"}},
      {"hang", Interrupted, "killed", {"hang"}},
      {"memory_hog", Interrupted, "killed", {"out_of_memory", "memory_limit"}},
      {"flood", Done, "", {}},
      {"close_stdout", Done, "", {}},
      {"orphan", Done, "", {}},
  };
  store::RunStore store(file());
  std::vector<std::int64_t> runs, good;
  for (const Evil& evil : evils) {
    store::QueueOptions options;
    if (std::string(evil.kind) == "memory_hog") options.memoryLimitBytes = 200 << 20;
    runs.push_back(add(store, 6, 1, Json{{"kind", evil.kind}, {"at", 3}}, options));
    good.push_back(add(store, 6, 1));
  }
  const pid_t work = start(
      "work", {"--drain", "--hang-alarm", "2", "--hang-limit", "5", "--max-processes", "100"});
  EXPECT_EQ(wait(work), 0);
  for (std::size_t i = 0; i < evils.size(); ++i) {
    SCOPED_TRACE(evils[i].kind);
    const store::RunRow row = store.run(runs[i]);
    EXPECT_EQ(row.state, evils[i].state) << toString(row.state);
    EXPECT_THAT(row.reason, HasSubstr(evils[i].reason));
    std::set<std::string> causes;
    for (const store::EventRow& event : store.events(runs[i])) {
      if (event.kind == "process_ended") causes.insert(event.data.at("cause").get<std::string>());
    }
    if (evils[i].causes.empty()) {
      EXPECT_THAT(causes, IsEmpty());
      expectWhole(store, runs[i], 6);
    } else {
      ASSERT_EQ(causes.size(), 1u);
      EXPECT_EQ(evils[i].causes.count(*causes.begin()), 1u) << *causes.begin();
    }
    if (std::string(evils[i].kind) == "flood") {
      const auto file = store::filesFolder(this->file()) / row.logFile;
      const auto bytes =
          std::filesystem::file_size(file) + std::filesystem::file_size(file.string() + ".1");
      EXPECT_LE(bytes, 16u << 20);
      EXPECT_GE(bytes, 8u << 20);
      EXPECT_THAT(log(row), HasSubstr("x0999999")) << "the newest lines are those that count";
    }
  }
  for (const std::int64_t run : good) {
    EXPECT_EQ(store.run(run).state, store::RunState::Done);
    expectWhole(store, run, 6);
  }
  EXPECT_THAT(jobs::JobQueue(store).list(), IsEmpty()) << "none is tried again";
  EXPECT_THAT(processes(""), IsEmpty()) << "no process stays behind";
}

/// Why a program that forks must not be started here although it bounds itself, or "".
std::string whyForksAreNotContained(bool hasControlGroups) {
  if (::geteuid() != 0) return {};  // the kernel holds every other user to a number of processes
  if (hasControlGroups &&
      jobs::Containment("vitrine-test-" + std::to_string(::getpid()), {0, 100}).limitsTasks())
    return {};
  const pid_t child = forkChild();
  if (child == 0) ::_exit(::unshare(CLONE_NEWPID) == 0 ? 0 : 1);
  int status = 1;
  ::waitpid(child, &status, 0);
  return status == 0 ? "" : "neither a control group nor a process namespace can be had";
}

class ForkingRuns : public EvilRuns, public ::testing::WithParamInterface<const char*> {};

TEST_P(ForkingRuns, CostOneRunAndLeaveNoProcessBehind) {
  const bool isWatched = std::string(GetParam()) == "watched";
  if (const std::string why = whyForksAreNotContained(!isWatched); !why.empty())
    GTEST_SKIP() << why;
  ::setenv("VITRINE_CONTAINMENT", GetParam(), 1);
  store::RunStore store(file());
  std::vector<std::int64_t> bombs;
  for (const char* kind : {"fork_bomb", "scattered_fork_bomb"})
    bombs.push_back(add(store, 6, 1, Json{{"kind", kind}, {"at", 3}}));
  const std::int64_t good = add(store, 6, 1);
  EXPECT_EQ(wait(start("work", {"--drain", "--hang-alarm", "1", "--hang-limit", "3",
                                "--max-processes", "100"})),
            0);
  ::unsetenv("VITRINE_CONTAINMENT");
  // A control group, or the kernel's limit for a user, stops it, and then it is silent; where there
  // is neither, it is counted.
  const bool isCounted = isWatched && ::geteuid() == 0;
  for (const std::int64_t bomb : bombs) {
    const store::RunRow row = store.run(bomb);
    EXPECT_EQ(row.state, store::RunState::Interrupted);
    EXPECT_TRUE(row.reason.starts_with("killed: ")) << row.reason;
    std::set<std::string> causes;
    for (const store::EventRow& event : store.events(bomb)) {
      if (event.kind == "process_ended") causes.insert(event.data.at("cause").get<std::string>());
    }
    EXPECT_THAT(causes, ::testing::ElementsAre(isCounted ? "task_limit" : "hang")) << row.reason;
  }
  EXPECT_EQ(store.run(good).state, store::RunState::Done);
  EXPECT_THAT(processes(""), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Of, ForkingRuns, ::testing::Values("", "watched"), [](const auto& given) {
  return std::string(*given.param == '\0' ? "AControlGroup" : "NoControlGroup");
});

TEST_F(EvilRuns, AreWatchedWhereThereIsNoControlGroup) {
  ::setenv("VITRINE_CONTAINMENT", "watched", 1);
  store::RunStore store(file());
  const std::int64_t hog =
      add(store, 6, 1, Json{{"kind", "memory_hog"}, {"at", 3}}, {.memoryLimitBytes = 200 << 20});
  const std::int64_t orphan = add(store, 6, 1, Json{{"kind", "orphan"}, {"at", 3}});
  const std::int64_t good = add(store, 6, 1);
  EXPECT_EQ(wait(start("work", {"--drain"})), 0);
  ::unsetenv("VITRINE_CONTAINMENT");
  EXPECT_EQ(store.run(orphan).state, store::RunState::Done);
  EXPECT_THAT(processes(""), IsEmpty()) << "no process stays behind";
  EXPECT_TRUE(store.run(hog).reason.starts_with(
      "killed: it took more memory than its limit of 209.7 MB"))
      << store.run(hog).reason;
  EXPECT_EQ(store.run(good).state, store::RunState::Done);
}

TEST_F(EvilRuns, AreKilledWhenTheyDoNotStopAndTheRowSaysSo) {
  store::RunStore store(file());
  store::QueueOptions impatient{.graceSeconds = 0.5};
  // Deaf to SIGTERM, and hanging so that the request is not read either.
  const std::int64_t deaf =
      add(store, 100'000, 1, Json{{"kind", "deaf_hang"}, {"at", 3}}, impatient);
  const std::int64_t polite = add(store, 100'000, 1, nullptr, impatient);
  const pid_t work = start("work", {"--drain"});
  for (const std::int64_t run : {deaf, polite}) {
    ASSERT_TRUE(waitUntil([&] { return store.run(run).step >= 2; })) << run;
    jobs::stopRun(store, run);
    ASSERT_TRUE(waitUntil([&] { return store.run(run).state == store::RunState::Stopped; }));
  }
  EXPECT_EQ(wait(work), 0);
  EXPECT_TRUE(store.run(deaf).reason.starts_with("killed: it did not end within 0.5 s"))
      << store.run(deaf).reason;
  EXPECT_EQ(store.run(polite).reason, "stopped on request");
  EXPECT_GT(store.run(polite).latestCheckpoint, 0) << "it stops at a checkpoint";
}

TEST_F(EvilRuns, AreStoppedAtTheirTimeLimit) {
  store::RunStore store(file());
  const std::int64_t run = add(store, 100'000, 1, nullptr, {.timeLimitSeconds = 1});
  EXPECT_EQ(wait(start("work", {"--drain"})), 0);
  EXPECT_EQ(store.run(run).state, store::RunState::Stopped);
  EXPECT_EQ(store.run(run).reason, "stopped at its time limit of 1 s");
  EXPECT_GT(store.run(run).latestCheckpoint, 0);
}

TEST_F(EvilRuns, RaiseAnAlarmWhileTheyHangAndAreLeftAloneOtherwise) {
  store::RunStore store(file());
  const std::int64_t run = add(store, 6, 1, Json{{"kind", "hang"}, {"at", 3}});
  const pid_t work = start("work", {"--hang-alarm", "0.5"});
  const auto hasAlarm = [&] {
    for (const store::EventRow& event : store.events(run)) {
      if (event.kind == "hang") return true;
    }
    return false;
  };
  EXPECT_TRUE(waitUntil(hasAlarm));
  EXPECT_EQ(store.run(run).state, store::RunState::Running);
  kill(work);
}

}  // namespace
}  // namespace vitrine
