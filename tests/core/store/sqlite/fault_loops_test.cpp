// Every call of SQLite to the file layer fails once and for ever, and so does every allocation: the
// n-th, for n = 1, 2, 3 ... until the work is done without meeting it.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <random>
#include <set>

#include "tests/core/store/fault_vfs.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/long_tier.h"

namespace vitrine::store {
namespace {

namespace fs = std::filesystem;
using testing::FaultVfs, testing::FileCall, testing::RawDatabase;

enum class Failing { Once, ForEver };

/// Counts calls and says which one fails.
struct Countdown {
  std::int64_t calls = 0;   ///< so far
  std::int64_t failAt = 0;  ///< 0: none
  Failing failing = Failing::Once;

  bool isDue() {
    ++calls;
    return failAt > 0 && (failing == Failing::Once ? calls == failAt : calls >= failAt);
  }
  void start(std::int64_t at, Failing how) { *this = {0, at, how}; }
  void end() { failAt = 0; }
};
Countdown countdown;

// --- allocations ---------------------------------------------------------------------------------

bool areAllocationsCounted = false;
sqlite3_mem_methods system_;

void* failingMalloc(int size) {
  return areAllocationsCounted && countdown.isDue() ? nullptr : system_.xMalloc(size);
}
void* failingRealloc(void* memory, int size) {
  return areAllocationsCounted && countdown.isDue() ? nullptr : system_.xRealloc(memory, size);
}

// --- files ---------------------------------------------------------------------------------------

bool areFilesCounted = false;
std::set<FileCall> met;  ///< kinds of calls that failed

int failingCall(FileCall call, int) {
  if (!areFilesCounted || !countdown.isDue()) return SQLITE_OK;
  met.insert(call);
  switch (call) {
    case FileCall::Open:
      return SQLITE_CANTOPEN;
    case FileCall::Delete:
      return SQLITE_IOERR_DELETE;
    case FileCall::Access:
      return SQLITE_IOERR_ACCESS;
    case FileCall::Read:
      return SQLITE_IOERR_READ;
    case FileCall::Write:
      return SQLITE_IOERR_WRITE;
    case FileCall::Truncate:
      return SQLITE_IOERR_TRUNCATE;
    case FileCall::Sync:
      return SQLITE_IOERR_FSYNC;
    case FileCall::Size:
      return SQLITE_IOERR_FSTAT;
    case FileCall::Lock:
      return SQLITE_IOERR_LOCK;
    case FileCall::Shm:
      return SQLITE_IOERR_SHMMAP;
  }
  return SQLITE_IOERR;
}

class FaultLoop : public testing::StoreTest {
 protected:
  static void SetUpTestSuite() {
    ASSERT_EQ(sqlite3_shutdown(), SQLITE_OK);
    ASSERT_EQ(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_), SQLITE_OK);
    sqlite3_mem_methods failing = system_;
    failing.xMalloc = failingMalloc;
    failing.xRealloc = failingRealloc;
    ASSERT_EQ(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing), SQLITE_OK);
    ASSERT_EQ(sqlite3_initialize(), SQLITE_OK);
  }
  static void TearDownTestSuite() {
    ASSERT_EQ(sqlite3_shutdown(), SQLITE_OK);
    ASSERT_EQ(sqlite3_config(SQLITE_CONFIG_MALLOC, &system_), SQLITE_OK);
    ASSERT_EQ(sqlite3_initialize(), SQLITE_OK);
  }

  // No call here is about power.
  FaultLoop() : StoreTest(folderInMemory()), files_(failingCall) {
    {
      RunStore store(template_());
      addRunning(store);
      RunStore::Batch batch;
      for (std::int64_t step = 1; step <= kFirst; ++step) batch.metrics.push_back(moment(step));
      store.append(1, 1, batch);
    }
    ::testing::internal::CaptureStderr();
  }
  ~FaultLoop() override {
    countdown.end();
    areAllocationsCounted = areFilesCounted = false;
    ::testing::internal::GetCapturedStderr();
  }

  static constexpr std::int64_t kFirst = 985, kMore = 10;  // the second batch fills a chunk
  [[nodiscard]] fs::path template_() const { return folder_ / "template.sqlite"; }
  static MetricRecord moment(std::int64_t step) {
    return record(step, {{"train/loss", 1.0 / static_cast<double>(step)},
                         {"train/top1", static_cast<double>(step)}});
  }

  struct Outcome {
    std::int64_t acknowledged = 0;  ///< batches
    std::int64_t commitsAfterIoError = 0;
    bool failed = false;
  };

  /// What a trainer does: opens, stores three batches and a note, reads, closes. Continues after an
  /// error, as a careless caller would.
  Outcome work() const {
    Outcome outcome;
    bool hasIoError = false;
    const auto attempt = [&](auto&& body) {
      try {
        body();
        return true;
      } catch (const Error& error) {
        outcome.failed = true;
        hasIoError |=
            std::string(error.what()).find("failed (disk I/O error)") != std::string::npos;
        return false;
      }
    };
    attempt([&] {
      RunStore store(file(), OpenMode::ReadWrite);
      std::int64_t step = kFirst;
      for (int i = 0; i < 3; ++i) {
        RunStore::Batch batch;
        for (std::int64_t k = 0; k < kMore; ++k) batch.metrics.push_back(moment(step + 1 + k));
        const bool wasBroken = hasIoError;
        if (attempt([&] { store.append(1, 1, batch); })) {
          ++outcome.acknowledged;
          outcome.commitsAfterIoError += wasBroken;
          step += kMore;
        }
        attempt([&] { store.setNote(1, "note " + std::to_string(i)); });
      }
      attempt([&] { static_cast<void>(store.points(1, "train/loss")); });
      attempt([&] { static_cast<void>(store.runs()); });
    });
    return outcome;
  }

  void reset() const {
    for (const char* suffix : {"", "-wal", "-shm", "-journal", ".needs-check"})
      fs::remove(file().string() + suffix);
    fs::copy_file(template_(), file());
  }

  void expectWhole(const Outcome& outcome) const {
    {
      RawDatabase raw(file());
      raw.each("PRAGMA integrity_check", [](sqlite3_stmt* row) {
        ASSERT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(row, 0)), "ok");
      });
    }
    RunStore store(file(), OpenMode::ReadWrite);
    for (const char* name : {"train/loss", "train/top1"}) {
      const auto points = store.points(1, name);
      const auto count = static_cast<std::int64_t>(points.size()) - kFirst;
      ASSERT_GE(count, outcome.acknowledged * kMore) << "an acknowledged point is lost";
      ASSERT_EQ(count % kMore, 0) << "a torn batch";
      for (std::size_t i = 0; i < points.size(); ++i) {
        // A batch that failed in its very last step may be there although no caller was told; then
        // its steps came again.
        ASSERT_EQ(points[i].value, name[6] == 'l' ? 1.0 / static_cast<double>(points[i].step)
                                                  : static_cast<double>(points[i].step));
      }
    }
  }

  /// \param stride  the most values of n that the short tier passes over
  void loop(bool& isCounted, std::int64_t stride) {
    std::mt19937 random(11);
    for (const Failing failing : {Failing::Once, Failing::ForEver}) {
      std::int64_t failures = 0, rounds = 0;
      for (std::int64_t n = 1;;
           n += isLong() ? 1 : 1 + static_cast<std::int64_t>(random()) % (1 + stride)) {
        reset();
        isCounted = true;
        countdown.start(n, failing);
        const Outcome outcome = work();
        const bool isDone = countdown.calls < n;
        countdown.end();
        isCounted = false;
        ++rounds;
        failures += outcome.failed;
        EXPECT_EQ(outcome.commitsAfterIoError, 0) << "written after an I/O error, n = " << n;
        ASSERT_NO_FATAL_FAILURE(expectWhole(outcome)) << "n = " << n;
        if (isDone) {
          EXPECT_FALSE(outcome.failed);
          EXPECT_EQ(outcome.acknowledged, 3);
          break;
        }
      }
      const std::string name = failing == Failing::Once ? "once" : "for_ever";
      RecordProperty(name + "_rounds", std::to_string(rounds));
      RecordProperty(name + "_failures", std::to_string(failures));
      EXPECT_GT(failures, rounds / 3) << "most failures should be noticed";
    }
  }

  FaultVfs files_;
};

TEST_F(FaultLoop, OfEveryCallToTheFileLayerEndsWithAWholeDatabaseAndNothingLost) {
  loop(areFilesCounted, 0);
  for (const FileCall call : {FileCall::Open, FileCall::Access, FileCall::Read, FileCall::Write,
                              FileCall::Sync, FileCall::Size, FileCall::Lock, FileCall::Shm}) {
    EXPECT_EQ(met.count(call), 1u) << static_cast<int>(call);
  }
}

TEST_F(FaultLoop, OfEveryAllocationEndsWithAWholeDatabaseAndNothingLost) {
  loop(areAllocationsCounted, 150);
}

}  // namespace
}  // namespace vitrine::store
