// Backups while others write, checks, compaction, and what takes the space.
#include "core/store/maintenance/maintenance.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/core/store/fault_vfs.h"
#include "tests/core/store/full_database.h"
#include "tests/support/child.h"
#include "tests/support/wait_until.h"

namespace vitrine::store {
namespace {

namespace fs = std::filesystem;
using test::Fails, test::Names;
using testing::contentsOf;
using ::testing::ElementsAre;
using testing::RawDatabase;

class Maintenance : public testing::FullDatabase {
 protected:
  [[nodiscard]] fs::path copy() const { return folder_ / "copy.sqlite"; }
  std::vector<std::string> problems(CheckpointFiles files = CheckpointFiles::Present) const {
    return checkContents(file(), files);
  }
};

TEST_F(Maintenance, BackUpIsTheSameDatabase) {
  fill();
  const std::uint64_t bytes = backupDatabase(file(), copy());
  EXPECT_EQ(bytes, fs::file_size(copy()));
  EXPECT_EQ(contentsOf(copy()), contentsOf(file()));
  // It is read without any file beside it, and becomes a database with a log when it is written.
  EXPECT_FALSE(fs::exists(copy().string() + "-wal"));
  EXPECT_EQ(RunStore(copy(), OpenMode::ReadOnly).runs().size(), 3u);
  RunStore(copy()).setNote(1, "restored");
  RawDatabase(copy()).each("PRAGMA journal_mode", [](sqlite3_stmt* row) {
    EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(row, 0)), "wal");
  });
}

TEST_F(Maintenance, BackUpNeverReplacesAFile) {
  fill();
  std::ofstream(copy()) << "precious";
  EXPECT_THAT([&] { backupDatabase(file(), copy()); }, Fails<RefusedError>(copy().string()));
  EXPECT_EQ(fs::file_size(copy()), 8u);
  EXPECT_THROW(backupDatabase(file(), folder_ / "none" / "copy.sqlite"), NotFoundError);
  EXPECT_THROW(backupDatabase(file(), file()), RefusedError);
}

TEST_F(Maintenance, BackUpThatTheDiskRefusesNamesTheFileThatWasAskedForAndLeavesNone) {
  fill();
  for (const int code : {SQLITE_FULL, SQLITE_IOERR_WRITE}) {
    const testing::FaultVfs disk(testing::refusingDisk(code));
    EXPECT_THAT([&] { backupDatabase(file(), copy()); },
                Fails<StoreError>("'" + copy().string() + "'"));
  }
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_FALSE(entry.path().filename().string().starts_with("copy")) << entry.path();
}

TEST_F(Maintenance, BackUpIsOneMomentWhileATrainerWrites) {
  { RunStore store(file()); }
  const std::string acknowledged = (folder_ / "ack").string(), database = file().string();
  const pid_t worker = forkChild();
  if (worker == 0) {
    ::execl(STORE_WORKER, STORE_WORKER, database.c_str(), "trainer", "100000", acknowledged.c_str(),
            nullptr);
    ::_exit(127);
  }
  const auto commits = [&] {
    std::int64_t count = 0;
    std::ifstream(acknowledged, std::ios::binary).read(reinterpret_cast<char*>(&count), 8);
    return count;
  };
  const auto waitFor = [&](std::int64_t count) {
    (void)waitUntil([&] { return commits() >= count; });
    return commits();
  };
  for (int i = 0; i < 4; ++i) {
    const std::int64_t before = waitFor(10 * (i + 1));
    ASSERT_GE(before, 10 * (i + 1));
    const fs::path to = folder_ / ("b" + std::to_string(i) + ".sqlite");
    backupDatabase(file(), to);
    const std::int64_t after = commits();
    RunStore store(to, OpenMode::ReadOnly);
    EXPECT_THAT(store.check(), ElementsAre());
    EXPECT_THAT(checkContents(to, CheckpointFiles::Present), ElementsAre());
    const auto points = static_cast<std::int64_t>(store.points(1, "train/0").size());
    EXPECT_EQ(points % 125, 0) << "half a commit";
    EXPECT_GE(points, before * 125) << "an acknowledged point is missing";
    EXPECT_LE(points, (after + 1) * 125);
  }
  EXPECT_GT(waitFor(commits() + 1), 0) << "the trainer does not continue";
  signalProcess(worker, SIGKILL);
  ::waitpid(worker, nullptr, 0);
}

TEST_F(Maintenance, CheckFindsNothingWhereNothingIsWrong) {
  fill();
  EXPECT_THAT(problems(CheckpointFiles::Verified), ElementsAre());
}

TEST_F(Maintenance, CheckFindsWhatDoesNotHoldTogether) {
  fill();
  const std::vector<std::pair<std::string, std::string>> changes{
      {"UPDATE metric_chunk SET data = substr(data, 9) WHERE id = 1",
       "run 1 has a chunk of 'test/top1' of 999 values, where its row says 1000"},
      {"UPDATE metric_chunk SET minimum = 1e9 WHERE id = 1", "whose minimum or maximum"},
      {"UPDATE metric_summary SET count = count + 1 WHERE run_id = 2", "run 2 has a summary of"},
      {"UPDATE metric_summary SET last = 5 WHERE run_id = 3 AND metric_id = 1",
       "run 3 has a summary of 'test/top1'"},
      {"DELETE FROM metric_tail WHERE run_id = 3 AND sequence = 2", "not packed"},
      {"UPDATE metric_tail SET step = 99 WHERE run_id = 3 AND sequence = 5", "a summary of"},
      {"UPDATE clock_chunk SET step_rest = zeroblob(1001) WHERE id = 1", "a lane of 1001"},
      {"UPDATE run_config SET config = 'x' WHERE run_id = 2", "run 2 has a config"},
      {"DELETE FROM run_config WHERE run_id = 2", "run 2 lacks its configuration"},
      {"UPDATE segment SET number = 3 WHERE run_id = 1 AND number = 2", "lacks segment 2"},
      {"UPDATE run_config SET config = replace(hex(zeroblob(50000)), '0', '[') || "
       "replace(hex(zeroblob(50000)), '0', ']') WHERE run_id = 2",
       "not JSON of at most 128 levels"},
      {"UPDATE checkpoint SET folder = '../x' WHERE run_id = 1", "which is not the run's"},
      {"UPDATE run SET log_file = '/etc/passwd' WHERE id = 1", "which is not in the run's folder"},
  };
  backupDatabase(file(), copy());
  for (const auto& [sql, expected] : changes) {
    const fs::path broken = folder_ / "broken.sqlite";
    fs::copy_file(copy(), broken, fs::copy_options::overwrite_existing);
    fs::create_directory_symlink(filesFolder(file()), filesFolder(broken));
    RawDatabase(broken).run(sql);
    EXPECT_THAT(checkContents(broken, CheckpointFiles::Present),
                ::testing::Contains(::testing::HasSubstr(expected)))
        << sql;
    fs::remove(filesFolder(broken));
  }
}

TEST_F(Maintenance, CheckFindsCheckpointsThatAreGoneOrChanged) {
  fill();
  const auto checkpoints = RunStore(file()).checkpoints(1);
  std::ofstream(filesFolder(file()) / checkpoints[0].folder / "model.safetensors",
                std::ios::in | std::ios::out)
      << "X";
  EXPECT_THAT(problems(), ElementsAre());
  EXPECT_THAT(problems(CheckpointFiles::Verified), ElementsAre(Names("model.safetensors")));
  fs::remove_all(filesFolder(file()) / checkpoints[1].folder);
  EXPECT_THAT(problems(), ElementsAre(Names("run 1", "step 2300")));
}

TEST_F(Maintenance, ACheckpointThatWasRemovedJustBeforeTheKillIsNoDamage) {
  RunStore store(file());
  const std::int64_t run = store.addRuns(store.experiment("e", ""), {newRun("killed")}).front();
  const std::int64_t segment = store.openSegment(run, 0, thisWorker(), Json::object());
  const std::string folder = "run-" + store.run(run).uuid;
  const auto write = [&](std::int64_t step) {
    writeCheckpointFolder(filesFolder(file()) / folder, step, Json::object(),
                          [](const fs::path& to) { std::ofstream(to / "state.json") << "{}"; });
  };
  for (const std::int64_t step : {10, 20}) {
    write(step);
    store.append(run, segment,
                 {.checkpoints = {{.step = step, .folder = folder + "/" + checkpointName(step)}}});
  }
  // The next one is whole and the oldest is gone; the process dies before a row says so.
  write(30);
  fs::remove_all(filesFolder(file()) / folder / checkpointName(10));
  EXPECT_THAT(problems(), ElementsAre()) << "while it runs";
  store.setState(run, RunState::Interrupted, "killed");
  EXPECT_THAT(problems(), ElementsAre());

  store.openSegment(run, 30, thisWorker(), Json::object());
  const auto left = store.checkpoints(run);
  ASSERT_EQ(left.size(), 1u) << "continuing, it settles what its last process could not";
  EXPECT_EQ(left[0].step, 20);
  store.setState(run, RunState::Done);
  EXPECT_THAT(problems(), ElementsAre());

  // A run that came to its end has said everything.
  fs::remove_all(filesFolder(file()) / folder / checkpointName(20));
  EXPECT_THAT(problems(), ElementsAre(Names("step 20")));
}

TEST_F(Maintenance, TheNewestCheckpointOfAnInterruptedRunMustBeThere) {
  RunStore store(file());
  const std::int64_t run = store.addRuns(store.experiment("e", ""), {newRun("killed")}).front();
  const std::int64_t segment = store.openSegment(run, 0, thisWorker(), Json::object());
  RunStore::Batch batch;
  batch.checkpoints.push_back(
      {.step = 10, .folder = "run-" + store.run(run).uuid + "/" + checkpointName(10)});
  store.append(run, segment, batch);
  store.setState(run, RunState::Interrupted, "killed");
  EXPECT_THAT(problems(), ElementsAre(Names("step 10")));
}

TEST_F(Maintenance, CompactingGivesBackTheSpaceOfDeletedRuns) {
  fill();
  {
    RunStore store(file());
    Artifact artifact{.kind = "matrix"};
    artifact.data.resize(4 << 20, std::byte{7});
    const std::int64_t run = addRun(store, "large");
    store.addArtifact(run, artifact);
    store.deleteRun(run);
  }
  auto before = contentsOf(file());
  const CompactReport report = compactDatabase(file());
  EXPECT_LE(report.after + (4 << 20), report.before);
  EXPECT_EQ(report.after, fs::file_size(file()));
  EXPECT_EQ(contentsOf(file()), before);
  EXPECT_THAT(RunStore(file()).check(), ElementsAre());
  EXPECT_EQ(databaseSpace(file()).at("free"), 0);
}

TEST_F(Maintenance, CompactingWaitsForRunsInProgressAndNamesOne) {
  RunStore store(file());
  addRunning(store);
  EXPECT_THAT([&] { compactDatabase(file()); }, Fails<RefusedError>("run 1"));
}

TEST_F(Maintenance, SpaceIsToldByTableExperimentAndKindOfFile) {
  fill();
  fs::create_directories(filesFolder(file()) / "run-orphan");
  std::ofstream(filesFolder(file()) / "run-orphan" / "x") << std::string(777, 'x');
  const Json space = databaseSpace(file());
  std::int64_t tables = 0;
  for (const auto& [name, bytes] : space.at("tables").items()) tables += bytes.get<std::int64_t>();
  RawDatabase raw(file());
  EXPECT_EQ(tables + space.at("free").get<std::int64_t>(),
            raw.integer("PRAGMA page_count") * raw.integer("PRAGMA page_size"));
  EXPECT_FALSE(space.at("tables").contains("event_by_run")) << "an index counts as its table";
  EXPECT_EQ(space.at("files").at("orphans"), 777);
  EXPECT_GT(space.at("files").at("checkpoints").get<int>(), 4 * 3000);
  EXPECT_EQ(space.at("files").at("logs"), 2 * 18);
  ASSERT_EQ(space.at("experiments").size(), 2u);
  const Json& first = space.at("experiments")[0];
  EXPECT_EQ(first.at("title"), "first, \"quoted\"");
  EXPECT_EQ(first.at("runs"), 2);
  EXPECT_GT(first.at("metrics").get<int>(), 2 * 8 * 2300);
  EXPECT_EQ(first.at("bytes").get<std::int64_t>(),
            first.at("metrics").get<std::int64_t>() + first.at("artifacts").get<std::int64_t>() +
                first.at("images").get<std::int64_t>() + first.at("texts").get<std::int64_t>() +
                first.at("other").get<std::int64_t>() + first.at("files").get<std::int64_t>());
}

}  // namespace
}  // namespace vitrine::store
