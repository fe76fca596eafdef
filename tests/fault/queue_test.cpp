// Everything that works on a queue is killed, again and again; the queue continues as if nothing
// had been.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "core/jobs/kernel_lock.h"
#include "core/jobs/launcher.h"
#include "tests/fault/fault_test.h"
#include "tests/support/child.h"
#include "tests/support/wait_until.h"

namespace vitrine {
namespace {

using ::testing::IsEmpty;

class KilledQueue : public testing::FaultTest {
 protected:
  std::vector<std::string> patient{"--retries", "1000", "--pause", "0.01"};
  static std::size_t countDone(store::RunStore& store) {
    std::size_t done = 0;
    for (const store::RunRow& run : store.runs())
      done += run.state == store::RunState::Done ? 1 : 0;
    return done;
  }
};

TEST_F(KilledQueue, DoesEveryRunExactlyOnce) {
  constexpr int kSteps = 40;
  const int kills = isLong() ? 100 : 15;
  const std::size_t runs = isLong() ? 20 : 14;
  store::RunStore store(file());
  // Long enough that the last kill still finds something to kill.
  for (std::size_t i = 0; i < runs; ++i) add(store, kSteps, isLong() ? 40 : 8);
  std::mt19937 random(7);
  pid_t work = 0, window = 0;
  int killed = 0, ofRuns = 0, ofSupervisors = 0, ofWork = 0;
  while (killed < kills && countDone(store) < runs) {
    if (work == 0) work = start("work", patient);
    if (window == 0) window = start("watch");
    // A random moment of a run that is in progress.
    ASSERT_TRUE(
        waitUntil([&] { return !processes("run --id").empty() || countDone(store) == runs; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 150));
    const unsigned whom = random() % 4;
    if (whom == 0 || whom == 3) {
      for (const pid_t pid : processes("run --id")) {
        signalProcess(pid, SIGKILL);
        ++ofRuns;
      }
    }
    if (whom == 1 || whom == 3) {
      for (const pid_t pid : processes("work --supervise")) {
        signalProcess(pid, SIGKILL);
        ++ofSupervisors;
      }
    }
    if (whom == 2 || whom == 3) {
      kill(std::exchange(work, 0));
      kill(std::exchange(window, 0));
      ++ofWork;
    }
    ++killed;
  }
  EXPECT_GT(ofRuns, 0);
  EXPECT_GT(ofSupervisors, 0);
  EXPECT_GT(ofWork, 0);
  EXPECT_GE(killed, kills) << "the queue was too fast for the test";
  if (work != 0) kill(work);
  std::vector<std::string> drain = patient;
  drain.push_back("--drain");
  EXPECT_EQ(wait(start("work", drain)), 0);
  for (const store::RunRow& run : store.runs()) {
    EXPECT_EQ(run.state, store::RunState::Done) << run.id << ": " << run.reason;
    expectWhole(store, run.id, kSteps);
  }
  EXPECT_THAT(jobs::JobQueue(store).list(), IsEmpty());
  EXPECT_TRUE(store.check().empty());
  RecordProperty("kills", std::to_string(killed));
}

TEST_F(KilledQueue, LeavesRunsAloneWhenItsWorkerIsGoneAndTheNextOneFindsThem) {
  store::RunStore store(file());
  const std::int64_t first = add(store, 300, 5), second = add(store, 5, 1);
  kill([&] {
    const pid_t work = start("work");
    EXPECT_TRUE(waitUntil([&] { return store.run(first).step > 2; }));
    return work;
  }());
  const store::Worker before = store.run(first).worker;
  EXPECT_TRUE(isWorkerAlive(before));
  EXPECT_EQ(wait(start("work", {"--drain"})), 0);
  EXPECT_EQ(store.run(first).state, store::RunState::Done);
  EXPECT_EQ(store.segments(first).size(), 1u) << "a second process was started";
  EXPECT_EQ(store.run(second).state, store::RunState::Done);
}

TEST_F(KilledQueue, LetsARunEndAloneWhenItsSupervisorIsGone) {
  store::RunStore store(file());
  const std::int64_t run = add(store, 100, 5);
  const pid_t work = start("work", {"--drain"});
  ASSERT_TRUE(waitUntil([&] { return store.run(run).step > 2; }));
  for (const pid_t pid : processes("work --supervise")) signalProcess(pid, SIGKILL);
  EXPECT_EQ(wait(work), 0);
  EXPECT_EQ(store.run(run).state, store::RunState::Done);
  EXPECT_EQ(store.segments(run).size(), 1u);
  expectWhole(store, run, 100);
}

/// In the order of their numbers, events of one run never lie between those of another.
void expectOneAtATime(store::RunStore& store, std::size_t runs) {
  const auto table = store.query(
      "SELECT run_id, json_extract(data, '$.to') FROM event WHERE kind = 'state' AND "
      "json_extract(data, '$.to') IN ('starting', 'done') ORDER BY id");
  ASSERT_EQ(table.rows.size(), 2 * runs);
  for (std::size_t i = 0; i < table.rows.size(); i += 2)
    EXPECT_EQ(table.rows[i][0], table.rows[i + 1][0]) << "two runs were in progress at once";
}

TEST_F(KilledQueue, WorksOnADeviceOnceHoweverManyWorkForIt) {
  store::RunStore store(file());
  for (int i = 0; i < 6; ++i) add(store, 6, 5);
  std::vector<pid_t> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(start("work", {"--drain"}));
  for (const pid_t worker : workers) EXPECT_EQ(wait(worker), 0);
  expectOneAtATime(store, 6);
}

TEST_F(KilledQueue, WorksOnADeviceOnceThoughItsWorkersHaveOtherEnvironments) {
  store::RunStore store(file());
  for (int i = 0; i < 6; ++i) add(store, 6, 5);
  std::vector<pid_t> workers;
  for (const char* session : {"ssh", "cron", "sudo"}) {
    for (const char* variable : {"XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "HOME"})
      ::setenv(variable, (folder_ / session).c_str(), 1);
    workers.push_back(start("work", {"--drain"}));
  }
  for (const pid_t worker : workers) EXPECT_EQ(wait(worker), 0);
  expectOneAtATime(store, 6);
}

TEST_F(KilledQueue, IsWorkedOnThoughTheLogOutEmptiesTheFoldersOfTheSession) {
  const std::filesystem::path session = folder_ / "session";
  std::filesystem::create_directory(session);
  for (const char* variable : {"XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "HOME"})
    ::setenv(variable, session.c_str(), 1);
  store::RunStore store(file());
  const std::int64_t before = add(store, 6, 1);
  const pid_t work = start("work");
  ASSERT_TRUE(waitUntil([&] { return store.run(before).state == store::RunState::Done; }));
  std::filesystem::remove_all(session);
  std::ofstream(session).flush();  // and nothing can be made there again
  const std::int64_t after = add(store, 6, 1);
  EXPECT_TRUE(waitUntil([&] { return store.run(after).state == store::RunState::Done; }));
  kill(work);
}

TEST_F(KilledQueue, StartsNoRunWhoseLastProcessIsStillThereWhateverItsRowSays) {
  store::RunStore store(file());
  const std::int64_t run = add(store, 5, 1);
  auto lock = jobs::KernelLock::tryLock(jobs::runLockFile(file(), store.run(run).uuid));
  ASSERT_TRUE(lock);
  const pid_t work = start("work", {"--drain"});
  jobs::JobQueue queue(store);
  EXPECT_TRUE(
      waitUntil([&] { return queue.list().at(0).waits == "its last process is just ending"; }));
  EXPECT_EQ(store.run(run).state, store::RunState::Queued);
  lock.reset();
  EXPECT_EQ(wait(work), 0);
  EXPECT_EQ(store.run(run).state, store::RunState::Done);
}

TEST_F(KilledQueue, PausesARunAtACheckpointEndsItsProcessAndContinuesFromThere) {
  store::RunStore store(file());
  const std::int64_t run = add(store, 120, 5);
  jobs::JobQueue queue(store);
  const pid_t work = start("work");
  ASSERT_TRUE(waitUntil([&] { return store.run(run).step > 2; }));
  queue.setMode(store::QueueMode::Paused);
  jobs::pauseRun(store, run);
  ASSERT_TRUE(waitUntil([&] { return store.run(run).state == store::RunState::Paused; }));
  EXPECT_TRUE(waitUntil([&] { return processes("run --id").empty(); })) << "the device is not free";
  const std::int64_t step = store.run(run).latestCheckpoint;
  EXPECT_GT(step, 0);
  EXPECT_LT(step, 120);
  queue.setMode(store::QueueMode::Running);
  ASSERT_TRUE(waitUntil([&] { return store.run(run).state == store::RunState::Done; }));
  EXPECT_EQ(store.segments(run).size(), 2u);
  EXPECT_EQ(store.segments(run)[1].firstStep, step);
  expectWhole(store, run, 120);
  kill(work);
}

TEST_F(KilledQueue, SaysSoonHowALostRunEnded) {
  store::RunStore store(file());
  const std::int64_t run = add(store, 100'000, 2);
  const pid_t work = start("work", {"--retries", "0"});
  ASSERT_TRUE(waitUntil([&] { return store.run(run).step > 2; }));
  kill(work);
  const auto killedAt = std::chrono::steady_clock::now();
  for (const pid_t pid : processes("run --id")) signalProcess(pid, SIGKILL);
  ASSERT_TRUE(waitUntil([&] { return store.run(run).state == store::RunState::Interrupted; }));
  // Wide, for a slow machine: a queue that looked once a minute would break it.
  EXPECT_LT(std::chrono::steady_clock::now() - killedAt, std::chrono::seconds(20));
  EXPECT_TRUE(store.run(run).reason.starts_with("its process was killed (SIGKILL) from outside"))
      << store.run(run).reason;
}

}  // namespace
}  // namespace vitrine
