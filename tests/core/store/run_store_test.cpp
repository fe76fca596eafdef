// Runs and everything that hangs on them, written and read back.
#include <gmock/gmock.h>

#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>

#include "core/store/sqlite/schema.h"
#include "tests/core/store/temp_database.h"

namespace vitrine::store {
namespace {

using test::Fails;
using ::testing::ElementsAre;
using testing::RawDatabase;

using RunStoreTest = testing::StoreTest;

TEST_F(RunStoreTest, KeepsARunAsItWasAdded) {
  RunStore store(file());
  const std::int64_t experiment = store.experiment("iLLaMA roadmap", "title = 'iLLaMA roadmap'");
  NewRun run = newRun("+ soft mask, seed 1");
  run.variant = "+ soft mask";
  run.stage = "pre-train";
  run.seed = 12345;
  run.origins = Json::parse(R"({"model.width": {"layer": "file", "line": 4}})");
  run.init = Json::parse(R"({"weights": "w.safetensors"})");
  const std::int64_t id = store.addRuns(experiment, {run}).at(0);

  const RunRow row = store.run(id);
  EXPECT_EQ(row.experiment, "iLLaMA roadmap");
  EXPECT_EQ(row.experimentId, experiment);
  EXPECT_EQ(row.name, "+ soft mask, seed 1");
  EXPECT_EQ(row.variant, "+ soft mask");
  EXPECT_EQ(row.stage, "pre-train");
  EXPECT_EQ(row.seed, 12345u);
  EXPECT_EQ(row.state, RunState::Queued);
  EXPECT_EQ(row.uuid.size(), 36u);
  EXPECT_EQ(row.latestCheckpoint, -1);
  EXPECT_EQ(row.startedAt, "");
  EXPECT_EQ(store.config(id), run.config);
  EXPECT_EQ(store.origins(id), run.origins);
  EXPECT_EQ(store.init(id), run.init);
  EXPECT_TRUE(store.environment(id).is_null());
  EXPECT_EQ(store.experimentSource(experiment), "title = 'iLLaMA roadmap'");
  EXPECT_EQ(store.runByUuid(row.uuid)->id, id);
  EXPECT_FALSE(store.runByUuid("no such").has_value());
  EXPECT_THAT([&] { static_cast<void>(store.run(99)); }, Fails<NotFoundError>("run 99"));
}

TEST_F(RunStoreTest, KeepsEverySixtyFourBitSeed) {
  RunStore store(file());
  const std::vector<std::uint64_t> seeds{0, 1, 9223372036854775807u, 9223372036854775808u,
                                         std::numeric_limits<std::uint64_t>::max()};
  std::vector<NewRun> runs;
  for (const std::uint64_t seed : seeds) {
    runs.push_back(newRun("seed " + std::to_string(seed)));
    runs.back().seed = seed;
  }
  const auto ids = store.addRuns(store.experiment("seeds", ""), runs);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    EXPECT_EQ(store.run(ids[i]).seed, seeds[i]);
    EXPECT_EQ(
        RawDatabase(file()).integer("SELECT CAST(seed AS TEXT) = '" + std::to_string(seeds[i]) +
                                    "' FROM runs WHERE id = " + std::to_string(ids[i])),
        1);
  }
}

TEST_F(RunStoreTest, StoresParametersFlatWithTheirTypes) {
  RunStore store(file());
  NewRun run = newRun("typed");
  run.config = Json::parse(
      R"({"model": {"width": 64, "image_size": [28, 28], "mask": {"kind": "soft"}},
          "train": {"learning_rate": 0.001, "ema": null, "flip": true}})");
  store.addRuns(store.experiment("types", ""), {run});
  const auto table = store.query("SELECT key, value, typeof(value) FROM parameters ORDER BY key");
  EXPECT_EQ(Json(table.rows).dump(),
            R"([["model.image_size","[28,28]","text"],["model.mask.kind","soft","text"],)"
            R"(["model.width",64,"integer"],["train.ema",null,"null"],["train.flip",1,"integer"],)"
            R"(["train.learning_rate",0.001,"real"]])");
}

TEST_F(RunStoreTest, ResolvesADependencyOnAnEarlierRunOfTheSameCall) {
  RunStore store(file());
  std::vector<NewRun> chain{newRun("pre-train"), newRun("fine-tune")};
  chain[1].dependsOn = -1;
  const auto ids = store.addRuns(store.experiment("chain", ""), chain);
  EXPECT_EQ(RawDatabase(file()).integer("SELECT depends_on FROM run WHERE name = 'fine-tune'"),
            ids[0]);
  chain[0].dependsOn = -2;
  EXPECT_EQ(test::refusal<StoreError>([&] { store.addRuns(1, chain); }),
            "the new run 'pre-train' depends on number 1 of its list, which does not come before "
            "it");
  EXPECT_EQ(store.runs().size(), 2u);  // all or nothing
}

TEST_F(RunStoreTest, FindsAnExperimentAgainByItsTitle) {
  RunStore store(file());
  const std::int64_t first = store.experiment("one", "old text");
  EXPECT_NE(store.experiment("two", ""), first);
  EXPECT_EQ(store.experiment("one", "new text"), first);
  EXPECT_EQ(store.experimentSource(first), "new text");
}

TEST_F(RunStoreTest, AppendsABatchAsOneTransaction) {
  auto [store, run] = openWithRunning();
  RunStore::Batch batch;
  batch.metrics.push_back(record(10, {{"train/loss", 2.0}}));
  batch.events.push_back({10, "evaluation", "the test split was evaluated", Json{{"top1", 0.5}}});
  Artifact artifact;
  artifact.analysis = "calibration";
  artifact.name = "reliability";
  artifact.kind = artifact_kind::kReliability;
  artifact.step = 10;
  artifact.data = {std::byte{1}, std::byte{2}};
  batch.artifacts.push_back(artifact);
  batch.checkpoints.push_back({10, "run-x/step-000000010", 4096, 0.5, true, {}});
  batch.progress = ProgressRecord{10, 100, 0.5, 5.0, 2.0, 800.0, 1 << 20, 12.0};
  store.append(run, 1, batch);

  const RunRow row = store.run(run);
  EXPECT_EQ(row.step, 10);
  EXPECT_EQ(row.totalSteps, 100);
  EXPECT_EQ(row.epoch, 0.5);
  EXPECT_EQ(row.totalEpochs, 5.0);
  EXPECT_EQ(row.loss, 2.0);
  EXPECT_EQ(row.imagesPerSecond, 800.0);
  EXPECT_EQ(row.memoryBytes, 1 << 20);
  EXPECT_EQ(row.remainingSeconds, 12.0);
  EXPECT_EQ(row.latestCheckpoint, 10);
  EXPECT_EQ(row.bestCheckpoint, 10);
  EXPECT_EQ(row.device, "cpu");
  EXPECT_EQ(row.commit, "abc123");
  EXPECT_EQ(store.environment(run).at("commit"), "abc123");
  const auto events = store.events(run);
  EXPECT_EQ(events.back().kind, "evaluation");
  EXPECT_EQ(events.back().data.at("top1"), 0.5);
  EXPECT_TRUE(store.events(run, events.back().id).empty());
  const auto artifacts = store.artifacts(run);
  ASSERT_EQ(artifacts.size(), 1u);
  EXPECT_EQ(artifacts[0].bytes, 2);
  EXPECT_EQ(store.artifactData(artifacts[0].id), artifact.data);
  EXPECT_EQ(store.artifact(artifacts[0].id).name, "reliability");

  // The last entry cannot be stored, so nothing of this batch is.
  batch.events.assign(1, {20, "broken", "", Json::object()});
  batch.metrics.assign(1, record(20, {{"train/loss", 1.0}}));
  batch.checkpoints.assign(1, {20, "folder", 1, 0, false, {}});
  RawDatabase raw(file());
  raw.run("ALTER TABLE checkpoint RENAME TO elsewhere");
  EXPECT_THROW(store.append(run, 1, batch), StoreError);
  raw.run("ALTER TABLE elsewhere RENAME TO checkpoint");
  EXPECT_EQ(store.events(run).size(), events.size());
  EXPECT_EQ(store.points(run, "train/loss").size(), 1u);
  EXPECT_EQ(store.run(run).changeSequence, row.changeSequence);
}

TEST_F(RunStoreTest, ShowsProgressThatIsNotANumberAsSuch) {
  auto [store, run] = openWithRunning();
  RunStore::Batch batch;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  batch.progress = ProgressRecord{1, 100, 0.1, 5.0, nan, 0.0, 0, nan};
  store.append(run, 1, batch);
  EXPECT_TRUE(std::isnan(store.run(run).loss));
  EXPECT_TRUE(std::isnan(store.run(run).remainingSeconds));
}

TEST_F(RunStoreTest, TellsLatestAndBestCheckpointAndForgetsRemovedOnes) {
  auto [store, run] = openWithRunning();
  store.append(run, 1,
               {.checkpoints = {{100, "r/step-000000100", 10, 0.1, true, {}},
                                {200, "r/step-000000200", 10, 0.1, false, {}},
                                {300, "r/step-000000300", 10, 0.1, false, {"r/step-000000200"}}}});
  const auto checkpoints = store.checkpoints(run);
  ASSERT_EQ(checkpoints.size(), 2u);
  EXPECT_EQ(checkpoints[0].step, 100);
  EXPECT_TRUE(checkpoints[0].isBest);
  EXPECT_FALSE(checkpoints[0].isLatest);
  EXPECT_EQ(checkpoints[1].folder, "r/step-000000300");
  EXPECT_TRUE(checkpoints[1].isLatest);

  // Resumed from an earlier one: later ones do not count any more.
  store.setState(run, RunState::Interrupted, "a test");
  store.openSegment(run, 100, thisWorker(), Json::object());
  EXPECT_EQ(store.run(run).latestCheckpoint, 100);
  EXPECT_EQ(store.run(run).bestCheckpoint, 100);
  EXPECT_EQ(store.checkpoints(run).size(), 1u);
}

TEST_F(RunStoreTest, TakesTheBestCheckpointBeforeWhereABestOneIsLeftBehind) {
  auto [store, run] = openWithRunning();
  store.append(run, 1,
               {.checkpoints = {{100, "r/step-000000100", 10, 0.1, true, {}},
                                {200, "r/step-000000200", 10, 0.1, false, {}},
                                {300, "r/step-000000300", 10, 0.1, true, {}}}});
  EXPECT_EQ(store.run(run).bestCheckpoint, 300);
  store.setState(run, RunState::Interrupted, "a test");
  store.openSegment(run, 200, thisWorker(), Json::object());
  EXPECT_EQ(store.run(run).bestCheckpoint, 100);
}

TEST_F(RunStoreTest, ListsOnlyRunsThatChangedSince) {
  RunStore store(file());
  const std::int64_t first = addRun(store, "first");
  const std::int64_t second = addRun(store, "second");
  const std::int64_t seen = store.lastChange();
  EXPECT_TRUE(store.runs(seen).empty());
  store.setNote(second, "look at this one");
  auto changed = store.runs(seen);
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0].id, second);
  store.deleteRun(first);
  EXPECT_THAT(store.deletedRuns(seen), ElementsAre(first));
  EXPECT_EQ(store.runs().size(), 1u);
}

TEST_F(RunStoreTest, KeepsNotesAndTags) {
  auto [store, run] = openWithRun();
  EXPECT_EQ(store.note(run), "");
  store.setNote(run, "the mask was off by one");
  store.setNote(run, "fixed");
  store.setTags(run, {"keep", "figure 3", "keep"});
  EXPECT_EQ(store.note(run), "fixed");
  EXPECT_THAT(store.tags(run), ElementsAre("figure 3", "keep"));
  store.setTags(run, {});
  EXPECT_TRUE(store.tags(run).empty());
  EXPECT_THROW(store.setNote(99, "of no run"), NotFoundError);
}

TEST_F(RunStoreTest, DeletesARunWithItsFilesUnlessItIsAlive) {
  auto [store, run] = openWithRunning();
  const std::int64_t other = addRunning(store, "another");
  RunStore::Batch batch;
  for (std::int64_t step = 1; step <= 1500; ++step)
    batch.metrics.push_back(record(step, {{"train/loss", 1.0}}));
  batch.events.push_back({1, "note", "", Json::object()});
  store.append(run, 1, batch);
  store.append(other, 1, batch);
  const auto folder = filesFolder(file()) / ("run-" + store.run(run).uuid);
  std::filesystem::create_directories(folder / "step-000000500");
  std::ofstream(folder / "run.log") << "text";

  EXPECT_EQ(test::refusal<RefusedError>([&] { store.deleteRun(run); }),
            "run 1 is running; stop it before deleting it");
  EXPECT_TRUE(std::filesystem::exists(folder / "run.log"));
  store.setState(run, RunState::Done);
  store.deleteRun(run);
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_THROW(static_cast<void>(store.run(run)), NotFoundError);
  EXPECT_EQ(
      RawDatabase(file()).integer("SELECT (SELECT count(*) FROM metric_chunk WHERE run_id = 1) + "
                                  "(SELECT count(*) FROM clock_chunk WHERE run_id = 1) + "
                                  "(SELECT count(*) FROM metric_tail WHERE run_id = 1) + "
                                  "(SELECT count(*) FROM event WHERE run_id = 1) + "
                                  "(SELECT count(*) FROM run_parameter WHERE run_id = 1)"),
      0);
  EXPECT_EQ(store.points(other, "train/loss").size(), 1500u);
  EXPECT_GT(addRun(store, "a new one"), other);  // ids are never used again
  EXPECT_TRUE(store.check().empty());
}

TEST_F(RunStoreTest, DeletesNoFolderThatADamagedUuidNames) {
  auto [store, run] = openWithRun();
  std::filesystem::create_directories(filesFolder(file()) / "run-");
  std::filesystem::create_directories(folder_ / "precious");
  RawDatabase(file()).run("UPDATE run SET uuid = '/../../precious'");
  EXPECT_THAT([&] { store.deleteRun(run); }, Fails<StoreError>("UUID"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "precious"));
}

TEST_F(RunStoreTest, KeepsARunThatAnotherStartsFrom) {
  RunStore store(file());
  std::vector<NewRun> chain{newRun("pre-train"), newRun("fine-tune")};
  chain[1].dependsOn = -1;
  const auto ids = store.addRuns(store.experiment("chain", ""), chain);
  EXPECT_EQ(test::refusal<RefusedError>([&] { store.deleteRun(ids[0]); }),
            "run 1 is what run 2 will start from; delete that one first");
  store.deleteRun(ids[1]);
  store.deleteRun(ids[0]);
  EXPECT_TRUE(store.runs().empty());
}

TEST_F(RunStoreTest, TakesTextThatIsNotUtf8AsBytes) {
  RunStore store(file());
  const std::int64_t run = addRun(store, "na\xffme '; DROP TABLE run; --");
  EXPECT_EQ(store.run(run).name, "na\xffme '; DROP TABLE run; --");
  const auto table = store.query("SELECT name FROM runs");
  EXPECT_EQ(table.rows.at(0).at(0), "na\xEF\xBF\xBDme '; DROP TABLE run; --");
}

TEST_F(RunStoreTest, OpensAndListsAThousandRunsAtOnce) {
  {
    RunStore store(file());
    store.addRuns(store.experiment("many", ""), std::vector<NewRun>(1000, newRun("one of many")));
  }
  // Time of the processor, which other processes do not lengthen.
  const std::clock_t start = std::clock();
  RunStore store(file());
  const std::clock_t opened = std::clock();
  EXPECT_EQ(store.runs().size(), 1000u);
  const std::clock_t listed = std::clock();
  // Twenty times the limits: a guard against a cost that grows, not a measurement.
  EXPECT_LT(opened - start, CLOCKS_PER_SEC * 2 / 5);
  EXPECT_LT(listed - opened, CLOCKS_PER_SEC * 2 / 5);
}

TEST_F(RunStoreTest, SaysWhatItIs) {
  RunStore store(file());
  addRun(store);
  const Json info = store.info();
  EXPECT_EQ(info.at("schema_version"), migrations().back().version);
  EXPECT_EQ(info.at("runs"), 1);
  EXPECT_EQ(info.at("uuid").get<std::string>().size(), 36u);
  EXPECT_EQ(info.at("sqlite"), sqliteVersion());
  EXPECT_EQ(sqliteHasWalResetBug(), info.at("wal_reset_bug"));
}

TEST(Files, LieBesideTheDatabaseUnderItsName) {
  EXPECT_EQ(filesFolder("/data/experiments.sqlite"), "/data/experiments.files");
}

}  // namespace
}  // namespace vitrine::store
