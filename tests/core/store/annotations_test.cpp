// Two windows on one database: of two people who change the same text, the second hears of it, and
// both texts stay.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "tests/core/store/temp_database.h"
#include "tests/support/child.h"

namespace vitrine::store {
namespace {

using test::Fails;
using ::testing::ElementsAre, ::testing::SizeIs;

class Edits : public testing::StoreTest {
 protected:
  Edits() : one_(file()), two_(file()), run_(addRun(one_)) {}

  [[nodiscard]] std::vector<std::string> texts(RunField field) {
    std::vector<std::string> texts;
    for (const EditRow& edit : one_.edits(run_, field))
      texts.push_back(std::to_string(edit.version) + (edit.isTaken ? " " : " late ") + edit.text);
    return texts;
  }

  RunStore one_, two_;
  std::int64_t run_;
};

TEST_F(Edits, OfOneVersionTheSecondHearsOfTheFirstAndBothTextsStay) {
  const std::int64_t seen = one_.version(run_, RunField::Note);
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(two_.setNote(run_, "mine", seen), 1);
  try {
    one_.setNote(run_, "yours", seen);
    FAIL() << "the first text would be lost";
  } catch (const EditConflict& conflict) {
    EXPECT_STREQ(conflict.what(),
                 "the note of run 1 was changed by another user to 'mine' while you were editing; "
                 "your text is kept next to it: choose one");
    EXPECT_EQ(conflict.theirs, "mine");
    EXPECT_EQ(conflict.version, 1);
    EXPECT_EQ(conflict.code(), ExitCode::Refused);
  }
  EXPECT_EQ(one_.note(run_), "mine");
  EXPECT_THAT(texts(RunField::Note), ElementsAre("0 ", "1 mine", "0 late yours"));
  // Based on what stands now, it goes.
  EXPECT_EQ(one_.setNote(run_, "both", 1), 2);
  EXPECT_EQ(two_.note(run_), "both");
}

TEST_F(Edits, OfNameAndTagsHaveVersionsOfTheirOwn) {
  EXPECT_EQ(one_.setName(run_, "baseline", 0), 1);
  EXPECT_EQ(one_.setTags(run_, {"paper", "keep", "paper"}, 0), 1);
  EXPECT_EQ(two_.run(run_).name, "baseline");
  EXPECT_THAT(two_.tags(run_), ElementsAre("keep", "paper"));
  EXPECT_THAT([&] { two_.setName(run_, "other", 0); },
              Fails<EditConflict>("name", "run 1", "baseline"));
  EXPECT_THAT([&] { two_.setTags(run_, {}, 0); }, Fails<EditConflict>("tags", "run 1"));
  EXPECT_EQ(two_.version(run_, RunField::Note), 0);
  EXPECT_EQ(two_.edits(run_, RunField::Tags)[1].text, "keep\npaper");
  EXPECT_THAT(texts(RunField::Name), ElementsAre("0 a run", "1 baseline", "0 late other"));
}

TEST_F(Edits, ThatSayTheSameAreNoConflictAndNoNewVersion) {
  EXPECT_EQ(one_.setNote(run_, "same", 0), 1);
  EXPECT_EQ(two_.setNote(run_, "same", 0), 1);
  const std::int64_t change = one_.lastChange();
  EXPECT_EQ(one_.setNote(run_, "same"), 1);
  EXPECT_EQ(one_.lastChange(), change);
}

TEST_F(Edits, WithoutAVersionStandAndKeepWhatWasThere) {
  EXPECT_EQ(one_.setNote(run_, "first"), 1);
  EXPECT_EQ(two_.setNote(run_, "second"), 2);
  EXPECT_THAT(texts(RunField::Note), ElementsAre("0 ", "1 first", "2 second"));
}

TEST_F(Edits, AreKeptUpToTheNewestFifty) {
  for (int i = 0; i < 120; ++i) one_.setNote(run_, "text " + std::to_string(i));
  const auto edits = one_.edits(run_, RunField::Note);
  ASSERT_THAT(edits, SizeIs(50));
  EXPECT_EQ(edits.back().text, "text 119");
  EXPECT_EQ(one_.version(run_, RunField::Note), 120);
}

TEST_F(Edits, OfARunThatIsNotThereAreRefused) {
  EXPECT_THROW(one_.setNote(77, "x"), NotFoundError);
  EXPECT_THROW(one_.setName(77, "x"), NotFoundError);
}

/// This process opens the database only when no other one is left: SQLite's connections and locks
/// do not survive a fork.
using EditsOfProcesses = testing::StoreTest;

TEST_F(EditsOfProcesses, AreNeverLostUnseen) {
  constexpr std::int64_t kRun = 1;
  const pid_t maker = forkChild();
  if (maker == 0) {
    try {
      RunStore store(file());
      ::_exit(addRun(store) == kRun ? 0 : 1);
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  ASSERT_EQ(exitCodeOf(maker), 0);
  constexpr int kEdits = 500;
  const auto startEditor = [&](const std::string& who, unsigned seed) {
    const pid_t child = forkChild();
    if (child != 0) return child;
    try {
      RunStore store(file());
      std::mt19937 random(seed);
      std::ofstream taken(folder_ / who);
      for (int i = 0; i < kEdits; ++i) {
        const auto field = static_cast<RunField>(random() % 3);
        const std::int64_t seen = store.version(kRun, field);
        const std::string text = who + std::to_string(i);
        try {
          const std::int64_t version = field == RunField::Name ? store.setName(kRun, text, seen)
                                       : field == RunField::Note
                                           ? store.setNote(kRun, text, seen)
                                           : store.setTags(kRun, {text}, seen);
          // It stands on what this editor saw, and on nothing else.
          if (version != seen + 1) ::_exit(2);
          taken << static_cast<int>(field) << ' ' << version << ' ' << text << '\n';
        } catch (const EditConflict& conflict) {
          if (conflict.version <= seen) ::_exit(3);
          const auto edits = store.edits(kRun, field);
          const bool isKept = std::any_of(edits.begin(), edits.end(), [&](const EditRow& edit) {
            return !edit.isTaken && edit.text == text && edit.version == seen;
          });
          if (!isKept) ::_exit(4);
          taken << "conflict\n";
        }
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", who.c_str(), error.what());
      ::_exit(1);
    }
    ::_exit(0);
  };
  const pid_t a = startEditor("a", 1), b = startEditor("b", 2);
  for (const pid_t child : {a, b}) EXPECT_EQ(exitCodeOf(child), 0);
  RunStore one(file());
  std::map<std::pair<int, std::int64_t>, std::string> taken;
  int conflicts = 0;
  for (const char* who : {"a", "b"}) {
    std::ifstream stream(folder_ / who);
    for (std::string line; std::getline(stream, line);) {
      if (line == "conflict") {
        ++conflicts;
        continue;
      }
      std::istringstream words(line);
      int field = 0;
      std::int64_t version = 0;
      std::string text;
      words >> field >> version >> text;
      EXPECT_TRUE(taken.emplace(std::pair(field, version), text).second)
          << "two made version " << version;
    }
  }
  EXPECT_EQ(static_cast<int>(taken.size()) + conflicts, 2 * kEdits);
  EXPECT_GT(conflicts, 0) << "they never met";
  for (const RunField field : {RunField::Name, RunField::Note, RunField::Tags}) {
    const std::int64_t last = one.version(kRun, field);
    ASSERT_GT(last, 0);
    const std::string text = taken.at({static_cast<int>(field), last});
    EXPECT_EQ(field == RunField::Name   ? one.run(kRun).name
              : field == RunField::Note ? one.note(kRun)
                                        : one.tags(kRun).at(0),
              text);
  }
  RecordProperty("conflicts", conflicts);
}

class Counts : public testing::StoreTest {
 protected:
  void spoil(const std::string& table, const std::string& column) {
    testing::RawDatabase(file()).run("UPDATE " + table + " SET " + column +
                                     " = 9223372036854775807");
  }
};

TEST_F(Counts, AtTheEndOfTheIntegersAreRefusedWithTheRemedy) {
  auto [store, run] = openWithRun();
  store.setNote(run, "a note");
  spoil("edit", "version");
  EXPECT_THAT([&] { store.setNote(run, "another"); },
              Fails<StoreError>("note", "run 1", "9223372036854775807"));
  EXPECT_EQ(store.note(run), "a note");
}

TEST_F(Counts, OfPointsAtTheEndOfTheIntegersAreRefusedToo) {
  for (const char* column : {"count", "tail_rows"}) {
    RunStore store(file());
    const std::int64_t run = addRunning(store);
    RunStore::Batch batch{.metrics = {record(1, {{"train/loss", 1}})}};
    store.append(run, 1, batch);
    spoil("metric_summary", column);
    batch.metrics.front().step = 2;
    EXPECT_THAT([&] { store.append(run, 1, batch); },
                Fails<StoreError>("run " + std::to_string(run)));
  }
}

}  // namespace
}  // namespace vitrine::store
