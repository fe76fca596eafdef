// Runs that were deleted, and what comes back of them.
#include "core/store/maintenance/trash.h"

#include <gmock/gmock.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>

#include "core/jobs/queue.h"
#include "core/store/maintenance/maintenance.h"
#include "tests/core/store/fault_vfs.h"
#include "tests/core/store/temp_database.h"

namespace vitrine::store {
namespace {

namespace fs = std::filesystem;
using test::Fails, test::Names;
using ::testing::AllOf, ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Not;
using testing::RawDatabase;

class Trash : public testing::StoreTest {
 protected:
  /// A finished run with a curve, a note, tags and a checkpoint folder.
  static std::int64_t addFinished(RunStore& store, const std::string& name) {
    const std::int64_t run = addRunning(store, name);
    RunStore::Batch batch;
    for (std::int64_t step = 1; step <= 1500; ++step)
      batch.metrics.push_back(record(step, {{"train/loss", 1.0 / static_cast<double>(step)}}));
    const std::string folder = "run-" + store.run(run).uuid;
    batch.checkpoints.push_back({1500, folder + "/step-000001500", 7, 0.1, true, {}});
    store.append(run, 1, batch);
    store.setNote(run, "keep this");
    store.setTags(run, {"paper"});
    store.setState(run, RunState::Done);
    const fs::path files = filesFolder(store.file()) / folder / "step-000001500";
    fs::create_directories(files);
    std::ofstream(files / "model") << "weights";
    return run;
  }
  [[nodiscard]] fs::path filesOf(const std::string& uuid) const {
    return filesFolder(file()) / ("run-" + uuid);
  }
};

TEST_F(Trash, BringsARunBackAsItWas) {
  RunStore store(file());
  const std::int64_t run = addFinished(store, "the run");
  const RunRow before = store.run(run);
  const auto points = store.points(run, "train/loss");
  trashRun(file(), run);
  EXPECT_THROW((void)store.run(run), NotFoundError);
  EXPECT_FALSE(fs::exists(filesOf(before.uuid)));
  const auto trashed = trashedRuns(file());
  ASSERT_EQ(trashed.size(), 1u);
  EXPECT_EQ(trashed[0].id, run);
  EXPECT_EQ(trashed[0].name, "the run");
  EXPECT_EQ(trashed[0].experiment, "an experiment");
  EXPECT_GT(trashed[0].bytes, 7u);

  EXPECT_EQ(restoreRun(file(), run), run);
  const RunRow after = store.run(run);
  EXPECT_EQ(after.uuid, before.uuid);
  EXPECT_EQ(after.state, RunState::Done);
  EXPECT_EQ(after.latestCheckpoint, 1500);
  EXPECT_EQ(store.note(run), "keep this");
  EXPECT_THAT(store.tags(run), ElementsAre("paper"));
  const auto again = store.points(run, "train/loss");
  ASSERT_EQ(again.size(), points.size());
  EXPECT_EQ(again.back().value, points.back().value);
  EXPECT_TRUE(fs::exists(filesOf(before.uuid) / "step-000001500" / "model"));
  EXPECT_THAT(trashedRuns(file()), IsEmpty());
  EXPECT_THAT(checkContents(file(), CheckpointFiles::Present), ElementsAre(Names("step-000001500")))
      << "a folder with one file is not a checkpoint; nothing else is wrong";
  EXPECT_THAT(store.check(), IsEmpty());
}

TEST_F(Trash, IsSeenByNoViewAndTellsReaders) {
  RunStore store(file());
  const std::int64_t run = addFinished(store, "gone");
  const std::int64_t other = addFinished(store, "stays");
  const std::int64_t seen = store.lastChange();
  trashRun(file(), run);
  EXPECT_THAT(store.deletedRuns(seen), ElementsAre(run));
  RawDatabase raw(file());
  EXPECT_EQ(raw.integer("SELECT count(*) FROM runs"), 1);
  EXPECT_EQ(raw.integer("SELECT count(*) FROM metrics WHERE run_id = 1"), 0);
  EXPECT_EQ(store.runs().size(), 1u);
  const std::int64_t deleted = store.lastChange();
  restoreRun(file(), run);
  EXPECT_THAT(store.deletedRuns(seen), IsEmpty());
  ASSERT_EQ(store.runs(deleted).size(), 1u);
  EXPECT_EQ(store.runs(deleted).front().id, run);
  EXPECT_EQ(store.runs().size(), 2u);
  EXPECT_EQ(store.run(other).name, "stays");
}

TEST_F(Trash, LinksARunAgainToThoseThatStartedFromIt) {
  RunStore store(file());
  const std::int64_t first = addFinished(store, "first");
  NewRun next = newRun("second");
  next.dependsOn = first;
  next.state = RunState::Stopped;
  const std::int64_t second = store.addRuns(store.experiment("an experiment", ""), {next}).front();
  const auto parent = [&] {
    return RawDatabase(file()).integer("SELECT coalesce(depends_on, 0) FROM run WHERE id = " +
                                       std::to_string(second));
  };
  trashRun(file(), first);
  EXPECT_EQ(parent(), 0);
  restoreRun(file(), first);
  EXPECT_EQ(parent(), first);
  trashRun(file(), second);
  restoreRun(file(), second);
  EXPECT_EQ(parent(), first);
}

TEST_F(Trash, GivesAQueuedRunBackAsStopped) {
  auto [store, run] = openWithRun();
  jobs::JobQueue queue(store);
  const std::vector<std::int64_t> runs{run};
  queue.enqueue(runs, {});
  trashRun(file(), run);
  EXPECT_THAT(queue.list(), IsEmpty());
  restoreRun(file(), run);
  EXPECT_EQ(store.run(run).state, RunState::Stopped);
  EXPECT_THAT(store.run(run).reason, Names("vitrine retry"));
}

TEST_F(Trash, RefusesARunInProgressOrOneThatOthersWaitFor) {
  RunStore store(file());
  const std::int64_t alive = addRunning(store);
  EXPECT_THAT([&] { trashRun(file(), alive); }, Fails<RefusedError>("run 1"));
  EXPECT_FALSE(fs::exists(filesFolder(file()) / "trash"));
  EXPECT_THROW(trashRun(file(), 99), NotFoundError);
  EXPECT_THAT([&] { restoreRun(file(), 99); }, Fails<NotFoundError>("run 99"));
}

TEST_F(Trash, KeepsTheRunWhereItCannotBeWritten) {
  RunStore store(file());
  const std::int64_t run = addFinished(store, "the run");
  std::ofstream(filesFolder(file()) / "trash") << "no folder";
  EXPECT_THAT([&] { trashRun(file(), run); }, Fails<FileError>("vitrine delete --for-good"));
  EXPECT_EQ(store.run(run).name, "the run");
  EXPECT_EQ(store.points(run, "train/loss").size(), 1500u);
}

TEST_F(Trash, NamesRunAndDatabaseWhenTheDiskIsFull) {
  RunStore store(file());
  const std::int64_t run = addFinished(store, "the run");
  const testing::FaultVfs disk([](testing::FileCall call, int flags) {
    const bool isFull = call == testing::FileCall::Write && (flags & SQLITE_OPEN_MAIN_DB) != 0;
    return isFull ? SQLITE_FULL : SQLITE_OK;
  });
  EXPECT_THAT([&] { trashRun(file(), run); },
              ::testing::ThrowsMessage<FileError>(
                  AllOf(Names("run 1", "'" + file().string() + "'", "free some space"),
                        Not(Names(".tmp-")))));
  EXPECT_EQ(store.run(run).name, "the run");
}

TEST_F(Trash, BringsBackWhatADeletionThatWasCutShortLeft) {
  RunStore store(file());
  const std::int64_t run = addFinished(store, "the run");
  const std::string uuid = store.run(run).uuid;
  const fs::path trash = filesFolder(file()) / "trash" / ("run-" + uuid);
  trashRun(file(), run);
  fs::rename(trash / "files", filesOf(uuid));  // as if the files had not been moved yet
  restoreRun(file(), run);
  EXPECT_TRUE(fs::exists(filesOf(uuid) / "step-000001500" / "model"));
  EXPECT_EQ(store.points(run, "train/loss").size(), 1500u);
  // And one whose rows were not removed yet is not in the trash.
  trashRun(file(), run);
  fs::copy(trash, folder_ / "kept", fs::copy_options::recursive);
  restoreRun(file(), run);
  fs::create_directories(trash.parent_path());
  fs::copy(folder_ / "kept", trash, fs::copy_options::recursive);
  EXPECT_THAT(trashedRuns(file()), IsEmpty());
  EXPECT_EQ(emptyTrash(file()).runs, 0);
  EXPECT_TRUE(fs::exists(filesOf(uuid) / "step-000001500" / "model"));
  trashRun(file(), run);
  EXPECT_EQ(trashedRuns(file()).size(), 1u);
}

TEST_F(Trash, SaysWhichRunCannotBeRestored) {
  RunStore store(file());
  const std::int64_t run = addFinished(store, "the run");
  const fs::path rows =
      filesFolder(file()) / "trash" / ("run-" + store.run(run).uuid) / "run.vitrine";
  trashRun(file(), run);
  ASSERT_TRUE(fs::remove(rows));
  EXPECT_THAT([&] { restoreRun(file(), run); }, Fails<FileError>("run 1", rows.string()));
}

/// Permissions hold for root, too, while it lives.
class OrdinaryPermissions {
 public:
  OrdinaryPermissions() {
    ::syscall(SYS_capget, &header_, before_);
    __user_cap_data_struct less[2] = {before_[0], before_[1]};
    less[0].effective &= ~((1U << CAP_DAC_OVERRIDE) | (1U << CAP_DAC_READ_SEARCH));
    ::syscall(SYS_capset, &header_, less);
  }
  ~OrdinaryPermissions() { ::syscall(SYS_capset, &header_, before_); }
  OrdinaryPermissions(const OrdinaryPermissions&) = delete;
  OrdinaryPermissions& operator=(const OrdinaryPermissions&) = delete;

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct before_[2] = {};
};

TEST_F(Trash, TakesARunThoughAnOldOneCannotBeRemoved) {
  const OrdinaryPermissions ordinary;
  RunStore store(file());
  const std::int64_t old = addFinished(store, "old"), next = addFinished(store, "next");
  const fs::path trash = filesFolder(file()) / "trash" / ("run-" + store.run(old).uuid);
  trashRun(file(), old);
  Json said = Json::parse(std::ifstream(trash / "about.json"));
  said["deleted_at"] = "2020-01-01T00:00:00.000Z";
  std::ofstream(trash / "about.json") << said.dump();
  fs::permissions(trash, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NO_THROW(trashRun(file(), next));
  EXPECT_EQ(trashedRuns(file()).size(), 2u);
  EXPECT_THAT([&] { emptyTrash(file(), kTrashTime); }, Fails<FileError>("check its permissions"));
  fs::permissions(trash, fs::perms::owner_all);
}

TEST_F(Trash, IsEmptiedOfWhatIsOldEnough) {
  RunStore store(file());
  const std::int64_t run = addFinished(store, "the run");
  const std::string uuid = store.run(run).uuid;
  trashRun(file(), run);
  EXPECT_EQ(emptyTrash(file(), kTrashTime).runs, 0);
  const fs::path about = filesFolder(file()) / "trash" / ("run-" + uuid) / "about.json";
  Json said = Json::parse(std::ifstream(about));
  said["deleted_at"] = "2020-01-01T00:00:00.000Z";
  std::ofstream(about) << said.dump();
  const std::int64_t other = addFinished(store, "another");
  trashRun(file(), other);  // takes the old one away for good
  ASSERT_EQ(trashedRuns(file()).size(), 1u);
  EXPECT_EQ(trashedRuns(file()).front().id, other);
  EXPECT_GT(databaseSpace(file()).at("files").at("trash"), 0);
  EXPECT_EQ(emptyTrash(file()).runs, 1);
  EXPECT_EQ(databaseSpace(file()).at("files").at("trash"), 0);
}

}  // namespace
}  // namespace vitrine::store
