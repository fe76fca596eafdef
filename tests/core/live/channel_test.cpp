// Trainer and windows as processes: frames are whole, and a process that dies leaves no segment
// behind.
#include "core/live/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "core/live/layout.h"
#include "tests/support/child.h"
#include "tests/support/wait_until.h"

namespace vitrine::live {
namespace {

using Bytes = std::vector<std::byte>;

/// A name of its own for each test and process.
std::string runName() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  return std::string(info->name()) + std::to_string(::getpid());
}

bool hasSegment(std::int64_t trainer, const std::string& run) {
  return std::filesystem::exists("/dev/shm" + segmentName(trainer, run));
}

/// Looks until the quarter of a second between two looks has passed.
bool isSeen(Publisher& publisher) {
  return waitUntil([&] { return publisher.isWatched(liveNow()); });
}

Bytes frameOf(unsigned char value, std::size_t size) { return Bytes(size, std::byte{value}); }

struct Channel : ::testing::Test {
  const std::string run = runName();
};

/// A trainer that has seen its window.
struct WatchedChannel : Channel {
  Publisher publisher{run};
  Viewer viewer{::getpid(), run};

  void SetUp() override {
    static_cast<void>(viewer.beat());
    ASSERT_TRUE(isSeen(publisher));
  }
};

/// A child that does `work` and then waits to be killed.
template <class Work>
pid_t childThat(Work&& work) {
  int ready[2];
  if (::pipe(ready) != 0) return -1;
  const pid_t child = forkChild();
  if (child == 0) {
    work();
    static_cast<void>(!::write(ready[1], "x", 1));
    for (;;) ::pause();
  }
  char byte = 0;
  static_cast<void>(!::read(ready[0], &byte, 1));
  ::close(ready[0]);
  ::close(ready[1]);
  return child;
}

void killAndReap(pid_t child) {
  signalProcess(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(Channel, WithoutAWindowThereIsNoSegmentAndHardlyALook) {
  Publisher publisher(run);
  for (int step = 0; step < 10000; ++step)
    EXPECT_FALSE(publisher.isWatched(1000 + step * 0.001));  // ten seconds of the trainer's clock
  EXPECT_LE(publisher.looks(), 41);
  EXPECT_FALSE(hasSegment(::getpid(), run));
  EXPECT_FALSE(publisher.publish(frameOf(1, 10)));
}

TEST_F(Channel, BringsTheNewestFrameOnce) {
  Publisher publisher(run);
  Viewer viewer(::getpid(), run);
  EXPECT_EQ(viewer.beat(), TrainerState::Waiting);
  ASSERT_TRUE(isSeen(publisher));
  EXPECT_EQ(viewer.beat(), TrainerState::Publishing);
  EXPECT_FALSE(viewer.take());
  ASSERT_TRUE(publisher.publish(frameOf(1, 13)));
  EXPECT_EQ(viewer.take(), frameOf(1, 13));
  EXPECT_FALSE(viewer.take());
  for (unsigned char i = 2; i < 6; ++i) ASSERT_TRUE(publisher.publish(frameOf(i, 100)));
  EXPECT_EQ(viewer.take(), frameOf(5, 100));
  EXPECT_EQ(viewer.viewers(), 1);
}

TEST_F(Channel, TellsTheTrainerWhatIsWishedForWithinItsRange) {
  Publisher publisher(run);
  Viewer viewer(::getpid(), run);
  Wishes wishes{.image = 3, .queryRow = 0.25, .queryColumn = 0.75, .layer = 2, .film = false};
  viewer.wish(wishes);
  static_cast<void>(viewer.beat());
  ASSERT_TRUE(isSeen(publisher));
  EXPECT_EQ(publisher.wishes(), wishes);
  wishes.rate = 1e9;
  wishes.queryRow = std::numeric_limits<double>::quiet_NaN();
  viewer.wish(wishes);
  EXPECT_EQ(publisher.wishes().rate, 10);
  EXPECT_EQ(publisher.wishes().queryRow, -1);
}

TEST_F(WatchedChannel, AFrameThatDoesNotFitIsNotWritten) {
  EXPECT_TRUE(publisher.publish(frameOf(1, kFrameCapacity)));
  EXPECT_FALSE(publisher.publish(frameOf(2, kFrameCapacity + 1)));
  EXPECT_EQ(viewer.take(), frameOf(1, kFrameCapacity));
}

TEST_F(WatchedChannel, NeverBringsATornFrame) {
  std::atomic<bool> isDone{false};
  std::thread trainer([&] {
    for (unsigned i = 0; i < 4000; ++i)
      static_cast<void>(publisher.publish(frameOf(static_cast<unsigned char>(i), 1000 + i % 777)));
    isDone = true;
  });
  int taken = 0;
  while (!isDone || taken == 0) {
    const auto frame = viewer.take();
    if (!frame) continue;
    ++taken;
    ASSERT_GE(frame->size(), 1000U);
    for (const std::byte each : *frame) ASSERT_EQ(each, frame->front());
  }
  trainer.join();
  EXPECT_GT(taken, 0);
}

TEST_F(Channel, ASegmentIsThisUsersAloneAndGoneWhenTheWindowCloses) {
  {
    Viewer viewer(::getpid(), run);
    static_cast<void>(viewer.beat());
    ASSERT_TRUE(hasSegment(::getpid(), run));
    const auto mode =
        std::filesystem::status("/dev/shm" + segmentName(::getpid(), run)).permissions();
    EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  EXPECT_FALSE(hasSegment(::getpid(), run));
}

TEST_F(Channel, OfTwoWindowsTheLastOneTakesTheSegmentAway) {
  auto first = std::make_unique<Viewer>(::getpid(), run);
  auto second = std::make_unique<Viewer>(::getpid(), run);
  static_cast<void>(first->beat());
  static_cast<void>(second->beat());
  EXPECT_EQ(second->viewers(), 2);
  first.reset();
  EXPECT_TRUE(hasSegment(::getpid(), run));
  EXPECT_EQ(second->viewers(), 1);
  second.reset();
  EXPECT_FALSE(hasSegment(::getpid(), run));
}

TEST_F(Channel, AWindowLearnsThatTheTrainingEnded) {
  auto publisher = std::make_unique<Publisher>(run);
  Viewer viewer(::getpid(), run);
  static_cast<void>(viewer.beat());
  ASSERT_TRUE(isSeen(*publisher));
  ASSERT_TRUE(publisher->publish(frameOf(9, 50)));
  publisher.reset();
  EXPECT_FALSE(hasSegment(::getpid(), run));
  EXPECT_EQ(viewer.beat(), TrainerState::Ended);
  EXPECT_EQ(viewer.take(), frameOf(9, 50));  // the last frame is not lost
}

TEST_F(Channel, ATrainerThatContinuesInTheSameProcessIsFoundAgain) {
  Viewer viewer(::getpid(), run);
  for (unsigned char i = 1; i <= 2; ++i) {
    Publisher publisher(run);
    static_cast<void>(viewer.beat());
    static_cast<void>(viewer.beat());
    ASSERT_TRUE(isSeen(publisher));
    ASSERT_TRUE(publisher.publish(frameOf(i, 8)));
    EXPECT_EQ(viewer.take(), frameOf(i, 8));
  }
}

TEST_F(Channel, AWindowThatWasKilledLeavesNothingWithTheTrainer) {
  const auto trainer = static_cast<std::int64_t>(::getpid());
  const pid_t window = childThat([&] { static_cast<void>((new Viewer(trainer, run))->beat()); });
  Publisher publisher(run);
  ASSERT_TRUE(isSeen(publisher));
  killAndReap(window);
  EXPECT_TRUE(waitUntil([&] { return !publisher.isWatched(liveNow()); }));
  EXPECT_FALSE(hasSegment(trainer, run));
}

TEST_F(Channel, ATrainerThatWasKilledLeavesNothingWithTheWindow) {
  const pid_t trainer = childThat([&] {
    // Waits for the window before it says that it is ready, from a thread of its own.
    std::thread([run = run] {
      Publisher publisher(run);
      while (!publisher.isWatched(liveNow())) ::usleep(1000);
      static_cast<void>(publisher.publish(frameOf(3, 20)));
      for (;;) ::pause();
    }).detach();
  });
  {
    Viewer viewer(trainer, run);
    ASSERT_TRUE(waitUntil([&] {
      static_cast<void>(viewer.beat());
      return viewer.take() == frameOf(3, 20);
    }));
    killAndReap(trainer);
    EXPECT_EQ(viewer.beat(), TrainerState::Gone);
    EXPECT_FALSE(hasSegment(trainer, run));
  }
  EXPECT_FALSE(hasSegment(trainer, run));
}

TEST_F(Channel, ATrainerThatEndedAndWaitsForItsParentIsGone) {
  const pid_t trainer = childThat([] {});
  Viewer viewer(trainer, run);
  EXPECT_EQ(viewer.beat(), TrainerState::Waiting);
  signalProcess(trainer, SIGKILL);
  EXPECT_TRUE(waitUntil([&] { return viewer.beat() == TrainerState::Gone; }));
  EXPECT_FALSE(hasSegment(trainer, run));
  ::waitpid(trainer, nullptr, 0);
}

TEST_F(Channel, WhereBothWereKilledTheNextOneOnTheMachineTidies) {
  const pid_t trainer = childThat([] {});
  const pid_t window = childThat([&] { static_cast<void>((new Viewer(trainer, run))->beat()); });
  ASSERT_TRUE(hasSegment(trainer, run));
  killAndReap(trainer);
  killAndReap(window);
  ASSERT_TRUE(hasSegment(trainer, run));
  sweepLiveSegments();
  EXPECT_FALSE(hasSegment(trainer, run));
}

TEST_F(Channel, ASweepLeavesAloneWhatIsWatched) {
  Viewer viewer(::getpid(), run);
  static_cast<void>(viewer.beat());
  sweepLiveSegments();
  EXPECT_TRUE(hasSegment(::getpid(), run));
}

TEST_F(Channel, ASegmentOfAnotherSizeOrVersionOrWithHolesIsNotUsed) {
  const std::string name = segmentName(::getpid(), run);
  Publisher publisher(run);
  double now = 1000;
  for (const std::size_t size : {std::size_t{1}, kHeadBytes, kSegmentBytes}) {
    const int descriptor = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    ASSERT_GE(descriptor, 0);
    ASSERT_EQ(::ftruncate(descriptor, static_cast<off_t>(size)), 0);  // holes: no memory behind it
    EXPECT_FALSE(publisher.isWatched(now += 1)) << size;
    ::close(descriptor);
    ::shm_unlink(name.c_str());
  }
  Viewer viewer(::getpid(), run);
  static_cast<void>(viewer.beat());
  const int descriptor = ::shm_open(name.c_str(), O_RDWR, 0600);
  ASSERT_GE(descriptor, 0);
  const std::uint64_t version = kVersion + 1;
  ASSERT_EQ(::pwrite(descriptor, &version, sizeof version, offsetof(Head, version)), 8);
  EXPECT_FALSE(publisher.isWatched(now += 1));
  ::close(descriptor);
}

TEST_F(WatchedChannel, NumbersFromOutsideNeverLeadAReaderAstray) {
  const std::string name = segmentName(::getpid(), run);
  ASSERT_TRUE(publisher.publish(frameOf(1, 64)));
  const int descriptor = ::shm_open(name.c_str(), O_RDWR, 0600);
  ASSERT_GE(descriptor, 0);
  const std::uint64_t huge = ~std::uint64_t{0};
  for (const std::size_t slot : {0U, 1U}) {
    const auto at = static_cast<off_t>(offsetof(Head, slots) + slot * sizeof(Slot) + 8);
    ASSERT_EQ(::pwrite(descriptor, &huge, sizeof huge, at), 8);
  }
  EXPECT_FALSE(viewer.take());
  const std::uint64_t odd = 7;
  ASSERT_EQ(::pwrite(descriptor, &odd, sizeof odd, offsetof(Head, slots)), 8);
  ASSERT_EQ(::pwrite(descriptor, &huge, sizeof huge, offsetof(Head, newest)), 8);
  EXPECT_FALSE(viewer.take());
  ASSERT_TRUE(publisher.publish(frameOf(2, 64)));  // and the trainer counts for itself
  ASSERT_TRUE(publisher.publish(frameOf(3, 64)));
  EXPECT_EQ(viewer.take(), frameOf(3, 64));
  ::close(descriptor);
}

}  // namespace
}  // namespace vitrine::live
