// RunStore::query cannot write, whatever it is asked.
#include <gmock/gmock.h>

#include "core/store/schema.h"
#include "tests/core/store/temp_database.h"

namespace vitrine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::messageOf;

using Query = testing::StoreTest;

TEST_F(Query, GivesNumbersTextNullAndTheSizeOfBlobs) {
  RunStore store(file());
  const auto table = store.query(
      "-- a comment\nSELECT 1 AS one, 2.5 AS real, 'text' AS word, NULL AS none, x'0102ff' AS "
      "blob;  \n");
  EXPECT_THAT(table.columns, ElementsAre("one", "real", "word", "none", "blob"));
  EXPECT_EQ(Json(table.rows).dump(), R"([[1,2.5,"text",null,{"bytes":3}]])");
}

TEST_F(Query, RefusesEverythingThatWrites) {
  RunStore store(file());
  addRun(store);
  const std::string outside = (folder_ / "outside.sqlite").string();
  for (const std::string& sql :
       std::vector<std::string>{"INSERT INTO note VALUES (1, 'x', '')",
                                "UPDATE run SET name = 'x'",
                                "DELETE FROM run",
                                "DELETE FROM run RETURNING id",
                                "WITH x AS (SELECT 1) UPDATE run SET name = 'x'",
                                "DROP TABLE run",
                                "CREATE TABLE x(y)",
                                "CREATE TEMP TABLE x(y)",
                                "ATTACH '" + outside + "' AS other",
                                "DETACH main",
                                "VACUUM",
                                "VACUUM INTO '" + outside + "'",
                                "REINDEX",
                                "ANALYZE",
                                "BEGIN",
                                "COMMIT",
                                "SAVEPOINT s",
                                "PRAGMA user_version = 9",
                                "PRAGMA query_only = OFF",
                                "PRAGMA journal_mode = DELETE",
                                "PRAGMA writable_schema = ON",
                                "PRAGMA wal_checkpoint",
                                "PRAGMA optimize",
                                "SELECT load_extension('x')",
                                "CREATE VIEW v AS SELECT 1",
                                "ALTER TABLE run RENAME TO x",
                                "SELECT * FROM pragma_wal_checkpoint",
                                "EXPLAIN DELETE FROM run"}) {
    try {
      static_cast<void>(store.query(sql));
      ADD_FAILURE() << "accepted: " << sql;
    } catch (const RefusedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("more than read")) << sql;
    } catch (const StoreError& error) {
      EXPECT_THAT(error.what(), HasSubstr("SQL error")) << sql;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(outside));
  EXPECT_EQ(store.runs().at(0).name, "a run");
  EXPECT_EQ(store.query("PRAGMA user_version").rows.at(0).at(0), migrations().back().version);
}

TEST_F(Query, RefusesASecondStatement) {
  RunStore store(file());
  EXPECT_EQ(
      messageOf<RefusedError>([&] { static_cast<void>(store.query("SELECT 1; DELETE FROM run")); }),
      "there is more than one SQL statement; give one at a time");
  EXPECT_EQ(store.query("SELECT 1; /* only */ -- comments").rows.size(), 1u);
}

TEST_F(Query, AllowsLookingAtTheSchema) {
  RunStore store(file());
  EXPECT_GT(store.query("SELECT name FROM sqlite_schema").rows.size(), 20u);
  EXPECT_EQ(store.query("PRAGMA table_info(runs)").rows.size(), 13u);
  EXPECT_GE(store.query("EXPLAIN QUERY PLAN SELECT * FROM metrics").rows.size(), 1u);
  EXPECT_EQ(store
                .query("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < "
                       "5) SELECT n FROM r")
                .rows.size(),
            5u);
}

TEST_F(Query, SaysWhatIsWrongWithTheSql) {
  RunStore store(file());
  EXPECT_THAT(
      messageOf<StoreError>([&] { static_cast<void>(store.query("SELECT no_such FROM runs")); }),
      HasSubstr("no such column: no_such"));
  EXPECT_THAT(messageOf<StoreError>([&] { static_cast<void>(store.query("  ")); }),
              HasSubstr("there is no SQL statement"));
}

TEST_F(Query, WorksOnAStoreThatIsOpenForReading) {
  { RunStore store(file()); }
  RunStore store(file(), OpenMode::ReadOnly);
  EXPECT_EQ(store.query("SELECT count(*) FROM runs").rows.at(0).at(0), 0);
}

TEST_F(Query, SaysThatThereAreMoreRowsThanAskedFor) {
  RunStore store(file());
  const std::string five =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) ";
  RunStore::QueryLimits limits;
  limits.rows = 5;
  EXPECT_EQ(store.query(five + "SELECT i FROM n", limits).rows.size(), 5u);
  EXPECT_FALSE(store.query(five + "SELECT i FROM n", limits).isCut);
  limits.rows = 4;
  EXPECT_EQ(store.query(five + "SELECT i FROM n", limits).rows.size(), 4u);
  EXPECT_TRUE(store.query(five + "SELECT i FROM n", limits).isCut);
}

TEST_F(Query, StopsWhenItIsTold) {
  RunStore store(file());
  const std::atomic<bool> isStopped = true;
  RunStore::QueryLimits limits;
  limits.isStopped = &isStopped;
  EXPECT_EQ(messageOf<StoreError>([&] {
              static_cast<void>(
                  store.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                              "SELECT max(i) FROM n",
                              limits));
            }),
            "the query was stopped");
}

}  // namespace
}  // namespace vitrine
