// Whose file it is, and what happens to files that are not quite ours.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/store/sqlite/schema.h"
#include "tests/core/store/temp_database.h"

namespace vitrine::store {
namespace {

using test::Fails, test::Names;
using testing::RawDatabase;

class Opening : public testing::StoreTest {
 protected:
  std::string refusal() {
    return test::refusal<StoreError>([&] { RunStore store(file()); });
  }
};

TEST_F(Opening, MakesAFileOfOursWithTheSettingsThatKeepItSafe) {
  { RunStore store(file()); }
  RawDatabase raw(file());
  EXPECT_EQ(raw.integer("PRAGMA application_id"), kApplicationId);
  EXPECT_EQ(raw.integer("PRAGMA user_version"), migrations().back().version);
  raw.each("PRAGMA journal_mode", [](sqlite3_stmt* row) {
    EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(row, 0)), "wal");
  });
  raw.each("SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict "
           "AND name NOT LIKE 'sqlite_%'",
           [](sqlite3_stmt* row) { ADD_FAILURE() << sqlite3_column_text(row, 0); });

  Database database(file(), Database::Access::Write);
  EXPECT_EQ(database.integer("PRAGMA synchronous"), 2);
  EXPECT_EQ(database.integer("PRAGMA foreign_keys"), 1);
  EXPECT_EQ(database.integer("PRAGMA trusted_schema"), 0);
  EXPECT_EQ(database.integer("PRAGMA cell_size_check"), 1);
  EXPECT_EQ(database.integer("PRAGMA mmap_size"), 0);
  EXPECT_EQ(database.integer("PRAGMA busy_timeout"), 5000);
  EXPECT_EQ(database.integer("PRAGMA wal_autocheckpoint"), 1000);
  EXPECT_EQ(database.integer("PRAGMA journal_size_limit"), 64 << 20);
  int isOn = 0;
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DEFENSIVE, -1, &isOn);
  EXPECT_EQ(isOn, 1);
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, -1, &isOn);
  EXPECT_EQ(isOn, 1);
}

TEST_F(Opening, AValueAgainstAConstraintHasACode) {
  { RunStore store(file()); }
  Database database(file(), Database::Access::Write);
  const auto codeOf = [&](const char* sql) {
    try {
      database.write([&] { database.execute(sql); });
    } catch (const ConstraintError& error) {
      EXPECT_NE(error.detail(), "");
      return error.extendedCode();
    }
    return SQLITE_OK;
  };
  EXPECT_EQ(codeOf("INSERT INTO meta(key, value) SELECT key, value FROM meta"),
            SQLITE_CONSTRAINT_PRIMARYKEY);
  EXPECT_EQ(codeOf("INSERT INTO metric_name(name) VALUES (NULL)"), SQLITE_CONSTRAINT_NOTNULL);
  EXPECT_EQ(codeOf("INSERT INTO tag(run_id, tag) VALUES ('x', 'y')"), SQLITE_CONSTRAINT_DATATYPE);
}

TEST_F(Opening, GivesEveryDatabaseAnIdentityThatStays) {
  std::string first;
  {
    RunStore store(file());
    first = store.info().at("uuid");
  }
  EXPECT_EQ(RunStore(file()).info().at("uuid"), first);
  EXPECT_NE(RunStore(folder_ / "other.sqlite").info().at("uuid"), first);
}

TEST_F(Opening, SaysThatAFileDoesNotExistInsteadOfMakingIt) {
  EXPECT_THAT([&] { RunStore store(file(), OpenMode::ReadWrite); },
              Fails<NotFoundError>(file().string()));
  EXPECT_THROW(RunStore(file(), OpenMode::ReadOnly), NotFoundError);
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(Opening, SaysThatAFileIsNoDatabase) {
  std::ofstream(file()) << std::string(5000, 'x');
  EXPECT_EQ(refusal(),
            "'" + file().string() +
                "' is not a Vitrine database: it is not an SQLite file; choose another file");
  std::ifstream stream(file());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), std::string(5000, 'x'));
  EXPECT_FALSE(std::filesystem::exists(file().string() + ".gate")) << "nothing is put next to it";
}

TEST_F(Opening, LeavesADeviceOrAPipeAlone) {
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_THAT(refusal(), Names(file().string()));
  for (const auto mode : {OpenMode::ReadOnly, OpenMode::ReadWrite})
    EXPECT_THAT([&] { RunStore store(file(), mode); }, Fails<StoreError>(file().string()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1)
      << "nothing is put next to it";
}

TEST_F(Opening, SaysThatADatabaseBelongsToAnotherProgram) {
  RawDatabase(file()).run("CREATE TABLE cats(name)");
  EXPECT_EQ(refusal(),
            "'" + file().string() +
                "' is not a Vitrine database: it belongs to another program; choose another file");
  RawDatabase(file()).run("PRAGMA application_id = 1");
  EXPECT_THAT(refusal(), Names(file().string()));
}

TEST_F(Opening, SaysThatADatabaseIsNewerAndLeavesItAlone) {
  { RunStore store(file()); }
  RawDatabase(file()).run("PRAGMA user_version = 700");
  EXPECT_EQ(refusal(),
            "'" + file().string() + "' has schema version 700, this program knows up to " +
                std::to_string(migrations().back().version) + "; open it with a newer Vitrine");
  EXPECT_EQ(RawDatabase(file()).integer("PRAGMA user_version"), 700);
}

TEST_F(Opening, RefusesWhatItDidNotMakeAndNamesIt) {
  { RunStore store(file()); }
  const std::vector<std::pair<std::string, std::string>> foreign{
      {"CREATE TRIGGER evil AFTER UPDATE ON run BEGIN DELETE FROM note; END", "trigger 'evil'"},
      {"CREATE VIEW evil AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT * "
       "FROM r",
       "view 'evil'"},
      {"CREATE TABLE evil(x)", "table 'evil'"},
      {"CREATE INDEX evil ON run(name)", "index 'evil'"},
      {"CREATE VIRTUAL TABLE evil USING fts5(x)", "table 'evil"}};
  for (const auto& [sql, name] : foreign) {
    const auto copy = folder_ / "hostile.sqlite";
    std::filesystem::copy_file(file(), copy, std::filesystem::copy_options::overwrite_existing);
    RawDatabase(copy).run(sql);
    for (const OpenMode mode : {OpenMode::ReadWrite, OpenMode::ReadOnly}) {
      const std::string message = test::refusal<StoreError>([&] { RunStore store(copy, mode); });
      EXPECT_THAT(message, Names("hostile.sqlite", name)) << sql;
    }
    for (const char* suffix : {"", "-wal", "-shm", ".gate"})
      std::filesystem::remove(copy.string() + suffix);
  }
}

TEST_F(Opening, RefusesATableThatWasReplacedOrIsMissing) {
  { RunStore store(file()); }
  RawDatabase(file()).run("DROP VIEW runs; CREATE VIEW runs AS SELECT 1");
  EXPECT_THAT(refusal(), Names("view 'runs'"));
  RawDatabase(file()).run("DROP VIEW runs");
  EXPECT_THAT(refusal(), Names("view 'runs'"));
}

TEST_F(Opening, ReadsWithoutWritingAnything) {
  {
    RunStore store(file());
    addRun(store);
  }
  RunStore store(file(), OpenMode::ReadOnly);
  EXPECT_EQ(store.runs().size(), 1u);
  EXPECT_THAT([&] { store.setNote(1, "no"); }, Fails<StoreError>(file().string()));
}

TEST_F(Opening, LeavesNoLogBehindWhenTheLastWriterCloses) {
  {
    RunStore store(file());
    addRun(store);
  }
  std::error_code error;
  const auto log = std::filesystem::file_size(file().string() + "-wal", error);
  EXPECT_TRUE(error || log == 0) << log;
}

/// The versions there are, and a made-up one after them.
class Migrating : public Opening {
 protected:
  Migrating() {
    steps_.assign(migrations().begin(), migrations().end());
    steps_.push_back(
        {now_ + 1,
         "ALTER TABLE note ADD COLUMN author TEXT; CREATE TABLE added(x INTEGER) STRICT"});
  }
  std::vector<std::filesystem::path> backups() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() == ".bak") found.push_back(entry.path());
    }
    return found;
  }
  const int now_ = migrations().back().version;
  std::vector<Migration> steps_;
};

TEST_F(Migrating, BringsAnOlderFileUpToDateAndKeepsABackup) {
  {
    RunStore store(file());
    addRun(store, "an old run");
  }
  {
    Database database(file(), Database::Access::Write);
    openSchema(database, steps_);
    EXPECT_EQ(database.integer("PRAGMA user_version"), now_ + 1);
    EXPECT_EQ(database.integer("SELECT count(*) FROM run"), 1);
  }
  ASSERT_EQ(backups().size(), 1u);
  RunStore old(backups()[0], OpenMode::ReadOnly);
  EXPECT_EQ(old.runs().at(0).name, "an old run");
  EXPECT_THAT(refusal(), Names(now_ + 1, now_));
}

TEST_F(Migrating, WaitsForRunsInProgressAndNamesOne) {
  {
    RunStore store(file());
    addRunning(store);
  }
  Database database(file(), Database::Access::Write);
  EXPECT_THAT([&] { openSchema(database, steps_); }, Fails<RefusedError>("run 1"));
  EXPECT_EQ(database.integer("PRAGMA user_version"), now_);
  EXPECT_TRUE(backups().empty());
}

TEST_F(Migrating, ChangesNothingWhenAStepFails) {
  { RunStore store(file()); }
  steps_.push_back({now_ + 2, "CREATE TABLE later(x INTEGER) STRICT; SELECT no_such_function()"});
  Database database(file(), Database::Access::Write);
  EXPECT_THROW(openSchema(database, steps_), StoreError);
  EXPECT_EQ(database.integer("PRAGMA user_version"), now_);
  EXPECT_EQ(database.integer("SELECT count(*) FROM sqlite_schema WHERE name IN ('added', 'later')"),
            0);
}

}  // namespace
}  // namespace vitrine::store
