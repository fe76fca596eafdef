// Where results wait when the room for them is used up itself.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tests/core/store/full_database.h"
#include "tests/core/store/spool/full_disk.h"

namespace vitrine::store {
namespace {


TEST_F(SpoolTest, ContinuesOnAnotherDiskAndThenInMemoryWhenItsOwnRoomIsUsedUp) {
  const TemporaryFolder other(folderInMemory());
  const fs::path elsewhere = other.path();
  struct stat here {
  }, there{};
  ASSERT_EQ(::stat(folder_.c_str(), &here), 0);
  ASSERT_EQ(::stat(elsewhere.c_str(), &there), 0);
  if (here.st_dev == there.st_dev) GTEST_SKIP() << "there is no second file system to write to";
  const auto run = [&](bool isKilled) {
    return inChild([&] {
      RunStore store(file());
      const std::int64_t id = addRunning(store);
      RunControl control;
      SpoolSettings settings = quickly();
      settings.reserve = 64 << 10;
      settings.elsewhere = {elsewhere};
      ::signal(SIGXFSZ, SIG_IGN);
      // No file can grow beyond this: to SQLite a limit on files looks like a broken disk.
      StoreSink sink(file(), id, 1, control, settings);
      const rlimit limit{96 << 10, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      std::int64_t step = 0;
      bool isDurable = true;
      while (isDurable && step < 100'000) {
        for (int i = 0; i < 100; ++i) sink.metrics(point(++step));
        try {
          sink.flush();
        } catch (const StoreError&) {
          isDurable = false;  // both are full
        }
      }
      if (sink.waitingBytes() < 150'000 || isDurable) ::_exit(2);
      const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &none);
      if (isKilled) ::raise(SIGKILL);
      sink.flush();
      if (stepsOf(store, id) != upTo(step) || sink.waitingBytes() != 0) ::_exit(3);
    });
  };
  const auto filesThere = [&] {
    return std::distance(fs::directory_iterator(elsewhere), fs::directory_iterator());
  };
  EXPECT_EQ(run(false), 0);
  EXPECT_EQ(filesThere(), 0) << "it is removed once its content is stored";
  EXPECT_TRUE(WIFSIGNALED(run(true)));
  EXPECT_EQ(filesThere(), 1);
  if (::geteuid() == 0) {
    const fs::path second = fs::directory_iterator(elsewhere)->path();
    ASSERT_EQ(::chown(second.c_str(), 65534, ::getegid()), 0);
    ::testing::internal::CaptureStderr();
    { RunStore refusing(file()); }
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                test::Names(second.filename().string(), "belongs to another user"));
    EXPECT_EQ(filesThere(), 1) << "nothing of it is read, and nothing is lost";
    ASSERT_EQ(::chown(second.c_str(), ::geteuid(), ::getegid()), 0);
  }
  RunStore store(file());
  const auto steps = stepsOf(store, 2);
  EXPECT_GT(steps.size(), 1000u);
  EXPECT_EQ(steps, upTo(static_cast<std::int64_t>(steps.size())));
  EXPECT_EQ(filesThere(), 0);
  EXPECT_FALSE(fs::exists(file().string() + ".needs-check")) << "nothing is wrong with the disk";
}

TEST_F(SpoolTest, LosesNothingOnADiskThatIsReallyFull) {
  const fs::path small = folder_ / "small";
  fs::create_directory(small);
  constexpr int kNoMount = 77;
  const fs::path database = small / "experiments.sqlite", filler = small / "filler";
  const int status = inChild([&] {
    // Seen by this process alone, and gone with it.
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=8m") != 0) {
      ::_exit(kNoMount);
    }
    RunStore store(database);
    const std::int64_t run = addRunning(store);
    RunControl control;
    StoreSink sink(database, run, 1, control, quickly());
    std::int64_t step = 0;
    const auto train = [&](std::int64_t steps) {
      for (std::int64_t i = 0; i < steps; ++i) sink.metrics(point(++step));
      sink.flush();
    };
    train(100);
    {
      std::ofstream all(filler, std::ios::binary);
      const std::string block(4096, 'x');
      std::int64_t blocks = 0;
      while (all.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
        if (++blocks > 4096) ::_exit(6);  // 16 MB: it is not the small one
      }
    }
    for (int round = 0; round < 20; ++round) train(1000);
    if (sink.waitingBytes() < 500'000) ::_exit(2);
    if (stepsOf(store, run).size() >= 20'100) ::_exit(3);
    fs::remove(filler);
    train(100);
    if (stepsOf(store, run) != upTo(step)) ::_exit(4);
    if (!store.check().empty()) ::_exit(5);
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMount)
    GTEST_SKIP() << "mounting a small file system needs root";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace vitrine::store
