// RunStore::query cannot write, whatever it is asked.
#include <gmock/gmock.h>

#include <chrono>
#include <cstddef>
#include <optional>

#include "core/store/sqlite/schema.h"
#include "tests/core/store/temp_database.h"

namespace vitrine::store {
namespace {

using test::Fails;
using ::testing::ElementsAre;

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
      EXPECT_THAT(error.what(),
                  ::testing::StartsWith("this statement does more than read, so nothing was "
                                        "changed; give SELECT, WITH, EXPLAIN or an informative "
                                        "PRAGMA"))
          << sql;
    } catch (const StoreError&) {
      // What SQLite itself does not let through.
    }
  }
  EXPECT_FALSE(std::filesystem::exists(outside));
  EXPECT_EQ(store.runs().at(0).name, "a run");
  EXPECT_EQ(store.query("PRAGMA user_version").rows.at(0).at(0), migrations().back().version);
}

TEST_F(Query, TellsTheByteOfAStatementThatIsWrong) {
  RunStore store(file());
  const auto placeIn = [&](const std::string& sql) -> std::optional<std::size_t> {
    try {
      static_cast<void>(store.query(sql));
    } catch (const SqlError& error) {
      return error.place;
    }
    ADD_FAILURE() << "accepted: " << sql;
    return std::nullopt;
  };
  EXPECT_EQ(placeIn("SELECT id, nope FROM runs"), std::optional<std::size_t>(11));
  EXPECT_EQ(placeIn("SELECT 'FRM' FRM FRM runs"), std::optional<std::size_t>(17));
  EXPECT_EQ(placeIn("SELECT 1 FROM runs_of, no_such"), std::optional<std::size_t>(14));
  EXPECT_EQ(placeIn("SELECT (1 +"), std::optional<std::size_t>(11)) << "it ends too early";
  EXPECT_EQ(placeIn("SELECT id FROM runs ORDER BY 99"), std::nullopt) << "SQLite names none";
}

TEST_F(Query, RefusesASecondStatement) {
  RunStore store(file());
  EXPECT_EQ(test::refusal<RefusedError>(
                [&] { static_cast<void>(store.query("SELECT 1; DELETE FROM run")); }),
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
  EXPECT_THAT([&] { static_cast<void>(store.query("SELECT no_such FROM runs")); },
              Fails<StoreError>("no_such"));
  EXPECT_EQ(
      test::refusal<SqlError>([&] { static_cast<void>(store.query("SELECT * FROM metric")); }),
      "SQL error: no such table: metric; did you mean 'metrics'?");
  EXPECT_EQ(test::refusal<SqlError>(
                [&] { static_cast<void>(store.query("SELECT m.valu FROM Metrics m")); }),
            "SQL error: no such column: m.valu; did you mean 'value'?");
  EXPECT_EQ(test::refusal<StoreError>([&] { static_cast<void>(store.query("  ")); }),
            "there is no SQL statement; give one, for example SELECT * FROM runs");
}

TEST_F(Query, SaysThatTheDatabaseIsDamagedAndNotThatTheSqlIsWrong) {
  { RunStore store(file()); }
  testing::RawDatabase(file()).run(
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM "
      "sqlite_schema WHERE type = 'index' LIMIT 1) WHERE name = 'event'");
  RunStore store(file(), OpenMode::ReadOnly);
  EXPECT_THAT([&] { static_cast<void>(store.query("SELECT * FROM event")); },
              Fails<StoreError>(file().string(), "vitrine db check"));
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
  RunStore::QueryLimits limits{.rows = 5};
  EXPECT_EQ(store.query(five + "SELECT i FROM n", limits).rows.size(), 5u);
  EXPECT_FALSE(store.query(five + "SELECT i FROM n", limits).isCut);
  limits.rows = 4;
  EXPECT_EQ(store.query(five + "SELECT i FROM n", limits).rows.size(), 4u);
  EXPECT_TRUE(store.query(five + "SELECT i FROM n", limits).isCut);
}

TEST_F(Query, StopsWhenItIsTold) {
  RunStore store(file());
  const std::atomic<bool> isStopped = true;
  RunStore::QueryLimits limits{.isStopped = &isStopped};
  EXPECT_EQ(test::refusal<StoreError>([&] {
              static_cast<void>(
                  store.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                              "SELECT max(i) FROM n",
                              limits));
            }),
            "the query was stopped");
}

/// A text of that many letters, as SQL.
std::string letters(int count, char letter) {
  return "printf('%.*c', " + std::to_string(count) + ", '" + letter + "')";
}

// No interrupt reaches into a function of SQLite: each of these would take from 20 s to minutes.
TEST_F(Query, RefusesAFunctionThatTakesLongerThanItsLimit) {
  RunStore store(file());
  const std::string x = letters(100'000, 'a'), y = letters(100'000, 'b') + " || 'a'";
  const std::string object =
      "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) SELECT "
      "json_group_object('k' || i, 1) FROM n)";
  for (const std::string& call :
       {"trim(" + x + ", " + y + ")", "ltrim(" + x + ", " + y + ")", "rtrim(" + x + ", " + y + ")",
        "instr(" + x + ", " + y + ")", "replace(" + x + ", " + y + ", '')",
        "json_patch(" + object + ", " + object + ")"}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THAT([&] { static_cast<void>(store.query("SELECT length(" + call + ")")); },
                Fails<StoreError>("substr()"))
        << call;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10)) << call;
  }
  const std::string pattern = "'%' || " + letters(20'000, 'a') + " || '%'";
  EXPECT_THAT([&] { static_cast<void>(store.query("SELECT " + x + " LIKE " + pattern)); },
              Fails<StoreError>("like()", "20,002", "100,000"));
}

TEST_F(Query, HasTheFunctionsOfSqliteAsTheyAre) {
  RunStore store(file());
  const auto table = store.query(
      "SELECT instr('a\u00e4b', 'b'), instr(x'0102', x'02'), instr(NULL, 'a'), instr(123, 2), "
      "replace('abcabc', 'b', 'xy'), trim('xxaxx', 'x'), ltrim('xxa', 'x'), rtrim('axx', 'x'), "
      "trim('  a '), 'Abc' LIKE 'a%', 'a%c' LIKE 'a!%c' ESCAPE '!', 'abc' GLOB 'A*', "
      "json_object('o', json_patch('{\"a\":1}', '{\"b\":2}')), NULL LIKE 'a'");
  EXPECT_EQ(Json(table.rows).dump(),
            R"([[3,2,null,2,"axycaxyc","a","a","a","a",1,1,0,"{\"o\":{\"a\":1,\"b\":2}}",null]])");
  EXPECT_THAT([&] { static_cast<void>(store.query("SELECT 'a' LIKE 'b' ESCAPE 'cc'")); },
              Fails<StoreError>("ESCAPE"));
}

TEST_F(Query, StopsInTimeBetweenRowsThatTakeLong) {
  RunStore store(file());
  RunStore::QueryLimits limits{.time = std::chrono::milliseconds(100)};
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(
      [&] {
        static_cast<void>(store.query(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000) "
            "SELECT max(length(hex(zeroblob(5000000 + i)))) FROM n",
            limits));
      },
      Fails<StoreError>("0.1 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

TEST_F(Query, RefusesAValueThatIsTooLarge) {
  RunStore store(file());
  EXPECT_THAT([&] { static_cast<void>(store.query("SELECT hex(zeroblob(40000000))")); },
              Fails<StoreError>("67.1 MB"));
}

}  // namespace
}  // namespace vitrine::store
