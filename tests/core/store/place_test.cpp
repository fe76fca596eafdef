// Where a database lies, and what others do to its files while it is open.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>

#include "core/store/sqlite/file_system.h"
#include "core/store/sqlite/schema.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/child.h"

namespace vitrine::store {
namespace {

namespace fs = std::filesystem;
using test::Names;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using testing::RawDatabase;

class Place : public testing::StoreTest {
 protected:
  ~Place() override { setFileSystemProbe({}); }
  [[nodiscard]] fs::path beside(const char* suffix) const { return file().string() + suffix; }
};

TEST_F(Place, OnANetworkFileSystemIsRefusedWithTheWayOut) {
  const std::vector<std::pair<std::uint32_t, std::string>> types{
      {0x6969, "NFS"},      {0xFE534D42, "SMB"},  {0xFF534D42, "CIFS"},  {0x01021997, "9P"},
      {0x65735546, "FUSE"}, {0x00C36400, "Ceph"}, {0x0BD00BD0, "Lustre"}};
  for (const auto& [type, name] : types) {
    setFileSystemProbe([number = type](const fs::path&) { return number; });
    const std::string message = test::refusal<RefusedError>([&] { RunStore store(file()); });
    EXPECT_THAT(message, Names(name, "vitrine export", "vitrine import"));
    EXPECT_TRUE(fs::is_empty(folder_)) << "something was made on " << name;
  }
  setFileSystemProbe({});
  { RunStore store(file()); }
  setFileSystemProbe([](const fs::path&) { return 0x6969u; });
  for (const OpenMode mode : {OpenMode::ReadWrite, OpenMode::ReadOnly})
    EXPECT_THROW(RunStore(file(), mode), RefusedError);
}

TEST_F(Place, OnALocalOrUnknownFileSystemIsTaken) {
  for (const std::uint32_t type : {0xEF53u, 0x58465342u, 0x9123683Eu, 0x01021994u, 0x794C7630u}) {
    setFileSystemProbe([=](const fs::path&) { return type; });
    EXPECT_NO_THROW(RunStore store(file())) << type;
  }
  setFileSystemProbe([](const fs::path&) { return std::optional<std::uint32_t>(); });
  EXPECT_NO_THROW(RunStore store(file()));
}

TEST_F(Place, BehindALinkIsWhereTheLinkLeads) {
  fs::create_directory(folder_ / "far");
  { RunStore store(folder_ / "far" / "lab.sqlite"); }
  fs::create_symlink(folder_ / "far" / "lab.sqlite", file());
  const fs::path far = fs::canonical(folder_ / "far");
  setFileSystemProbe([&](const fs::path& asked) { return asked == far ? 0x6969u : 0xEF53u; });
  EXPECT_THROW(RunStore store(file()), RefusedError);
}

TEST_F(Place, BehindALinkHasTheGateAndTheLogOfWhereTheLinkLeads) {
  fs::create_directory(folder_ / "far");
  const fs::path real = folder_ / "far" / "lab.sqlite";
  RunStore direct(real);
  const std::int64_t run = addRun(direct);
  fs::create_symlink(real, file());
  RunStore store(file());
  store.setNote(run, "through the link");
  EXPECT_FALSE(fs::exists(beside(".gate")));
  EXPECT_GT(store.info().at("log_bytes").get<std::int64_t>(), 0);
  {
    WriterLock held(real);
    ASSERT_TRUE(held.lock(std::chrono::milliseconds(0)));
    store.setPatience(std::chrono::milliseconds(10));
    EXPECT_THROW(store.setNote(run, "at the same time"), UnwritableError);
  }
  Database database(file(), Database::Access::Write);
  database.logPolicy.emptyAt = 1;
  database.write([&] { database.run("UPDATE note SET text = 'emptied'"); });
  EXPECT_EQ(fs::file_size(real.string() + "-wal"), 0u);
}

TEST_F(Place, ThatWasLeftByTheFileEndsWriting) {
  const auto moves = std::vector<std::pair<std::string, std::function<void()>>>{
      {"renamed", [&] { fs::rename(file(), folder_ / "elsewhere.sqlite"); }},
      {"removed", [&] { fs::remove(file()); }},
      {"replaced", [&] {
         {
           RunStore other(folder_ / "other.sqlite");
           addRun(other, "of the other");
         }
         fs::rename(folder_ / "other.sqlite", file());
       }}};
  for (const auto& [what, move] : moves) {
    for (const auto& entry : fs::directory_iterator(folder_)) fs::remove_all(entry.path());
    RunStore store(file());
    const std::int64_t run = addRun(store);
    move();
    // Sizes and times, because opening the files here would drop SQLite's locks on them.
    const auto state = [&] {
      std::map<std::string, std::pair<std::uintmax_t, fs::file_time_type>> files;
      for (const auto& entry : fs::directory_iterator(folder_)) {
        if (entry.path().extension() == ".gate") continue;
        files[entry.path().string()] = {entry.file_size(), entry.last_write_time()};
      }
      return files;
    };
    const auto before = state();
    const auto refusal =
        ::testing::EndsWith("' was renamed, removed or replaced while it was open; put it back and "
                            "open it again: nothing is written meanwhile");
    EXPECT_THAT(test::refusal<StoreError>([&] { store.setNote(run, "lost"); }), refusal) << what;
    // A reader hears of it as well, at its next look; and it stays so.
    EXPECT_THAT(test::refusal<StoreError>([&] { (void)store.dataVersion(); }), refusal) << what;
    EXPECT_THROW(store.setNote(run, "lost"), StoreError) << what;
    EXPECT_EQ(state(), before) << what;
  }
}

TEST_F(Place, WhoseGateWasRemovedStillLetsOneWriterThroughAtATime) {
  RunStore first(file());
  const std::int64_t run = addRun(first);
  ASSERT_TRUE(fs::remove(beside(".gate")));
  WriterLock other(file());  // the file again: another one
  ASSERT_TRUE(other.lock(std::chrono::milliseconds(0)));
  WriterLock mine(file());
  EXPECT_FALSE(mine.lock(std::chrono::milliseconds(1)));
  other.unlock();
  first.setNote(run, "written under the new gate");
  struct stat held {};
  ASSERT_EQ(::stat(beside(".gate").c_str(), &held), 0);
  // And a holder of the removed file does not count as locked.
  ASSERT_TRUE(mine.lock(std::chrono::milliseconds(0)));
  fs::remove(beside(".gate"));
  mine.unlock();
  ASSERT_TRUE(mine.lock(std::chrono::milliseconds(100)));
  EXPECT_TRUE(fs::exists(beside(".gate")));
  WriterLock late(file());
  EXPECT_FALSE(late.lock(std::chrono::milliseconds(1)));
}

TEST_F(Place, IsLockedAgainAfterItsFolderWasAway) {
  WriterLock lock(file());
  const fs::path folder = file().parent_path(), away = folder.string() + "-away";
  fs::rename(folder, away);
  EXPECT_THROW((void)lock.lock(std::chrono::milliseconds(10)), StoreError);
  EXPECT_THROW((void)lock.lock(std::chrono::milliseconds(10)), StoreError);
  fs::rename(away, folder);
  EXPECT_TRUE(lock.lock(std::chrono::milliseconds(10)));
}

TEST_F(Place, WithoutItsLogOpensAsItWasBefore) {
  {
    RunStore store(file());
    addRun(store);
  }
  const pid_t child = forkChild();
  if (child == 0) {
    auto* store = new RunStore(file());  // no destructor: the log stays
    store->setNote(1, "in the log");
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_GT(fs::file_size(beside("-wal")), 0u);
  fs::remove(beside("-wal"));
  RunStore store(file());
  EXPECT_EQ(store.note(1), "");
  EXPECT_THAT(store.check(), ElementsAre());
}

TEST_F(Place, WithTheLogOfAnotherDatabaseIsReadOrRefusedButNeverCrashes) {
  const fs::path other = folder_ / "other.sqlite";
  for (const fs::path& database : {file(), other}) {
    RunStore store(database);
    for (int i = 0; i < (database == other ? 40 : 3); ++i) addRun(store, "run");
  }
  const pid_t child = forkChild();
  if (child == 0) {
    auto* store = new RunStore(other);
    for (int i = 0; i < 50; ++i) store->setNote(1 + i % 40, std::string(3000, 'n'));
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  fs::copy_file(other.string() + "-wal", beside("-wal"), fs::copy_options::overwrite_existing);
  fs::remove(beside("-shm"));
  try {
    RunStore store(file());
    const auto problems = store.check();
    // Pages of another file in the middle of this one: it must not pass as whole unless it is.
    if (problems.empty()) {
      EXPECT_THAT(store.runs().size(), AnyOf(3u, 40u));
    }
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), Names("experiments.sqlite"));
  }
}

TEST_F(Place, OfAReaderThatStandsStillDoesNotLetTheLogGrowForEver) {
  Database database(file(), Database::Access::Create);
  openSchema(database);
  database.logPolicy = {1 << 20, 3 << 20};
  const auto write = [&](int megabytes) {
    for (int i = 0; i < megabytes; ++i) {
      database.write([&] {
        database.prepare("INSERT OR REPLACE INTO meta(key, value) VALUES ('x', ?)")
            .with(std::string(1 << 20, static_cast<char>('a' + i % 26)))
            .run();
      });
    }
  };
  const auto logSize = [&] { return fs::file_size(beside("-wal")); };
  write(6);
  EXPECT_LT(logSize(), 3u << 20);
  {
    RawDatabase parked(file());
    parked.run("BEGIN");
    EXPECT_GT(parked.integer("SELECT count(*) FROM meta"), 0);
    ::testing::internal::CaptureStderr();
    write(8);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, ::testing::HasSubstr("because a program keeps reading an old state of it"));
    EXPECT_EQ(said.find("has grown"), said.rfind("has grown")) << "it is said once";
    EXPECT_GT(logSize(), 3u << 20);
  }
  write(1);
  EXPECT_LT(logSize(), 3u << 20);
}

/// Runs `body` in a child that may not write into foreign folders, even when the tests run as root.
bool asNobody(const std::function<bool()>& body) {
  const pid_t child = forkChild();
  if (child == 0) {
    if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(2);
    bool isRight = false;
    try {
      isRight = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    ::_exit(isRight ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0;
}

TEST_F(Place, ThatCannotBeWrittenIsStillRead) {
  {
    RunStore store(file());
    addRun(store, "to be read");
  }
  for (const char* suffix : {"-wal", "-shm"}) fs::remove(beside(suffix));
  ASSERT_EQ(::chmod(file().c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  EXPECT_TRUE(asNobody([&] {
    RunStore store(file(), OpenMode::ReadOnly);
    return store.runs().at(0).name == "to be read" && store.check().empty();
  }));
  EXPECT_TRUE(asNobody([&] {
    try {
      RunStore store(file(), OpenMode::ReadWrite);
    } catch (const UnwritableError&) {
      return true;
    }
    return false;
  }));
  // With a log that is not empty, a part of the content would be missing.
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
  std::ofstream(beside("-wal")) << "something";
  const fs::path link = folder_ / "link.sqlite";
  fs::create_symlink(file(), link);
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  for (const fs::path& name : {file(), link}) {
    EXPECT_TRUE(asNobody([&] {
      try {
        RunStore store(name, OpenMode::ReadOnly);
      } catch (const StoreError& error) {
        return std::string(error.what()).find("while its log") != std::string::npos;
      }
      return false;
    })) << name;
  }
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
}

TEST_F(Place, WhoseWritePermissionIsLostMidRunLosesNothing) {
  auto [store, run] = openWithRunning();
  ASSERT_EQ(::chmod(file().c_str(), 0444), 0);
  store.append(run, 1, {.metrics = {record(1, {{"train/loss", 1.0}})}});
  ASSERT_EQ(::chmod(file().c_str(), 0644), 0);
  EXPECT_EQ(RunStore(file()).points(run, "train/loss").size(), 1u);
}

TEST_F(Place, OfAForeignFileIsReadWithNothingOfItsOwnSwitchedOn) {
  { RunStore store(file()); }
  Database database(file(), Database::Access::Foreign);
  int isOn = 1;
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_ENABLE_VIEW, -1, &isOn);
  EXPECT_EQ(isOn, 0);
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, -1, &isOn);
  EXPECT_EQ(isOn, 0);
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DEFENSIVE, -1, &isOn);
  EXPECT_EQ(isOn, 1);
  // What a database of our own may hold can be exported, and has to come back.
  EXPECT_EQ(
      sqlite3_limit(database.handle(), SQLITE_LIMIT_LENGTH, -1),
      sqlite3_limit(Database(file(), Database::Access::Read).handle(), SQLITE_LIMIT_LENGTH, -1));
  EXPECT_EQ(database.integer("PRAGMA trusted_schema"), 0);
  EXPECT_EQ(database.integer("PRAGMA query_only"), 1);
  EXPECT_THROW(database.execute("SELECT * FROM runs"), StoreError);
  EXPECT_THROW(database.execute("CREATE TABLE x(y)"), StoreError);
  EXPECT_THROW(database.write([] {}), StoreError);
}

}  // namespace
}  // namespace vitrine::store
