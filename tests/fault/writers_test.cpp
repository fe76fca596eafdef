// Many trainers on one database, and windows that are killed beside them.
// The long tier measures; the short one counts, because a test machine does other things too.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "core/store/sqlite/writer_lock.h"
#include "tests/fault/fault_test.h"
#include "tests/support/child.h"
#include "tests/support/wait_until.h"

namespace vitrine {
namespace {

using ::testing::IsEmpty;
using Clock = std::chrono::steady_clock;

class Writers : public testing::FaultTest {
 protected:
  struct Report {
    std::vector<double> took, gaps;  ///< milliseconds
    std::vector<std::string> errors;
  };

  void startWriters(int count, int periodMs) {
    for (int i = 0; i < count; ++i) {
      writers_.push_back(
          start("write", {"--number", std::to_string(i), "--period", std::to_string(periodMs)}));
    }
    // They begin together, when all of them have read the schema.
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(waitUntil([&] {
        return std::filesystem::exists(file().string() + ".ready-" + std::to_string(i));
      })) << "writer "
          << i;
    }
    std::ofstream(file().string() + ".go");
  }
  std::vector<Report> stopWriters() {
    for (const pid_t writer : writers_) signalProcess(writer, SIGTERM);
    std::vector<Report> reports;
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      EXPECT_EQ(wait(writers_[i]), 0) << "writer " << i;
      Report report;
      std::ifstream stream(file().string() + ".writer-" + std::to_string(i));
      for (std::string line; std::getline(stream, line);) {
        double took = 0, gap = 0;
        if (std::istringstream(line) >> took >> gap) {
          report.took.push_back(took);
          report.gaps.push_back(gap);
        } else {
          report.errors.push_back(line);
        }
      }
      reports.push_back(std::move(report));
    }
    return reports;
  }
  /// Every commit that returned is there, no half of one, and the file is sound.
  void expectAll(const std::vector<Report>& reports) {
    store::RunStore store(file());
    const std::vector<store::RunRow> runs = store.runs();
    ASSERT_EQ(runs.size(), reports.size());
    for (const store::RunRow& run : runs) {
      const auto& report = reports.at(static_cast<std::size_t>(std::stoi(run.name.substr(7))));
      EXPECT_THAT(report.errors, IsEmpty()) << run.name;
      EXPECT_EQ(store.points(run.id, "train/loss").size(), 10 * report.took.size()) << run.name;
      EXPECT_EQ(run.state, store::RunState::Done);
    }
    EXPECT_THAT(store.check(), IsEmpty());
  }
  static double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }

 private:
  std::vector<pid_t> writers_;
};

TEST_F(Writers, ByTheDozensAreNeverToldThatTheDatabaseIsBusy) {
  const int count = isLong() ? 72 : 24;
  const auto length = std::chrono::seconds(isLong() ? 60 : 4);
  store::RunStore reader(file());
  ASSERT_NO_FATAL_FAILURE(startWriters(count, 500));
  std::vector<double> reads;
  for (const auto end = Clock::now() + length; Clock::now() < end;) {
    const auto start = Clock::now();
    ASSERT_GE(reader.dataVersion(), 0);
    const auto runs = reader.runs();
    ASSERT_EQ(runs.size(), static_cast<std::size_t>(count));
    static_cast<void>(reader.points(runs[reads.size() % runs.size()].id, "train/loss"));
    reads.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
  const std::vector<Report> reports = stopWriters();
  expectAll(reports);
  std::vector<double> took;
  std::size_t least = reports.front().took.size(), most = 0;
  for (const Report& report : reports) {
    took.insert(took.end(), report.took.begin(), report.took.end());
    least = std::min(least, report.took.size());
    most = std::max(most, report.took.size());
  }
  std::printf(
      "%d writers, %zu commits, %zu to %zu each: p50 %.1f ms, p99 %.1f ms, longest %.1f ms; reader "
      "p99 %.1f ms\n",
      count, took.size(), least, most, quantile(took, 0.5), quantile(took, 0.99), quantile(took, 1),
      quantile(reads, 0.99));
  if (!isLong()) return;
  // Far above a machine several times slower, and far below the 5 s after which it is busy.
  EXPECT_LT(quantile(took, 0.99), 1000);
  EXPECT_LT(quantile(reads, 0.99), 500);
  EXPECT_GE(static_cast<double>(least), 0.9 * static_cast<double>(most));
}

TEST_F(Writers, ContinueWhileWindowsAreKilledNextToThem) {
  const int cycles = isLong() ? 200 : 15;
  { store::RunStore store(file()); }
  ASSERT_NO_FATAL_FAILURE(startWriters(3, 100));
  std::mt19937 random(11);
  for (int cycle = 0; cycle < cycles; ++cycle) {
    const pid_t window = start("watch");
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 280));
    kill(window);
  }
  const std::vector<Report> reports = stopWriters();
  expectAll(reports);
  double longest = 0;
  for (const Report& report : reports) {
    longest = std::max(longest, quantile(report.gaps, 1));
    EXPECT_GT(report.took.size(), static_cast<std::size_t>(cycles) / 2);
  }
  std::printf("%d windows killed: longest gap between two commits %.1f ms\n", cycles, longest);
  if (isLong()) {
    EXPECT_LT(longest, 1000);
  }
  store::RunStore store(file());
  for (const store::RunRow& run : store.runs())
    EXPECT_THAT(store.note(run.id), ::testing::StartsWith("look ")) << "the windows edited";
}

TEST_F(Writers, WaitForManyBeforeThemLongerThanForOneThatHangs) {
  constexpr auto kPatience = std::chrono::milliseconds(1000);
  std::vector<pid_t> others;
  for (int i = 0; i < 10; ++i) {
    others.push_back(forkChild());
    if (others.back() == 0) {
      store::WriterLock lock(file());
      if (!lock.lock(kPatience)) ::_exit(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      lock.unlock();
      ::_exit(0);
    }
  }
  for (const pid_t other : others) {
    int status = 0;
    ::waitpid(other, &status, 0);
    EXPECT_EQ(status, 0) << "told that the database is busy while it was its turn soon";
  }
  store::WriterLock held(file()), waits(file());
  ASSERT_TRUE(held.lock(kPatience));
  EXPECT_FALSE(waits.lock(std::chrono::milliseconds(100))) << "one that hangs is told";
}

#ifdef VITRINE_STUDIO
TEST_F(Writers, ContinueWhileTheRealWindowIsKilledNextToThem) {
  const int cycles = isLong() ? 200 : 3;
  { store::RunStore store(file()); }
  ASSERT_NO_FATAL_FAILURE(startWriters(3, 100));
  ::setenv("QT_QPA_PLATFORM", "offscreen", 1);
  ::setenv("TMPDIR", folder_.c_str(), 1);
  ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
  ::setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
  ::setenv("XDG_DATA_HOME", (folder_ / "data").c_str(), 1);
  std::mt19937 random(12);
  for (int cycle = 0; cycle < cycles; ++cycle) {
    const pid_t window = startProgram(VITRINE_STUDIO, {"--db", file().string()});
    std::this_thread::sleep_for(std::chrono::milliseconds(50 + random() % 550));
    int status = 0;
    EXPECT_EQ(::waitpid(window, &status, WNOHANG), 0) << "the window ended by itself";
    signalGroup(window, SIGKILL);  // with what it started
    kill(window);
  }
  const std::vector<Report> reports = stopWriters();
  expectAll(reports);
  double longest = 0;
  for (const Report& report : reports) longest = std::max(longest, quantile(report.gaps, 1));
  std::printf("%d times the real window killed: longest gap between two commits %.1f ms\n", cycles,
              longest);
  if (isLong()) {
    EXPECT_LT(longest, 1000);
  }
}
#endif

}  // namespace
}  // namespace vitrine
