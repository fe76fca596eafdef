// The table of legal transitions, and who is alive.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "core/store/types.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/child.h"

namespace vitrine::store {
namespace {

using enum RunState;

constexpr RunState kStates[] = {Queued,   Starting, Running, Pausing, Paused,
                                Stopping, Stopped,  Done,    Failed,  Interrupted};

/// Written out by hand, so that a change of the table is a change of this test.
const std::set<std::pair<RunState, RunState>> kLegal{
    {Queued, Starting},      {Queued, Running},       {Queued, Stopped},
    {Queued, Failed},        {Starting, Starting},    {Starting, Running},
    {Starting, Pausing},     {Starting, Stopping},    {Starting, Stopped},
    {Starting, Failed},      {Starting, Interrupted}, {Running, Pausing},
    {Running, Paused},       {Running, Stopping},     {Running, Stopped},
    {Running, Done},         {Running, Failed},       {Running, Interrupted},
    {Pausing, Paused},       {Pausing, Stopping},     {Pausing, Stopped},
    {Pausing, Done},         {Pausing, Failed},       {Pausing, Interrupted},
    {Paused, Queued},        {Paused, Starting},      {Paused, Running},
    {Paused, Stopped},       {Stopping, Stopped},     {Stopping, Done},
    {Stopping, Failed},      {Stopping, Interrupted}, {Stopped, Queued},
    {Stopped, Starting},     {Stopped, Running},      {Failed, Queued},
    {Failed, Starting},      {Failed, Running},       {Interrupted, Queued},
    {Interrupted, Starting}, {Interrupted, Running},  {Interrupted, Stopped}};

using RunStateInStore = testing::StoreTest;

TEST(RunStates, HaveNamesThatReadBack) {
  for (const RunState state : kStates) EXPECT_EQ(runStateFromString(toString(state)), state);
  EXPECT_EQ(test::refusal<StoreError>([] { static_cast<void>(runStateFromString("asleep")); }),
            "there is no run state 'asleep'");
}

TEST(RunStates, AreAliveWhileAProcessShouldBeThere) {
  for (const RunState state : kStates) {
    EXPECT_EQ(isAlive(state),
              state == Starting || state == Running || state == Pausing || state == Stopping)
        << toString(state);
  }
}

TEST(RunStates, HaveEndedWhenNothingButAUserContinuesTheRun) {
  for (const RunState state : kStates)
    EXPECT_EQ(hasEnded(state), state == Done || state == Failed || state == Stopped)
        << toString(state);
}

TEST_F(RunStateInStore, ChangesAlongTheLegalTransitionsAndNoOther) {
  RunStore store(file());
  testing::RawDatabase raw(file());
  const std::int64_t run = addRun(store);
  for (const RunState from : kStates) {
    for (const RunState to : kStates) {
      const bool isLegal = kLegal.count({from, to}) != 0;
      EXPECT_EQ(canChange(from, to), isLegal) << toString(from) << " -> " << toString(to);
      raw.run("UPDATE run SET state = '" + toString(from) + "'");
      if (isLegal) {
        store.setState(run, to, "why");
        EXPECT_EQ(store.run(run).state, to);
        EXPECT_EQ(store.run(run).reason, "why");
      } else {
        EXPECT_EQ(test::refusal<StoreError>([&] { store.setState(run, to); }),
                  "run 1 is " + toString(from) + " and cannot become " + toString(to));
        EXPECT_EQ(store.run(run).state, from);
      }
    }
  }
}

TEST_F(RunStateInStore, LeavesAnEventForEveryChange) {
  auto [store, run] = openWithRunning();
  store.setState(run, Failed, "loss is not finite at step 12");
  const auto events = store.events(run);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].kind, "state");
  EXPECT_EQ(events[1].data.at("from"), "running");
  EXPECT_EQ(events[1].data.at("to"), "failed");
  EXPECT_EQ(events[1].text, "loss is not finite at step 12");
}

TEST(Workers, AreToldByPidStartTimeAndBoot) {
  const Worker here = thisWorker();
  EXPECT_EQ(here.pid, ::getpid());
  EXPECT_TRUE(isWorkerAlive(here));
  Worker other = here;
  other.startTime = "1";  // the pid was used again
  EXPECT_FALSE(isWorkerAlive(other));
  other = here;
  other.bootId = "another boot";
  EXPECT_FALSE(isWorkerAlive(other));
  EXPECT_FALSE(isWorkerAlive({}));
}

TEST(Workers, AreGoneOnceTheyEndedThoughNoProcessWaitedForThem) {
  const pid_t child = forkChild();
  if (child == 0) ::pause();
  const Worker worker = workerOf(child);
  EXPECT_TRUE(isWorkerAlive(worker));
  signalProcess(child, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT),
            0);  // a zombie now
  EXPECT_FALSE(isWorkerAlive(worker));
  ::waitpid(child, nullptr, 0);
}

/// A worker that was there once: its pid is this process's, so only the start time tells.
Worker goneWorker() {
  Worker worker = thisWorker();
  worker.startTime = "1";
  return worker;
}

TEST_F(RunStateInStore, BecomesInterruptedWhenTheProcessIsGone) {
  RunStore store(file());
  const std::int64_t lost = addRun(store, "lost");
  const std::int64_t alive = addRunning(store, "alive");
  store.openSegment(lost, 0, goneWorker(), Json::object());
  store.setLogFile(lost, "run-x/run.log");
  std::filesystem::create_directories(filesFolder(file()) / "run-x");
  std::ofstream(filesFolder(file()) / "run-x" / "run.log")
      << "step 1\nterminate called: out of memory\n\n";

  EXPECT_THAT(store.reapLostRuns(), ::testing::ElementsAre(lost));
  const RunRow row = store.run(lost);
  EXPECT_EQ(row.state, Interrupted);
  EXPECT_EQ(row.reason, "its process " + std::to_string(::getpid()) +
                            " ended without a report: killed, perhaps out of memory, or crashed; "
                            "the last line of its log: terminate called: out of memory");
  EXPECT_EQ(store.run(alive).state, Running);
  EXPECT_THAT(store.reapLostRuns(), ::testing::IsEmpty());
}

TEST_F(RunStateInStore, CutsALongLastLineOfItsLogBetweenCharacters) {
  RunStore store(file());
  const std::int64_t lost = addRun(store, "lost");
  store.openSegment(lost, 0, goneWorker(), Json::object());
  store.setLogFile(lost, "run-x/run.log");
  std::filesystem::create_directories(filesFolder(file()) / "run-x");
  std::ofstream(filesFolder(file()) / "run-x" / "run.log")
      << std::string(299, 'a') + "\u00e9\xff";

  EXPECT_THAT(store.reapLostRuns(), ::testing::ElementsAre(lost));
  EXPECT_THAT(store.run(lost).reason, ::testing::EndsWith(": " + std::string(297, 'a') + "..."));
}

TEST_F(RunStateInStore, BecomesInterruptedByARestartOfTheMachineAndSaysSo) {
  auto [store, run] = openWithRun();
  Worker worker = thisWorker();
  worker.bootId = "an earlier boot";
  store.openSegment(run, 0, worker, Json::object());
  EXPECT_THAT(store.reapLostRuns(), ::testing::ElementsAre(run));
  EXPECT_EQ(store.run(run).reason, "the machine was restarted while the run was in progress");
}

TEST_F(RunStateInStore, StaysWhereItIsWhenTheWorkerIsOnAnotherMachine) {
  auto [store, run] = openWithRun();
  Worker worker = goneWorker();
  worker.host = "another-machine";
  store.openSegment(run, 0, worker, Json::object());
  EXPECT_THAT(store.reapLostRuns(), ::testing::IsEmpty());
  EXPECT_EQ(store.run(run).state, Running);
}

TEST_F(RunStateInStore, IsClaimedByOneOfTwo) {
  auto [store, run] = openWithRun();
  store.claim(run);
  EXPECT_EQ(store.run(run).state, Starting);
  EXPECT_EQ(store.run(run).worker.pid, ::getpid());
  EXPECT_EQ(test::refusal<RefusedError>([&] { store.claim(run); }),
            "run 1 is starting and cannot be started");
}

TEST_F(RunStateInStore, IsNotTakenFromALivingWorker) {
  const pid_t child = forkChild();  // before the database is open: no connection survives a fork
  if (child == 0) ::pause();
  auto [store, run] = openWithRun();
  store.openSegment(run, 0, workerOf(child), Json::object());
  EXPECT_THAT([&] { store.openSegment(run, 0, thisWorker(), Json::object()); },
              test::Fails<RefusedError>(child));
  signalProcess(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(store.openSegment(run, 0, thisWorker(), Json::object()), 2);
}

TEST_F(RunStateInStore, ForgetsARequestWhenTheRunEnds) {
  auto [store, run] = openWithRunning();
  store.setRequest(run, "stop");
  EXPECT_EQ(store.request(run), "stop");
  store.setState(run, Stopping);
  EXPECT_EQ(store.request(run), "stop");
  store.setState(run, Stopped);
  EXPECT_EQ(store.request(run), "");
  EXPECT_EQ(test::refusal<RefusedError>([&] { store.setRequest(run, "pause"); }),
            "run 1 is stopped; only a run in progress can be asked to pause");
}

TEST_F(RunStateInStore, KeepsAStopThatWasAskedForWhileTheRunWasStarting) {
  auto [store, run] = openWithRun();
  store.claim(run);
  store.setRequest(run, "stop");
  store.setState(run, Stopping);
  EXPECT_EQ(store.openSegment(run, 0, thisWorker(), Json::object()), 1);
  EXPECT_EQ(store.run(run).state, Running);
  EXPECT_EQ(store.request(run), "stop");
}

TEST_F(RunStateInStore, ForgetsAStopThatWasAskedOfAWorkerThatIsGone) {
  auto [store, run] = openWithRun();
  store.openSegment(run, 0, goneWorker(), Json::object());
  store.setRequest(run, "stop");
  store.setState(run, Stopping);
  EXPECT_EQ(store.openSegment(run, 0, thisWorker(), Json::object()), 2);
  EXPECT_EQ(store.request(run), "");
}

TEST_F(RunStateInStore, IsStoppedWhenItsProcessEndsAtAStopBeforeItTookTheRunUp) {
  RunStore store(file());
  const std::int64_t starting = addRun(store, "starting"), running = addRun(store, "running");
  store.claim(starting);
  store.setWorker(starting, goneWorker());
  store.openSegment(running, 0, goneWorker(), Json::object());
  for (const std::int64_t run : {starting, running}) {
    store.setRequest(run, "stop");
    store.setState(run, Stopping);
  }
  EXPECT_THAT(store.reapLostRuns(), ::testing::ElementsAre(starting, running));
  EXPECT_EQ(store.run(starting).state, Stopped);
  EXPECT_EQ(store.run(starting).reason, "stopped on request before its first step");
  EXPECT_EQ(store.run(running).state, Interrupted);
}

}  // namespace
}  // namespace vitrine::store
