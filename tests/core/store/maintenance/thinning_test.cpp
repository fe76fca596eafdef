// Points are taken out of runs on request, and what stays tells what there was.
#include "core/store/maintenance/thinning.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "core/store/exchange/exchange.h"
#include "core/store/maintenance/maintenance.h"
#include "tests/core/store/full_database.h"

namespace vitrine::store {
namespace {

using test::Fails;
using ::testing::ElementsAre, ::testing::IsEmpty;
using testing::RawDatabase;

class Thinning : public testing::FullDatabase {
 protected:
  static double valueAt(std::int64_t step) {
    return static_cast<double>((step * 7919) % 10'007) / 3.0;
  }
  /// A run that is done, with `steps` points of `train/loss`, of which 777 is not a number.
  std::int64_t addDone(RunStore& store, std::int64_t steps) {
    const std::int64_t run = addRunning(store);
    RunStore::Batch batch;
    for (std::int64_t step = 1; step <= steps; ++step) {
      batch.metrics.push_back(
          record(step, {{"train/loss", step == 777 ? std::nan("") : valueAt(step)}}));
    }
    store.append(run, 1, batch);
    store.setState(run, RunState::Done);
    return run;
  }
  std::vector<std::int64_t> thin(std::int64_t run, std::int64_t bucket) {
    const auto report = thinRuns(file(), std::array{run}, bucket);
    return {report.at(0).before, report.at(0).after};
  }
};

TEST_F(Thinning, KeepsLowestAndHighestAndHowManyThereWere) {
  RunStore store(file());
  const std::int64_t run = addDone(store, 5000);
  const auto before = store.points(run, "train/loss");
  const MetricSummary summary = store.summaries(run).at(0);
  const auto plan = planThinning(file(), std::array{run}, 100);
  EXPECT_EQ(plan.at(0).before, 5000);
  EXPECT_EQ(store.points(run, "train/loss").size(), 5000u) << "a plan changes nothing";
  EXPECT_THAT(thin(run, 100), ElementsAre(5000, plan.at(0).after));

  const auto after = store.points(run, "train/loss");
  EXPECT_EQ(static_cast<std::int64_t>(after.size()), plan.at(0).after);
  EXPECT_LE(after.size(), 103u);
  EXPECT_EQ(after.front().step, 1);
  EXPECT_EQ(after.back().step, 5000);
  for (const MetricPoint& point : after) {
    const MetricPoint& was = before.at(static_cast<std::size_t>(point.step) - 1);
    EXPECT_EQ(point.sequence, was.sequence);
    EXPECT_EQ(point.time, was.time);
    EXPECT_TRUE(point.value == was.value || point.step == 777);
  }
  RawDatabase raw(file());
  EXPECT_EQ(raw.integer("SELECT count(*) FROM metric_bucket"), 50);
  EXPECT_EQ(raw.integer("SELECT sum(count) FROM metric_bucket"), 5000);
  EXPECT_EQ(raw.integer("SELECT sum(nans) FROM metric_bucket"), 1);
  for (std::int64_t bucket = 0; bucket < 50; ++bucket) {
    double lowest = 1e9, highest = -1e9;
    for (std::int64_t step = bucket * 100 + 1; step <= bucket * 100 + 100; ++step) {
      if (step == 777) continue;
      lowest = std::min(lowest, valueAt(step));
      highest = std::max(highest, valueAt(step));
    }
    const std::string at =
        " FROM metric_bucket WHERE first_step = " + std::to_string(bucket * 100 + 1);
    raw.each("SELECT minimum, maximum, last_step, count" + at, [&](sqlite3_stmt* row) {
      EXPECT_EQ(sqlite3_column_double(row, 0), lowest);
      EXPECT_EQ(sqlite3_column_double(row, 1), highest);
      EXPECT_EQ(sqlite3_column_int64(row, 2), bucket * 100 + 100);
      EXPECT_EQ(sqlite3_column_int64(row, 3), 100);
    });
    EXPECT_TRUE(std::any_of(after.begin(), after.end(), [&](const MetricPoint& point) {
      return point.value == lowest && (point.step - 1) / 100 == bucket;
    }));
  }
  const MetricSummary now = store.summaries(run).at(0);
  EXPECT_EQ(now.count, summary.count);
  EXPECT_EQ(now.minimum, summary.minimum);
  EXPECT_EQ(now.maximumStep, summary.maximumStep);
  const EventRow event = store.events(run).back();
  EXPECT_EQ(event.kind, "thinned");
  EXPECT_EQ(event.data.at("before"), 5000);
  EXPECT_EQ(event.data.at("bucket"), 100);
  EXPECT_THAT(checkContents(file(), CheckpointFiles::Present), IsEmpty());
  EXPECT_THAT(store.check(), IsEmpty());
}

TEST_F(Thinning, AgainWidensBucketsAndNeverForgetsTheCount) {
  RunStore store(file());
  const std::int64_t run = addDone(store, 4000);
  thin(run, 20);
  const std::size_t once = store.points(run, "train/loss").size();
  EXPECT_THAT(thin(run, 20), ElementsAre(once, once)) << "nothing is left to be done";
  EXPECT_EQ(store.events(run).back().data.at("before"), 4000) << "and nothing is said";
  thin(run, 400);
  EXPECT_LT(store.points(run, "train/loss").size(), once / 10);
  RawDatabase raw(file());
  EXPECT_EQ(raw.integer("SELECT sum(count) FROM metric_bucket"), 4000);
  EXPECT_EQ(raw.integer("SELECT max(count) FROM metric_bucket"), 400);
  EXPECT_EQ(store.summaries(run).at(0).count, 4000);
  EXPECT_THAT(checkContents(file(), CheckpointFiles::Present), IsEmpty());
}

TEST_F(Thinning, LeavesWhatAResumeCutsCountable) {
  auto [store, run] = openWithRunning();
  RunStore::Batch batch;
  for (std::int64_t step = 1; step <= 1000; ++step)
    batch.metrics.push_back(record(step, {{"train/loss", valueAt(step)}}));
  store.append(run, 1, batch);
  checkpoint(store, run, 1, 530);
  store.setState(run, RunState::Interrupted, "");
  thin(run, 100);
  const std::int64_t next = store.openSegment(run, 530, thisWorker(), Json::object());
  EXPECT_EQ(store.summaries(run).at(0).count, 530);
  batch.metrics.erase(batch.metrics.begin(), batch.metrics.begin() + 530);
  store.append(run, next, batch);
  store.setState(run, RunState::Done);
  EXPECT_EQ(store.summaries(run).at(0).count, 1000);
  EXPECT_EQ(store.points(run, "train/loss").back().step, 1000);
  EXPECT_THAT(checkContents(file(), CheckpointFiles::Present), IsEmpty());
  thin(run, 100);
  EXPECT_EQ(store.summaries(run).at(0).count, 1000);
  EXPECT_THAT(checkContents(file(), CheckpointFiles::Present), IsEmpty());
}

TEST_F(Thinning, KeepsTheFirstAndTheLastStepWhereverTheyWereRecorded) {
  auto [store, run] = openWithRunning();
  RunStore::Batch batch;
  // Neither of the two is the first, the last, the lowest or the highest of its bucket.
  for (std::int64_t step = 2; step <= 401; ++step) {
    batch.metrics.push_back(record(step, {{"train/loss", valueAt(step)}}));
    if (step == 50) batch.metrics.push_back(record(1, {{"train/loss", 1500.0}}));
    if (step == 250) batch.metrics.push_back(record(1000, {{"train/loss", 1600.0}}));
  }
  store.append(run, 1, batch);
  store.setState(run, RunState::Done);
  EXPECT_LT(thin(run, 100).at(1), 20);
  const auto points = store.points(run, "train/loss");
  EXPECT_EQ(points.front().step, 1);
  EXPECT_EQ(points.back().step, 1000);
  EXPECT_EQ(points.back().value, store.summaries(run).at(0).last);
  EXPECT_THAT(checkContents(file(), CheckpointFiles::Present), IsEmpty());
}

TEST_F(Thinning, OfEveryKindOfRunKeepsTheDatabaseWhole) {
  fill();
  thinRuns(file(), std::array<std::int64_t, 3>{1, 2, 3}, 10);
  EXPECT_THAT(checkContents(file(), CheckpointFiles::Present), IsEmpty());
  EXPECT_THAT(RunStore(file()).check(), IsEmpty());
  // It goes along with an export.
  exportRuns(file(), std::array<std::int64_t, 1>{1}, folder_ / "out.vitrine", ExportFormat::Sqlite,
             ExportedCheckpoints::All);
  importRuns(folder_ / "there.sqlite", folder_ / "out.vitrine", Duplicates::Skip, "");
  EXPECT_GT(RawDatabase(folder_ / "there.sqlite").integer("SELECT count(*) FROM metric_bucket"), 0);
  EXPECT_THAT(checkContents(folder_ / "there.sqlite", CheckpointFiles::Present), IsEmpty());
}

TEST_F(Thinning, LeavesRunsInProgressAloneAndSaysSo) {
  auto [store, run] = openWithRunning();
  RunStore::Batch batch;
  for (std::int64_t step = 1; step <= 100; ++step)
    batch.metrics.push_back(record(step, {{"train/loss", valueAt(step)}}));
  store.append(run, 1, batch);
  const auto report = thinRuns(file(), std::array{run}, 10);
  EXPECT_EQ(report.at(0).refusal, "it is running; wait for its end or stop it");
  EXPECT_EQ(report.at(0).after, 100);
  EXPECT_EQ(store.points(run, "train/loss").size(), 100u);
  EXPECT_THAT([&] { thinRuns(file(), std::array{run}, 2); }, Fails<ConfigError>(8));
  EXPECT_THROW(thinRuns(file(), std::array<std::int64_t, 1>{77}, 10), NotFoundError);
}

TEST_F(Thinning, FindsRunsByTheirAge) {
  RunStore store(file());
  const std::int64_t old = addDone(store, 10), fresh = addDone(store, 10);
  addRunning(store);
  RawDatabase(file()).run("UPDATE run SET finished_at = '2020-01-01T00:00:00.000Z' WHERE id = " +
                          std::to_string(old));
  EXPECT_THAT(runsEndedBefore(file(), "2021-01-01"), ElementsAre(old));
  EXPECT_THAT(runsEndedBefore(file(), "2999-01-01"), ElementsAre(old, fresh));
}

}  // namespace
}  // namespace vitrine::store
