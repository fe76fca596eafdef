// Results that cannot be stored for want of space wait in a side file and are stored later: all of
// them, in order, once.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <random>
#include <thread>

#include "core/base/text.h"
#include "core/store/maintenance/maintenance.h"
#include "tests/core/store/full_database.h"
#include "tests/core/store/spool/full_disk.h"
#include "tests/support/has_texts.h"
#include "tests/support/wait_until.h"

namespace vitrine::store {
namespace {

using namespace std::chrono_literals;
using test::Names;
using ::testing::ElementsAre, ::testing::IsEmpty;
using testing::RawDatabase;
using ::testing::SizeIs;

TEST_F(FullDisk, LetsARunContinueAndStoresItsResultsInOrderOnceThereIsSpaceAgain) {
  ::testing::internal::CaptureStderr();
  {
    StoreSink sink(file(), run_, 1, control_, quickly());
    sink.metrics(point(1));
    sink.flush();
    isDiskFull = true;
    Artifact artifact{.name = "picture", .kind = "table"};
    artifact.data.resize(100, std::byte{7});
    for (std::int64_t step = 2; step <= 50; ++step) {
      sink.metrics(point(step));
      if (step == 20) sink.artifact(artifact);
      if (step == 30) sink.checkpoint({30, "folder", 1, 0.1, true, {}});
      if (step == 40) sink.event({40, "evaluation", "in the dark", Json{{"x", 0.1}}});
      if (step % 10 == 0) sink.flush();  // durable, or this throws
    }
    EXPECT_GT(sink.waitingBytes(), 0u);
    EXPECT_THAT(stepsOf(store_, run_), ElementsAre(1));
    EXPECT_THAT(sideFiles(), SizeIs(1));
    isDiskFull = false;
    for (std::int64_t step = 51; step <= 60; ++step) sink.metrics(point(step));
    sink.flush();
    EXPECT_EQ(sink.waitingBytes(), 0u);
    EXPECT_EQ(stepsOf(store_, run_), upTo(60));
  }
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, test::HasTexts("disk is full", "the run continues, its results wait in '",
                                   "the database can be written again; nothing was lost"));
  EXPECT_EQ(store_.run(run_).latestCheckpoint, 30);
  ASSERT_EQ(store_.artifacts(run_).size(), 1u);
  EXPECT_EQ(store_.artifactData(store_.artifacts(run_)[0].id), std::vector(100, std::byte{7}));
  std::vector<std::string> kinds;
  for (const EventRow& event : store_.events(run_)) kinds.push_back(event.kind);
  EXPECT_THAT(kinds, ElementsAre("state", "spooled", "evaluation"));
  EXPECT_THAT(sideFiles(), IsEmpty());
  EXPECT_THAT(store_.check(), IsEmpty());
  EXPECT_THAT(checkContents(file(), CheckpointFiles::Present).size(), 1u) << "no folder, no more";
  EXPECT_EQ(RawDatabase(file()).integer("SELECT count(*) FROM meta WHERE key GLOB 'spool*'"), 0);
}

TEST_F(FullDisk, GivesWhatARunThatEndedLeftToTheNextWhoOpensTheDatabase) {
  ::testing::internal::CaptureStderr();
  {
    StoreSink sink(file(), run_, 1, control_, quickly());
    isDiskFull = true;
    for (std::int64_t step = 1; step <= 30; ++step) sink.metrics(point(step));
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::EndsWith("; they are stored when the database is opened next\n"));
  // How it ended waits with them.
  ::testing::internal::CaptureStderr();
  store_.setRequest(run_, "");
  store_.setState(run_, RunState::Done, "");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), Names("run 1"));
  EXPECT_EQ(store_.run(run_).state, RunState::Running);
  {
    ::testing::internal::CaptureStderr();
    RunStore other(file());
    const std::string said = ::testing::internal::GetCapturedStderr();
    ASSERT_THAT(sideFiles(), SizeIs(1));
    EXPECT_THAT(said, Names("results wait in '" + sideFiles()[0].string() + "'"));
  }
  isDiskFull = false;
  RunStore other(file());
  EXPECT_EQ(stepsOf(other, run_), upTo(30));
  EXPECT_EQ(other.run(run_).state, RunState::Done);
  EXPECT_THAT(sideFiles(), IsEmpty());
}

TEST_F(FullDisk, AsksForACheckpointOnceThoughTheRequestCannotBeTakenBack) {
  StoreSink sink(file(), run_, 1, control_, quickly());
  store_.setRequest(run_, "checkpoint");
  isDiskFull = true;
  ASSERT_TRUE(waitUntil([&] { return control_.request() == Request::Checkpoint; }));
  control_.served();
  sink.metrics(point(1));
  sink.flush();
  sink.flush();  // the request was looked at again in between
  EXPECT_EQ(control_.request(), Request::None);
}

TEST_F(FullDisk, LeavesTheSideFileOfARunThatContinuesAlone) {
  StoreSink sink(file(), run_, 1, control_, quickly());
  isDiskFull = true;
  sink.metrics(point(1));
  sink.flush();
  isDiskFull = false;
  { RunStore other(file()); }
  store_.reapLostRuns();
  EXPECT_THAT(sideFiles(), SizeIs(1));
  EXPECT_THAT(stepsOf(store_, run_), IsEmpty());
  sink.metrics(point(2));
  sink.flush();
  EXPECT_THAT(stepsOf(store_, run_), ElementsAre(1, 2));
}

TEST_F(SpoolTest, LosesNothingWhenTheProcessIsKilledMeanwhile) {
  std::optional<RunStore> window;
  ASSERT_NO_FATAL_FAILURE(dieWhileSpooling(300, [&] { window.emplace(file()); }));
  EXPECT_THAT(stepsOf(*window, 1), IsEmpty());
  // A window that was open all the time finds them too.
  EXPECT_THAT(window->reapLostRuns(), ElementsAre(1));
  EXPECT_EQ(stepsOf(*window, 1), upTo(300));
  EXPECT_EQ(window->run(1).state, RunState::Interrupted);
  EXPECT_THAT(sideFiles(), IsEmpty());
  RunStore again(file());
  EXPECT_EQ(stepsOf(again, 1), upTo(300));
}

TEST_F(SpoolTest, StoresEveryPointOnceThoughStoringIsKilled) {
  ASSERT_NO_FATAL_FAILURE(dieWhileSpooling(1500));
  ASSERT_THAT(sideFiles(), SizeIs(1));
  const fs::path copy = folder_ / "copy";
  const auto copyAll = [](const fs::path& from, const fs::path& to) {
    fs::remove_all(to);
    fs::create_directories(to);
    for (const auto& entry : fs::directory_iterator(from)) {
      if (entry.path() != to)
        fs::copy(entry.path(), to / entry.path().filename(), fs::copy_options::recursive);
    }
  };
  copyAll(folder_, copy);
  std::mt19937 random(5);
  int wasBetween = 0;
  auto usual = 0us;  // how long it takes when no process interferes
  for (int cycle = 0; cycle < 12; ++cycle) {
    const fs::path here = folder_ / "here";
    copyAll(copy, here);
    const fs::path database = here / "experiments.sqlite";
    const auto start = [&] {
      const pid_t child = forkChild();
      if (child == 0) {
        { const RunStore store(database); }
        ::_exit(0);
      }
      return child;
    };
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = start();
    if (cycle > 0) {
      std::this_thread::sleep_for(usual * (random() % 100) / 100);
      signalProcess(child, SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (cycle == 0) {
      usual = std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::steady_clock::now() - begin);
    }
    wasBetween +=
        RawDatabase(database).integer("SELECT count(*) FROM meta WHERE key GLOB 'spool*'") > 0;
    RunStore store(database);
    ASSERT_EQ(stepsOf(store, 1), upTo(1500)) << "cycle " << cycle;
  }
  EXPECT_GT(wasBetween, 0) << "no kill met the middle";
}

TEST_F(SpoolTest, StoresEveryPointOnceThoughTheSideFileCannotBeRemoved) {
  ASSERT_NO_FATAL_FAILURE(dieWhileSpooling(30));
  ASSERT_THAT(sideFiles(), SizeIs(1));
  const fs::path path = sideFiles()[0], aside = folder_ / "aside";
  {
    // While its records are stored, a folder that is not empty takes its name.
    const testing::FaultVfs disk([&](testing::FileCall call, int flags) {
      const bool isLog = (flags & SQLITE_OPEN_WAL) != 0 && call == testing::FileCall::Write;
      if (isLog && !fs::exists(aside) && SpoolFile::open(path) == nullptr) {
        fs::rename(path, aside);
        fs::create_directories(path / "something");
      }
      return SQLITE_OK;
    });
    RunStore store(file());
    EXPECT_EQ(stepsOf(store, 1), upTo(30));
  }
  ASSERT_TRUE(fs::exists(aside));
  fs::remove_all(path);
  fs::rename(aside, path);
  RunStore again(file());
  EXPECT_EQ(stepsOf(again, 1), upTo(30));
  EXPECT_THAT(sideFiles(), IsEmpty());
}

TEST_F(SpoolTest, KeepsForLaterWhatItCannotStore) {
  ASSERT_NO_FATAL_FAILURE(dieWhileSpooling(20));
  RawDatabase(file()).run("UPDATE meta SET value = 'another' WHERE key = 'uuid'");
  ::testing::internal::CaptureStderr();
  { RunStore store(file()); }
  const std::string said = ::testing::internal::GetCapturedStderr();
  ASSERT_THAT(sideFiles(), SizeIs(1));
  EXPECT_THAT(said, Names("results wait in '" + sideFiles()[0].string() +
                          "' and cannot be stored: they belong to another database"));
}

TEST_F(SpoolTest, DropsWhatBelongsToARunThatWasDeleted) {
  ASSERT_NO_FATAL_FAILURE(dieWhileSpooling(20));
  RawDatabase(file()).run(
      "INSERT INTO deleted_run SELECT id, uuid, '', 1 FROM run; DELETE FROM segment; DELETE FROM "
      "run_parameter; DELETE FROM run_config; DELETE FROM run");
  { RunStore store(file()); }
  EXPECT_THAT(sideFiles(), IsEmpty());
}

}  // namespace
}  // namespace vitrine::store
