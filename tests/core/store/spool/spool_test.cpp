// Results that cannot be stored for want of space wait in a side file and are stored later: all of
// them, in order, once.
#include "core/store/spool/spool.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>

#include "core/base/text.h"
#include "core/store/maintenance/maintenance.h"
#include "core/store/spool/batch_bytes.h"
#include "core/store/spool/store_sink.h"
#include "tests/core/store/fault_vfs.h"
#include "tests/core/store/full_database.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/child.h"

namespace vitrine::store {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::FaultVfs;
using testing::FileCall;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::messageOf;
using testing::RawDatabase;
using ::testing::SizeIs;
using namespace std::chrono_literals;

std::atomic<bool> isDiskFull{false};

/// The log cannot grow while `isDiskFull`.
int fullDisk(FileCall call, int flags) {
  const bool isLog = (flags & SQLITE_OPEN_WAL) != 0 && call == FileCall::Write;
  return isDiskFull && isLog ? SQLITE_FULL : SQLITE_OK;
}

SpoolSettings quickly() {
  SpoolSettings settings;
  settings.retry = 0ms;  // a flush always tries
  settings.reserve = 256 << 10;
  return settings;
}

class SpoolTest : public testing::StoreTest {
 protected:
  SpoolTest() { isDiskFull = false; }
  ~SpoolTest() override { isDiskFull = false; }

  [[nodiscard]] std::vector<fs::path> sideFiles() const {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator entry(spoolFolder(file()), error), end; entry != end; ++entry) {
      files.push_back(entry->path());
    }
    return files;
  }
  static std::vector<std::int64_t> stepsOf(RunStore& store, std::int64_t run) {
    std::vector<std::int64_t> steps;
    std::int64_t sequence = 0;
    for (const MetricPoint& point : store.points(run, "train/loss")) {
      EXPECT_GT(point.sequence, sequence) << "out of order at step " << point.step;
      EXPECT_EQ(point.value, static_cast<double>(point.step) / 3);
      sequence = point.sequence;
      steps.push_back(point.step);
    }
    return steps;
  }
  static std::vector<std::int64_t> upTo(std::int64_t last) {
    std::vector<std::int64_t> steps;
    for (std::int64_t step = 1; step <= last; ++step) steps.push_back(step);
    return steps;
  }
  static MetricRecord point(std::int64_t step) {
    return record(step, {{"train/loss", static_cast<double>(step) / 3}});
  }
  /// Runs `body` in a process of its own. \returns  how it ended, as waitpid says
  template <typename Body>
  static int inChild(Body&& body) {
    const pid_t child = forkChild();
    if (child == 0) {
      try {
        body();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "child: %s\n", error.what());
        ::_exit(1);
      }
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }
  /// A process that trains to `steps`, of which the disk takes none, and is killed. Its run is 1.
  void dieWhileSpooling(std::int64_t steps) const {
    const int status = inChild([&] {
      const FaultVfs disk(fullDisk);
      RunStore store(file());
      const std::int64_t run = addRunning(store);
      RunControl control;
      SpoolSettings settings = quickly();
      settings.retry = 1h;
      StoreSink sink(file(), run, 1, control, settings);
      isDiskFull = true;
      for (std::int64_t step = 1; step <= steps; ++step) {
        sink.metrics(point(step));
        if (step % 5 == 0 || step == steps) sink.flush();
      }
      ::raise(SIGKILL);
    });
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
  }
};

class FullDisk : public SpoolTest {
 protected:
  FullDisk() : disk_(fullDisk), store_(file()), run_(addRunning(store_)) {}

  FaultVfs disk_;
  RunStore store_;
  std::int64_t run_;
  RunControl control_;
};

TEST_F(FullDisk, LetsARunGoOnAndStoresItsResultsInOrderOnceThereIsSpaceAgain) {
  ::testing::internal::CaptureStderr();
  {
    StoreSink sink(file(), run_, 1, control_, quickly());
    sink.metrics(point(1));
    sink.flush();
    isDiskFull = true;
    Artifact artifact;
    artifact.kind = "table";
    artifact.name = "picture";
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
  EXPECT_THAT(said, HasSubstr("disk is full"));
  EXPECT_THAT(said, HasSubstr("the run continues, its results wait in '"));
  EXPECT_THAT(said, HasSubstr("the database can be written again; nothing was lost"));
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
              HasSubstr("they are stored when the database is opened next"));
  // How it ended waits with them.
  ::testing::internal::CaptureStderr();
  store_.setRequest(run_, "");
  store_.setState(run_, RunState::Done, "");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("run 1 is done waits in a side"));
  EXPECT_EQ(store_.run(run_).state, RunState::Running);
  {
    ::testing::internal::CaptureStderr();
    RunStore other(file());
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("results wait in '"));
    EXPECT_THAT(sideFiles(), SizeIs(1));
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
  for (int i = 0; i < 200 && control_.request() != Request::Checkpoint; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  ASSERT_EQ(control_.request(), Request::Checkpoint);
  control_.served();
  sink.metrics(point(1));
  sink.flush();
  sink.flush();  // the request was looked at again in between
  EXPECT_EQ(control_.request(), Request::None);
}

TEST_F(FullDisk, LeavesTheSideFileOfARunThatGoesOnAlone) {
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
  RunStore window(file());
  ASSERT_NO_FATAL_FAILURE(dieWhileSpooling(300));
  EXPECT_THAT(stepsOf(window, 1), IsEmpty());
  // A window that was open all the time finds them too.
  EXPECT_THAT(window.reapLostRuns(), ElementsAre(1));
  EXPECT_EQ(stepsOf(window, 1), upTo(300));
  EXPECT_EQ(window.run(1).state, RunState::Interrupted);
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
  auto usual = 0us;  // how long it takes when nobody interferes
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

TEST_F(SpoolTest, GoesOnOnAnotherDiskAndThenInMemoryWhenItsOwnRoomIsUsedUp) {
  const TemporaryFolder other(folderInMemory());
  const fs::path elsewhere = other.path();
  struct stat here {
  }, there{};
  ASSERT_EQ(::stat(folder_.c_str(), &here), 0);
  ASSERT_EQ(::stat(elsewhere.c_str(), &there), 0);
  if (here.st_dev == there.st_dev) {
    GTEST_SKIP() << "there is no second file system to write to";
  }
  const auto run = [&](bool isKilled) {
    return inChild([&] {
      RunStore store(file());
      const std::int64_t id = addRunning(store);
      RunControl control;
      SpoolSettings settings = quickly();
      settings.reserve = 64 << 10;
      settings.elsewhere = {elsewhere};
      ::signal(SIGXFSZ, SIG_IGN);
      // No file can grow beyond this: to SQLite a limit on files looks like a broken disk.
      StoreSink sink(file(), id, 1, control, settings);
      const rlimit limit{96 << 10, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      std::int64_t step = 0;
      bool isDurable = true;
      while (isDurable && step < 100'000) {
        for (int i = 0; i < 100; ++i) sink.metrics(point(++step));
        try {
          sink.flush();
        } catch (const StoreError&) {
          isDurable = false;  // both are full
        }
      }
      if (sink.waitingBytes() < 150'000 || isDurable) ::_exit(2);
      const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &none);
      if (isKilled) ::raise(SIGKILL);
      sink.flush();
      if (stepsOf(store, id) != upTo(step) || sink.waitingBytes() != 0) ::_exit(3);
    });
  };
  const auto filesThere = [&] {
    return std::distance(fs::directory_iterator(elsewhere), fs::directory_iterator());
  };
  EXPECT_EQ(run(false), 0);
  EXPECT_EQ(filesThere(), 0) << "it is removed once its content is stored";
  EXPECT_TRUE(WIFSIGNALED(run(true)));
  EXPECT_EQ(filesThere(), 1);
  if (::geteuid() == 0) {
    const fs::path second = fs::directory_iterator(elsewhere)->path();
    ASSERT_EQ(::chown(second.c_str(), 65534, ::getegid()), 0);
    ::testing::internal::CaptureStderr();
    { RunStore refusing(file()); }
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("belongs to another user"));
    EXPECT_EQ(filesThere(), 1) << "nothing of it is read, and nothing is lost";
    ASSERT_EQ(::chown(second.c_str(), ::geteuid(), ::getegid()), 0);
  }
  RunStore store(file());
  const auto steps = stepsOf(store, 2);
  EXPECT_GT(steps.size(), 1000u);
  EXPECT_EQ(steps, upTo(static_cast<std::int64_t>(steps.size())));
  EXPECT_EQ(filesThere(), 0);
  EXPECT_FALSE(fs::exists(file().string() + ".needs-check")) << "nothing is wrong with the disk";
}

TEST_F(SpoolTest, LosesNothingOnADiskThatIsReallyFull) {
  const fs::path small = folder_ / "small";
  fs::create_directory(small);
  constexpr int kNoMount = 77;
  const fs::path database = small / "experiments.sqlite", filler = small / "filler";
  const int status = inChild([&] {
    // Seen by this process alone, and gone with it.
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=8m") != 0) {
      ::_exit(kNoMount);
    }
    RunStore store(database);
    const std::int64_t run = addRunning(store);
    RunControl control;
    StoreSink sink(database, run, 1, control, quickly());
    std::int64_t step = 0;
    const auto train = [&](std::int64_t steps) {
      for (std::int64_t i = 0; i < steps; ++i) sink.metrics(point(++step));
      sink.flush();
    };
    train(100);
    {
      std::ofstream all(filler, std::ios::binary);
      const std::string block(4096, 'x');
      std::int64_t blocks = 0;
      while (all.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
        if (++blocks > 4096) ::_exit(6);  // 16 MB: it is not the small one
      }
    }
    for (int round = 0; round < 20; ++round) train(1000);
    if (sink.waitingBytes() < 500'000) ::_exit(2);
    if (stepsOf(store, run).size() >= 20'100) ::_exit(3);
    fs::remove(filler);
    train(100);
    if (stepsOf(store, run) != upTo(step)) ::_exit(4);
    if (!store.check().empty()) ::_exit(5);
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMount) {
    GTEST_SKIP() << "mounting a small file system needs root";
  }
  EXPECT_EQ(status, 0);
}

TEST_F(SpoolTest, KeepsForLaterWhatItCannotStore) {
  ASSERT_NO_FATAL_FAILURE(dieWhileSpooling(20));
  RawDatabase(file()).run("UPDATE meta SET value = 'another' WHERE key = 'uuid'");
  ::testing::internal::CaptureStderr();
  { RunStore store(file()); }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("belong to another database"));
  EXPECT_THAT(sideFiles(), SizeIs(1));
}

TEST_F(SpoolTest, DropsWhatBelongsToARunThatWasDeleted) {
  ASSERT_NO_FATAL_FAILURE(dieWhileSpooling(20));
  RawDatabase(file()).run(
      "INSERT INTO deleted_run SELECT id, uuid, '', 1 FROM run; DELETE FROM segment; DELETE FROM "
      "run_parameter; DELETE FROM run_config; DELETE FROM run");
  { RunStore store(file()); }
  EXPECT_THAT(sideFiles(), IsEmpty());
}

TEST_F(SpoolTest, ReadsADamagedSideFileUpToTheDamage) {
  const auto bytesOf = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  const SpoolOwner owner{newUuid(), newUuid(), 3};
  fs::path path;
  {
    SpoolFile::Settings settings;
    settings.reserve = 0;
    const auto spool = SpoolFile::create(folder_ / "spool", owner, settings);
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(
          spool->add(SpoolFile::Kind::Batch, bytesOf(std::string(50, 'a') + char('a' + i))));
    }
    path = spool->file();
  }
  std::string whole = [&] {
    std::ifstream stream(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }();
  whole.resize(512 + 20 * (24 + 51));  // what follows is room
  std::mt19937 random(7);
  int wasWhole = 0, wasRefused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string damaged = whole;
    if (i % 2 == 0) {
      damaged.resize(random() % (whole.size() + 1));
    } else {
      damaged[random() % whole.size()] ^= static_cast<char>(1u << (random() % 8));
    }
    fs::remove(path);  // cutting a file instead costs a sync
    std::ofstream(path, std::ios::binary) << damaged;
    try {
      const auto spool = SpoolFile::open(path);
      ASSERT_NE(spool, nullptr);
      spool->each(0, spool->count(), [&](std::uint64_t index, SpoolFile::Kind, auto payload) {
        ASSERT_EQ(payload.size(), 51u);
        ASSERT_EQ(static_cast<char>(payload.back()), static_cast<char>('a' + index));
      });
      wasWhole += spool->count() == 20;
    } catch (const StoreError&) {
      ++wasRefused;
    }
  }
  EXPECT_GT(wasRefused, 0);
  EXPECT_LT(wasWhole, 150) << "only bytes that nobody reads may be damaged unnoticed";
}

TEST(BatchBytes, OfTheFormatBeforeThisOneAreStillRead) {
  RunStore::Batch batch;
  batch.events.push_back({5, "kind", "text", Json::object()});
  batch.checkpoints.push_back({7, "folder", 10, 0.5, true, {}});
  std::vector<std::byte> bytes = packBatch(batch);
  ASSERT_EQ(bytes[0], std::byte{2});
  // Format 1 ends its artifacts where the checkpoints begin: 8 + 41 + 6 bytes and the progress.
  const auto images = bytes.end() - (1 + 6 + 41 + 8) - 16;
  bytes.erase(images, images + 16);
  EXPECT_THROW(static_cast<void>(unpackBatch(bytes)), StoreError);
  bytes[0] = std::byte{1};
  const RunStore::Batch back = unpackBatch(bytes);
  EXPECT_EQ(back.events.at(0).text, "text");
  EXPECT_EQ(back.checkpoints.at(0).folder, "folder");
  EXPECT_TRUE(back.images.empty());
  bytes[0] = std::byte{3};
  EXPECT_THROW(static_cast<void>(unpackBatch(bytes)), StoreError);
}

TEST(BatchBytes, GiveBackEveryBitAndRefuseWhatIsCut) {
  RunStore::Batch batch;
  for (std::int64_t step = 1; step <= 7; ++step) {
    static const double kOdd[] = {std::nan(""),
                                  -0.0,
                                  1e308,
                                  0.1,
                                  std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::denorm_min(),
                                  -1.0};
    batch.metrics.push_back({step, 0.25, 1.5, {{"a", kOdd[step - 1]}, {"b/c", 2.0}}});
  }
  batch.events.push_back({5, "kind", "text \xff", Json{{"k", {1, 2.5, nullptr}}}});
  Artifact artifact;
  artifact.analysis = "analysis";
  artifact.meta = Json{{"shape", {1, 2}}};
  artifact.data = testing::smallPng();
  batch.artifacts.push_back(artifact);
  GeneratedImage image;
  image.seed = std::numeric_limits<std::uint64_t>::max();
  image.recipe = Json{{"steps", 4}};
  image.png = testing::smallPng();
  batch.images.push_back(image);
  batch.texts.push_back({7, Json{{"top", 1}}, 3, "a prompt", "a text \xff"});
  batch.checkpoints.push_back({7, "folder", 10, 0.5, true, {"old", "older"}});
  batch.progress = ProgressRecord{7, 70, 0.1, 1.0, std::nan(""), 10.0, 1 << 20, std::nan("")};
  const std::vector<std::byte> bytes = packBatch(batch);
  EXPECT_EQ(packBatch(unpackBatch(bytes)), bytes);
  const RunStore::Batch back = unpackBatch(bytes);
  ASSERT_EQ(back.metrics.size(), 7u);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(back.metrics[i].values[0].first, "a");
    EXPECT_EQ(std::memcmp(&back.metrics[i].values[0].second, &batch.metrics[i].values[0].second, 8),
              0);
  }
  EXPECT_EQ(back.artifacts.at(0).data, artifact.data);
  EXPECT_EQ(back.images.at(0).seed, image.seed);
  EXPECT_EQ(back.images.at(0).png, image.png);
  EXPECT_EQ(back.texts.at(0).text, "a text \xff");
  EXPECT_EQ(back.checkpoints.at(0).removed, batch.checkpoints[0].removed);
  EXPECT_EQ(back.progress->totalSteps, 70);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(static_cast<void>(unpackBatch(std::span(bytes).first(size))), StoreError) << size;
  }
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> damaged = bytes;
    damaged[random() % damaged.size()] ^= std::byte{1} << (random() % 8);
    try {
      static_cast<void>(unpackBatch(damaged));
    } catch (const StoreError&) {  // or it says something else, with bounds kept
    }
  }
}

}  // namespace
}  // namespace vitrine::store
