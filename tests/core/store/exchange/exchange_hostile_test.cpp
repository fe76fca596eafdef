// Files to import made with intent, or that broke on the way.
#include <gmock/gmock.h>

#include <chrono>
#include <random>

#include "core/store/exchange/exchange.h"
#include "core/store/maintenance/maintenance.h"
#include "core/store/sqlite/writer_lock.h"
#include "tests/core/store/full_database.h"

namespace vitrine::store {
namespace {

namespace fs = std::filesystem;
using test::Fails;
using test::Names;
using ::testing::ElementsAre;
using testing::RawDatabase;

class HostileFile : public testing::FullDatabase {
 protected:
  void SetUp() override {
    fill();
    exportRuns(file(), std::vector<std::int64_t>{1, 2, 3}, good(), ExportFormat::Sqlite,
               ExportedCheckpoints::All);
  }
  [[nodiscard]] fs::path good() const { return folder_ / "good.vitrine"; }
  [[nodiscard]] fs::path evil() const { return folder_ / "evil.vitrine"; }
  [[nodiscard]] fs::path target() const { return folder_ / "target" / "lab.sqlite"; }

  /// What importing the good file after `sql` says; nothing may have come out of it.
  std::string refusalAfter(const std::string& sql) {
    if (fs::exists(target()) && !RunStore(target()).runs().empty()) {
      fs::remove_all(folder_ / "target");  // of a file whose first runs were sound
    }
    fs::copy_file(good(), evil(), fs::copy_options::overwrite_existing);
    RawDatabase(evil()).run("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; " +
                            sql);
    const std::string before = sha256OfFile(evil());
    const std::string message =
        test::refusal<Error>([&] { importRuns(target(), evil(), Duplicates::Skip, ""); });
    EXPECT_EQ(sha256OfFile(evil()), before) << sql;
    EXPECT_THAT(message, Names("evil.vitrine")) << sql;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    if (!fs::exists(target())) return message;
    EXPECT_THAT(RunStore(target()).check(), ElementsAre()) << sql;
    EXPECT_THAT(checkContents(target(), CheckpointFiles::Verified), ElementsAre()) << sql;
    return message;
  }
};

TEST_F(HostileFile, IsImportedWhenNothingIsWrongWithIt) {
  EXPECT_EQ(importRuns(target(), good(), Duplicates::Skip, "").runs.size(), 3u);
}

TEST_F(HostileFile, IsRefusedForEverythingInItsSchemaThatIsNotOurs) {
  const std::vector<std::string> schemas{
      "CREATE TRIGGER evil AFTER INSERT ON note BEGIN DELETE FROM run; END",
      "CREATE TRIGGER evil INSTEAD OF INSERT ON runs BEGIN DELETE FROM run; END",
      "CREATE VIEW evil AS SELECT 1",
      "CREATE VIEW evil AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT * "
      "FROM r",
      "CREATE TABLE evil(x)",
      "CREATE TABLE evil(x CHECK (length(hex(zeroblob(100000000))) > x))",
      "CREATE TABLE evil(x, y AS (hex(zeroblob(1000000000))))",
      "CREATE INDEX evil ON run(name)",
      "CREATE INDEX evil ON run(length(hex(zeroblob(100000000))))",
      "CREATE UNIQUE INDEX evil ON run(uuid)",
      "CREATE VIRTUAL TABLE evil USING fts5(x)",
      "CREATE VIRTUAL TABLE evil USING rtree(id, a, b)",
      "DROP TABLE note; CREATE TABLE note(run_id, text, changed_at)",
      "DROP TABLE note; CREATE VIEW note AS SELECT 1 AS run_id, 'x' AS text, '' AS changed_at",
      "DROP TABLE note; CREATE VIRTUAL TABLE note USING fts5(run_id, text, changed_at)",
      "DROP TABLE tag",
      "DROP VIEW runs; CREATE VIEW runs AS SELECT load_extension('evil')",
      "DROP INDEX event_by_run",
      "ALTER TABLE note ADD COLUMN evil TEXT DEFAULT 'x'",
      "ALTER TABLE note ADD COLUMN evil TEXT AS (hex(zeroblob(100000000)))",
      "ALTER TABLE run RENAME COLUMN name TO evil",
      "DROP TABLE exported_file; CREATE TABLE exported_file(run_id, path, part, data)",
      "DROP TABLE exported_file; CREATE VIEW exported_file AS SELECT 1 AS run_id, 'x' AS path, 0 "
      "AS part, x'00' AS data",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') "
      "WHERE "
      "name = 'note'",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE note(' WHERE name "
      "= 'note'",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'note'",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'trigger' WHERE name = 'note'",
      "PRAGMA application_id = 1",
      "PRAGMA user_version = 99",
  };
  for (const std::string& sql : schemas) {
    const std::string message = refusalAfter(sql);
    EXPECT_FALSE(message.empty()) << sql;
    EXPECT_EQ(message.find("db check"), std::string::npos) << message << ": checks another file";
    EXPECT_TRUE(RunStore(target()).runs().empty()) << sql;
  }
}

TEST_F(HostileFile, CannotWriteOutsideTheFolderOfItsRun) {
  for (const std::string& path : std::vector<std::string>{
           "../../escaped", "/tmp/vitrine-escaped", "step-000001150/../../../escaped", "..", ".",
           "", "a//b", "a/./b", "./a", "a/", ".hidden", "a\\..\\b", "a b", "a\nb", "$(touch x)",
           "a/b/c/d/e/f/g/h/i", std::string(300, 'a'), "\xff"}) {
    std::string hex;
    for (const char c : path) {
      static constexpr const char* kHex = "0123456789abcdef";
      hex += {kHex[(c >> 4) & 15], kHex[c & 15]};
    }
    const std::string message = refusalAfter("INSERT INTO exported_file VALUES (1, CAST(x'" + hex +
                                             "' AS TEXT), 0, x'00')");
    EXPECT_THAT(message,
                ::testing::EndsWith("', which would not stay in the folder of its run; it is not "
                                    "imported"))
        << path;
    EXPECT_TRUE(RunStore(target()).runs().empty()) << path;
  }
  EXPECT_FALSE(fs::exists("/tmp/vitrine-escaped"));
  EXPECT_FALSE(fs::exists(folder_ / "escaped"));
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "target"))
    EXPECT_TRUE(entry.path().filename().string().starts_with("lab.")) << entry.path();
  EXPECT_THAT(refusalAfter("UPDATE checkpoint SET folder = '../run-x/step-000001150'"),
              Names("../run-x/step-000001150"));
  EXPECT_THAT(refusalAfter("UPDATE checkpoint SET folder = (SELECT 'run-' || uuid FROM run WHERE "
                           "id = 2) || '/step-000000020' WHERE run_id = 1"),
              Names("step-000000020"));
  EXPECT_THAT(refusalAfter("UPDATE run SET uuid = '../../../../../../../../etc/passwd00000' WHERE "
                           "id = 1"),
              Names("UUID"));
}

TEST_F(HostileFile, CannotNameALogOutsideTheFolderOfItsRun) {
  for (const char* log : {"/etc/passwd", "../../../../etc/passwd", "run.log", "."}) {
    EXPECT_THAT(refusalAfter(std::string("UPDATE run SET log_file = '") + log + "' WHERE id = 1"),
                Names("log", log))
        << log;
    EXPECT_TRUE(RunStore(target()).runs().empty()) << log;
  }
}

TEST_F(HostileFile, IsRefusedForJsonThatIsNestedDeeply) {
  const std::string deep =
      "replace(hex(zeroblob(50000)), '0', '[') || replace(hex(zeroblob(50000)), '0', ']')";
  for (const char* change :
       {"UPDATE run_config SET config = '{\"a\":' || # || '}'", "UPDATE run_config SET origins = #",
        "UPDATE run_config SET init = #", "UPDATE segment SET environment = #",
        "UPDATE event SET data = #", "UPDATE artifact SET meta = #"}) {
    std::string sql = change;
    sql.replace(sql.find('#'), 1, deep);
    EXPECT_THAT(refusalAfter(sql), Names("JSON", 128)) << change;
  }
}

TEST_F(HostileFile, IsRefusedForValuesThatDoNotHoldTogether) {
  const std::vector<std::pair<std::string, std::string>> changes{
      {"UPDATE metric_chunk SET data = substr(data, 1, 8)", "values, where its row says"},
      {"UPDATE metric_chunk SET data = x'00'", "not a multiple of 8"},
      {"UPDATE metric_chunk SET maximum = 12345 WHERE id = 2", "whose minimum or maximum"},
      {"UPDATE metric_chunk SET count = 7", "where its row says 7"},
      {"UPDATE clock_chunk SET count = 4000000000000", "a clock of 4000000000000 moments"},
      {"UPDATE clock_chunk SET count = -1", "a clock of -1 moments"},
      {"UPDATE clock_chunk SET step_rest = x'0000'", "a lane of 2 bytes"},
      {"UPDATE clock_chunk SET segment = 77", "belong to no segment"},
      {"UPDATE metric_summary SET minimum = -5 WHERE metric_id = 1", "a summary of"},
      {"UPDATE metric_summary SET tail_rows = 4", "not packed"},
      {"DELETE FROM metric_summary", "a summary"},
      {"UPDATE segment SET number = 9 WHERE number = 2", "segment"},
      {"UPDATE run_config SET config = '{'", "a config in run_config that is not JSON"},
      {"UPDATE event SET data = '[[['", "that is not JSON"},
      {"UPDATE curve_note SET text = hex(zeroblob(101)) WHERE step = 7",
       "has a note that it may not have: a note on the curve 'test/top1' at step 7 has 202"},
      {"INSERT INTO curve_note SELECT 1, 'x', n, 'words' FROM numbers", "1002 notes on its curves"},
      {"UPDATE image_tag SET tag = hex(zeroblob(31)) WHERE tag = '*'",
       "has a tag on an image that it may not have: the tag "},
      {"UPDATE run_mark SET value = '8' WHERE field = 'colour'",
       "has a mark that it may not have: the colour of a run has to be 1 to 7"},
      {"UPDATE artifact SET meta = ''", "that is not JSON"},
      {"DELETE FROM run_config WHERE run_id = 1", "lacks its configuration"},
      {"UPDATE run SET state = 'evil'", "evil"},
      {"UPDATE run SET request = 'rm -rf'",
       "a value that its column may not have (CHECK constraint failed: request IN"},
      {"UPDATE metric_tail SET kind = 9",
       "a value that its column may not have (CHECK constraint failed: kind IN"},
      {"UPDATE metric_tail SET segment = 4", "belong to no segment"},
      {"UPDATE run SET depends_on = 2 WHERE id = 1", "depend on each other in a circle"},
      {"UPDATE run SET depends_on = 1 WHERE id = 1", "depend on each other in a circle"},
      {"UPDATE run SET experiment_id = 99",
       "a row of 'run' refers to a missing row of 'experiment'"},
      {"DELETE FROM metric_name", "refers to a missing row of 'metric_name'"},
      {"UPDATE metric_chunk SET clock_id = 9999", "refers to a missing row of 'clock_chunk'"},
      {"UPDATE metric_chunk SET clock_id = (SELECT max(id) FROM clock_chunk) WHERE run_id = 1",
       "without their clock"},
      {"DELETE FROM exported_file WHERE path LIKE '%manifest.json'", "is not whole"},
      {"UPDATE exported_file SET data = x'00' WHERE path LIKE '%state.json'", "is not whole"},
      {"UPDATE exported_file SET part = 1 WHERE path = 'run.log'", "lacks part 0 of the file"},
  };
  for (const auto& [sql, expected] : changes) {
    EXPECT_THAT(refusalAfter(sql), ::testing::HasSubstr(expected)) << sql;
  }
}

TEST_F(HostileFile, IsReadBeforeItWaitsForOtherWriters) {
  { RunStore store(target()); }
  fs::copy_file(good(), evil());
  RawDatabase(evil()).run("UPDATE exported_file SET data = x'00' WHERE path LIKE '%state.json'");
  WriterLock lock(target());
  ASSERT_TRUE(lock.lock(std::chrono::seconds(5)));
  EXPECT_THAT([&] { importRuns(target(), evil(), Duplicates::Skip, ""); },
              Fails<StoreError>("not whole"));
}

TEST_F(HostileFile, LeavesNoDatabaseWhereThereWasNone) {
  refusalAfter("CREATE TABLE evil(x)");
  EXPECT_FALSE(fs::exists(target().parent_path()));
  // Found when its rows and its files are there already.
  refusalAfter("UPDATE metric_chunk SET count = 7");
  EXPECT_FALSE(fs::exists(target().parent_path()));
  { RunStore store(target()); }
  refusalAfter("CREATE TABLE evil(x)");
  EXPECT_TRUE(fs::exists(target())) << "this one was there before";
}

TEST_F(HostileFile, IsRefusedWhileALogHoldsAPartOfIt) {
  RawDatabase writer(file());
  writer.run("PRAGMA journal_mode = WAL; UPDATE note SET text = 'in the log'");
  ASSERT_GT(fs::file_size(file().string() + "-wal"), 0u);
  EXPECT_THAT([&] { importRuns(target(), file(), Duplicates::Skip, ""); },
              Fails<RefusedError>(file().filename().string() + "-wal"));
  fs::create_symlink(file(), folder_ / "link.sqlite");
  EXPECT_THAT([&] { importRuns(target(), folder_ / "link.sqlite", Duplicates::Skip, ""); },
              Fails<RefusedError>(file().filename().string() + "-wal"));
}

TEST_F(HostileFile, IsNotTheDatabaseItself) {
  EXPECT_THAT([&] { importRuns(file(), file(), Duplicates::Copy, ""); },
              Fails<RefusedError>(file().string()));
  EXPECT_THAT([&] { importRuns(target(), folder_ / "none", Duplicates::Skip, ""); },
              Fails<NotFoundError>("none"));
}

TEST_F(HostileFile, BrokenInAnyByteIsRefusedOrReadAndNeverDamagesTheDatabase) {
  std::ifstream in(good(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  std::mt19937 random(7);
  int refused = 0, imported = 0;
  for (int i = 0; i < 100; ++i) {
    std::string bytes = whole;
    const int kind = i % 3;
    if (kind == 0) {
      bytes.resize(random() % bytes.size());
    } else {
      const int flips = kind == 1 ? 1 : 40;
      for (int k = 0; k < flips; ++k) {
        // The first pages hold the schema: half of all flips go there.
        const std::size_t range =
            k % 2 == 0 ? std::min<std::size_t>(bytes.size(), 60000) : bytes.size();
        bytes[random() % range] ^= static_cast<char>(1 << (random() % 8));
      }
    }
    std::ofstream(evil(), std::ios::binary | std::ios::trunc) << bytes;
    const fs::path to = folder_ / ("m" + std::to_string(i % 4) + ".sqlite");
    try {
      importRuns(to, evil(), Duplicates::Copy, "");
      ++imported;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
  EXPECT_GT(imported, 0);
  for (int i = 0; i < 4; ++i) {
    const fs::path to = folder_ / ("m" + std::to_string(i) + ".sqlite");
    EXPECT_THAT(RunStore(to).check(), ElementsAre());
    EXPECT_THAT(checkContents(to, CheckpointFiles::Present), ElementsAre());
  }
}

}  // namespace
}  // namespace vitrine::store
