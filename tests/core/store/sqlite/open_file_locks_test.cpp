// SQLite's locks while the process closes other descriptors of the files, and a log that was
// deleted all the same.
#include "core/store/sqlite/open_file_locks.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/store/spool/store_sink.h"
#include "core/store/sqlite/schema.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/file_locks.h"

namespace vitrine::store {
namespace {

namespace fs = std::filesystem;
using testing::RawDatabase;

constexpr off_t kSharedLock = 0x40000002;  ///< of a connection, in the database
constexpr off_t kUseOfMemory = 128;        ///< of a process, in `-shm`

class OpenFileLocks : public testing::StoreTest {
 protected:
  [[nodiscard]] fs::path beside(const char* suffix) const { return file().string() + suffix; }

  /// What a file dialog does to find the type of a file.
  void closeOtherDescriptors() const {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      const int descriptor = ::open(beside(suffix).c_str(), O_RDONLY | O_CLOEXEC);
      ASSERT_GE(descriptor, 0) << suffix;
      char byte = 0;
      EXPECT_LE(::read(descriptor, &byte, 1), 1);
      ::close(descriptor);
    }
  }

  /// Another program, as the sqlite3 shell, opens the database, reads and closes it.
  void visit() const {
    const std::string command = std::string(STORE_VISITOR) + " '" + file().string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  void deleteLog() const {
    fs::remove(beside("-wal"));
    fs::remove(beside("-shm"));
  }
};

TEST_F(OpenFileLocks, StayWhenAnotherDescriptorOfTheFileIsClosed) {
  auto [store, run] = openWithRun();
  const RunStore reader(file(), OpenMode::ReadOnly);
  ASSERT_TRUE(isLocked(file(), kSharedLock));
  ASSERT_TRUE(isLocked(beside("-shm"), kUseOfMemory));
  closeOtherDescriptors();
  EXPECT_TRUE(isLocked(file(), kSharedLock));
  EXPECT_TRUE(isLocked(beside("-shm"), kUseOfMemory));
  store.setNote(run, "a note");
  EXPECT_TRUE(isLocked(file(), kSharedLock));
}

TEST_F(OpenFileLocks, KeepTheLogThatANoteIsIn) {
  {
    RunStore store(file());
    const std::int64_t run = addRun(store);
    closeOtherDescriptors();
    visit();
    ASSERT_TRUE(fs::exists(beside("-wal"))) << "the other program deleted the log";
    store.setNote(run, "typed after another program closed the database");
    visit();
  }
  RunStore again(file());
  EXPECT_EQ(again.note(1), "typed after another program closed the database");
}

TEST_F(OpenFileLocks, AreGivenBackByTheLastConnection) {
  auto first = std::make_unique<RunStore>(file());
  addRun(*first);
  auto second = std::make_unique<RunStore>(file(), OpenMode::ReadOnly);
  first.reset();
  EXPECT_TRUE(isLocked(file(), kSharedLock));
  second.reset();
  EXPECT_FALSE(isLocked(file(), kSharedLock));
  visit();
  EXPECT_FALSE(fs::exists(beside("-wal"))) << "a lock without an owner kept the log";
}

TEST_F(OpenFileLocks, PassFromAReaderToAWriterOfTheSameProcess) {
  { RunStore store(file()); }  // makes SQLite lock open files
  const fs::path plain = folder_ / "plain.sqlite";
  {
    RawDatabase maker(plain);
    maker.run("PRAGMA journal_mode = DELETE; CREATE TABLE t(x); INSERT INTO t VALUES (1), (2)");
  }
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open_v2(plain.c_str(), &reader, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  sqlite3_stmt* row = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(reader, "SELECT x FROM t", -1, &row, nullptr), SQLITE_OK);
  ASSERT_EQ(sqlite3_step(row), SQLITE_ROW);  // the lock is held with a descriptor for reading
  {
    RawDatabase writer(plain);
    writer.run("BEGIN IMMEDIATE; INSERT INTO t VALUES (3)");
    EXPECT_TRUE(isLocked(plain, kSharedLock));
    sqlite3_finalize(row);
    writer.run("COMMIT");
    EXPECT_FALSE(isLocked(plain, kSharedLock));
    EXPECT_EQ(writer.integer("SELECT count(*) FROM t"), 3);
  }
  sqlite3_close(reader);
  EXPECT_FALSE(isLocked(plain, kSharedLock));
}

TEST_F(OpenFileLocks, KeepAnotherProcessFromWritingMeanwhile) {
  { RunStore store(file()); }
  const fs::path plain = folder_ / "plain.sqlite";
  RawDatabase writer(plain);
  writer.run("PRAGMA journal_mode = DELETE; CREATE TABLE run(x)");
  writer.run("BEGIN EXCLUSIVE");
  EXPECT_TRUE(isLocked(plain, kSharedLock));
  ::close(::open(plain.c_str(), O_RDONLY));
  EXPECT_TRUE(isLocked(plain, kSharedLock));
  writer.run("COMMIT");
  EXPECT_FALSE(isLocked(plain, kSharedLock));
}

TEST_F(OpenFileLocks, OfADeletedLogAreNotWrittenUnder) {
  auto [store, run] = openWithRun();
  store.setNote(run, "before");
  EXPECT_FALSE(store.isLogGone());
  RunStore reader(file(), OpenMode::ReadOnly);
  deleteLog();
  EXPECT_TRUE(store.isLogGone());
  const auto sentence = ::testing::StartsWith(
      "'" + file().string() +
      "' is open here, but another program deleted its log 'experiments.sqlite-wal'");
  EXPECT_THAT(test::refusal<StoreError>([&] { store.setNote(run, "lost"); }), sentence);
  EXPECT_THAT(test::refusal<StoreError>([&] { (void)store.dataVersion(); }), sentence);
  EXPECT_THAT(test::refusal<StoreError>([&] { (void)reader.dataVersion(); }), sentence);
}

TEST_F(OpenFileLocks, OfADeletedLogThatOthersMadeAgainAreNotWrittenUnder) {
  auto [store, run] = openWithRun();
  deleteLog();
  const int log = ::open(beside("-wal").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  const int memory = ::open(beside("-shm").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  ::close(log);
  ::close(memory);
  EXPECT_TRUE(store.isLogGone());
  EXPECT_THROW(store.setNote(run, "lost"), UnwritableError);
}

TEST_F(OpenFileLocks, OfADeletedLogLetResultsWaitInASideFile) {
  std::int64_t run = 0;
  {
    RunStore store(file());
    run = addRun(store);
    const std::int64_t segment = store.openSegment(run, 0, thisWorker(), Json::object());
    {
      // What the run has stored reaches the file; the log that comes after it does not.
      RawDatabase other(file());
      other.run("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    RunControl control;
    StoreSink sink(file(), run, segment, control);
    deleteLog();
    sink.metrics(record(1, {{"train/loss", 0.5}}));
    sink.flush();
  }
  RunStore again(file());
  ASSERT_EQ(again.points(run, "train/loss").size(), 1u);
}

}  // namespace
}  // namespace vitrine::store
