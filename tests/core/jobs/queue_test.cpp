// The order of the queue, who gets a run, and what becomes of it.
#include "core/jobs/queue.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/jobs/device_lock.h"
#include "core/jobs/kernel_lock.h"
#include "core/jobs/work.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/child.h"
#include "tests/support/refusal.h"
#include "tests/support/wait_until.h"

namespace vitrine::jobs {
namespace {

using test::Fails, test::Names;
using ::testing::ElementsAre, ::testing::IsEmpty;

const Device kCpu{"cpu", "", "", 0, 0};
const Device kGpu{"cuda:1", "GPU-b", "", 0, 0};

class Queue : public testing::StoreTest {
 protected:
  Queue() : store(file()), queue(store, {3, {0}}) {
    ::setenv("VITRINE_DEVICE_LOCKS", folder_.c_str(), 1);  // others use the CPU at the same time
  }

  std::int64_t add(const std::string& device = "auto", std::int64_t dependsOn = 0) {
    store::NewRun run = newRun("a run");
    run.config["train"]["device"] = device;
    run.dependsOn = dependsOn;
    return store.addRuns(store.experiment("an experiment", ""), {run}).front();
  }
  std::int64_t enqueued(const store::QueueOptions& options = {}, QueueEnd end = QueueEnd::Back) {
    const std::int64_t run = add();
    queue.enqueue(std::vector{run}, options, end);
    return run;
  }
  std::vector<std::int64_t> order() {
    std::vector<std::int64_t> runs;
    for (const QueueEntry& entry : queue.list()) runs.push_back(entry.run);
    return runs;
  }
  /// The id of the next run for `device`, 0 when there is none.
  std::int64_t next(const Device& device = kCpu) {
    const auto entry = queue.next(device, {});
    return entry ? entry->run : 0;
  }
  /// Opens a segment in a process that is gone: the run is lost.
  void lose(std::int64_t run) {
    store::Worker worker = store::thisWorker();
    worker.startTime = "1";
    store.openSegment(run, 0, worker, Json::object());
    ASSERT_THAT(store.reapLostRuns(), ElementsAre(run));
  }

  store::RunStore store;
  JobQueue queue;
};

TEST_F(Queue, StartsRunsByPriorityAndThenInTheOrderInWhichTheyCame) {
  const std::int64_t one = enqueued(), two = enqueued(), three = enqueued({.priority = 5}),
                     four = enqueued({}, QueueEnd::Front);
  EXPECT_THAT(order(), ElementsAre(four, three, one, two));
  EXPECT_EQ(next(), four);
  EXPECT_EQ(next(), three);
  EXPECT_EQ(next(), one);
  EXPECT_EQ(next(), two);
  EXPECT_EQ(next(), 0);
}

TEST_F(Queue, ARunWaitsForItsAuxiliaryNetworksAndForTheGridItIsChosenFrom) {
  const std::int64_t codec = enqueued(), good = enqueued(), bad = enqueued();
  store::NewRun run = newRun("refit");
  run.dependencies = {{"aux", "codec", store.run(codec).uuid, "latest"},
                      {"aux", "judge", store.run(bad).uuid, "500"},
                      {"select", "grid a", store.run(good).uuid, ""},
                      {"select", "grid b", store.run(bad).uuid, ""}};
  const std::int64_t refit = store.addRuns(store.experiment("an experiment", ""), {run}).front();
  queue.enqueue(std::vector{refit}, {});
  const auto waits = [&] { return queue.find(refit)->waits; };
  const auto finish = [&](std::int64_t id, store::RunState state) {
    store.openSegment(id, 0, store::thisWorker(), Json::object());
    store.setState(id, state, "a test");
  };
  EXPECT_EQ(waits(), "needs run 1, which is queued");
  finish(codec, store::RunState::Done);
  EXPECT_EQ(waits(), "needs run 2, which is queued");
  EXPECT_EQ(store.blocker(refit)->run, good);
  finish(good, store::RunState::Done);
  EXPECT_EQ(waits(), "needs run 3, which is queued");
  // It has no score then, which is an answer.
  finish(bad, store::RunState::Failed);
  EXPECT_EQ(waits(), "");
  EXPECT_TRUE(queue.find(refit)->isReady);
  EXPECT_FALSE(store.blocker(refit));
}

TEST_F(Queue, TakesNoRunThatWasOnlyStored) {
  add();  // as `train` does
  EXPECT_THAT(order(), IsEmpty());
  EXPECT_EQ(next(), 0);
}

TEST_F(Queue, MovesRuns) {
  const std::int64_t one = enqueued(), two = enqueued(), three = enqueued();
  queue.moveToFront(three);
  EXPECT_THAT(order(), ElementsAre(three, one, two));
  queue.moveBefore(two, one);
  EXPECT_THAT(order(), ElementsAre(three, two, one));
  queue.moveAfter(three, one);
  EXPECT_THAT(order(), ElementsAre(two, one, three));
  queue.setPriority(three, 1);
  EXPECT_THAT(order(), ElementsAre(three, two, one));
  queue.moveBefore(one, three);  // takes its priority over
  EXPECT_THAT(order(), ElementsAre(one, three, two));
  EXPECT_TRUE(queue.remove(three));
  EXPECT_FALSE(queue.remove(three));
  EXPECT_EQ(test::refusal<NotFoundError>([&] { queue.moveToFront(three); }),
            "run 3 is not in the queue; `vitrine queue` lists the runs in it");
  EXPECT_EQ(store.run(three).state, store::RunState::Queued);
}

TEST_F(Queue, ChangesLimitAndDeviceOfARunThatWaits) {
  const std::int64_t run = enqueued();
  queue.setTimeLimit(run, 7200);
  queue.setDevice(run, "cuda:1");
  EXPECT_EQ(queue.find(run)->options.timeLimitSeconds, 7200);
  EXPECT_EQ(next(kCpu), 0) << "it is put on a GPU now";
  EXPECT_EQ(next(kGpu), run);
  EXPECT_EQ(test::refusal<RefusedError>([&] { queue.setTimeLimit(run, 60); }),
            "run 1 is starting; pause it first, the settings of its start hold until it ends");
}

TEST_F(Queue, PutsNoRunOnADeviceThatItsConfigurationRulesOut) {
  const std::int64_t run = add("cpu");
  queue.enqueue(std::vector{run}, {});
  EXPECT_THAT([&] { queue.setDevice(run, "cuda:1"); }, Fails<RefusedError>("train.device = cpu"));
  queue.setDevice(run, "");
  EXPECT_EQ(next(kCpu), run);
}

TEST_F(Queue, CountsAsWorkOnlyWhatADeviceHereCanStart) {
  EXPECT_FALSE(hasStartable(queue, {kCpu}));
  const std::int64_t run = add("cuda");
  queue.enqueue(std::vector{run}, {});
  EXPECT_FALSE(hasStartable(queue, {kCpu}));
  EXPECT_TRUE(hasStartable(queue, {kCpu, kGpu}));
  EXPECT_EQ(next(kGpu), run);
  EXPECT_FALSE(hasStartable(queue, {kCpu, kGpu})) << "it is in progress";
}

/// A machine with a GPU, listed as the system lists them.
class OneGpu final : public DeviceSource {
 public:
  std::vector<Device> devices() override { return {kCpu, kGpu}; }
};

TEST_F(Queue, PutsARunThatMayHaveAnyDeviceOnAFreeGpu) {
  store::QueueOptions brief;
  brief.timeLimitSeconds = 0.2;  // the fake program waits to be asked to end
  const std::int64_t run = enqueued(brief);
  OneGpu devices;
  WorkOptions options{.until = WorkUntil::OneEnded, .program = FAKE_PROGRAM};
  ASSERT_EQ(workQueue(store, devices, options).ended, 1);
  std::ifstream log(store::filesFolder(file()) / store.run(run).logFile);
  const std::string text{std::istreambuf_iterator<char>(log), std::istreambuf_iterator<char>()};
  EXPECT_THAT(text, Names("visible 'GPU-b'"));
}

/// The CPU, after a look whether others may write meanwhile.
class DevicesBeside final : public DeviceSource {
 public:
  explicit DevicesBeside(std::string gate) : gate_(std::move(gate)) {}
  std::vector<Device> devices() override {
    const int gate = ::open(gate_.c_str(), O_RDWR | O_CLOEXEC);
    isFree = isFree && ::flock(gate, LOCK_EX | LOCK_NB) == 0;
    ::close(gate);
    return {kCpu};
  }
  bool isFree = true;

 private:
  std::string gate_;
};

TEST_F(Queue, LooksAtTheDevicesWhileOthersMayWrite) {
  enqueued({.timeLimitSeconds = 0.2});
  DevicesBeside devices(file().string() + ".gate");
  WorkOptions options{.until = WorkUntil::OneEnded, .program = FAKE_PROGRAM};
  EXPECT_EQ(workQueue(store, devices, options).ended, 1);
  EXPECT_TRUE(devices.isFree);
}

TEST_F(Queue, SaysThatAnotherProcessComputesOnTheDevice) {
  const std::int64_t first = enqueued(), second = enqueued();
  auto other = DeviceLock::tryLock(kCpu.key());  // of the queue of another database
  ASSERT_TRUE(other.has_value());
  DevicesBeside devices(file().string() + ".gate");
  WorkOptions options{.until = WorkUntil::Stopped, .program = FAKE_PROGRAM};
  options.isAsked = [] { return true; };  // after one look
  EXPECT_EQ(workQueue(store, devices, options).started, 0);
  EXPECT_EQ(queue.find(first)->waits, "another process computes on cpu");
  EXPECT_EQ(queue.find(second)->waits, "");
  queue.moveBefore(std::vector{second}, first);
  EXPECT_EQ(workQueue(store, devices, options).started, 0);
  EXPECT_EQ(queue.find(first)->waits, "");
  other.reset();
  EXPECT_EQ(next(), second);
}

TEST_F(Queue, IsWorkedOnceTheDatabaseCanBeWrittenAgain) {
  enqueued({.timeLimitSeconds = 0.2});
  const int gate = ::open((file().string() + ".gate").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(gate, 0);
  ASSERT_EQ(::flock(gate, LOCK_EX), 0);
  store.setPatience(std::chrono::milliseconds(20));
  OneGpu devices;
  WorkOptions options{.until = WorkUntil::OneEnded, .program = FAKE_PROGRAM};
  int looks = 0;
  options.isAsked = [&] {
    if (++looks == 2) {
      store.setPatience(std::chrono::seconds(5));
      ::flock(gate, LOCK_UN);
    }
    return false;
  };
  EXPECT_EQ(workQueue(store, devices, options).ended, 1);
  EXPECT_GE(looks, 2);
  ::close(gate);
}

TEST_F(Queue, IsAttendedByOneProcessThatEndsWithTheLastRun) {
  store::QueueOptions brief;
  brief.timeLimitSeconds = 0.2;  // the fake program waits to be asked to end
  const std::int64_t run = enqueued(brief);
  ASSERT_GT(startQueueWorker(file(), FAKE_PROGRAM), 0);
  const auto isAttended = [&] { return !KernelLock::tryLock(workLockFile(file())); };
  ASSERT_TRUE(
      waitUntil([&] { return store.run(run).state != store::RunState::Queued && isAttended(); }));
  EXPECT_EQ(startQueueWorker(file(), FAKE_PROGRAM), 0) << "a process is at work";
  EXPECT_TRUE(waitUntil([&] { return !isAttended(); }));
  EXPECT_FALSE(isAlive(store.run(run).state));
  EXPECT_THAT(order(), IsEmpty());
}

TEST_F(Queue, GivesADeviceWhatAsksForIt) {
  store::QueueOptions gpu{.device = "GPU-b"};
  const std::int64_t forCpu = add("cpu"), forCuda = add("cuda"), forThird = add("cuda:2");
  queue.enqueue(std::vector{forCpu, forCuda, forThird}, {});
  const std::int64_t chosen = enqueued(gpu);
  EXPECT_EQ(next(kGpu), forCuda);
  EXPECT_EQ(next(kGpu), chosen);
  EXPECT_EQ(next(kGpu), 0);
  EXPECT_EQ(next(kCpu), forCpu);
  EXPECT_EQ(next(kCpu), 0);
}

TEST_F(Queue, WaitsForTheRunThatARunStartsFromAndLetsOthersPass) {
  const std::int64_t first = add(), second = add("auto", first), other = add();
  queue.enqueue(std::vector{second, other}, {});
  EXPECT_EQ(queue.list()[0].waits, "starts from run 1, which is queued");
  EXPECT_EQ(next(), other);
  EXPECT_EQ(next(), 0);
  store.setState(first, store::RunState::Failed, "no");
  EXPECT_EQ(queue.list()[0].waits,
            "starts from run 1, which is failed; it can start when that one is done: `vitrine "
            "retry 1`");
  EXPECT_EQ(next(), 0);
  store.setState(first, store::RunState::Running);
  store.setState(first, store::RunState::Done);
  EXPECT_EQ(next(), second);
}

TEST_F(Queue, PassesOverARunThatMustBeHeldAndSaysWhy) {
  const std::int64_t large = enqueued(), small = enqueued();
  const auto hold = [&](const QueueEntry& entry) {
    return entry.run == large ? std::string("needs 9 GB") : std::string();
  };
  EXPECT_EQ(queue.next(kCpu, hold)->run, small);
  EXPECT_EQ(queue.find(large)->waits, "needs 9 GB");
  EXPECT_EQ(next(), large);
}

TEST_F(Queue, StartsNothingWhileItIsPaused) {
  enqueued();
  queue.setMode(store::QueueMode::Paused);
  EXPECT_EQ(next(), 0);
  queue.setMode(store::QueueMode::Running);
  EXPECT_EQ(next(), 1);
}

TEST_F(Queue, IsPausedAfterTheCurrentRun) {
  const std::int64_t one = enqueued();
  enqueued();
  EXPECT_EQ(next(), one);
  queue.setMode(store::QueueMode::AfterCurrent);
  EXPECT_EQ(queue.mode(), store::QueueMode::AfterCurrent);
  EXPECT_EQ(next(), 0);
  queue.prune();
  EXPECT_EQ(queue.mode(), store::QueueMode::AfterCurrent);
  store.openSegment(one, 0, store::thisWorker(), Json::object());
  store.setState(one, store::RunState::Done);
  queue.prune();
  EXPECT_EQ(queue.mode(), store::QueueMode::Paused);
  EXPECT_EQ(next(), 0);
  queue.setMode(store::QueueMode::Running);
  queue.setMode(store::QueueMode::AfterCurrent);
  EXPECT_EQ(queue.mode(), store::QueueMode::Paused) << "nothing was in progress";
}

TEST_F(Queue, StartsALostRunAgainButNotForEverWithoutACheckpoint) {
  const std::int64_t run = enqueued();
  for (int start = 0; start < 4; ++start) {
    ASSERT_EQ(next(), run) << start;
    lose(run);
  }
  EXPECT_EQ(next(), 0);
  JobQueue(store, {100, {0}}).failExhausted();
  queue.prune();
  EXPECT_THAT(order(), ElementsAre(run)) << "a process with more patience may resume it";
  queue.failExhausted();
  EXPECT_THAT(order(), IsEmpty());
  EXPECT_EQ(store.run(run).state, store::RunState::Interrupted);
  EXPECT_THAT(store.run(run).reason, Names("4 starts"));
}

TEST_F(Queue, CountsStartsFromZeroAfterACheckpoint) {
  const std::int64_t run = enqueued();
  for (int start = 1; start <= 12; ++start) {
    ASSERT_EQ(next(), run) << start;
    store::Worker worker = store::thisWorker();
    worker.startTime = "1";
    const std::int64_t segment = store.openSegment(run, 0, worker, Json::object());
    store.append(run, segment,
                 {.checkpoints = {{10 * start, "step-" + std::to_string(start), 1, 0, false, {}}}});
    store.reapLostRuns();
  }
  EXPECT_EQ(queue.find(run)->attempts, 1);
}

TEST_F(Queue, ForgetsRunsThatHaveEnded) {
  const std::int64_t done = enqueued(), failed = enqueued(), stopped = enqueued(),
                     deleted = enqueued(), waiting = enqueued();
  for (const std::int64_t run : {done, failed})
    store.openSegment(run, 0, store::thisWorker(), Json::object());
  store.setState(done, store::RunState::Done);
  store.setState(failed, store::RunState::Failed);
  store.setState(stopped, store::RunState::Stopped);
  store.deleteRun(deleted);
  queue.prune();
  EXPECT_THAT(order(), ElementsAre(waiting));
}

TEST_F(Queue, RefusesWhatIsDoneOrInProgressAndThenTakesNoneOfTheCall) {
  const std::int64_t fresh = add();
  const std::int64_t running = addRunning(store);
  EXPECT_EQ(test::refusal<RefusedError>([&] {
              queue.enqueue(std::vector{fresh, running}, {});
            }),
            "run 2 is running and need not be put into the queue");
  store.setState(running, store::RunState::Done);
  EXPECT_THAT(
      [&] {
        queue.enqueue(std::vector{fresh, running}, {});
      },
      Fails<RefusedError>("run 2"));
  EXPECT_THAT(order(), IsEmpty());
}

TEST_F(Queue, WritesDownHowAProcessEnded) {
  const std::int64_t crashed = enqueued(), killed = enqueued(), stopped = enqueued();
  for (const std::int64_t run : {crashed, killed, stopped}) {
    ASSERT_EQ(next(), run);
    ASSERT_TRUE(queue.adopt(run));
    store.openSegment(run, 0, store::thisWorker(), Json::object());
  }
  RunEnding ending{
      .reason = "its process crashed", .seconds = 2, .data = Json{{"cause", "signal"}}};
  queue.ended(crashed, ending);
  EXPECT_EQ(store.run(crashed).state, store::RunState::Interrupted);
  EXPECT_EQ(store.run(crashed).reason, "its process crashed");
  EXPECT_EQ(store.events(crashed).back().kind, "process_ended");
  EXPECT_EQ(store.events(crashed).back().data.at("cause"), "signal");
  ending.mayResume = true;
  queue.ended(killed, ending);
  EXPECT_EQ(queue.find(killed)->usedSeconds, 2);
  store.setRequest(stopped, "stop");
  queue.ended(stopped, ending);
  EXPECT_EQ(store.run(stopped).state, store::RunState::Stopped);
  EXPECT_THAT(order(), ElementsAre(killed))
      << "a crash is not repeated, a stopped run is not started";
}

TEST_F(Queue, KeepsARunThatIsRequeuedWhileItsProcessEnds) {
  const std::int64_t run = enqueued();
  ASSERT_EQ(next(), run);
  store.openSegment(run, 0, store::thisWorker(), Json::object());
  store.setState(run, store::RunState::Failed, "the loss of step 3 is nan");
  queue.enqueue(std::vector{run}, {});  // `vitrine retry`
  queue.ended(run, {});                 // its supervisor, when the process is gone
  EXPECT_THAT(order(), ElementsAre(run));
  EXPECT_EQ(next(), run);
}

TEST_F(Queue, LeavesARunToTheProcessThatWasQuickerToStartIt) {
  const std::int64_t run = enqueued();
  ASSERT_EQ(next(), run);
  const pid_t quicker = forkChild();
  if (quicker == 0) {  // it becomes a program, which inherits no connection
    ::execlp("sleep", "sleep", "600", nullptr);
    ::_exit(127);
  }
  store.openSegment(run, 0, store::workerOf(quicker), Json::object());
  queue.ended(run, {"its process ended with exit code 4", false, 1, Json{{"cause", "exit"}}});
  EXPECT_EQ(store.run(run).state, store::RunState::Running);
  EXPECT_EQ(store.run(run).reason, "");
  EXPECT_THAT(order(), IsEmpty());
  signalProcess(quicker, SIGKILL);
  ::waitpid(quicker, nullptr, 0);
}

TEST_F(Queue, KnowsBetterWhyThanTheProcessThatSawARunGone) {
  const std::int64_t run = enqueued();
  ASSERT_EQ(next(), run);
  lose(run);
  EXPECT_TRUE(store.run(run).reason.starts_with("its process ")) << store.run(run).reason;
  queue.ended(run, {"its process crashed with SIGSEGV", false, 1, {}});
  EXPECT_EQ(store.run(run).reason, "its process crashed with SIGSEGV");
  EXPECT_THAT(order(), IsEmpty());
}

TEST_F(Queue, LetsNoSupervisorStartARunThatIsWantedNoMore) {
  const std::int64_t run = enqueued();
  ASSERT_EQ(next(), run);
  store.setState(run, store::RunState::Stopped);
  EXPECT_FALSE(queue.adopt(run));
}

}  // namespace
}  // namespace vitrine::jobs
