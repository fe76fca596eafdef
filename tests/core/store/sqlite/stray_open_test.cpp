// Only SQLite opens the files of a database: closing a descriptor of one drops SQLite's locks
// on it. This program puts itself between the libraries and open().
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "core/store/exchange/exchange.h"
#include "core/store/maintenance/maintenance.h"
#include "core/store/run_store.h"
#include "tests/support/temporary_folder.h"

namespace {

std::mutex mutex;
std::string watched;  ///< the database
int bySqlite = 0;
std::vector<std::string> byOthers;

/// Notes who opened the database, its log or its shared memory. \param caller  an address in it
void note(const char* path, const void* caller) {
  const std::lock_guard lock(mutex);
  if (watched.empty() || path == nullptr) return;
  const std::string file = path;
  if (file != watched && file != watched + "-wal" && file != watched + "-shm") return;
  Dl_info info{};
  const bool isKnown = ::dladdr(caller, &info) != 0 && info.dli_fname != nullptr;
  if (isKnown && std::strstr(info.dli_fname, "libsqlite3") != nullptr) {
    ++bySqlite;
  } else {
    byOthers.push_back(file + " by " + (isKnown ? info.dli_fname : "?"));
  }
}

int forward(int folder, const char* path, int flags, mode_t mode) {
  return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}

mode_t modeOf(int flags, va_list rest) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}

}  // namespace

#define VITRINE_MODE                       \
  va_list rest;                            \
  va_start(rest, flags);                   \
  const mode_t mode = modeOf(flags, rest); \
  va_end(rest);                            \
  note(path, __builtin_return_address(0))

#pragma GCC visibility push(default)
extern "C" {
int open(const char* path, int flags, ...) {
  VITRINE_MODE;
  return forward(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  VITRINE_MODE;
  return forward(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  VITRINE_MODE;
  return forward(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  VITRINE_MODE;
  return forward(folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* how) {
  note(path, __builtin_return_address(0));
  static const auto next =
      reinterpret_cast<FILE* (*)(const char*, const char*)>(::dlsym(RTLD_NEXT, "fopen"));
  return next(path, how);
}
FILE* fopen64(const char* path, const char* how) {
  note(path, __builtin_return_address(0));
  static const auto next =
      reinterpret_cast<FILE* (*)(const char*, const char*)>(::dlsym(RTLD_NEXT, "fopen64"));
  return next(path, how);
}
}
#pragma GCC visibility pop

namespace vitrine::store {
namespace {

namespace fs = std::filesystem;

class StrayOpen : public ::testing::Test {
 protected:
  StrayOpen() {
    const std::lock_guard lock(mutex);
    watched = (folder_ / "lab.sqlite").string();
    bySqlite = 0;
    byOthers.clear();
  }
  ~StrayOpen() override {
    const std::lock_guard lock(mutex);
    watched.clear();
  }
  const TemporaryFolder own_;
  const fs::path folder_ = own_.path();
};

TEST_F(StrayOpen, IsNoticedHere) {
  std::ofstream(folder_ / "lab.sqlite") << "x";
  EXPECT_EQ(byOthers.size(), 1u);
  const int descriptor = ::open((folder_ / "lab.sqlite-wal").c_str(), O_RDONLY);
  EXPECT_LT(descriptor, 0);
  EXPECT_EQ(byOthers.size(), 2u);
}

TEST_F(StrayOpen, IsDoneByNothingTheStoreDoes) {
  const fs::path file = folder_ / "lab.sqlite";
  {
    RunStore store(file);
    const std::int64_t id = store.addRuns(store.experiment("x", ""), {{.name = "a run"}}).front();
    const std::int64_t segment = store.openSegment(id, 0, thisWorker(), Json::object());
    store.append(id, segment, {.metrics = {{1, 0.1, 0.2, {{"train/loss", 1.0}}}}});
    (void)store.query("SELECT * FROM metrics");
    (void)store.info();
    (void)store.check();
    (void)store.dataVersion();
    (void)store.reapLostRuns();
    backupDatabase(file, folder_ / "backup.sqlite");
    (void)checkContents(file, CheckpointFiles::Verified);
    (void)databaseSpace(file);
    const std::vector<std::int64_t> ids{id};
    for (const char* name : {"out.vitrine", "out.csv", "out.jsonl", "board"})
      exportRuns(file, ids, folder_ / name, exportFormatOf(name), ExportedCheckpoints::All);
    (void)importRuns(file, folder_ / "out.vitrine", Duplicates::Copy, "");
    (void)importRuns(file, folder_ / "board", Duplicates::Copy, "");
    store.setState(id, RunState::Done);
    (void)RunStore(file, OpenMode::ReadOnly).runs();
    compactDatabase(file);
  }
  EXPECT_GT(bySqlite, 0) << "the test sees nothing";
  EXPECT_THAT(byOthers, ::testing::ElementsAre());
}

}  // namespace
}  // namespace vitrine::store
