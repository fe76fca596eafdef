// Export and import of the SQLite form: nothing lost, nothing twice, nothing half.
#include "core/store/exchange/exchange.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "core/store/exchange/run_copier.h"
#include "core/store/maintenance/maintenance.h"
#include "core/store/sqlite/schema.h"
#include "tests/core/store/fault_vfs.h"
#include "tests/core/store/full_database.h"
#include "tests/core/store/kill_at_commit.h"
#include "tests/support/child.h"

namespace vitrine::store {
namespace {

namespace fs = std::filesystem;
using test::Fails, test::Names;
using testing::contentsOf;
using ::testing::ElementsAre;
using testing::filesBelow, testing::RawDatabase;

class Exchange : public testing::FullDatabase {
 protected:
  [[nodiscard]] fs::path out(const std::string& name) const { return folder_ / name; }

  ExportReport exportTo(const fs::path& to, std::vector<std::int64_t> runs,
                        ExportedCheckpoints checkpoints = ExportedCheckpoints::None,
                        const fs::path& from = {}) const {
    return exportRuns(from.empty() ? file() : from, runs, to, ExportFormat::Sqlite, checkpoints);
  }
  static ImportReport import(const fs::path& to, const fs::path& from,
                             Duplicates duplicates = Duplicates::Skip) {
    return importRuns(to, from, duplicates, "");
  }
};

TEST_F(Exchange, GivesBackEveryRowAndFileAfterTwoWays) {
  fill();
  const ExportReport report = exportTo(out("one.vitrine"), {1, 2, 3}, ExportedCheckpoints::All);
  EXPECT_EQ(report.runs, 3);
  EXPECT_EQ(report.checkpoints, 4);
  EXPECT_EQ(import(out("copy.sqlite"), out("one.vitrine")).runs.size(), 3u);
  exportTo(out("two.vitrine"), {1, 2, 3}, ExportedCheckpoints::All, out("copy.sqlite"));
  const auto one = contentsOf(out("one.vitrine")), two = contentsOf(out("two.vitrine"));
  EXPECT_EQ(one, two);
  EXPECT_FALSE(one.at("exported_file").empty());

  // And against the original, table by table, where numbers of rows may not differ.
  const auto original = contentsOf(file());
  const auto copied = contentsOf(out("copy.sqlite"));
  for (const char* table :
       {"run_config", "run_parameter", "segment", "metric_tail", "clock_chunk", "metric_chunk",
        "event", "artifact", "checkpoint", "generated_image", "generated_text", "run_dependency",
        "note", "tag", "curve_note", "image_tag", "run_mark", "experiment"}) {
    ASSERT_FALSE(original.at(table).empty()) << table;
    EXPECT_EQ(copied.at(table), original.at(table)) << table;
  }
  EXPECT_EQ(filesBelow(filesFolder(out("copy.sqlite"))), filesBelow(filesFolder(file())));
  EXPECT_THAT(checkContents(out("copy.sqlite"), CheckpointFiles::Verified), ElementsAre());
}

TEST_F(Exchange, KeepsEveryBitOfEveryPoint) {
  fill();
  exportTo(out("one.vitrine"), {1});
  import(out("copy.sqlite"), out("one.vitrine"));
  RunStore before(file()), after(out("copy.sqlite"));
  for (const std::string& name : before.metricNames(1)) {
    const auto expected = before.points(1, name), actual = after.points(1, name);
    ASSERT_EQ(actual.size(), expected.size()) << name;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(std::memcmp(&actual[i].value, &expected[i].value, 8), 0) << name << " " << i;
      ASSERT_EQ(actual[i].sequence, expected[i].sequence);
      ASSERT_EQ(actual[i].step, expected[i].step);
    }
  }
}

TEST_F(Exchange, CopiesEveryTableThatBelongsToRuns) {
  { RunStore store(file()); }
  // What belongs to this database alone: news for its windows, and its queue.
  std::set<std::string> copied{"deleted_run", "queue_entry"};
  for (const RunTable& table : runTables()) copied.insert(table.name);
  std::size_t found = 0;
  RawDatabase(file()).each(
      "SELECT m.name FROM sqlite_schema m, pragma_table_xinfo(m.name) c WHERE m.type = 'table' AND "
      "c.name = 'run_id'",
      [&](sqlite3_stmt* row) {
        const std::string table = reinterpret_cast<const char*>(sqlite3_column_text(row, 0));
        EXPECT_EQ(copied.count(table), 1u) << table << " is not exported";
        ++found;
      });
  EXPECT_GE(found, 10u);
}

TEST_F(Exchange, HoldsTheChosenRunsAlone) {
  fill();
  exportTo(out("two.vitrine"), {2});
  RunStore store(out("two.vitrine"), OpenMode::ReadOnly);
  ASSERT_EQ(store.runs().size(), 1u);
  EXPECT_EQ(store.runs()[0].name, "fine-tune");
  EXPECT_EQ(RawDatabase(out("two.vitrine")).integer("SELECT count(*) FROM experiment"), 1);
  EXPECT_THAT([&] { exportTo(out("x.vitrine"), {1, 9}); }, Fails<NotFoundError>("run 9"));
  EXPECT_FALSE(fs::exists(out("x.vitrine")));
}

TEST_F(Exchange, OpensAsADatabaseAndCanBeWrittenTo) {
  fill();
  exportTo(out("one.vitrine"), {1, 2}, ExportedCheckpoints::Best);
  RunStore store(out("one.vitrine"));
  store.setNote(1, "written");
  EXPECT_EQ(store.note(1), "written");
  EXPECT_EQ(store.points(1, "test/top1").size(), RunStore(file()).points(1, "test/top1").size());
  RawDatabase(out("one.vitrine")).each("PRAGMA journal_mode", [](sqlite3_stmt* row) {
    EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(row, 0)), "wal");
  });
}

TEST_F(Exchange, KeepsADependencyOnARunThatIsNotInTheFile) {
  fill();
  exportTo(out("parent.vitrine"), {1});
  exportTo(out("child.vitrine"), {2});
  import(out("copy.sqlite"), out("parent.vitrine"));
  import(out("copy.sqlite"), out("child.vitrine"));
  EXPECT_EQ(RawDatabase(out("copy.sqlite")).integer("SELECT depends_on FROM run WHERE id = 2"), 1);
}

TEST_F(Exchange, TellsCheckpointsThatStayedBehind) {
  fill();
  exportTo(out("none.vitrine"), {1});
  exportTo(out("latest.vitrine"), {1}, ExportedCheckpoints::Latest);
  import(out("none.sqlite"), out("none.vitrine"));
  import(out("latest.sqlite"), out("latest.vitrine"));
  RunStore none(out("none.sqlite")), latest(out("latest.sqlite"));
  EXPECT_TRUE(none.checkpoints(1).empty());
  EXPECT_EQ(none.run(1).latestCheckpoint, -1);
  ASSERT_EQ(latest.checkpoints(1).size(), 1u);
  EXPECT_EQ(latest.run(1).latestCheckpoint, 2300);
  EXPECT_EQ(
      verifyCheckpointFolder(filesFolder(out("latest.sqlite")) / latest.checkpoints(1)[0].folder),
      "");
  EXPECT_THAT(checkContents(out("none.sqlite"), CheckpointFiles::Present), ElementsAre());
}

TEST_F(Exchange, DoesNotExportACheckpointThatIsNotWhole) {
  fill();
  const auto folder = filesFolder(file()) / RunStore(file()).checkpoints(1).back().folder;
  std::ofstream(folder / "model.safetensors", std::ios::app) << "x";
  EXPECT_THAT([&] { exportTo(out("one.vitrine"), {1}, ExportedCheckpoints::Latest); },
              Fails<FileError>("model.safetensors"));
  EXPECT_FALSE(fs::exists(out("one.vitrine")));
}

TEST_F(Exchange, NeverReplacesAFile) {
  fill();
  std::ofstream(out("one.vitrine")) << "precious";
  EXPECT_THAT([&] { exportTo(out("one.vitrine"), {1}); }, Fails<RefusedError>("one.vitrine"));
  EXPECT_EQ(fs::file_size(out("one.vitrine")), 8u);
}

TEST_F(Exchange, NamesTheFileThatWasAskedForWhenTheDiskRefusesIt) {
  fill();
  for (const int code : {SQLITE_FULL, SQLITE_IOERR_WRITE}) {
    const testing::FaultVfs disk(testing::refusingDisk(code));
    EXPECT_THAT([&] { exportTo(out("a.vitrine"), {1}); },
                Fails<StoreError>("'" + out("a.vitrine").string() + "'"));
  }
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_FALSE(entry.path().filename().string().starts_with("a.vitrine")) << entry.path();
}

TEST_F(Exchange, SkipsARunThatIsHereAlready) {
  fill();
  exportTo(out("one.vitrine"), {1, 2});
  import(out("copy.sqlite"), out("one.vitrine"));
  const auto before = contentsOf(out("copy.sqlite"));
  const ImportReport report = import(out("copy.sqlite"), out("one.vitrine"));
  ASSERT_EQ(report.runs.size(), 2u);
  EXPECT_FALSE(report.runs[0].isNew);
  EXPECT_EQ(report.runs[1].id, 2);
  EXPECT_THAT(report.notes[0], Names("run 1", "--again"));
  EXPECT_EQ(contentsOf(out("copy.sqlite")), before);
}

TEST_F(Exchange, MakesACopyThatStandsOnItsOwnWhenAskedAgain) {
  fill();
  exportTo(out("one.vitrine"), {1, 2}, ExportedCheckpoints::All);
  const ImportReport report = import(file(), out("one.vitrine"), Duplicates::Copy);
  ASSERT_EQ(report.runs.size(), 2u);
  RunStore store(file());
  const RunRow copy = store.run(report.runs[0].id), original = store.run(1);
  EXPECT_NE(copy.uuid, original.uuid);
  EXPECT_EQ(copy.name, original.name);
  EXPECT_EQ(copy.logFile, "run-" + copy.uuid + "/run.log");
  EXPECT_EQ(store.init(report.runs[1].id).at("run"), copy.uuid);
  EXPECT_EQ(RawDatabase(file()).integer("SELECT depends_on FROM run WHERE id = 5"),
            report.runs[0].id);
  for (const CheckpointRow& checkpoint : store.checkpoints(copy.id)) {
    EXPECT_EQ(verifyCheckpointFolder(filesFolder(file()) / checkpoint.folder), "");
    EXPECT_TRUE(checkpoint.folder.starts_with("run-" + copy.uuid + "/")) << checkpoint.folder;
  }
  EXPECT_EQ(store.checkpoints(copy.id).size(), 2u);
}

TEST_F(Exchange, StartsNothingBecauseAFileSaysSo) {
  std::int64_t running = 0, queued = 0;
  {
    RunStore store(file());
    running = addRunning(store, "running");
    store.setRequest(running, "stop");
    queued = addRun(store, "queued");
  }
  exportTo(out("live.vitrine"), {running, queued});
  import(out("copy.sqlite"), out("live.vitrine"));
  RunStore store(out("copy.sqlite"));
  EXPECT_EQ(store.run(1).state, RunState::Interrupted);
  EXPECT_EQ(store.run(1).reason, "was running when it was exported on " + thisWorker().host);
  EXPECT_EQ(store.request(1), "");
  EXPECT_EQ(store.run(2).state, RunState::Stopped);
}

TEST_F(Exchange, LeavesWholeRunsWhenItIsKilled) {
  fill();
  {
    RunStore store(file());
    for (int i = 0; i < 4; ++i) train(store, addRun(store, "more"), 40);
  }
  std::vector<std::int64_t> all(7);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i) + 1;
  exportTo(out("all.vitrine"), all, ExportedCheckpoints::All);
  constexpr int kMostCommits = 200;
  int partly = 0;
  bool isKilled = true;
  for (int commit = 1; isKilled && commit < kMostCommits; ++commit) {
    const fs::path target = out("k" + std::to_string(commit) + ".sqlite");
    { RunStore store(target); }
    const pid_t child = forkChild();
    if (child == 0) {
      testing::killAtCommit(target, commit);
      try {
        import(target, out("all.vitrine"));
      } catch (const std::exception&) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    isKilled = WIFSIGNALED(status);
    ASSERT_TRUE(isKilled || WEXITSTATUS(status) == 0);
    ASSERT_THAT(RunStore(target).check(), ElementsAre());
    ASSERT_THAT(checkContents(target, CheckpointFiles::Verified), ElementsAre());
    const std::size_t there = RunStore(target).runs().size();
    if (there > 0 && there < all.size()) ++partly;
    // What is missing comes with the next import.
    import(target, out("all.vitrine"));
    ASSERT_EQ(RunStore(target).runs().size(), all.size());
    ASSERT_THAT(checkContents(target, CheckpointFiles::Verified), ElementsAre());
  }
  EXPECT_FALSE(isKilled) << "the import never ended";
  EXPECT_GT(partly, 0) << "no kill came in the middle";
}

/// An export of the first version, with one run.
void writeOldExport(const fs::path& file) {
  Database old(file, Database::Access::Scratch);
  openSchema(old, migrations().first(1));
  old.write([&] {
    old.execute(
        "INSERT INTO experiment VALUES (1, 'old', '', '2026-01-01T00:00:00.000Z');"
        "INSERT INTO run(uuid, experiment_id, variant, stage, name, seed, state, created_at, "
        "change_sequence) VALUES ('01234567-89ab-4cde-8f01-23456789abcd', 1, '', '', 'old run', "
        "5, 'done', '2026-01-01T00:00:00.000Z', 1);"
        "INSERT INTO run_config VALUES (1, '{}', '{}', 'null')");
  });
}

TEST_F(Exchange, BringsAnExportOfAnOlderVersionUpToDate) {
  if (migrations().size() < 2) GTEST_SKIP() << "there is one version only";
  writeOldExport(out("old.vitrine"));
  const std::string before = sha256OfFile(out("old.vitrine"));
  EXPECT_EQ(import(file(), out("old.vitrine")).runs.size(), 1u);
  EXPECT_EQ(RunStore(file()).run(1).name, "old run");
  EXPECT_EQ(sha256OfFile(out("old.vitrine")), before);
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_EQ(entry.path().string().find(".import-"), std::string::npos) << entry.path();
}

TEST_F(Exchange, LeavesNoCopyOfAnOlderVersionThatItRefusesAndNamesTheFile) {
  if (migrations().size() < 2) GTEST_SKIP() << "there is one version only";
  for (const char* sql : {"PRAGMA foreign_keys = OFF; UPDATE run SET experiment_id = 9",
                          "CREATE VIEW evil AS SELECT 1"}) {
    fs::remove(out("old.vitrine"));
    writeOldExport(out("old.vitrine"));
    RawDatabase(out("old.vitrine")).run(sql);
    const std::string message =
        test::refusal<StoreError>([&] { import(file(), out("old.vitrine")); });
    EXPECT_THAT(message, Names("old.vitrine")) << sql;
    EXPECT_EQ(message.find(".import-"), std::string::npos) << message;
    for (const auto& entry : fs::directory_iterator(folder_))
      EXPECT_EQ(entry.path().string().find(".import-"), std::string::npos) << entry.path();
  }
  EXPECT_EQ(RunStore(file()).runs().size(), 0u);
}

TEST_F(Exchange, SaysThatThereIsNoRoomToBringAnOlderVersionUpToDate) {
  if (migrations().size() < 2) GTEST_SKIP() << "there is one version only";
  { RunStore store(file()); }
  writeOldExport(out("old.vitrine"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{48 << 10, before.rlim_max};
  ASSERT_GT(fs::file_size(out("old.vitrine")), small.rlim_cur);
  ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message =
      test::refusal<FileError>([&] { import(file(), out("old.vitrine")); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_THAT(message, Names("old.vitrine", file().string()));
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_EQ(entry.path().string().find(".import-"), std::string::npos) << entry.path();
}

TEST_F(Exchange, RemovesWhatAKilledOneLeftOfItsTargetAndNothingElse) {
  fill();
  const pid_t dead = forkChild();
  if (dead == 0) ::_exit(0);
  ASSERT_EQ(exitCodeOf(dead), 0);
  const std::string number = std::to_string(dead);
  fs::create_directory(out("a.vitrine.tmp-" + number));
  std::ofstream(out("a.vitrine.tmp-" + number) / "part") << "half";
  std::ofstream(out("a.vitrine.tmp-" + number + "-journal")) << "half";
  const std::set<std::string> others{"a.vitrine.tmp-" + std::to_string(::getppid()),
                                     "a.vitrine.tmp-" + number + ".old", "b.vitrine.tmp-" + number,
                                     "tmp-" + number};
  for (const std::string& name : others) std::ofstream(out(name)) << "theirs";
  exportTo(out("a.vitrine"), {1});
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    if (name.find("tmp-") != std::string::npos) left.insert(name);
  }
  EXPECT_EQ(left, others);
}

TEST_F(Exchange, SaysThatAFileWithTheNameOfADatabaseIsNone) {
  for (const char* name : {"broken.vitrine", "broken.sqlite", "broken.sqlite3", "broken.db"}) {
    std::ofstream(out(name)) << "a page that was downloaded instead";
    EXPECT_THAT([&] { import(file(), out(name)); }, Fails<StoreError>(name, "not an SQLite file"));
  }
}

TEST_F(Exchange, TellsFormsByTheEnding) {
  EXPECT_EQ(exportFormatOf("a.vitrine"), ExportFormat::Sqlite);
  EXPECT_EQ(exportFormatOf("a.b.sqlite"), ExportFormat::Sqlite);
  EXPECT_EQ(exportFormatOf("a.csv"), ExportFormat::Csv);
  EXPECT_EQ(exportFormatOf("a.jsonl"), ExportFormat::JsonLines);
  EXPECT_EQ(exportFormatOf("board"), ExportFormat::TensorBoard);
  EXPECT_EQ(exportFormatOf("board/"), ExportFormat::TensorBoard);
  EXPECT_THAT([&] { (void)exportFormatOf("a.xlsx"); }, Fails<ConfigError>("a.xlsx"));
}

}  // namespace
}  // namespace vitrine::store
