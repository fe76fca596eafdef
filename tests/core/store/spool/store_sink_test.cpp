// The queue between the training thread and the database.
#include "core/store/spool/store_sink.h"

#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "core/store/spool/spool.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/wait_until.h"

namespace vitrine::store {
namespace {

using testing::RawDatabase;

class StoreSinkTest : public testing::StoreTest {
 protected:
  StoreSinkTest() : store_(file()), run_(addRunning(store_)) {}

  RunStore store_;
  std::int64_t run_;
  RunControl control_;
};

TEST_F(StoreSinkTest, StoresEverythingThatWasHandedOverBeforeAFlush) {
  StoreSink sink(file(), run_, 1, control_);
  for (std::int64_t step = 1; step <= 2500; ++step)
    sink.metrics(record(step, {{"train/loss", 1.0}}));
  sink.event({5, "evaluation", "text", Json::object()});
  Artifact artifact{.kind = "table"};
  artifact.data.resize(100);
  sink.artifact(artifact);
  sink.checkpoint({2500, "folder", 1, 0.1, true, {}});
  sink.progress({2500, 5000, 1, 2, 0.5, 100, 1, 10});
  sink.flush();
  EXPECT_EQ(store_.points(run_, "train/loss").size(), 2500u);
  EXPECT_EQ(store_.events(run_).back().kind, "evaluation");
  EXPECT_EQ(store_.artifacts(run_).at(0).bytes, 100);
  EXPECT_EQ(store_.run(run_).latestCheckpoint, 2500);
  EXPECT_EQ(store_.run(run_).step, 2500);
  EXPECT_LE(sink.commits(), 2);  // a round may have fallen between
}

TEST_F(StoreSinkTest, CommitsAtMostTwiceASecond) {
  const auto start = std::chrono::steady_clock::now();
  std::int64_t commits = 0;
  {
    StoreSink sink(file(), run_, 1, control_);
    std::int64_t step = 0;
    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1300)) {
      sink.metrics(record(++step, {{"train/loss", 1.0}}));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    commits = sink.commits();
  }
  const auto rounds = (std::chrono::steady_clock::now() - start) / std::chrono::milliseconds(500);
  EXPECT_GE(commits, 1);
  EXPECT_LE(commits, rounds);
}

TEST_F(StoreSinkTest, FlushesWhenItGoes) {
  {
    StoreSink sink(file(), run_, 1, control_);
    sink.metrics(record(1, {{"train/loss", 1.0}}));
  }
  EXPECT_EQ(store_.points(run_, "train/loss").size(), 1u);
}

TEST_F(StoreSinkTest, PassesRequestsOn) {
  StoreSink sink(file(), run_, 1, control_);
  store_.setRequest(run_, "checkpoint");
  EXPECT_TRUE(waitUntil([&] { return control_.request() == Request::Checkpoint; }));
  EXPECT_TRUE(waitUntil([&] { return store_.request(run_).empty(); }))
      << "it would be asked for again";
  control_.served();
  store_.setRequest(run_, "pause");
  EXPECT_TRUE(waitUntil([&] { return control_.request() == Request::Pause; }));
  store_.setRequest(run_, "stop");
  EXPECT_TRUE(waitUntil([&] { return control_.request() == Request::Stop; }));
  EXPECT_EQ(store_.request(run_), "stop");
}

TEST_F(StoreSinkTest, KeepsRecordsWhileTheDatabaseIsOutOfOrderAndStoresThemLater) {
  RawDatabase raw(file());
  StoreSink sink(file(), run_, 1, control_);
  sink.flush();
  ::testing::internal::CaptureStderr();
  raw.run("ALTER TABLE metric_tail RENAME TO elsewhere");
  sink.metrics(record(1, {{"train/loss", 1.0}}));
  EXPECT_THAT([&] { sink.flush(); }, test::Fails<StoreError>("metric_tail"));
  sink.metrics(record(2, {{"train/loss", 2.0}}));
  EXPECT_THROW(sink.flush(), StoreError);
  raw.run("ALTER TABLE elsewhere RENAME TO metric_tail");
  sink.metrics(record(3, {{"train/loss", 3.0}}));
  sink.flush();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(log.find("results are kept in memory"), log.rfind("results are kept in memory")) << log;
  EXPECT_NE(log.find("results are kept in memory"), std::string::npos) << log;

  std::vector<double> values;
  for (const MetricPoint& point : store_.points(run_, "train/loss")) values.push_back(point.value);
  EXPECT_THAT(values, ::testing::ElementsAre(1.0, 2.0, 3.0));
}

TEST_F(StoreSinkTest, LeavesInASideFileWhatTheDatabaseWouldNotTake) {
  RawDatabase raw(file());
  ::testing::internal::CaptureStderr();
  {
    StoreSink sink(file(), run_, 1, control_);
    raw.run("ALTER TABLE metric_tail RENAME TO elsewhere");
    EXPECT_NO_THROW(sink.metrics(record(1, {{"train/loss", 1.0}})));
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::EndsWith("results of run " + std::to_string(run_) + " wait in '" +
                                  spoolFolder(file()).string() +
                                  "'; they are stored when the database is opened next\n"));
  const auto sideFiles = spoolsOf(file());
  ASSERT_EQ(sideFiles.size(), 1u);
  EXPECT_EQ(SpoolFile::look(sideFiles[0])->count(), 1u);
}

TEST_F(StoreSinkTest, NeverThrowsIntoTheTrainingThreadAndSaysWhatIsLostAtTheEnd) {
  RawDatabase raw(file());
  // No side file can be made either.
  std::filesystem::create_directories(filesFolder(file()));
  std::ofstream(filesFolder(file()) / "spool") << "in the way";
  ::testing::internal::CaptureStderr();
  {
    StoreSink sink(file(), run_, 1, control_);
    raw.run("ALTER TABLE metric_tail RENAME TO elsewhere");
    EXPECT_NO_THROW(sink.metrics(record(1, {{"train/loss", 1.0}})));
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), test::Names("run 1", "1 metric records"));
}

TEST_F(StoreSinkTest, RefusesASegmentThatWasNotOpened) {
  EXPECT_THAT([&] { StoreSink sink(file(), run_, 7, control_); },
              test::Fails<StoreError>("run 1", "segment 7"));
}

TEST_F(StoreSinkTest, GivesASignOfLifeWhenThereIsNothingToStore) {
  StoreSink sink(file(), run_, 1, control_);
  const std::string before = store_.run(run_).heartbeatAt;
  EXPECT_TRUE(waitUntil([&] { return sink.commits() > 0; }) ||
              waitUntil([&] { return sink.commits() > 0; }));
  EXPECT_GT(store_.run(run_).heartbeatAt, before);
  EXPECT_EQ(sink.commits(), 1);
}

}  // namespace
}  // namespace vitrine::store
