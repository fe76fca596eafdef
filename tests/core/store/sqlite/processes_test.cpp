// Several processes on one file: fairness, crashes, and a reader beside them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <new>
#include <random>
#include <thread>

#include "core/store/sqlite/writer_lock.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/child.h"
#include "tests/support/long_tier.h"
#include "tests/support/wait_until.h"

namespace vitrine::store {
namespace {

using testing::RawDatabase;

class Processes : public testing::StoreTest {
 protected:
  pid_t startWorker(const std::string& name, std::int64_t commits, int pauseMs = 0) const {
    const std::string database = file().string();
    const std::string count = std::to_string(commits);
    const std::string acknowledgements = acknowledgementsOf(name).string();
    const std::string pause = std::to_string(pauseMs);
    const pid_t child = forkChild();
    if (child == 0) {
      ::execl(STORE_WORKER, STORE_WORKER, database.c_str(), name.c_str(), count.c_str(),
              acknowledgements.c_str(), pause.c_str(), nullptr);
      ::_exit(127);
    }
    return child;
  }
  [[nodiscard]] std::filesystem::path acknowledgementsOf(const std::string& name) const {
    return folder_ / (name + ".acknowledged");
  }
  /// Commits that the worker saw return.
  [[nodiscard]] std::int64_t acknowledged(const std::string& name) const {
    std::int64_t commits = 0;
    std::ifstream stream(acknowledgementsOf(name), std::ios::binary);
    stream.read(reinterpret_cast<char*>(&commits), sizeof commits);
    return commits;
  }
};

TEST_F(Processes, WriteAtOnceWhileAReaderLooksOn) {
  RunStore reader(file());
  const std::int64_t commits = 60;
  const pid_t one = startWorker("one", commits);
  const pid_t two = startWorker("two", commits);
  std::map<std::int64_t, std::size_t> seen;
  int looks = 0;
  bool isOneDone = false, isTwoDone = false;
  int oneCode = -1, twoCode = -1;
  while (!isOneDone || !isTwoDone) {
    for (const RunRow& run : reader.runs()) {
      const auto points = reader.points(run.id, "train/7");
      EXPECT_GE(points.size(), seen[run.id]);
      EXPECT_EQ(points.size() % 125, 0u) << "half a transaction was seen";
      for (std::size_t i = 0; i < points.size(); ++i) {
        ASSERT_EQ(points[i].step, static_cast<std::int64_t>(i) + 1);
        ASSERT_EQ(points[i].value, static_cast<double>(points[i].step * 10 + 7));
      }
      seen[run.id] = points.size();
      ++looks;
    }
    int status = 0;
    if (!isOneDone && ::waitpid(one, &status, WNOHANG) == one) {
      isOneDone = true;
      oneCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    if (!isTwoDone && ::waitpid(two, &status, WNOHANG) == two) {
      isTwoDone = true;
      twoCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
  }
  EXPECT_EQ(oneCode, 0);
  EXPECT_EQ(twoCode, 0);
  EXPECT_GT(looks, 2);
  for (const RunRow& run : reader.runs()) {
    EXPECT_EQ(run.state, RunState::Done);
    for (const auto& summary : reader.summaries(run.id)) EXPECT_EQ(summary.count, 125 * commits);
    EXPECT_EQ(reader.points(run.id, "train/0").size(), static_cast<std::size_t>(125 * commits));
  }
  EXPECT_TRUE(reader.check().empty());
}

TEST_F(Processes, LoseNothingAcknowledgedWhenKilledInTheMiddle) {
  { RunStore store(file()); }
  std::mt19937 random(1);
  std::int64_t promised = 0;
  const int cycles = isLong() ? 1000 : 60;
  for (int cycle = 0; cycle < cycles; ++cycle) {
    const std::string name = "cycle " + std::to_string(cycle);
    const pid_t worker = startWorker(name, 1'000'000);
    ASSERT_TRUE(waitUntil([&] { return acknowledged(name) > 0; }));
    // A random moment.
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    signalProcess(worker, SIGKILL);
    ASSERT_EQ(exitCodeOf(worker), 128 + SIGKILL);

    RunStore store(file());
    const RunRow run = store.runs().back();
    ASSERT_EQ(run.name, name);
    const std::int64_t commits = acknowledged(name);
    ASSERT_GT(commits, 0);
    promised += commits;
    std::size_t count = 0;
    for (int metric = 0; metric < 8; ++metric) {
      const auto points = store.points(run.id, "train/" + std::to_string(metric));
      if (metric == 0) count = points.size();
      EXPECT_EQ(points.size(), count) << "a torn batch";
      EXPECT_GE(static_cast<std::int64_t>(points.size()), 125 * commits)
          << "an acknowledged point is lost";
      EXPECT_EQ(points.size() % 125, 0u);
      for (const MetricPoint& point : points)
        ASSERT_EQ(point.value, static_cast<double>(point.step * 10 + metric));
    }
    EXPECT_THAT(store.reapLostRuns(), ::testing::ElementsAre(run.id));
  }
  RunStore store(file());
  EXPECT_TRUE(store.check().empty());
  EXPECT_GT(RawDatabase(file()).integer("SELECT count(*) FROM metric_chunk"), 0)
      << "no kill met packing";
  RecordProperty("acknowledged_points", std::to_string(promised * 125 * 8));
}

TEST_F(Processes, MakeTheSameFileAtTheSameTimeOnce) {
  std::vector<pid_t> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(startWorker("worker " + std::to_string(i), 1));
  for (const pid_t worker : workers) EXPECT_EQ(exitCodeOf(worker), 0);
  RunStore store(file());
  EXPECT_EQ(store.runs().size(), 4u);
  EXPECT_TRUE(store.check().empty());
}

TEST_F(Processes, LetInWhoWaitsAtTheGateBeforeOneThatComesBack) {
  void* shared = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* turns = new (shared) std::atomic<int>(0);
  WriterLock lock(file());
  const pid_t greedy = forkChild();
  if (greedy == 0) {
    WriterLock other(file());
    while (other.lock(std::chrono::seconds(30))) {
      ++*turns;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      other.unlock();
    }
    ::_exit(1);
  }
  ASSERT_TRUE(waitUntil([&] { return *turns > 0; }));
  int overtaken = 0;
  for (int i = 0; i < 50; ++i) {
    const int before = *turns;
    ASSERT_TRUE(lock.lock(std::chrono::seconds(30)));
    overtaken += *turns - before;
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // The one it was in the middle of, and one more where this process was put to sleep in between;
  // without a turn to wait for it is a dozen each time.
  EXPECT_LE(overtaken, 2 * 50);
  signalProcess(greedy, SIGKILL);
  ASSERT_EQ(exitCodeOf(greedy), 128 + SIGKILL);
  EXPECT_TRUE(lock.lock(std::chrono::seconds(30))) << "the dead keep neither lock nor turn";
  lock.unlock();
  ::munmap(shared, sizeof(std::atomic<int>));
}

TEST_F(Processes, WaitAtTheGateThatAnotherHolds) {
  auto [store, run] = openWithRun();
  const std::string lock = file().string() + ".gate";
  const int held = ::open(lock.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(held, 0);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  std::atomic<bool> isReleased = false;
  std::jthread holder([&] {
    // Who waits holds the turn, the lock of the first byte.
    EXPECT_TRUE(waitUntil([held] {
      struct flock turn {};
      turn.l_type = F_WRLCK;
      turn.l_whence = SEEK_SET;
      turn.l_len = 1;
      return ::fcntl(held, F_OFD_GETLK, &turn) == 0 && turn.l_type != F_UNLCK;
    }));
    isReleased = true;
    ::flock(held, LOCK_UN);
  });
  store.setNote(run, "written after all");
  EXPECT_TRUE(isReleased) << "the writer lock was not respected";
  EXPECT_EQ(store.note(run), "written after all");
  holder.join();
  ::close(held);
}

}  // namespace
}  // namespace vitrine::store
