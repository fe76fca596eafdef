#include "core/jobs/launcher.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/jobs/kernel_lock.h"
#include "core/jobs/work.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/refusal.h"
#include "tests/support/wait_until.h"

namespace vitrine::jobs {
namespace {

using test::Fails, test::Names;

class Launcher : public testing::StoreTest {
 protected:
  Launcher() {
    ::setenv("VITRINE_PROGRAM", FAKE_PROGRAM, 1);
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    ::setenv("XDG_DATA_HOME", (folder_ / "data").c_str(), 1);
    ::setenv("FAKE_CALLS", (folder_ / "calls").c_str(), 1);
    ::unsetenv("VITRINE_PLUGIN_PATH");
    ::unsetenv("FAKE_FAILURE");
  }
  static std::string contents(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  static bool hasSoon(const std::filesystem::path& file, const std::string& text) {
    return waitUntil([&] { return contents(file).find(text) != std::string::npos; });
  }
  static bool isGoneSoon(const store::Worker& worker) {
    return waitUntil([&] { return !isWorkerAlive(worker); });
  }
};

/// As the queue starts a run.
std::int64_t launchRun(store::RunStore& store, std::int64_t run) {
  const store::RunRow row = store.run(run);
  std::optional<KernelLock> lock;
  // Its former supervisor may be about to write down how it ended.
  (void)waitUntil([&] {
    lock = KernelLock::tryLock(runLockFile(store.file(), row.uuid));
    return lock.has_value();
  });
  const std::filesystem::path program = headlessProgram();
  store.claim(run);
  return launchSupervisor(store, row, program, {}, {lock.value().descriptor()},
                          SupervisorSettings());
}

TEST_F(Launcher, StartsARunInASessionOfItsOwnWithALogAndStopsIt) {
  auto [store, run] = openWithRun();
  const std::int64_t pid = launchRun(store, run);
  store::RunRow row = store.run(run);
  EXPECT_EQ(row.state, store::RunState::Starting);
  EXPECT_EQ(row.worker.pid, pid);
  EXPECT_EQ(row.logFile, "run-" + row.uuid + "/run.log");
  EXPECT_TRUE(isWorkerAlive(row.worker));
  EXPECT_TRUE(store.reapLostRuns().empty());

  const auto log = store::filesFolder(file()) / row.logFile;
  EXPECT_TRUE(hasSoon(log, "this is stderr"));
  // The session is the supervisor's, the process group the run's own.
  EXPECT_THAT(contents(log),
              ::testing::ContainsRegex("session " + std::to_string(pid) +
                                       " group [0-9]+ pid [0-9]+ stdin 0: run --id 1 --db "));
  EXPECT_EQ(test::refusal<RefusedError>([&] { store.claim(run); }),
            "run 1 is starting and cannot be started");
  row = store.run(run);
  store.openSegment(run, 0, row.worker, Json::object());  // as the program does
  stopRun(store, run);
  row = store.run(run);
  EXPECT_EQ(row.state, store::RunState::Stopping);
  EXPECT_EQ(store.request(run), "stop");
  EXPECT_TRUE(hasSoon(log, "asked to end")) << contents(log);
  EXPECT_TRUE(isGoneSoon(row.worker));

  EXPECT_EQ(store.run(run).state, store::RunState::Stopped);
  EXPECT_THAT(store.run(run).reason, Names("exit code 0", "asked to end"));

  // The log of a second start continues where the first ended.
  launchRun(store, run);
  row = store.run(run);
  EXPECT_TRUE(hasSoon(log, "asked to end\nsession")) << contents(log);
  store.openSegment(run, 0, row.worker, Json::object());
  stopRun(store, run);
  EXPECT_TRUE(isGoneSoon(row.worker));
}

TEST_F(Launcher, StartsARunThoughTheDatabaseIsBusyForAWhile) {
  auto [store, run] = openWithRun();
  const store::RunRow row = store.run(run);
  const auto lock = KernelLock::tryLock(runLockFile(store.file(), row.uuid));
  ASSERT_TRUE(lock.has_value());
  store.claim(run);
  const int gate = ::open((file().string() + ".gate").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(gate, 0);
  ASSERT_EQ(::flock(gate, LOCK_EX), 0);
  store.setPatience(std::chrono::milliseconds(20));
  const std::int64_t pid = launchSupervisor(store, row, headlessProgram(), {},
                                            {lock->descriptor()}, SupervisorSettings());
  const auto log = store::filesFolder(file()) / store::runFolderName(row.uuid) / "run.log";
  EXPECT_TRUE(hasSoon(log, "is busy")) << "the supervisor waits, too";
  ::close(gate);
  store.setPatience(std::chrono::seconds(5));
  EXPECT_TRUE(hasSoon(log, "this is stderr")) << contents(log);
  const store::RunRow started = store.run(run);
  EXPECT_EQ(started.state, store::RunState::Starting);
  EXPECT_EQ(started.worker.pid, pid);
  EXPECT_EQ(started.logFile, "run-" + row.uuid + "/run.log");
  store.openSegment(run, 0, started.worker, Json::object());
  stopRun(store, run);
  EXPECT_TRUE(isGoneSoon(started.worker));
}

TEST_F(Launcher, LeavesNoChildToWaitFor) {
  auto [store, run] = openWithRun();
  launchRun(store, run);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no children at all
  store.openSegment(run, 0, store.run(run).worker, Json::object());
  stopRun(store, run);
  EXPECT_TRUE(isGoneSoon(store.run(run).worker));
}

TEST_F(Launcher, AsksARunThatIsOnlyStartingByItsRowAndSendsNoSignal) {
  auto [store, run] = openWithRun();
  // Until the launcher knows its child, the row names the launcher: this process.
  store.claim(run);
  ASSERT_EQ(store.run(run).worker.pid, ::getpid());
  stopRun(store, run);  // a SIGTERM would end this test
  EXPECT_EQ(store.run(run).state, store::RunState::Stopping);
  EXPECT_EQ(store.request(run), "stop");
}

TEST_F(Launcher, StopsARunThatIsNotInProgressAtOnce) {
  auto [store, run] = openWithRun();
  stopRun(store, run);
  EXPECT_EQ(store.run(run).state, store::RunState::Stopped);
  EXPECT_EQ(test::refusal<RefusedError>([&] { stopRun(store, run); }),
            "run 1 is stopped; there is nothing to stop");
}

TEST_F(Launcher, EndsARunAsStoppedThatWasAskedToPauseBefore) {
  store::RunStore store(file());
  const std::int64_t asked = addRunning(store), stopping = addRunning(store),
                     paused = addRunning(store), done = addRunning(store);
  // The signal of a stop goes to this process, which works on all four.
  void (*const before)(int) = ::signal(SIGTERM, SIG_IGN);
  for (const std::int64_t run : {asked, stopping, paused, done}) {
    pauseRun(store, run);
    ASSERT_EQ(store.run(run).state, store::RunState::Pausing);
  }
  store.setRequest(asked, "stop");
  stopRun(store, stopping);
  stopRun(store, done);
  ::signal(SIGTERM, before);
  EXPECT_EQ(endRun(store, asked, store::RunState::Paused, ""), store::RunState::Stopped);
  EXPECT_EQ(store.run(asked).state, store::RunState::Stopped);
  EXPECT_EQ(store.run(asked).reason, "stopped on request");
  EXPECT_EQ(endRun(store, stopping, store::RunState::Paused, ""), store::RunState::Stopped);
  EXPECT_EQ(store.run(stopping).state, store::RunState::Stopped);
  EXPECT_EQ(store.request(stopping), "");
  EXPECT_EQ(endRun(store, paused, store::RunState::Paused, ""), store::RunState::Paused);
  EXPECT_EQ(endRun(store, done, store::RunState::Done, ""), store::RunState::Done)
      << "it came to its end first";
  EXPECT_EQ(store.run(done).reason, "was done before it could stop");
}

TEST_F(Launcher, RefusesARunWhoseBeginningIsNotDone) {
  store::RunStore store(file());
  std::vector<store::NewRun> chain{newRun("pre-train"), newRun("fine-tune")};
  chain[1].dependsOn = -1;
  store.addRuns(store.experiment("chain", ""), chain);
  EXPECT_EQ(test::refusal<RefusedError>([&] { requireDependency(store, 2); }),
            "run 2 starts from run 1, which is queued; it can start when that one is done");
  EXPECT_EQ(store.run(2).state, store::RunState::Queued);
}

TEST_F(Launcher, SaysThatTheProgramIsNotThere) {
  auto [store, run] = openWithRun();
  ::setenv("VITRINE_PROGRAM", "/nowhere/vitrine", 1);
  EXPECT_EQ(test::refusal<NotFoundError>([&] { launchRun(store, run); }),
            "VITRINE_PROGRAM names '/nowhere/vitrine', which cannot be run");
  EXPECT_EQ(store.run(run).state, store::RunState::Queued);
}

TEST_F(Launcher, MarksARunFailedWhenTheProgramCannotBeExecuted) {
  auto [store, run] = openWithRun();
  const auto program = folder_ / "not_a_program";
  std::ofstream(program) << "\x7f"
                            "ELF but not really";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  ::setenv("VITRINE_PROGRAM", program.c_str(), 1);
  const std::string sentence = test::refusal<Error>([&] { launchRun(store, run); });
  EXPECT_THAT(sentence, Names("cannot run '" + program.string() + "'"));
  EXPECT_EQ(store.run(run).state, store::RunState::Failed);
  EXPECT_EQ(store.run(run).reason, sentence);
}

TEST_F(Launcher, AsksForSchemasOnceUntilAPluginChanges) {
  EXPECT_EQ(describeJson(), "{\"items\": []}\n");
  EXPECT_EQ(describeJson(), "{\"items\": []}\n");
  EXPECT_EQ(contents(folder_ / "calls"), "x");
  const std::filesystem::path old = folder_ / "cache/vitrine/describe-old.json",
                              other = folder_ / "cache/vitrine/describe-other.json";
  for (const auto& each : {old, other}) std::ofstream(each) << "{}";
  std::filesystem::last_write_time(
      old, std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 31));
  std::filesystem::create_directories(folder_ / "data" / "vitrine" / "plugins");
  std::ofstream(folder_ / "data" / "vitrine" / "plugins" / "mine.so") << "plugin";
  EXPECT_EQ(describeJson(), "{\"items\": []}\n");
  EXPECT_EQ(contents(folder_ / "calls"), "xx");
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(other));
  std::ofstream(folder_ / "data" / "vitrine" / "plugins" / "mine.so") << "another plugin";
  static_cast<void>(describeJson());
  EXPECT_EQ(contents(folder_ / "calls"), "xxx");
}

TEST_F(Launcher, DoesNotKeepTheSchemasOfAProgramThatFailed) {
  ::setenv("FAKE_FAILURE", "1", 1);
  EXPECT_THAT([&] { static_cast<void>(describeJson()); },
              Fails<Error>("exit code 1", "a plugin is broken"));
  ::unsetenv("FAKE_FAILURE");
  EXPECT_EQ(describeJson(), "{\"items\": []}\n");
}

}  // namespace
}  // namespace vitrine::jobs
