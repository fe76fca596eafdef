// Checkpoints are removed on request, and what stays is whole.
#include "core/store/maintenance/checkpoint_removal.h"

#include <gmock/gmock.h>

#include <array>

#include "core/store/maintenance/maintenance.h"
#include "tests/core/store/full_database.h"

namespace vitrine::store {
namespace {

using ::testing::IsEmpty, ::testing::SizeIs;

class Pruning : public testing::FullDatabase {
 protected:
  /// Folders of checkpoints of a run that are on the disk.
  std::size_t folders(const std::string& uuid) const {
    std::size_t number = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(filesFolder(file()) / runFolderName(uuid)))
      number += entry.is_directory() ? 1 : 0;
    return number;
  }
};

TEST_F(Pruning, LeavesTheBestAndThenNothingButCurvesAndLog) {
  fill();
  const RunRow before = RunStore(file()).run(2);
  const std::size_t points = RunStore(file()).points(2, "test/top1").size();
  ASSERT_GT(RunStore(file()).checkpoints(2).size(), 1U);
  const auto plan = planPruning(file(), std::array<std::int64_t, 1>{2}, KeptCheckpoints::Best);
  ASSERT_THAT(plan, SizeIs(1));
  EXPECT_EQ(plan[0].checkpoints, 1);
  EXPECT_EQ(plan[0].bytes, 3000);
  EXPECT_EQ(folders(before.uuid), 2U) << "nothing is removed yet";

  const auto done = pruneCheckpoints(file(), std::array<std::int64_t, 1>{2}, KeptCheckpoints::Best);
  EXPECT_EQ(done[0].checkpoints, 1);
  EXPECT_EQ(folders(before.uuid), 1U);
  EXPECT_THAT(RunStore(file()).checkpoints(2), SizeIs(1));
  EXPECT_EQ(RunStore(file()).run(2).bestCheckpoint, before.bestCheckpoint);

  EXPECT_EQ(pruneCheckpoints(file(), std::array<std::int64_t, 1>{2}, KeptCheckpoints::None)[0]
                .checkpoints,
            1);
  EXPECT_EQ(folders(before.uuid), 0U);
  RunStore store(file());
  EXPECT_THAT(store.checkpoints(2), IsEmpty());
  EXPECT_EQ(store.run(2).latestCheckpoint, -1);
  EXPECT_EQ(store.run(2).bestCheckpoint, -1);
  EXPECT_EQ(store.points(2, "test/top1").size(), points);
  EXPECT_EQ(store.events(2).back().kind, "checkpoints_removed");
  EXPECT_TRUE(std::filesystem::exists(filesFolder(file()) / before.logFile));
  EXPECT_THAT(store.check(), IsEmpty());
  EXPECT_THAT(checkContents(file(), CheckpointFiles::Present), IsEmpty());
}

TEST_F(Pruning, LeavesARunAloneThatAnotherOneNeeds) {
  fill();
  const auto done =
      pruneCheckpoints(file(), std::array<std::int64_t, 2>{1, 2}, KeptCheckpoints::None);
  EXPECT_EQ(done[0].checkpoints, 0);
  EXPECT_EQ(done[0].refusal, "run 2 needs them");
  EXPECT_GT(done[1].checkpoints, 0);
  EXPECT_GT(RunStore(file()).checkpoints(1).size(), 0U);
}

TEST_F(Pruning, LeavesARunAloneWhoseParametersAGroupOfAnotherOneFroze) {
  auto [store, run] = openWithRunning();
  checkpoint(store, run, 1, 100);
  store.setState(run, RunState::Done);
  NewRun made = newRun("with a frozen group");
  made.init = Json{{"run", store.run(run).uuid}, {"freeze", Json::array()}};
  made.config["train"]["groups"]["head"]["freeze"] = true;
  const std::int64_t other = store.addRuns(store.experiment("a second one", ""), {made}).front();
  store.openSegment(other, 0, thisWorker(), Json::object());
  store.setState(other, RunState::Done);
  const auto done = pruneCheckpoints(file(), std::array{run}, KeptCheckpoints::None);
  EXPECT_EQ(done[0].refusal, nameOf(other) + " needs them");
  EXPECT_THAT(store.checkpoints(run), SizeIs(1));
}

TEST_F(Pruning, LeavesAPausedRunAlone) {
  auto [store, run] = openWithRunning();
  checkpoint(store, run, 1, 100);
  store.setState(run, RunState::Paused);
  const auto done = pruneCheckpoints(file(), std::array{run}, KeptCheckpoints::Best);
  EXPECT_EQ(done[0].refusal, "it is paused; wait for its end or stop it");
  EXPECT_THAT(store.checkpoints(run), SizeIs(1));
}

TEST_F(Pruning, LeavesARunInProgressAlone) {
  auto [store, run] = openWithRunning();
  checkpoint(store, run, 1, 100);
  const auto done = pruneCheckpoints(file(), std::array{run}, KeptCheckpoints::None);
  EXPECT_EQ(done[0].refusal, "it is running; wait for its end or stop it");
  EXPECT_THAT(store.checkpoints(run), SizeIs(1));
  EXPECT_THROW(static_cast<void>(pruneCheckpoints(file(), std::array<std::int64_t, 2>{run, 99},
                                                  KeptCheckpoints::None)),
               NotFoundError);
}

}  // namespace
}  // namespace vitrine::store
