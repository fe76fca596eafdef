// Metrics: what is read back, by the program and by plain SQL, before and after packing.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/core/store/temp_database.h"

namespace vitrine::store {
namespace {

using ::testing::ElementsAre;
using testing::RawDatabase;

class Metrics : public testing::StoreTest {
 protected:
  static std::vector<std::int64_t> stepsOf(const std::vector<MetricPoint>& points) {
    std::vector<std::int64_t> steps;
    for (const MetricPoint& point : points) steps.push_back(point.step);
    return steps;
  }
  static std::vector<std::int64_t> range(std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> steps;
    for (std::int64_t step = first; step <= last; ++step) steps.push_back(step);
    return steps;
  }
  static void appendSteps(RunStore& store, std::int64_t run, std::int64_t segment,
                          std::int64_t first, std::int64_t last, double offset = 0) {
    RunStore::Batch batch;
    for (std::int64_t step = first; step <= last; ++step) {
      batch.metrics.push_back(
          record(step, {{"train/loss", offset + 1.0 / static_cast<double>(step + 1)}}));
    }
    store.append(run, segment, batch);
  }
  /// The view, read by an SQLite that knows nothing of us, says what points() says, bit for bit.
  void expectViewEqualsPoints(RunStore& store, std::int64_t run) {
    RawDatabase raw(file());
    for (const std::string& name : store.metricNames(run)) {
      const auto points = store.points(run, name);
      std::size_t i = 0;
      raw.each("SELECT segment, step, epoch, time, value FROM metrics WHERE run_id = " +
                   std::to_string(run) + " AND name = '" + name + "' ORDER BY step",
               [&](sqlite3_stmt* row) {
                 ASSERT_LT(i, points.size()) << name;
                 const MetricPoint& point = points[i];
                 EXPECT_EQ(sqlite3_column_int64(row, 0), point.segment);
                 EXPECT_EQ(sqlite3_column_int64(row, 1), point.step);
                 EXPECT_EQ(sqlite3_column_double(row, 2), point.epoch);
                 EXPECT_EQ(sqlite3_column_double(row, 3), point.time);
                 if (std::isnan(point.value)) {
                   EXPECT_EQ(sqlite3_column_type(row, 4), SQLITE_NULL)
                       << name << " at " << point.step;
                 } else {
                   EXPECT_EQ(std::bit_cast<std::uint64_t>(sqlite3_column_double(row, 4)),
                             std::bit_cast<std::uint64_t>(point.value))
                       << name << " at " << point.step;
                 }
                 ++i;
               });
      EXPECT_EQ(i, points.size()) << name;
    }
  }
};

std::vector<double> strangeValues() {
  using Limits = std::numeric_limits<double>;
  return {0.0,
          -0.0,
          Limits::infinity(),
          -Limits::infinity(),
          Limits::quiet_NaN(),
          Limits::denorm_min(),
          -Limits::denorm_min(),
          Limits::min(),
          -Limits::min(),
          Limits::max(),
          Limits::lowest(),
          1e308,
          0.1,
          -1.0 / 3.0,
          1.0,
          2.0,
          4503599627370497.0,
          std::nextafter(Limits::min(), 0.0)};
}

void expectSameBits(double actual, double expected, std::int64_t step) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(actual), std::bit_cast<std::uint64_t>(expected))
      << "at step " << step;
}

TEST_F(Metrics, ComeBackBitForBitFromTheTailAndFromChunks) {
  auto [store, run] = openWithRunning();
  const auto strange = strangeValues();
  std::mt19937_64 random(11);
  std::vector<double> values;
  for (int i = 0; i < 2500; ++i) {
    double value = std::bit_cast<double>(random());
    if (std::isnan(value))
      value = std::numeric_limits<double>::quiet_NaN();  // one NaN, whatever its bits
    values.push_back(i % 5 == 0 ? strange[static_cast<std::size_t>(i / 5) % strange.size()]
                                : value);
  }
  RunStore::Batch batch;
  for (std::size_t i = 0; i < values.size(); ++i)
    batch.metrics.push_back(record(static_cast<std::int64_t>(i), {{"train/loss", values[i]}}));
  store.append(run, 1, batch);
  ASSERT_EQ(RawDatabase(file()).integer("SELECT count(*) FROM metric_chunk"), 2);
  ASSERT_EQ(RawDatabase(file()).integer("SELECT count(*) FROM metric_tail"), 500);

  const auto points = store.points(run, "train/loss");
  ASSERT_EQ(points.size(), values.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].sequence, static_cast<std::int64_t>(i) + 1);
    expectSameBits(points[i].value, values[i], points[i].step);
  }
  expectViewEqualsPoints(store, run);

  store.setState(run, RunState::Done);  // packs the rest
  ASSERT_EQ(RawDatabase(file()).integer("SELECT count(*) FROM metric_tail"), 0);
  const auto packed = store.points(run, "train/loss");
  ASSERT_EQ(packed.size(), values.size());
  for (std::size_t i = 0; i < packed.size(); ++i) {
    EXPECT_EQ(packed[i].sequence, points[i].sequence);
    EXPECT_EQ(packed[i].time, points[i].time);
    EXPECT_EQ(packed[i].epoch, points[i].epoch);
    expectSameBits(packed[i].value, values[i], packed[i].step);
  }
  expectViewEqualsPoints(store, run);
}

TEST_F(Metrics, OfOneRecordShareAClockAndOthersHaveTheirOwn) {
  auto [store, run] = openWithRunning();
  RunStore::Batch batch;
  for (std::int64_t step = 1; step <= 4000; ++step) {
    MetricRecord moment =
        record(step, {{"train/loss", std::sin(static_cast<double>(step))},
                      {"optimizer/learning_rate", 1e-3 / static_cast<double>(step)}});
    if (step % 200 == 0)
      moment.values.emplace_back("analysis/attention_rank/rank80/layer0/head0", 7.0);
    batch.metrics.push_back(moment);
    // An evaluation is a record of its own at the same step.
    if (step % 469 == 0)
      batch.metrics.push_back(record(step, {{"test/top1", 0.8}, {"test/loss", 0.5}}));
  }
  store.append(run, 1, batch);
  RawDatabase raw(file());
  EXPECT_EQ(raw.integer("SELECT count(*) FROM clock_chunk"), 4);
  EXPECT_EQ(raw.integer("SELECT count(*) FROM metric_chunk"), 8);
  expectViewEqualsPoints(store, run);
  EXPECT_EQ(store.points(run, "test/top1").size(), 8u);
  EXPECT_EQ(store.points(run, "analysis/attention_rank/rank80/layer0/head0").size(), 20u);

  store.setState(run, RunState::Done);
  EXPECT_EQ(raw.integer("SELECT count(*) FROM clock_chunk"),
            5);  // + the rank; eight evaluations stay in the tail
  EXPECT_EQ(raw.integer("SELECT count(*) FROM metric_tail"), 16);
  expectViewEqualsPoints(store, run);
}

TEST_F(Metrics, KeepTheirSequenceThroughPackingSoThatAReaderMissesNothing) {
  auto [store, run] = openWithRunning();
  std::int64_t seen = 0;
  std::vector<std::int64_t> steps;
  for (std::int64_t first = 1; first <= 2101; first += 300) {
    appendSteps(store, run, 1, first, first + 299);
    for (const MetricPoint& point : store.points(run, "train/loss", seen)) {
      steps.push_back(point.step);
      seen = std::max(seen, point.sequence);
    }
  }
  EXPECT_EQ(steps, range(1, 2400));
}

TEST_F(Metrics, OfSupersededStepsStayInTheTablesAndOutOfSight) {
  auto [store, run] = openWithRunning();
  appendSteps(store, run, 1, 0, 1700, 10.0);
  store.setState(run, RunState::Interrupted, "a test");
  ASSERT_EQ(store.openSegment(run, 1500, thisWorker(), Json::object()), 2);
  EXPECT_EQ(stepsOf(store.points(run, "train/loss")), range(0, 1500));
  appendSteps(store, run, 2, 1501, 1600, 20.0);

  const auto points = store.points(run, "train/loss");
  EXPECT_EQ(stepsOf(points), range(0, 1600));
  EXPECT_EQ(points[1500].segment, 1);
  EXPECT_EQ(points[1501].segment, 2);
  EXPECT_GT(points[1501].value, 20.0);
  expectViewEqualsPoints(store, run);
  EXPECT_EQ(RawDatabase(file()).integer("SELECT sum(count) FROM metric_chunk"), 1701);

  const auto segments = store.segments(run);
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].lastStep, 1500);
  EXPECT_EQ(segments[1].firstStep, 1500);
  EXPECT_EQ(segments[1].lastStep, -1);
  EXPECT_EQ(segments[1].resumedFrom, 1);

  // A third segment goes back before the second.
  store.setState(run, RunState::Interrupted, "a test");
  store.openSegment(run, 1000, thisWorker(), Json::object());
  appendSteps(store, run, 3, 1001, 1010, 30.0);
  EXPECT_EQ(stepsOf(store.points(run, "train/loss")), range(0, 1010));
  expectViewEqualsPoints(store, run);
}

TEST_F(Metrics, OfAnEvaluationThatAPauseLeftOwingAreShownOnce) {
  auto [store, run] = openWithRunning();
  appendSteps(store, run, 1, 0, 30);
  store.setState(run, RunState::Interrupted, "a test");
  RunStore::Batch owed;
  owed.metrics = {record(20, {{"test/top1", 0.5}}), record(21, {{"train/loss", 7.0}})};
  Artifact matrix;
  matrix.analysis = "classification";
  matrix.name = "confusion";
  matrix.kind = artifact_kind::kMatrix;
  matrix.step = 20;
  matrix.data = {std::byte{1}, std::byte{2}};
  owed.artifacts = {matrix};
  // The second process is killed before it has saved a checkpoint, and a third makes it again.
  for (const std::int64_t segment : {2, 3}) {
    ASSERT_EQ(store.openSegment(run, 20, thisWorker(), Json::object()), segment);
    store.append(run, segment, owed);
    store.setState(run, RunState::Interrupted, "a test");
  }
  const auto top1 = store.points(run, "test/top1");
  ASSERT_EQ(stepsOf(top1), std::vector<std::int64_t>{20});
  EXPECT_EQ(top1[0].segment, 1);
  EXPECT_EQ(top1[0].value, 0.5);
  EXPECT_EQ(store.summaries(run).at(0).name, "test/top1");
  EXPECT_EQ(store.summaries(run).at(0).count, 1);
  EXPECT_EQ(stepsOf(store.points(run, "train/loss")), range(0, 21));
  EXPECT_EQ(store.points(run, "train/loss").back().segment, 3);
  EXPECT_EQ(store.query("SELECT step FROM artifacts").rows.size(), 1u);
  expectViewEqualsPoints(store, run);
  EXPECT_TRUE(store.check().empty());
}

TEST_F(Metrics, OfARunThatStartsAgainFromNothingReplaceTheOldOnesWholly) {
  auto [store, run] = openWithRunning();
  appendSteps(store, run, 1, 0, 30, 10.0);
  store.setState(run, RunState::Interrupted, "a test");
  store.openSegment(run, 0, thisWorker(), Json::object());
  EXPECT_TRUE(store.points(run, "train/loss").empty());
  EXPECT_TRUE(store.summaries(run).empty());
  appendSteps(store, run, 2, 0, 5, 20.0);
  const auto points = store.points(run, "train/loss");
  EXPECT_EQ(stepsOf(points), range(0, 5));
  EXPECT_EQ(points[0].segment, 2);
  expectViewEqualsPoints(store, run);
}

TEST_F(Metrics, AreSummedUpAsTheyCome) {
  auto [store, run] = openWithRunning();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [step, value] : std::vector<std::pair<std::int64_t, double>>{
           {10, 3.0}, {20, 1.5}, {30, nan}, {40, 9.0}, {50, 1.5}}) {
    store.append(run, 1, {.metrics = {record(step, {{"train/loss", value}})}});
  }
  const auto summaries = store.summaries(run);
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].name, "train/loss");
  EXPECT_EQ(summaries[0].count, 5);
  EXPECT_EQ(summaries[0].firstStep, 10);
  EXPECT_EQ(summaries[0].lastStep, 50);
  EXPECT_EQ(summaries[0].last, 1.5);
  EXPECT_EQ(summaries[0].minimum, 1.5);
  EXPECT_EQ(summaries[0].minimumStep, 20);
  EXPECT_EQ(summaries[0].maximum, 9.0);
  EXPECT_EQ(summaries[0].maximumStep, 40);
  EXPECT_THAT(store.lastValues("train/loss"), ElementsAre(::testing::Pair(run, 1.5)));
  EXPECT_THAT(store.lastValues("train/other"), ::testing::IsEmpty());
}

TEST_F(Metrics, AreSummedUpAgainWhenStepsAreSuperseded) {
  auto [store, run] = openWithRunning();
  appendSteps(store, run, 1, 1, 1200);
  store.setState(run, RunState::Interrupted, "a test");
  store.openSegment(run, 700, thisWorker(), Json::object());
  auto summary = store.summaries(run).at(0);
  EXPECT_EQ(summary.count, 700);
  EXPECT_EQ(summary.lastStep, 700);
  EXPECT_EQ(summary.minimumStep, 700);
  EXPECT_EQ(summary.maximumStep, 1);
  appendSteps(store, run, 2, 701, 710);
  summary = store.summaries(run).at(0);
  EXPECT_EQ(summary.count, 710);
  EXPECT_EQ(summary.minimumStep, 710);
}

TEST_F(Metrics, OfNothingButNaNHaveNoMinimum) {
  auto [store, run] = openWithRunning();
  store.append(run, 1, {.metrics = {record(1, {{"train/loss", std::nan("")}})}});
  const auto summary = store.summaries(run).at(0);
  EXPECT_EQ(summary.count, 1);
  EXPECT_TRUE(std::isnan(summary.last));
  EXPECT_TRUE(std::isnan(summary.minimum));
  EXPECT_EQ(store.query("SELECT minimum, minimum_step FROM metric_summaries").rows.at(0).at(0),
            nullptr);
}

TEST_F(Metrics, OfTwoProcessesOnOneRunDoNotMixSegments) {
  auto [store, run] = openWithRunning();
  appendSteps(store, run, 1, 1, 10);
  store.setState(run, RunState::Interrupted, "a test");
  store.openSegment(run, 10, thisWorker(), Json::object());
  appendSteps(store, run, 2, 11, 20);
  appendSteps(store, run, 1, 11, 15, 99.0);  // the old worker was only slow
  const auto points = store.points(run, "train/loss");
  EXPECT_EQ(stepsOf(points), range(1, 20));
  for (const MetricPoint& point : points) EXPECT_LT(point.value, 99.0);
  EXPECT_EQ(store.summaries(run).at(0).count, 20);
  EXPECT_EQ(RawDatabase(file()).integer("SELECT count(*) FROM metric_tail"), 25);
}

TEST_F(Metrics, OfASegmentThatWasNeverOpenedAreRefused) {
  auto [store, run] = openWithRunning();
  RunStore::Batch batch{.metrics = {record(1, {{"train/loss", 1.0}})}};
  EXPECT_EQ(test::refusal<StoreError>([&] { store.append(run, 2, batch); }),
            "run 1 has no segment 2; open one before storing results");
  EXPECT_EQ(RawDatabase(file()).integer("SELECT count(*) FROM metric_tail"), 0);
}

TEST_F(Metrics, TakeAtMostNineBytesAPointWithEightOnAClock) {
  auto [store, run] = openWithRunning();
  RawDatabase raw(file());
  std::mt19937_64 random(5);
  double time = 0;
  const auto bytesAfter = [&](std::int64_t firstStep, std::int64_t lastStep) {
    RunStore::Batch batch;
    for (std::int64_t step = firstStep; step <= lastStep; ++step) {
      time += 0.030 + 1e-6 * static_cast<double>(random() % 4000);  // 30 to 34 ms a step
      const auto samples = static_cast<double>(step / 469 * 60000 + step % 469 * 128);
      MetricRecord moment{step, samples / 60000.0, time, {}};
      for (int k = 0; k < 8; ++k) {
        moment.values.emplace_back("train/" + std::to_string(k),
                                   std::bit_cast<double>(random() >> 2));
      }
      batch.metrics.push_back(moment);
    }
    store.append(run, 1, batch);
    return raw.integer(
        "SELECT sum(pgsize) FROM dbstat WHERE name GLOB '*_chunk*' OR name = 'metric_tail'");
  };
  // The first pages of every table and index are there whatever the number of points.
  const std::int64_t before = bytesAfter(1, 1000);
  const std::int64_t after = bytesAfter(1001, 6000);
  const double perPoint = static_cast<double>(after - before) / (8.0 * 5000.0);
  RecordProperty("bytes_per_point", std::to_string(perPoint));
  EXPECT_LE(perPoint, 9.0) << before << " bytes, then " << after;
}

TEST_F(Metrics, ThatFillChunksAtOnceTakeNoRoomInTheTail) {
  auto [store, run] = openWithRunning();
  RunStore::Batch batch;
  for (std::int64_t step = 1; step <= 10'000; ++step)
    batch.metrics.push_back(record(step, {{"train/loss", 1.0}, {"train/top1", 0.5}}));
  store.append(run, 1, batch);
  RawDatabase raw(file());
  EXPECT_EQ(raw.integer("SELECT count(*) FROM clock_chunk"), 10);
  EXPECT_EQ(raw.integer("SELECT count(*) FROM metric_chunk"), 20);
  EXPECT_EQ(raw.integer("SELECT count(*) FROM metric_tail"), 0);
  // Pages that the tail had taken would be free now.
  EXPECT_EQ(raw.integer("PRAGMA freelist_count"), 0);
}

TEST_F(Metrics, OfTheTailComeBeforeNewOnesInAChunk) {
  auto [store, run] = openWithRunning();
  RawDatabase raw(file());
  std::int64_t step = 0;
  for (const std::int64_t count : {999, 1, 998, 3, 2500, 7}) {
    appendSteps(store, run, 1, step, step + count - 1);
    step += count;
    EXPECT_EQ(raw.integer("SELECT count(*) FROM metric_tail"), step % 1000);
    EXPECT_EQ(raw.integer("SELECT coalesce(sum(count), 0) FROM metric_chunk"), step / 1000 * 1000);
    EXPECT_EQ(raw.integer("SELECT tail_rows FROM metric_summary"), step % 1000);
    EXPECT_EQ(stepsOf(store.points(run, "train/loss")), range(0, step - 1));
  }
  expectViewEqualsPoints(store, run);
}

TEST_F(Metrics, NamedTwiceInARecordCountOnceWithTheLastValue) {
  auto [store, run] = openWithRunning();
  RunStore::Batch batch;
  for (std::int64_t step = 0; step < 1001; ++step)
    batch.metrics.push_back(record(step, {{"train/loss", 9.0}, {"train/loss", 1.0}}));
  store.append(run, 1, batch);
  for (const MetricPoint& point : store.points(run, "train/loss")) EXPECT_EQ(point.value, 1.0);
  EXPECT_EQ(store.points(run, "train/loss").size(), 1001u);
  EXPECT_EQ(store.summaries(run).at(0).count, 1001);
  EXPECT_EQ(store.summaries(run).at(0).maximum, 1.0);
}

}  // namespace
}  // namespace vitrine::store
