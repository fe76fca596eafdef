// What is said about a process that ended, and the parts that find it out.
#include "core/jobs/ending.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <tuple>

#include "core/jobs/containment.h"
#include "core/jobs/device_lock.h"
#include "core/jobs/devices.h"
#include "core/jobs/kernel_lock.h"
#include "core/jobs/log_ring.h"
#include "core/jobs/process_tree.h"
#include "core/jobs/task_watch.h"
#include "core/jobs/work.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/child.h"
#include "tests/support/refusal.h"
#include "tests/support/wait_until.h"

namespace vitrine::jobs {
namespace {

using test::Names;
using enum store::RunState;

ProcessEnd exited(int code) { return {.exitCode = code}; }

ProcessEnd signalled(int number) { return {.signal = number}; }

TEST(Endings, LeaveWhatARunSaysOfItself) {
  for (const auto& [code, state] : std::vector<std::pair<int, store::RunState>>{
           {0, Done}, {1, Failed}, {75, Interrupted}, {75, Stopped}, {75, Paused}, {4, Queued}}) {
    const RunEnding ending = classify(exited(code), state);
    EXPECT_EQ(ending.reason, "") << store::toString(state);
    EXPECT_EQ(ending.mayResume, code == 75) << store::toString(state);
  }
}

TEST(Endings, NameTheExitCodeTheSignalOrTheLimit) {
  EXPECT_EQ(classify(exited(0), Running).reason,
            "its process ended with exit code 0 in the middle of the run");
  EXPECT_EQ(classify(exited(3), Interrupted).reason,
            "its process ended with exit code 3 in the middle of the run");
  EXPECT_EQ(classify(signalled(SIGSEGV), Running).reason,
            "its process crashed with SIGSEGV (segmentation fault)");
  EXPECT_EQ(classify(signalled(SIGKILL), Running).reason,
            "its process was killed (SIGKILL) from outside");
  ProcessEnd end = signalled(SIGKILL);
  end.isOutOfMemory = true;
  EXPECT_EQ(classify(end, Running).data.at("cause"), "out_of_memory");
  end = signalled(SIGKILL);
  end.endedBy = EndedBy::GraceTime;
  end.detail = "30 s";
  EXPECT_EQ(classify(end, Stopping).reason, "killed: it did not end within 30 s of being asked to");
  end.endedBy = EndedBy::Hang;
  EXPECT_EQ(classify(end, Running).reason, "killed: nothing of it was heard for 30 s");
  end = exited(75);
  end.endedBy = EndedBy::TimeLimit;
  end.detail = "02:00:00";
  EXPECT_EQ(classify(end, Stopped).reason, "stopped at its time limit of 02:00:00");
}

TEST(Endings, KeepTheEndOfTheLog) {
  ProcessEnd end = signalled(SIGABRT);
  end.logTail = "one\ntwo\nterminate called\n";
  const RunEnding ending = classify(end, Running);
  EXPECT_THAT(ending.reason, Names("terminate called"));
  EXPECT_EQ(ending.data.at("log_tail"), "one\ntwo\nterminate called");
  EXPECT_EQ(ending.data.at("signal"), "SIGABRT (aborted)");
}

TEST(Endings, LetTheQueueStartAgainOnlyWhatWasEndedFromOutside) {
  EXPECT_TRUE(classify(signalled(SIGKILL), Running).mayResume);
  EXPECT_TRUE(classify(signalled(SIGTERM), Running).mayResume);
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
    EXPECT_FALSE(classify(signalled(number), Running).mayResume) << number;
  EXPECT_FALSE(classify(exited(0), Running).mayResume);
  ProcessEnd end = signalled(SIGKILL);
  end.isOutOfMemory = true;
  EXPECT_FALSE(classify(end, Running).mayResume);
}

class Parts : public testing::StoreTest {
 protected:
  static std::string contents(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
};

TEST_F(Parts, ALogRingNeverGrowsBeyondItsLimitAndKeepsTheNewest) {
  std::string all;
  {
    LogRing ring(folder_ / "run.log", 10'000);
    for (int i = 0; i < 5000; ++i) {
      const std::string line = "line " + std::to_string(i) + "\n";
      all += line;
      ring.write(line);
      ASSERT_LE(std::filesystem::file_size(folder_ / "run.log"), 5000u);
    }
    EXPECT_EQ(ring.tail(), all.substr(all.size() - 4000));
  }
  const std::string kept = contents(folder_ / "run.log.1") + contents(folder_ / "run.log");
  EXPECT_GE(kept.size(), 5000u);
  EXPECT_LE(kept.size(), 10'000u);
  EXPECT_EQ(kept, all.substr(all.size() - kept.size()));
  LogRing(folder_ / "run.log", 10'000).write("more\n");
  EXPECT_THAT(contents(folder_ / "run.log"), ::testing::EndsWith("line 4999\nmore\n"));
}

TEST_F(Parts, AWriteLargerThanTheRingIsCutAsWell) {
  LogRing ring(folder_ / "run.log", 1000);
  ring.write(std::string(100'000, 'x'));
  EXPECT_LE(std::filesystem::file_size(folder_ / "run.log"), 500u);
  EXPECT_LE(std::filesystem::file_size(folder_ / "run.log.1"), 500u);
}

TEST(LastLines, AreWholeAndCanBeShown) {
  EXPECT_EQ(lastLines("a\nb\nc\n\n", 2), "b\nc");
  EXPECT_EQ(lastLines("a", 5), "a");
  EXPECT_EQ(lastLines("", 5), "");
  EXPECT_EQ(lastLines("x\x1b[31m\xff\n", 1), "x [31m\xef\xbf\xbd");
}

TEST_F(Parts, AKernelLockIsHeldByAllWhoInheritedItAndFreeWhenTheyAreGone) {
  const auto file = folder_ / "locks" / "device.lock";
  auto lock = KernelLock::tryLock(file);
  ASSERT_TRUE(lock);
  EXPECT_FALSE(KernelLock::tryLock(file));
  const pid_t child = forkChild();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  lock.reset();
  EXPECT_FALSE(KernelLock::tryLock(file)) << "the child still has it";
  signalProcess(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(KernelLock::tryLock(file));
}

TEST(Devices, AreReadFromTheListOfTheDriversProgram) {
  const auto devices = parseGpuList(
      "0, GPU-aaaa, 81559, 80000, NVIDIA H100 80GB HBM3\n"
      "1, GPU-bbbb, [N/A], 100, Odd One\nnonsense\nx, GPU-c, 1, 1, y\n");
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].name, "cuda:0");
  EXPECT_EQ(devices[0].uuid, "GPU-aaaa");
  EXPECT_EQ(devices[0].title, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(devices[0].freeBytes, std::int64_t{80000} << 20);
  EXPECT_EQ(devices[1].freeBytes, 0) << "not known";
}

TEST(Devices, AreShownToARunByUuid) {
  const std::vector<Device> all{
      {"cpu", "", "", 0, 0}, {"cuda:0", "GPU-a", "", 0, 0}, {"cuda:1", "GPU-b", "", 0, 0}};
  EXPECT_EQ(visibleDevices(all, all[0], "auto"), "");
  EXPECT_EQ(visibleDevices(all, all[2], "auto"), "GPU-b");
  EXPECT_EQ(visibleDevices(all, all[2], "cuda:0"), "GPU-b");
  EXPECT_EQ(visibleDevices(all, all[2], "cuda:1"), "GPU-a,GPU-b") << "the configuration counts";
}

TEST(Devices, FitWhatIsAskedFor) {
  const Device cpu{"cpu", "", "", 0, 0}, gpu{"cuda:1", "GPU-b", "", 0, 0};
  for (const char* any : {"", "auto"}) EXPECT_TRUE(fits(any, cpu) && fits(any, gpu));
  EXPECT_TRUE(fits("cpu", cpu) && !fits("cpu", gpu));
  EXPECT_TRUE(fits("cuda", gpu) && !fits("cuda", cpu));
  EXPECT_TRUE(fits("cuda:1", gpu) && !fits("cuda:0", gpu));
  EXPECT_TRUE(fits("GPU-b", gpu) && !fits("GPU-a", gpu));
}

TEST_F(Parts, ARunThatNeedsMoreThanIsThereIsHeldWithTheNumbers) {
  store::QueueOptions needs;
  const Device cpu{"cpu", "", "", 8'000'000'000, 2'000'000'000};
  EXPECT_EQ(whyNoRoom(needs, cpu, file()), "");
  needs.neededMemoryBytes = 3'000'000'000;
  EXPECT_EQ(whyNoRoom(needs, cpu, file()),
            "needs about 3.0 GB of memory, and 2.0 GB are free on cpu");
  needs.neededMemoryBytes = 0;
  needs.neededDiskBytes = std::int64_t{1} << 60;
  EXPECT_THAT(whyNoRoom(needs, cpu, file()),
              ::testing::ContainsRegex("^needs about .* for checkpoints, and .* are free in /"));
}

TEST(Mounts, NameTheHostThatServesThem) {
  const std::string mounts =
      "/dev/sda1 / ext4 rw 0 0\nnas:/export /home/me nfs4 rw 0 0\n//box/share /mnt/s cifs rw 0 0\n"
      "me@far:/data /mnt/f fuse.sshfs rw 0 0\n";
  EXPECT_EQ(hostOfMount(mounts, "/home/me/lab"), "nas");
  EXPECT_EQ(hostOfMount(mounts, "/mnt/s"), "box");
  EXPECT_EQ(hostOfMount(mounts, "/mnt/f/x"), "me@far");
  EXPECT_EQ(hostOfMount(mounts, "/home/menagerie"), "");
}

TEST_F(Parts, AFileWithRunsOfAnotherMachineIsWorkedThere) {
  auto [store, run] = openWithRunning();
  EXPECT_EQ(whyNotHere(store), "");
  store::Worker worker = store::thisWorker();
  worker.host = "bigbox";
  store.setWorker(run, worker);
  EXPECT_THAT(whyNotHere(store), Names("bigbox"));
}

TEST(ProcessTree, FindsAndEndsGrandchildrenInSessionsOfTheirOwn) {
  const pid_t child = forkChild();
  if (child == 0) {
    ::alarm(60);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (int i = 0; i < 3; ++i) {
      if (forkChild() == 0) {
        ::setsid();
        if (::fork() != 0) ::_exit(0);  // the grandchild outlives its parent
        ::alarm(60);
        for (;;) ::pause();
      }
    }
    (void)waitUntil([] { return descendantsOf(::getpid()).size() >= 3; });
    ::_exit(killDescendants() == 0 && descendantsOf(::getpid()).empty() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

/// Runs `test` in a process of its own, whose descendants are all its own.
int inChild(const std::function<int()>& test) {
  const pid_t child = forkChild();
  if (child == 0) {
    ::alarm(60);
    ::_exit(test());
  }
  return exitCodeOf(child);
}

/// A job with `count` processes that stay for a minute; each leaves the process group if asked to.
pid_t startJob(int count, bool isScattered) {
  const pid_t job = forkChild();
  if (job != 0) {
    ::setpgid(job, job);
    return job;
  }
  ::setpgid(0, 0);
  ::alarm(60);
  for (int i = 1; i < count; ++i) {
    if (::fork() == 0) {
      ::alarm(60);
      if (isScattered) ::setsid();
      for (;;) ::pause();
    }
  }
  for (;;) ::pause();
}

bool isGone(pid_t job) {
  siginfo_t ended{};
  return ::waitid(P_PID, static_cast<id_t>(job), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == job;
}

TEST(TaskWatch, EndsAJobWithAllThatItStartedWhenTheyAreTooMany) {
  for (const bool isScattered : {false, true}) {
    EXPECT_EQ(inChild([&] {
                ::prctl(PR_SET_CHILD_SUBREAPER, 1);
                const pid_t job = startJob(40, isScattered);
                TaskWatch watch(job, 20);
                const auto isOver = [&] {
                  return isGone(job) && descendantsOf(::getpid()).empty();
                };
                if (!waitUntil(isOver)) return 2;
                watch.stop();
                return watch.hasEndedTheJob() ? 0 : 1;
              }),
              0)
        << (isScattered ? "in sessions of their own" : "in one group");
  }
}

TEST(TaskWatch, LeavesAJobAloneThatKeepsItsLimit) {
  EXPECT_EQ(inChild([] {
              const pid_t job = startJob(10, false);
              TaskWatch watch(job, 20);
              if (!waitUntil([] { return descendantsOf(::getpid()).size() >= 10; })) return 2;
              if (isGone(job)) return 3;
              // One with a lower limit that began later has looked when it ends the job.
              TaskWatch strict(job, 5);
              if (!waitUntil([&] { return strict.hasEndedTheJob(); })) return 4;
              watch.stop();
              strict.stop();
              return killDescendants() == 0 && !watch.hasEndedTheJob() ? 0 : 1;
            }),
            0);
}

TEST(TaskWatch, LeavesHalfOfTheProcessTableToTheMachine) {
  EXPECT_EQ(taskLimit(20), 20);
  EXPECT_GT(tasksOfMachine(), 0);
  std::int64_t most = 0;
  std::ifstream("/proc/sys/kernel/pid_max") >> most;
  EXPECT_LE(taskLimit(std::int64_t{1} << 40), most / 2);
}

TEST(DeviceLock, IsHeldByOneProcessWhateverItsEnvironmentAndUser) {
  const std::string gpu = "GPU-of-a-test-" + std::to_string(::getpid());
  auto lock = DeviceLock::tryLock(gpu);
  ASSERT_TRUE(lock);
  for (const char* variable : {"XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "HOME"})
    ::setenv(variable, "/nowhere", 1);
  EXPECT_FALSE(DeviceLock::tryLock(gpu)) << "another environment";
  EXPECT_TRUE(DeviceLock::tryLock(gpu + "b")) << "another device";
  if (::geteuid() == 0) {
    EXPECT_EQ(inChild([&] {
                if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 2;
                return DeviceLock::tryLock(gpu) ? 1 : 0;
              }),
              0)
        << "another user";
  }
  EXPECT_EQ(inChild([&] {
              // A child that inherited it continues holding it.
              return DeviceLock::tryLock(gpu) ? 1 : 0;
            }),
            0);
  lock.reset();
  EXPECT_TRUE(DeviceLock::tryLock(gpu));
}

TEST_F(Parts, TheDeviceFileOfAGpuIsFoundByItsUuid) {
  for (const auto& [bus, uuid, number] :
       {std::tuple{"0000:17:00.0", "GPU-aaaa", "3"}, {"0000:65:00.0", "GPU-bbbb", "0"}}) {
    std::filesystem::create_directories(folder_ / bus);
    std::ofstream(folder_ / bus / "information")
        << "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 150\nGPU UUID: \t " << uuid
        << "\nBus Type: \t PCIe\nDevice Minor: \t " << number << "\n";
  }
  EXPECT_EQ(gpuNode("GPU-bbbb", folder_), "/dev/nvidia0");
  EXPECT_EQ(gpuNode("GPU-aaaa", folder_), "/dev/nvidia3");
  EXPECT_EQ(gpuNode("GPU-cccc", folder_), "");
  EXPECT_EQ(gpuNode("GPU-aaaa", folder_ / "nowhere"), "");
}

TEST_F(Parts, AScopeOfSystemdIsTakenOnlyWhereItOutlivesTheLogOut) {
  EXPECT_FALSE(outlivesLogOut(folder_ / "linger", "ada"));
  std::filesystem::create_directories(folder_ / "linger");
  std::ofstream(folder_ / "linger" / "ada");
  EXPECT_TRUE(outlivesLogOut(folder_ / "linger", "ada"));
  EXPECT_FALSE(outlivesLogOut(folder_ / "linger", "bob"));
  EXPECT_FALSE(outlivesLogOut(folder_ / "linger", ""));
}

}  // namespace
}  // namespace vitrine::jobs
