// Questions that one caller each asks of the database.
#include "core/store/run_facts.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/core/store/full_database.h"
#include "tests/core/store/temp_database.h"

namespace vitrine::store {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Pair, ::testing::SizeIs;

class RunFacts : public testing::StoreTest {};

TEST_F(RunFacts, CountMetricsAndEventsAsSignsOfLifeButNoAlarm) {
  auto [store, run] = openWithRunning();
  const std::int64_t before = signsOfLife(store, run);
  store.append(run, 1, {});  // a heartbeat
  store.addEvent(run, {0, "hang", "nothing was heard of it", Json::object()});
  EXPECT_EQ(signsOfLife(store, run), before);
  store.append(run, 1, {.metrics = {record(1, {{"train/loss", 2.0}})}});
  const std::int64_t then = signsOfLife(store, run);
  EXPECT_GT(then, before);
  store.addEvent(run, {1, "evaluation", "", Json::object()});
  EXPECT_GT(signsOfLife(store, run), then);
  EXPECT_EQ(signsOfLife(store, 99), 0);
}

TEST_F(RunFacts, TellAClaimFromAWorkerThatHasASegment) {
  auto [store, run] = openWithRun();
  EXPECT_FALSE(isTakenUp(store, run));
  store.claim(run);
  EXPECT_FALSE(isTakenUp(store, run)) << "a claim alone";
  store.openSegment(run, 0, thisWorker(), Json::object());
  EXPECT_TRUE(isTakenUp(store, run));
  Worker other = thisWorker();
  other.pid = 1;
  store.setWorker(run, other);
  EXPECT_FALSE(isTakenUp(store, run)) << "claimed since by another process";
}

TEST_F(RunFacts, NameTheCheckpointsThatOthersNeed) {
  RunStore store(file());
  const std::int64_t source = addRun(store, "source");
  const std::string uuid = store.run(source).uuid;
  const std::int64_t experiment = store.experiment("an experiment", "");
  NewRun start = newRun("from step 300"), network = newRun("with a codec");
  start.init = Json{{"run", uuid}, {"checkpoint", "300"}};
  network.dependencies = {{"aux", "codec", uuid, "500"}, {"aux", "teacher", uuid, "latest"}};
  const auto ids = store.addRuns(experiment, {start, network});
  EXPECT_THAT(stepsOthersNeed(store, uuid), ElementsAre(300, 500));
  EXPECT_THAT(stepsOthersNeed(store, store.run(ids[0]).uuid), IsEmpty());
  for (const std::int64_t run : ids) {
    store.openSegment(run, 0, thisWorker(), Json::object());
    store.setState(run, RunState::Done);
  }
  EXPECT_THAT(stepsOthersNeed(store, uuid), ElementsAre(500))
      << "a run that is done does not start again, and keeps its networks";
}

TEST_F(RunFacts, NameTheCheckpointsWhoseParametersOthersFrozeEvenWhenTheyAreDone) {
  RunStore store(file());
  const std::string uuid = store.run(addRun(store, "source")).uuid;
  const auto from = [&](const char* step) {
    NewRun made = newRun("from step " + std::string(step));
    made.init = Json{{"run", uuid}, {"checkpoint", step}, {"freeze", Json::array()}};
    return made;
  };
  NewRun init = from("100"), group = from("200"), neither = from("300");
  init.init["freeze"] = Json::array({"trunk.*"});
  group.config["train"]["groups"]["head"]["freeze"] = true;
  neither.config["train"]["groups"]["head"]["freeze"] = false;
  for (const std::int64_t run :
       store.addRuns(store.experiment("an experiment", ""), {init, group, neither})) {
    store.openSegment(run, 0, thisWorker(), Json::object());
    store.setState(run, RunState::Done);
  }
  EXPECT_THAT(stepsOthersNeed(store, uuid), ElementsAre(100, 200));
}

TEST_F(RunFacts, ReadConfigurationsOfNewerRuns) {
  RunStore store(file());
  const std::int64_t first = addRun(store), second = addRun(store);
  EXPECT_THAT(configsAfter(store, 0), SizeIs(2));
  const auto newer = configsAfter(store, first);
  EXPECT_THAT(newer, ElementsAre(Pair(second, store.config(second).dump())));
}

TEST_F(RunFacts, ReadTheTagsOfAllRunsThatHaveSome) {
  RunStore store(file());
  const std::int64_t first = addRun(store), second = addRun(store), third = addRun(store);
  EXPECT_THAT(tagsByRun(store), IsEmpty());
  store.setTags(first, {"paper", "best"});
  store.setTags(third, {"old"});
  EXPECT_THAT(tagsByRun(store), ElementsAre(Pair(first, ElementsAre("best", "paper")),
                                            Pair(third, ElementsAre("old"))));
  EXPECT_THAT(store.tags(second), IsEmpty());
}

TEST_F(RunFacts, ReadEnvironmentsAndSourcesWithOneQueryEach) {
  RunStore store(file());
  const std::int64_t experiment = store.experiment("an experiment", "title = \"x\"");
  const std::int64_t run = store.addRuns(experiment, {newRun("a run"), newRun("queued")}).front();
  store.openSegment(run, 0, thisWorker(), Json{{"device", "cpu"}});
  store.openSegment(run, 5, thisWorker(), Json{{"device", "cuda:0"}});
  int queries = 0;
  const QueryFunction query = [&](const std::string& sql) {
    ++queries;
    return store.query(sql);
  };
  EXPECT_THAT(environmentsOf(query, {run, run + 1}),
              ElementsAre(Pair(run, Json{{"device", "cuda:0"}})));
  EXPECT_THAT(sourcesOf(query, {experiment}), ElementsAre(Pair(experiment, "title = \"x\"")));
  EXPECT_EQ(queries, 2);
}

TEST_F(RunFacts, GiveNotesAndTheRangesOfMetricsOfAllRuns) {
  RunStore store(file());
  const std::int64_t run = addRunning(store), other = addRun(store);
  const auto query = [&store](const std::string& sql) { return store.query(sql); };
  store.setNote(run, "a note");
  store.setNote(other, "");
  EXPECT_THAT(notesByRun(query), ElementsAre(Pair(run, "a note")));
  store.append(run, 1,
               {.metrics = {record(1, {{"test/top1", 0.5}, {"test/loss", 2.0}}),
                            record(2, {{"test/top1", 0.8}}), record(3, {{"test/top1", 0.7}})}});
  EXPECT_THAT(rangesOf(query, {"test/top1", "test/none"}),
              ElementsAre(Pair("test/top1", ElementsAre(Pair(run, Pair(0.5, 0.8))))));
  EXPECT_THAT(rangesOf(query, {}), IsEmpty());
}

TEST_F(RunFacts, SumTheCheckpointsThatAreKept) {
  auto [store, run] = openWithRunning();
  const auto query = [&store](const std::string& sql) { return store.query(sql); };
  EXPECT_THAT(checkpointBytes(query), IsEmpty());
  RunStore::Batch batch;
  for (const std::int64_t step : {1, 2}) {
    batch.checkpoints.push_back(
        {.step = step, .folder = "run-x/step-" + std::to_string(step), .bytes = 3000 * step});
  }
  store.append(run, 1, batch);
  EXPECT_THAT(checkpointBytes(query), ElementsAre(Pair(run, 9000)));
  CheckpointRecord newest{
      .step = 3, .folder = "run-x/step-3", .bytes = 500, .removed = {"run-x/step-1"}};
  batch.checkpoints = {newest};
  store.append(run, 1, batch);
  EXPECT_THAT(checkpointBytes(query), ElementsAre(Pair(run, 6500)));
  EXPECT_THAT(checkpointBytes(query, {run, 99}), ElementsAre(Pair(run, 6500)));
  EXPECT_THAT(checkpointBytes(query, {run + 1}), IsEmpty());
}

TEST_F(RunFacts, ListViewsBeforeTables) {
  RunStore store(file());
  const std::vector<StoredTable> tables = storedTables(store, {});
  const auto named = [&](const std::string& name) {
    return std::find_if(tables.begin(), tables.end(),
                        [&](const StoredTable& table) { return table.name == name; });
  };
  ASSERT_NE(named("runs"), tables.end());
  ASSERT_NE(named("run"), tables.end());
  EXPECT_TRUE(named("runs")->isView);
  EXPECT_FALSE(named("run")->isView);
  EXPECT_LT(named("runs"), named("run"));
  EXPECT_EQ(named("run")->columns.front().name, "id");
  EXPECT_EQ(named("run")->columns.front().type, "INTEGER");
  const std::atomic<bool> isStopped{true};
  EXPECT_THROW((void)storedTables(store, {std::chrono::seconds(1), 1000, &isStopped}), StoreError);
}

TEST_F(RunFacts, GiveAPictureOnlyWithItsIdAndSize) {
  auto [store, run] = openWithRunning();
  Artifact image;
  image.analysis = "analysis";
  image.name = "picture";
  image.kind = "image";
  image.meta = Json::object();
  image.data = testing::smallPng();
  const std::int64_t id = store.addArtifact(run, image);
  const auto bytes = static_cast<std::int64_t>(image.data.size());
  EXPECT_EQ(pictureOf(store, PictureView::Artifacts, id, bytes), image.data);
  EXPECT_THAT(pictureOf(store, PictureView::Artifacts, id, bytes + 1), IsEmpty());
  EXPECT_THAT(pictureOf(store, PictureView::GeneratedImages, id, bytes), IsEmpty());
  image.kind = "matrix";
  const std::int64_t matrix = store.addArtifact(run, image);
  EXPECT_THAT(pictureOf(store, PictureView::Artifacts, matrix, bytes), IsEmpty());
}

TEST_F(RunFacts, AreReadWithoutAWriter) {
  EXPECT_THROW(RunReader missing(file()), NotFoundError);
  {
    RunStore store(file());
    addRun(store, "read alone");
    store.setNote(1, "a note");
  }
  RunReader reader(file());
  EXPECT_EQ(reader.run(1).name, "read alone");
  EXPECT_EQ(reader.note(1), "a note");
  EXPECT_THAT(reader.uuid(), SizeIs(36));
  EXPECT_EQ(reader.uuid(), reader.info().at("uuid"));
  EXPECT_EQ(reader.info().at("schema_version"), schemaVersion());
}

}  // namespace
}  // namespace vitrine::store
