// Files of every released version become files of this one: completely or not at all, once, with a
// backup beside them.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "core/jobs/queue.h"
#include "core/store/declared_metrics.h"
#include "core/store/exchange/exchange.h"
#include "core/store/maintenance/maintenance.h"
#include "core/store/sqlite/schema.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/child.h"
#include "tests/support/long_tier.h"

namespace vitrine::store {
namespace {

using test::Fails;
using ::testing::IsEmpty;
using testing::RawDatabase;
using ::testing::SizeIs;

class ReleasedFile : public testing::StoreTest {
 protected:
  void takeVersion(int version) const {
    for (const char* suffix : {"", "-wal", "-shm", ".gate"})
      std::filesystem::remove(file().string() + suffix);
    std::filesystem::copy_file(std::filesystem::path(VITRINE_SOURCE_DIR) /
                                   "tests/core/store/released" /
                                   ("version_" + std::to_string(version) + ".sqlite"),
                               file());
  }
  [[nodiscard]] std::vector<std::filesystem::path> beside(const std::string& part) const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().filename().string().find(part) != std::string::npos)
        found.push_back(entry.path());
    }
    return found;
  }
  /// A process that opens the file, and with it brings it up to date.
  pid_t startOpening() const {
    const pid_t child = forkChild();
    if (child != 0) return child;
    try {
      RunStore store(file(), OpenMode::ReadWrite);
      ::_exit(store.runs().size() == 2 ? 0 : 2);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      ::_exit(1);
    }
  }
  static int waitFor(pid_t child) {
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }
  int version() const {
    return static_cast<int>(RawDatabase(file()).integer("PRAGMA user_version"));
  }
};

class NewFile : public testing::StoreTest {};

TEST_F(NewFile, IsKnownByTheHashOfItsObjects) { EXPECT_EQ(newestObjects(), kNewestObjects); }

TEST_F(ReleasedFile, BecomesOneOfThisVersionWithAllThatIsInIt) {
  takeVersion(1);
  const std::int64_t packed = RawDatabase(file()).integer("SELECT count(*) FROM metric_chunk");
  ASSERT_GT(packed, 0);
  {
    RunStore store(file(), OpenMode::ReadWrite);
    EXPECT_EQ(store.runs().size(), 2u);
    EXPECT_EQ(store.run(1).name, "a finished run");
    EXPECT_EQ(store.run(1).state, RunState::Done);
    const auto points = store.points(1, "train/3");
    ASSERT_EQ(points.size(), 1000u);
    EXPECT_EQ(points.back().value, 10'003);
    EXPECT_EQ(points.back().step, 1000);
    // What is new can be used.
    EXPECT_THAT(jobs::JobQueue(store).list(), IsEmpty());
    EXPECT_EQ(jobs::JobQueue(store).mode(), QueueMode::Running);
    EXPECT_TRUE(store.check().empty());
  }
  EXPECT_EQ(version(), migrations().back().version);
  ASSERT_THAT(beside(".bak"), SizeIs(1));
  EXPECT_THAT(beside(".tmp-"), IsEmpty());
  EXPECT_TRUE(beside(".bak")[0].filename().string().starts_with("experiments.sqlite-v1-"));
  RawDatabase backup(beside(".bak")[0]);
  EXPECT_EQ(backup.integer("PRAGMA user_version"), 1);
  EXPECT_EQ(backup.integer("SELECT count(*) FROM metric_chunk"), packed);
}

TEST_F(ReleasedFile, OfEveryVersionKeepsAllThatIsInIt) {
  for (int from = 1; from < migrations().back().version; ++from) {
    takeVersion(from);
    const auto count = [&](const std::string& table) {
      return RawDatabase(file()).integer("SELECT count(*) FROM " + table);
    };
    const std::vector<std::string> tables{
        "run",   "segment",       "metric_tail", "metric_chunk", "clock_chunk", "metric_summary",
        "event", "run_parameter", "note",        "tag"};
    std::vector<std::int64_t> before, after;
    for (const std::string& table : tables) before.push_back(count(table));
    { RunStore store(file(), OpenMode::ReadWrite); }
    for (const std::string& table : tables) after.push_back(count(table));
    EXPECT_EQ(after, before) << "from version " << from;
    EXPECT_EQ(version(), migrations().back().version);
    RunStore store(file(), OpenMode::ReadOnly);
    EXPECT_THAT(store.check(), IsEmpty());
    EXPECT_THAT(checkContents(file(), CheckpointFiles::Present), IsEmpty());
  }
}

TEST_F(ReleasedFile, OfVersionTwoKeepsANoteAsTheFirstOfItsVersions) {
  takeVersion(2);
  RunStore store(file(), OpenMode::ReadWrite);
  EXPECT_EQ(store.note(1), "written with version 2");
  EXPECT_EQ(store.version(1, RunField::Note), 0);
  EXPECT_EQ(store.setNote(1, "and with this one", 0), 1);
  EXPECT_EQ(store.edits(1, RunField::Note).at(0).text, "written with version 2");
  EXPECT_THAT(store.tags(1), ::testing::ElementsAre("old", "paper"));
}

TEST_F(ReleasedFile, OfVersionThreeKeepsEveryEditAndItsNumberAndCountsFromThere) {
  takeVersion(3);
  const auto edits = [&] {
    std::vector<std::string> rows;
    RawDatabase(file()).each(
        "SELECT id || '|' || run_id || '|' || field || '|' || version || '|' || is_taken || '|' || "
        "at || '|' || text FROM edit ORDER BY id",
        [&](sqlite3_stmt* row) {
          rows.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(row, 0)));
        });
    return rows;
  };
  // The newest one was removed: its number is not given again.
  const std::int64_t removed = RawDatabase(file()).integer("SELECT max(id) FROM edit");
  RawDatabase(file()).run("DELETE FROM edit WHERE id = " + std::to_string(removed));
  const auto before = edits();
  ASSERT_THAT(before, SizeIs(::testing::Ge(4u)));
  RunStore store(file(), OpenMode::ReadWrite);
  EXPECT_EQ(edits(), before);
  EXPECT_EQ(store.note(1), "written with version 3");
  EXPECT_THAT(store.curveNotes(1), IsEmpty());
  store.setCurveNotes(1, {{"train/3", 500, "half way"}}, 0);
  EXPECT_EQ(store.edits(1, RunField::CurveNotes).front().id, removed + 1);
  EXPECT_EQ(store.version(1, RunField::CurveNotes), 1);
}

TEST_F(ReleasedFile, OfVersionFourKeepsImagesAndNotesAndTakesTextsAndDependencies) {
  takeVersion(4);
  RunStore store(file(), OpenMode::ReadWrite);
  EXPECT_EQ(store.note(1), "written with version 4");
  ASSERT_THAT(store.curveNotes(1), SizeIs(1));
  ASSERT_THAT(store.generatedImages(1), SizeIs(1));
  EXPECT_EQ(store.generatedImages(1)[0].recipe.at("steps"), 4);
  EXPECT_THAT(store.generatedImagePng(store.generatedImages(1)[0].id), SizeIs(2));
  EXPECT_THAT(store.generatedTexts(1), IsEmpty());
  EXPECT_THAT(store.dependencies(1), IsEmpty());
  EXPECT_TRUE(store.selection(1).is_null());
  store.addText(1, {.text = "new"});
  EXPECT_THAT(store.generatedTexts(1), SizeIs(1));
}

TEST_F(ReleasedFile, OfVersionFiveKeepsTextsAndTakesTitlesOfMetrics) {
  takeVersion(5);
  RunStore store(file(), OpenMode::ReadWrite);
  EXPECT_EQ(store.note(1), "written with version 5");
  ASSERT_THAT(store.generatedTexts(1), SizeIs(1));
  EXPECT_EQ(store.generatedTexts(1)[0].text, "a photo of a boot");
  EXPECT_EQ(RawDatabase(file()).integer("SELECT count(*) FROM metric_kind WHERE title != ''"), 0);
  EXPECT_THAT(declareMetrics(store, {{"*/psnr", "PSNR", "dB", "higher", "of an image"}}),
              IsEmpty());
  EXPECT_EQ(RawDatabase(file()).integer("SELECT count(*) FROM metric_kind WHERE title = 'PSNR'"),
            1);
}

TEST_F(ReleasedFile, OfVersionSixKeepsEveryEditAndTakesStarsOnItsImages) {
  takeVersion(6);
  const std::int64_t edits = RawDatabase(file()).integer("SELECT count(*) FROM edit");
  const std::int64_t last = RawDatabase(file()).integer("SELECT max(id) FROM edit");
  ASSERT_GT(edits, 0);
  RunStore store(file(), OpenMode::ReadWrite);
  EXPECT_EQ(RawDatabase(file()).integer("SELECT count(*) FROM edit"), edits);
  EXPECT_EQ(store.note(1), "written with version 6");
  ASSERT_THAT(store.generatedImages(1), SizeIs(1));
  const GeneratedImageRow image = store.generatedImages(1)[0];
  EXPECT_THAT(store.imageTags(1), IsEmpty());
  EXPECT_EQ(store.setImageTags(1, {{image.step, image.sha256, ImageTagRow::kStar}}, 0), 1);
  EXPECT_THAT(store.imageTags(1), SizeIs(1));
  EXPECT_GT(store.edits(1, RunField::ImageTags).front().id, last);
}

TEST_F(ReleasedFile, OfVersionSevenKeepsStarsAndEditsAndTakesMarks) {
  takeVersion(7);
  const std::int64_t edits = RawDatabase(file()).integer("SELECT count(*) FROM edit");
  const std::int64_t last = RawDatabase(file()).integer("SELECT max(id) FROM edit");
  ASSERT_GT(edits, 0);
  RunStore store(file(), OpenMode::ReadWrite);
  EXPECT_EQ(RawDatabase(file()).integer("SELECT count(*) FROM edit"), edits);
  EXPECT_EQ(store.note(1), "written with version 7");
  EXPECT_THAT(store.imageTags(1), SizeIs(1));
  EXPECT_EQ(store.mark(1, RunField::Archived), "");
  EXPECT_EQ(store.setMark(1, RunField::Archived, "yes", 0), 1);
  EXPECT_EQ(store.mark(1, RunField::Archived), "yes");
  EXPECT_GT(store.edits(1, RunField::Archived).front().id, last);
}

TEST_F(ReleasedFile, OfVersionThreeIsImportedWithItsEdits) {
  takeVersion(3);
  const auto older = folder_ / "older.vitrine";
  std::filesystem::rename(file(), older);
  EXPECT_THAT(importRuns(file(), older, Duplicates::Skip, "").runs, SizeIs(3));
  RunStore store(file());
  EXPECT_EQ(store.note(1), "written with version 3");
  EXPECT_EQ(store.edits(1, RunField::Note).front().text, "written with version 2");
  EXPECT_EQ(RawDatabase(older).integer("PRAGMA user_version"), 3);
}

TEST_F(ReleasedFile, IsReadOnlyAfterItWasOpenedForWritingOnce) {
  takeVersion(1);
  EXPECT_EQ(test::refusal<StoreError>([&] { RunStore store(file(), OpenMode::ReadOnly); }),
            "'" + file().string() + "' has schema version 1, this program needs " +
                std::to_string(migrations().back().version) +
                "; open it once for writing to bring it up to date");
  EXPECT_EQ(version(), 1);
}

TEST_F(ReleasedFile, WaitsForARunThatIsAliveAndNotForOneWhoseProcessIsGone) {
  takeVersion(1);
  const Worker here = thisWorker();
  const auto setWorker = [&](const std::string& start, const std::string& host) {
    RawDatabase(file()).run(
        "UPDATE run SET state = 'running', worker_pid = " + std::to_string(here.pid) +
        ", worker_start = '" + start + "', worker_boot = '" + here.bootId + "', worker_host = '" +
        host + "' WHERE id = 2");
  };
  setWorker(here.startTime, here.host);
  EXPECT_EQ(test::refusal<RefusedError>([&] { RunStore store(file(), OpenMode::ReadWrite); }),
            "'" + file().string() +
                "' must be brought up to date, but run 2 is in progress; wait for it or stop it");
  EXPECT_EQ(version(), 1);
  setWorker("1", "bigbox");
  EXPECT_THAT([&] { RunStore store(file(), OpenMode::ReadWrite); },
              Fails<RefusedError>("run 2", "bigbox"));
  setWorker("1", here.host);
  RunStore store(file(), OpenMode::ReadWrite);
  EXPECT_THAT(store.reapLostRuns(), ::testing::ElementsAre(2));
}

TEST_F(ReleasedFile, IsBroughtUpToDateOnceByManyAtTheSameTime) {
  for (int cycle = 0; cycle < 10; ++cycle) {
    takeVersion(1);
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) children.push_back(startOpening());
    for (const pid_t child : children) EXPECT_EQ(waitFor(child), 0);
    EXPECT_EQ(version(), migrations().back().version);
  }
  EXPECT_THAT(beside(".tmp-"), IsEmpty());
  EXPECT_FALSE(beside(".bak").empty());
  for (const auto& backup : beside(".bak"))
    EXPECT_EQ(RawDatabase(backup).integer("PRAGMA user_version"), 1) << backup;
}

TEST_F(ReleasedFile, IsOldOrNewButNeverBetweenWhenItsMigrationIsKilled) {
  const int cycles = isLong() ? 100 : 30;
  // How long it takes when no process interferes. Kills come later while they find it unfinished,
  // and earlier while they find it done: other work on the machine makes it slower at any time.
  takeVersion(1);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(waitFor(startOpening()), 0);
  auto usual = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  std::mt19937 random(3);
  int wasOld = 0, wasNew = 0;
  for (int cycle = 0; cycle < cycles; ++cycle) {
    takeVersion(1);
    const pid_t child = startOpening();
    std::this_thread::sleep_for(usual * (random() % 130) / 100);
    signalProcess(child, SIGKILL);
    waitFor(child);
    {
      RawDatabase raw(file());
      const bool isNew = raw.integer("PRAGMA user_version") != 1;
      (isNew ? wasNew : wasOld) += 1;
      usual = usual * (isNew ? 9 : 11) / 10;
      EXPECT_EQ(raw.integer("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'queue%'"),
                isNew ? 3 : 0);
    }
    RunStore store(file(), OpenMode::ReadWrite);
    EXPECT_EQ(store.runs().size(), 2u);
    EXPECT_TRUE(store.check().empty());
  }
  EXPECT_GT(wasOld, 0) << "every kill came too late";
  EXPECT_GT(wasNew, 0) << "every kill came too early";
  for (const auto& backup : beside(".bak")) {
    if (backup.string().find(".tmp-") != std::string::npos) continue;
    EXPECT_EQ(RawDatabase(backup).integer("PRAGMA user_version"), 1) << backup;
    EXPECT_EQ(RawDatabase(backup).integer("SELECT count(*) FROM run"), 2) << backup;
  }
}

}  // namespace
}  // namespace vitrine::store
