// Holding a checkpoint and removing one, when both happen at the same moment.
#include "core/files/checkpoint_use.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <future>

#include "tests/core/files/made_files.h"
#include "tests/support/file_locks.h"
#include "tests/support/wait_until.h"

namespace vitrine {
namespace {

namespace fs = std::filesystem;

void makeCheckpoint(const fs::path& parent, std::int64_t step, int files) {
  (void)writeCheckpointFolder(parent, step, {}, [files](const fs::path& into) {
    for (int i = 0; i < files; ++i) putFile(into / ("part-" + std::to_string(i)), "x");
  });
}

TEST(CheckpointHold, IsOfTheFolderThatStandsThereWhenItsTurnComes) {
  const TemporaryFolder folder;
  makeCheckpoint(folder.path(), 1, 1);
  const fs::path checkpoint = folder / "step-000000001";
  // A process removes the checkpoint and has its lock; another one is put in its place meanwhile.
  const int remover = ::open(checkpoint.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(remover, 0);
  ASSERT_EQ(::flock(remover, LOCK_EX), 0);
  auto held =
      std::async(std::launch::async, [&] { return std::make_unique<CheckpointHold>(checkpoint); });
  ASSERT_TRUE(waitUntil(isOneWaiting));
  fs::rename(checkpoint, folder / "going");
  makeCheckpoint(folder.path(), 1, 1);
  ::close(remover);
  const auto hold = held.get();
  EXPECT_FALSE(removeCheckpoint(checkpoint)) << "the hold is of a folder that is no longer there";
  EXPECT_TRUE(fs::exists(checkpoint / "manifest.json"));
  EXPECT_TRUE(removeCheckpoint(folder / "going"));
}

TEST(RemovedCheckpoint, LosesItsManifestBeforeAnyOtherFile) {
  const TemporaryFolder folder;
  for (std::int64_t step = 1; step <= 5; ++step) {
    makeCheckpoint(folder.path(), step, 20);
    const fs::path checkpoint = folder / ("step-00000000" + std::to_string(step));
    const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    ASSERT_GE(watch, 0);
    ASSERT_GE(::inotify_add_watch(watch, checkpoint.c_str(), IN_DELETE), 0);
    EXPECT_TRUE(removeCheckpoint(checkpoint));
    alignas(inotify_event) char events[8192];
    const ssize_t got = ::read(watch, events, sizeof events);
    ::close(watch);
    ASSERT_GT(got, static_cast<ssize_t>(sizeof(inotify_event)));
    EXPECT_STREQ(reinterpret_cast<const inotify_event*>(events)->name, "manifest.json");
    EXPECT_FALSE(fs::exists(checkpoint));
  }
}

}  // namespace
}  // namespace vitrine
