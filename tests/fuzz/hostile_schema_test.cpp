// Databases that hold code: triggers, views, virtual tables, generated columns, checks, defaults
// and indexes on expressions. All are refused before anything of theirs runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "core/base/error.h"
#include "core/store/exchange/exchange.h"
#include "core/store/maintenance/maintenance.h"
#include "core/store/run_store.h"
#include "core/store/search.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace vitrine {
namespace {

namespace fs = std::filesystem;

int calls = 0;

/// canary(): known to every connection of this process, and harmless as far as SQLite is told, so
/// that nothing but never being asked keeps it from being called.
void canary(sqlite3_context* context, int, sqlite3_value**) {
  ++calls;
  sqlite3_result_int(context, 1);
}

int addCanary(sqlite3* handle, char**, const struct sqlite3_api_routines*) {
  return sqlite3_create_function(handle, "canary", -1,
                                 SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC, nullptr,
                                 canary, nullptr, nullptr);
}

class HostileSchema : public ::testing::Test {
 protected:
  HostileSchema() {
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(addCanary));
    store::RunStore store(good());
    store::NewRun run{.name = "a run"};
    const auto id = store.addRuns(store.experiment("x", ""), {run}).front();
    store.setNote(id, "a note");
    store.setTags(id, {"tag"});
  }
  ~HostileSchema() override { sqlite3_reset_auto_extension(); }
  [[nodiscard]] fs::path good() const { return folder_ / "good.sqlite"; }
  [[nodiscard]] fs::path evil() const { return folder_ / "evil.sqlite"; }

  /// The good file with `sql` done to it by another program.
  void make(const std::string& sql) {
    for (const char* suffix : {"", "-wal", "-shm", ".gate"}) fs::remove(evil().string() + suffix);
    fs::copy_file(good(), evil());
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(evil().c_str(), &handle), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, ("PRAGMA journal_mode = DELETE;" + sql).c_str(), nullptr,
                           nullptr, &error),
              SQLITE_OK)
        << sql << ": " << (error != nullptr ? error : "");
    sqlite3_free(error);
    sqlite3_close(handle);
  }

  const TemporaryFolder own_;
  const fs::path folder_ = own_.path();
};

/// Makes object `evil` out of `%`, an expression.
std::vector<std::string> hostileSchemas() {
  const std::vector<std::string> places{
      "CREATE TRIGGER evil AFTER INSERT ON note BEGIN SELECT %; END",
      "CREATE TRIGGER evil BEFORE UPDATE ON run BEGIN SELECT %; END",
      "CREATE TRIGGER evil AFTER DELETE ON tag WHEN % BEGIN DELETE FROM run; END",
      "CREATE TRIGGER evil INSTEAD OF INSERT ON runs BEGIN SELECT %; END",
      "CREATE VIEW evil AS SELECT % AS x",
      "DROP VIEW runs; CREATE VIEW runs AS SELECT % AS id",
      "DROP VIEW queue; CREATE VIEW queue AS SELECT *, % FROM queue_entry",
      "DROP TABLE note; CREATE VIEW note AS SELECT % AS run_id, 'x' AS text, '' AS changed_at",
      "DROP TABLE meta; CREATE VIEW meta AS SELECT 'uuid' AS key, % AS value",
      "DROP TABLE run; CREATE VIEW run AS SELECT % AS id",
      "CREATE TABLE evil(x CHECK (%))",
      "CREATE TABLE evil(x DEFAULT (%))",
      "CREATE TABLE evil(x, y AS (%))",
      "CREATE TABLE evil(x, y AS (%) STORED)",
      "CREATE INDEX evil ON run(name) WHERE %",
      "CREATE INDEX evil ON run(%)",
      "CREATE UNIQUE INDEX evil ON note(%)",
      "ALTER TABLE note ADD COLUMN evil TEXT AS (%)",
      "ALTER TABLE note ADD COLUMN evil TEXT CHECK (%)",
  };
  const std::vector<std::string> expressions{
      "canary(1)",
      "(WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r)"};
  std::vector<std::string> all;
  for (const std::string& place : places) {
    for (const std::string& expression : expressions) {
      // Subqueries are for views and triggers alone.
      const bool isQuery = expression.front() == '(';
      if (isQuery && place.find("VIEW") == std::string::npos &&
          place.find("TRIGGER") == std::string::npos)
        continue;
      std::string sql = place;
      sql.replace(sql.find('%'), 1, expression);
      all.push_back(sql);
    }
  }
  for (const char* sql : {
           "CREATE VIRTUAL TABLE evil USING fts5(x)",
           "CREATE VIRTUAL TABLE evil USING fts4(x)",
           "CREATE VIRTUAL TABLE evil USING rtree(id, a, b)",
           "DROP TABLE note; CREATE VIRTUAL TABLE note USING fts5(run_id, text, changed_at)",
           "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'trigger' WHERE name = "
           "'note'",
           "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE note(' WHERE "
           "name = 'note'",
           "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE note(run_id, "
           "text DEFAULT (canary(2)), changed_at)' WHERE name = 'note'",
           "CREATE TABLE \"a\x1b[2Jb\nc\"(x)",
       })
    all.push_back(sql);
  return all;
}

TEST_F(HostileSchema, IsRefusedByAllThatTakesADatabaseAndNothingOfItRuns) {
  const std::vector<std::int64_t> runs{1};
  const std::vector<std::pair<const char*, std::function<void()>>> uses{
      {"open for reading", [&] { store::RunStore(evil(), store::OpenMode::ReadOnly); }},
      {"open for writing", [&] { store::RunStore(evil(), store::OpenMode::ReadWrite); }},
      {"check", [&] { static_cast<void>(checkContents(evil(), store::CheckpointFiles::Present)); }},
      {"backup", [&] { store::backupDatabase(evil(), folder_ / "backup.sqlite"); }},
      {"compact", [&] { store::compactDatabase(evil()); }},
      {"space", [&] { static_cast<void>(store::databaseSpace(evil())); }},
      {"search", [&] { static_cast<void>(store::searchRuns(evil(), "a", 9, folder_ / "index")); }},
      {"export",
       [&] {
         exportRuns(evil(), runs, folder_ / "x.vitrine", store::ExportFormat::Sqlite,
                    store::ExportedCheckpoints::None);
       }},
      {"import", [&] { importRuns(folder_ / "lab.sqlite", evil(), store::Duplicates::Copy, ""); }},
  };
  const std::vector<std::string> schemas = hostileSchemas();
  EXPECT_GE(schemas.size(), 35u);
  for (const std::string& sql : schemas) {
    SCOPED_TRACE(sql);
    ASSERT_NO_FATAL_FAILURE(make(sql));
    calls = 0;  // making an index or a stored column called it
    for (const auto& [name, use] : uses) {
      const std::string message = test::refusal<Error>(use);
      EXPECT_THAT(message, test::Names("evil.sqlite'")) << name;
      EXPECT_EQ(message.find_first_of("\n\x1b"), std::string::npos) << message;
    }
    EXPECT_EQ(calls, 0) << "its own SQL was executed";
    EXPECT_FALSE(fs::exists(folder_ / "backup.sqlite"));
    EXPECT_FALSE(fs::exists(folder_ / "x.vitrine"));
  }
}

TEST_F(HostileSchema, IsNoneWhenNothingWasAddedSoTheTestCanFail) {
  make("SELECT canary(1)");
  EXPECT_GT(calls, 0) << "the canary is there";
  calls = 0;
  EXPECT_EQ(store::RunStore(evil()).runs().size(), 1u);
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace vitrine
