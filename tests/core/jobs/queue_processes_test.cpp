// Several processes and one queue: who gets a run, and what ends its supervisor.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "core/jobs/queue.h"
#include "core/jobs/run_supervisor.h"
#include "core/jobs/work.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/child.h"
#include "tests/support/refusal.h"
#include "tests/support/wait_until.h"

namespace vitrine::jobs {
namespace {

const Device kThisCpu{"cpu", "", "", 0, 0};

/// This process opens the database only when no other one is left: SQLite's connections and locks
/// do not survive a fork.
class QueueOfProcesses : public testing::StoreTest {
 protected:
  /// Runs `work` in a process of its own, which exits with what it returns, 9 after an exception.
  static pid_t start(const std::function<int()>& work) {
    const pid_t child = forkChild();
    if (child != 0) return child;
    ::alarm(60);
    try {
      ::_exit(work());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      ::_exit(9);
    }
  }
  /// Puts runs into the queue of `store`, from number 1 on.
  static void fill(store::RunStore& store, int count) {
    std::vector<std::int64_t> runs;
    for (int i = 0; i < count; ++i) runs.push_back(addRun(store));
    JobQueue(store).enqueue(runs, {});
  }
  /// A process that claims the only run of a new database and supervises it. The database is open
  /// there alone.
  [[nodiscard]] pid_t supervise(const std::string& script, double timeLimitSeconds = 0) const {
    return start([&] {
      {
        store::RunStore store(file());
        fill(store, 1);
        if (!JobQueue(store).next(kThisCpu, {})) return 1;
      }
      SupervisorOptions options;
      options.database = file();
      options.run = 1;
      options.timeLimitSeconds = timeLimitSeconds;
      options.command = {"/bin/sh", "-c", script};
      return superviseRun(options);
    });
  }
  /// Whether the log of that run has `text`, within two minutes.
  [[nodiscard]] bool becomesLogged(const std::string& text) const {
    return waitUntil([&] {
      std::error_code none;
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator(store::filesFolder(file()), none)) {
        if (entry.path().filename() != "run.log") continue;
        std::ifstream stream(entry.path());
        const std::string log(std::istreambuf_iterator<char>(stream), {});
        return log.find(text) != std::string::npos;
      }
      return false;
    });
  }
};

TEST_F(QueueOfProcesses, GivesARunToOneOfManyThatAsk) {
  ASSERT_EQ(exitCodeOf(start([&] {
              store::RunStore store(file());
              fill(store, 40);
              return 0;
            })),
            0);
  // Four processes take what they get; each says which.
  std::vector<pid_t> children;
  for (int worker = 0; worker < 4; ++worker) {
    children.push_back(start([&] {
      store::RunStore store(file(), store::OpenMode::ReadWrite);
      JobQueue queue(store);
      while (const auto entry = queue.next(kThisCpu, {}))
        store.setNote(entry->run, store.note(entry->run) + "x");
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(exitCodeOf(child), 0);
  store::RunStore store(file());
  const std::vector<store::RunRow> runs = store.runs();
  EXPECT_EQ(runs.size(), 40u);
  for (const store::RunRow& run : runs) {
    EXPECT_NE(run.state, store::RunState::Queued) << run.id;
    EXPECT_EQ(store.note(run.id), "x") << run.id;
  }
}

TEST_F(QueueOfProcesses, AreLeftByTheSupervisorOfARunWhoseDatabaseWasDeleted) {
  const pid_t supervisor =
      supervise("echo started; while [ -e '" + file().string() + "' ]; do sleep 0.02; done");
  ASSERT_TRUE(becomesLogged("started"));
  for (const char* suffix : {"-wal", "-shm", ""}) std::filesystem::remove(file().string() + suffix);
  EXPECT_EQ(exitCodeOf(supervisor), 9);
}

TEST_F(QueueOfProcesses, EndAtTheirTimeLimitAsAskedThoughTheDatabaseIsBusy) {
  const pid_t supervisor = supervise(
      "trap 'echo asked; exit 0' TERM; echo started; while :; do sleep 0.02; done", 1);
  ASSERT_TRUE(becomesLogged("started"));
  const int gate = ::open((file().string() + ".gate").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(gate, 0);
  ASSERT_EQ(::flock(gate, LOCK_EX), 0);
  EXPECT_TRUE(becomesLogged("asked"));
  ::close(gate);
  EXPECT_EQ(exitCodeOf(supervisor), 0);
}

class OnlyCpu final : public DeviceSource {
 public:
  std::vector<Device> devices() override { return {kThisCpu}; }
};

TEST_F(QueueOfProcesses, IsNotWaitedForWhereNothingMayBeWritten) {
  ::setenv("VITRINE_DEVICE_LOCKS", folder_.c_str(), 1);  // others use the CPU at the same time
  ASSERT_EQ(exitCodeOf(start([&] {
              store::RunStore store(file());
              fill(store, 1);
              return 0;
            })),
            0);
  const auto allow = [&](mode_t database, const char* suffix) {
    return ::chmod((file().string() + suffix).c_str(), database) == 0;
  };
  /// Exit code of a process that drains the queue as a user without rights on the folder.
  const auto drain = [&](const std::string& named) {
    return exitCodeOf(start([&] {
      if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 2;
      store::RunStore store(file(), store::OpenMode::ReadWrite);
      OnlyCpu devices;
      try {
        static_cast<void>(
            workQueue(store, devices, {.until = WorkUntil::Drained, .program = FAKE_PROGRAM}));
      } catch (const store::ProtectedError& error) {
        return error.code() == ExitCode::Failed && test::isNamed(error.what(), named) ? 0 : 3;
      }
      return 1;
    }));
  };
  // Rows can be written, and the folder of the run cannot be made.
  std::filesystem::remove_all(store::filesFolder(file()));
  for (const char* suffix : {"", "-wal", "-shm", ".gate"}) ASSERT_TRUE(allow(0666, suffix));
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  EXPECT_EQ(drain(".lock"), 0);
  // Rows cannot be written either.
  for (const char* suffix : {"", ".gate"}) ASSERT_TRUE(allow(0444, suffix));
  EXPECT_EQ(drain(".gate"), 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
}

}  // namespace
}  // namespace vitrine::jobs
