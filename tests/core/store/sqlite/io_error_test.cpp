// A disk that fails under the database, and what the next one who opens it is told.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <atomic>

#include "tests/core/store/temp_database.h"
#include "tests/support/has_texts.h"

namespace vitrine::store {
namespace {

using test::Fails;
using ::testing::IsEmpty;
using testing::RawDatabase;

std::atomic<bool> isDiskBroken{false};
const sqlite3_io_methods* realMethods = nullptr;

int failingWrite(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  if (isDiskBroken) return SQLITE_IOERR_WRITE;
  return realMethods->xWrite(file, bytes, count, offset);
}

/// SQLite's own file layer, whose files of logs fail to be written while `isDiskBroken`.
int openFailing(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* outFlags) {
  auto* real = static_cast<sqlite3_vfs*>(vfs->pAppData);
  const int code = real->xOpen(real, name, file, flags, outFlags);
  if (code != SQLITE_OK || (flags & SQLITE_OPEN_WAL) == 0) return code;
  static sqlite3_io_methods methods;
  realMethods = file->pMethods;
  methods = *realMethods;
  methods.xWrite = failingWrite;
  file->pMethods = &methods;
  return code;
}

class IoError : public testing::StoreTest {
 protected:
  IoError() {
    auto* real = sqlite3_vfs_find(nullptr);
    vfs_ = *real;
    vfs_.zName = "failing";
    vfs_.pAppData = real;
    vfs_.xOpen = openFailing;
    sqlite3_vfs_register(&vfs_, /*makeDflt=*/1);
  }
  ~IoError() override {
    isDiskBroken = false;
    sqlite3_vfs_unregister(&vfs_);
  }
  [[nodiscard]] std::filesystem::path mark() const { return file().string() + ".needs-check"; }
  /// A database whose last writer met a broken disk.
  void breakOnce() {
    RunStore store(file());
    const std::int64_t run = addRun(store);
    isDiskBroken = true;
    EXPECT_THAT([&] { store.setNote(run, "lost"); }, Fails<StoreError>("vitrine db check"));
    isDiskBroken = false;
    EXPECT_THAT([&] { store.setNote(run, "later"); }, Fails<StoreError>(file().string()));
  }

  sqlite3_vfs vfs_{};
};

/// What opening the file says on stderr.
std::string saidWhileOpening(const std::filesystem::path& file, OpenMode mode) {
  ::testing::internal::CaptureStderr();
  { const RunStore store(file, mode); }
  return ::testing::internal::GetCapturedStderr();
}

TEST_F(IoError, MarksTheDatabaseSoThatTheNextOpenerChecksItAndSaysSo) {
  EXPECT_THAT(saidWhileOpening(file(), OpenMode::ReadWriteCreate), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(mark()));
  breakOnce();
  EXPECT_TRUE(std::filesystem::exists(mark()));
  for (const OpenMode mode : {OpenMode::ReadWrite, OpenMode::ReadOnly}) {
    const std::string said = saidWhileOpening(file(), mode);
    EXPECT_THAT(said, test::HasTexts("disk I/O error", "it is whole",
                                     "`vitrine db check` clears the mark"));
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
}

TEST_F(IoError, IsForgottenAfterASuccessfulCheck) {
  breakOnce();
  ::testing::internal::CaptureStderr();
  EXPECT_THAT(RunStore(file(), OpenMode::ReadOnly).check(), IsEmpty());
  ::testing::internal::GetCapturedStderr();
  EXPECT_FALSE(std::filesystem::exists(mark()));
  EXPECT_THAT(saidWhileOpening(file(), OpenMode::ReadWrite), IsEmpty());
}

TEST_F(IoError, ThatDamagedTheFileKeepsItFromBeingWritten) {
  breakOnce();
  {
    RawDatabase raw(file());
    raw.run("PRAGMA foreign_keys = OFF; UPDATE run SET experiment_id = 77");
  }
  EXPECT_THAT([&] { RunStore store(file(), OpenMode::ReadWrite); }, Fails<StoreError>("run"));
  EXPECT_THAT(saidWhileOpening(file(), OpenMode::ReadOnly), test::Names("backup"));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(RunStore(file(), OpenMode::ReadOnly).check().size(), 1u);
  ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(std::filesystem::exists(mark())) << "a check that finds damage leaves the mark";
}

}  // namespace
}  // namespace vitrine::store
