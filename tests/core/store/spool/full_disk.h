// A database on a disk that can become full, and processes that die while results wait for it.
#pragma once

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "core/store/spool/spool.h"
#include "core/store/spool/store_sink.h"
#include "tests/core/store/fault_vfs.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/child.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait_until.h"

namespace vitrine::store {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

inline std::atomic<bool> isDiskFull{false};

/// The log cannot grow while `isDiskFull`.
inline int fullDisk(testing::FileCall call, int flags) {
  const bool isLog = (flags & SQLITE_OPEN_WAL) != 0 && call == testing::FileCall::Write;
  return isDiskFull && isLog ? SQLITE_FULL : SQLITE_OK;
}

inline SpoolSettings quickly() {
  SpoolSettings settings;
  settings.retry = 0ms;  // a flush always tries
  settings.reserve = 256 << 10;
  return settings;
}

class SpoolTest : public testing::StoreTest {
 protected:
  /// On a disk: moments are chosen from what storing takes there, and there is another one.
  SpoolTest() : StoreTest(folderOnDisk()) { isDiskFull = false; }
  ~SpoolTest() override { isDiskFull = false; }

  [[nodiscard]] std::vector<fs::path> sideFiles() const {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator entry(spoolFolder(file()), error), end; entry != end; ++entry)
      files.push_back(entry->path());
    return files;
  }
  static std::vector<std::int64_t> stepsOf(RunStore& store, std::int64_t run) {
    std::vector<std::int64_t> steps;
    std::int64_t sequence = 0;
    for (const MetricPoint& point : store.points(run, "train/loss")) {
      EXPECT_GT(point.sequence, sequence) << "out of order at step " << point.step;
      EXPECT_EQ(point.value, static_cast<double>(point.step) / 3);
      sequence = point.sequence;
      steps.push_back(point.step);
    }
    return steps;
  }
  static std::vector<std::int64_t> upTo(std::int64_t last) {
    std::vector<std::int64_t> steps;
    for (std::int64_t step = 1; step <= last; ++step) steps.push_back(step);
    return steps;
  }
  static MetricRecord point(std::int64_t step) {
    return record(step, {{"train/loss", static_cast<double>(step) / 3}});
  }
  /// Runs `body` in a process of its own, while this one calls `beside`. No connection to a
  /// database is open here: none survives a fork. \returns  how the process ended, as waitpid says
  template <typename Body>
  static int inChild(
      Body&& body, const std::function<void()>& beside = [] {}) {
    const pid_t child = forkChild();
    if (child == 0) {
      try {
        body();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "child: %s\n", error.what());
        ::_exit(1);
      }
      ::_exit(0);
    }
    beside();
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }
  /// A process that trains to `steps`, of which the disk takes none, and is killed. Its run is 1.
  /// \param before  called here once the process is there and before it opens the database
  void dieWhileSpooling(
      std::int64_t steps, const std::function<void()>& before = [] {}) const {
    const fs::path go = folder_ / "go";
    const auto train = [&] {
      if (!waitUntil([&] { return fs::exists(go); })) ::_exit(2);
      const testing::FaultVfs disk(fullDisk);
      RunStore store(file());
      const std::int64_t run = addRunning(store);
      RunControl control;
      SpoolSettings settings = quickly();
      settings.retry = 1h;
      StoreSink sink(file(), run, 1, control, settings);
      isDiskFull = true;
      for (std::int64_t step = 1; step <= steps; ++step) {
        sink.metrics(point(step));
        if (step % 5 == 0 || step == steps) sink.flush();
      }
      ::raise(SIGKILL);
    };
    const int status = inChild(train, [&] {
      before();
      std::ofstream(go) << '1';
    });
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
  }
};

class FullDisk : public SpoolTest {
 protected:
  FullDisk() : disk_(fullDisk), store_(file()), run_(addRunning(store_)) {}

  testing::FaultVfs disk_;
  RunStore store_;
  std::int64_t run_;
  RunControl control_;
};

}  // namespace vitrine::store
