// Runs that need several others: rows, deletion, export and import, values chosen from a grid.
#include <gmock/gmock.h>

#include "core/store/exchange/exchange.h"
#include "core/store/maintenance/trash.h"
#include "tests/core/store/temp_database.h"

namespace vitrine::store {
namespace {

using test::Fails;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;

class Dependencies : public testing::StoreTest {
 protected:
  /// Runs 1 and 2, and run 3, which needs both.
  void addThree(RunStore& store) {
    const std::int64_t experiment = store.experiment("an experiment", "");
    store.addRuns(experiment, {newRun("codec"), newRun("grid")});
    NewRun run = newRun("refit");
    run.dependencies = {{"aux", "codec", store.run(1).uuid, "latest"},
                        {"select", "grid", store.run(2).uuid, ""}};
    run.selection = Json{{"metric", "validation/top1"}, {"chosen", nullptr}};
    store.addRuns(experiment, {run});
  }
  static void finish(RunStore& store, std::int64_t run) {
    store.openSegment(run, 0, thisWorker(), Json::object());
    store.setState(run, RunState::Done);
  }
};

TEST_F(Dependencies, AreKeptWithTheRun) {
  RunStore store(file());
  addThree(store);
  EXPECT_THAT(store.dependencies(3),
              ElementsAre(RunDependency{"aux", "codec", store.run(1).uuid, "latest"},
                          RunDependency{"select", "grid", store.run(2).uuid, ""}));
  EXPECT_THAT(store.dependencies(1), IsEmpty());
  EXPECT_EQ(store.selection(3).at("metric"), "validation/top1");
  EXPECT_TRUE(store.selection(1).is_null());
}

TEST_F(Dependencies, KeepAnAuxiliaryNetworkForAsLongAsARunRefersToIt) {
  RunStore store(file());
  addThree(store);
  EXPECT_EQ(test::refusal<RefusedError>([&] { store.deleteRun(1); }),
            "run 1 is the auxiliary network 'codec' of run 3; delete that one first");
  EXPECT_EQ(test::refusal<RefusedError>([&] { trashRun(file(), 2); }),
            "run 2 is one of the runs that run 3 will be selected from; delete that one first");
  for (const std::int64_t run : {1, 2, 3}) finish(store, run);
  EXPECT_THROW(store.deleteRun(1), RefusedError) << "the checkpoints of run 3 refer to it";
  store.deleteRun(2);
  store.deleteRun(3);
  store.deleteRun(1);
  EXPECT_EQ(store.query("SELECT count(*) FROM run_dependency").rows[0][0], 0);
}

TEST_F(Dependencies, KeepARunThatHasWhatAnotherOneFroze) {
  RunStore store(file());
  const std::int64_t experiment = store.experiment("an experiment", "");
  store.addRuns(experiment, {newRun("first"), newRun("second"), newRun("third")});
  const auto startedFrom = [&](std::int64_t run, const Json& freeze, const Json& groups) {
    NewRun made = newRun("from " + std::to_string(run));
    made.init = {{"run", store.run(run).uuid}, {"checkpoint", "latest"}, {"freeze", freeze}};
    made.config["train"]["groups"] = groups;
    return made;
  };
  store.addRuns(experiment, {startedFrom(1, {"blocks.*"}, Json::object()),
                             startedFrom(2, Json::array(), {{"head", {{"freeze", true}}}}),
                             startedFrom(3, Json::array(), {{"head", {{"freeze", false}}}})});
  for (const std::int64_t run : {1, 2, 3, 4, 5, 6}) finish(store, run);
  EXPECT_EQ(test::refusal<RefusedError>([&] { store.deleteRun(1); }),
            "run 1 holds the frozen parameters of run 4; delete that one first");
  EXPECT_THAT([&] { store.deleteRun(2); }, Fails<RefusedError>("run 2", "run 5"));
  store.deleteRun(3);
  store.deleteRun(4);
  store.deleteRun(1);
}

TEST_F(Dependencies, ComeBackFromTheTrash) {
  RunStore store(file());
  addThree(store);
  const auto before = store.dependencies(3);
  trashRun(file(), 3);
  trashRun(file(), 1);
  EXPECT_EQ(restoreRun(file(), 1), 1);
  EXPECT_EQ(restoreRun(file(), 3), 3);
  EXPECT_EQ(store.dependencies(3), before);
  EXPECT_EQ(store.blocker(3)->run, 1);
  EXPECT_EQ(store.selection(3).at("metric"), "validation/top1");
}

TEST_F(Dependencies, OfACopyAreItsOwnCopies) {
  RunStore store(file());
  addThree(store);
  const auto out = folder_ / "out.vitrine";
  exportRuns(file(), std::vector<std::int64_t>{1, 2, 3}, out, ExportFormat::Sqlite,
             ExportedCheckpoints::None);
  EXPECT_THAT(importRuns(file(), out, Duplicates::Copy, "").runs, SizeIs(3));
  ASSERT_THAT(store.runs(), SizeIs(6));
  EXPECT_EQ(store.dependencies(6).at(0).uuid, store.run(4).uuid);
  EXPECT_EQ(store.dependencies(6).at(1).uuid, store.run(5).uuid);
  EXPECT_EQ(store.dependencies(3).at(0).uuid, store.run(1).uuid);

  // One that comes without what it needs keeps the name of it.
  const auto alone = folder_ / "alone.vitrine", other = folder_ / "other.sqlite";
  exportRuns(file(), std::vector<std::int64_t>{3}, alone, ExportFormat::Sqlite,
             ExportedCheckpoints::None);
  importRuns(other, alone, Duplicates::Skip, "");
  RunStore elsewhere(other);
  EXPECT_EQ(elsewhere.dependencies(1), store.dependencies(3));
  EXPECT_FALSE(elsewhere.blocker(1)) << "what is not here is said when it starts";
}

TEST_F(Dependencies, InACircleAreNotImported) {
  RunStore store(file());
  addThree(store);
  const auto out = folder_ / "out.vitrine";
  exportRuns(file(), std::vector<std::int64_t>{1, 2, 3}, out, ExportFormat::Sqlite,
             ExportedCheckpoints::None);
  testing::RawDatabase(out).run(
      "INSERT INTO run_dependency SELECT 1, 'aux', 'x', uuid, 'latest' FROM run WHERE id = 3");
  EXPECT_EQ(test::refusal<StoreError>(
                [&] { importRuns(folder_ / "other.sqlite", out, Duplicates::Skip, ""); }),
            "'" + out.string() +
                "' holds runs that depend on each other in a circle; it is damaged");
}

TEST_F(Dependencies, TheValuesThatWereChosenReplaceThoseBeforeTheRunBegins) {
  RunStore store(file());
  addThree(store);
  Json config = store.config(3);
  config["train"]["epochs"] = 9;
  EventRecord event{0, "selected", "the best of 1", Json{{"chosen", 0}}};
  store.completeConfig(3, config, Json{{"train.epochs", {{"layer", "select"}, {"line", 0}}}},
                       Json{{"chosen", 0}}, event);
  EXPECT_EQ(store.config(3).at("train").at("epochs"), 9);
  EXPECT_EQ(store.origins(3).at("train.epochs").at("layer"), "select");
  EXPECT_EQ(store.selection(3).at("chosen"), 0);
  EXPECT_EQ(store.query("SELECT value FROM parameters WHERE run_id = 3 AND key = 'train.epochs'")
                .rows[0][0],
            9);
  EXPECT_EQ(store.events(3).back().kind, "selected");
  store.openSegment(3, 0, thisWorker(), Json::object());
  EXPECT_THAT([&] { store.completeConfig(3, config, Json::object(), Json(), event); },
              Fails<StoreError>("run 3"));
}

}  // namespace
}  // namespace vitrine::store
